//! Mail, to a server that speaks SMTP (RFC 5321) as plainly as it gets.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::notifier::Notifier;

/// An extension of a server that tells everyone what it was sent.
const REPEATS: &str = "X-REPEATS";

/// All that was said to it, a line each; the text of a mail too.
type Heard = Arc<Mutex<Vec<String>>>;

/// A server that offers these extensions, and takes every mail.
fn server(extensions: &'static [&'static str]) -> (SocketAddr, Heard) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (address, heard) = (listener.local_addr().unwrap(), Heard::default());
    let kept = Arc::clone(&heard);
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            _ = serve(stream, extensions, &kept);
        }
    });
    (address, heard)
}

fn serve(stream: TcpStream, extensions: &[&str], heard: &Mutex<Vec<String>>) -> std::io::Result<()> {
    let mut writer = stream.try_clone()?;
    writer.write_all(b"220 mail.example\r\n")?;
    let mut in_mail = false;
    for line in BufReader::new(stream).lines() {
        let line = line?;
        heard.lock().unwrap().push(line.clone());
        let answer = match line.split(' ').next().unwrap_or_default() {
            "." if in_mail => {
                in_mail = false;
                "250 taken\r\n".to_owned()
            }
            _ if in_mail => continue,
            "EHLO" => {
                let lines: Vec<String> = extensions.iter().map(|name| format!("250-{name}\r\n")).collect();
                format!("250-mail.example\r\n{}250 HELP\r\n", lines.concat())
            }
            // What it was sent, and what that is.
            "AUTH" if extensions.contains(&REPEATS) => {
                let sent = line.rsplit(' ').next().unwrap_or_default();
                let plain = STANDARD.decode(sent).unwrap_or_default();
                let password = plain.rsplit(|byte| *byte == 0).next().unwrap_or_default();
                let (plain, alone) = (String::from_utf8_lossy(password), STANDARD.encode(password));
                format!("535 bad {plain} {alone} {sent}\r\n")
            }
            "AUTH" => "235 welcome\r\n".to_owned(),
            "DATA" => {
                in_mail = true;
                "354 go on\r\n".to_owned()
            }
            "QUIT" => "221 bye\r\n".to_owned(),
            _ => "250 fine\r\n".to_owned(),
        };
        writer.write_all(answer.as_bytes())?;
    }
    Ok(())
}

fn mailing(address: SocketAddr, encryption: &str) -> Notifier {
    let notifier = Notifier::set_up("");
    let password = notifier.secret("password", "mail-password");
    notifier.config(&format!(
        "[[target]]\nname = 'mail'\nform = 'smtp'\nserver = '{address}'\nencryption = '{encryption}'\nfrom = 'guard@m.example'\n\
         to = ['one@m.example', 'two@m.example']\nuser = 'guard'\npassword = {{ file = {password:?} }}\n"
    ));
    notifier
}

#[test]
fn a_mail_is_sent_as_the_protocol_says() {
    let (address, heard) = server(&["AUTH PLAIN LOGIN", "8BITMIME"]);
    let done = mailing(address, "none").test();
    assert_eq!(done.status.code(), Some(0), "{}", String::from_utf8_lossy(&done.stdout));
    let heard = heard.lock().unwrap();
    let place = |start: &str| {
        heard.iter().position(|line| line.starts_with(start)).unwrap_or_else(|| panic!("no {start} in {heard:?}"))
    };
    let order = [
        "EHLO",
        "AUTH PLAIN ",
        "MAIL FROM:<guard@m.example>",
        "RCPT TO:<one@m.example>",
        "RCPT TO:<two@m.example>",
        "DATA",
        "From: guard@m.example",
        "To: one@m.example, two@m.example",
        "Subject: =?utf-8?B?",
        "Date: ",
        "Content-Transfer-Encoding: base64",
        ".",
    ];
    let places: Vec<usize> = order.iter().map(|start| place(start)).collect();
    assert!(places.is_sorted(), "{heard:?}");
}

#[test]
fn a_password_that_the_server_repeats_is_not_told() {
    let (address, _) = server(&["AUTH PLAIN", REPEATS]);
    let done = mailing(address, "none").test();
    assert_eq!(done.status.code(), Some(1));
    let said = String::from_utf8_lossy(&[done.stdout, done.stderr].concat()).into_owned();
    assert!(said.contains("did not: the mail server: permanent error 535 bad"), "{said}");
    for form in ["mail-password", "bWFpbC1wYXNzd29yZA==", "AGd1YXJkAG1haWwtcGFzc3dvcmQ="] {
        assert!(!said.contains(form), "{form} in {said}");
    }
}

#[test]
fn nothing_is_said_to_a_server_that_cannot_be_trusted() {
    // It offers no TLS where TLS after the greeting is asked for.
    let (address, heard) = server(&["AUTH PLAIN LOGIN"]);
    let done = mailing(address, "starttls").test();
    let said = String::from_utf8(done.stdout).unwrap();
    assert_eq!(done.status.code(), Some(1), "{said}");
    assert!(said.contains("mail (smtp): did not: the mail server:") && !said.contains("mail-password"), "{said}");
    let heard = heard.lock().unwrap();
    assert!(heard.iter().all(|line| !line.starts_with("AUTH") && !line.starts_with("MAIL")), "{heard:?}");
    // One elsewhere is never spoken to in the open.
    let notifier = Notifier::set_up(
        "[[target]]\nname = 'm'\nform = 'smtp'\nserver = 'mail.example:25'\nencryption = 'none'\nfrom = 'a@m.example'\nto = ['b@m.example']\n",
    );
    let done = notifier.test();
    assert_eq!(done.status.code(), Some(2));
    assert!(String::from_utf8(done.stderr).unwrap().contains("on loopback only"));
}

/// A server that never ends its line is cut off: neither the memory nor the time of the notifier is its own.
#[test]
fn a_server_that_never_ends_its_answer_is_cut_off() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            // Not without an end, so that a test that fails has one too.
            _ = (0..2_048).try_for_each(|_| stream.write_all(&[b'2'; 65_536]));
        }
    });
    let done = mailing(address, "none").test();
    let said = String::from_utf8(done.stdout).unwrap();
    assert_eq!(done.status.code(), Some(1), "{said}");
    assert!(said.contains("mail (smtp): did not: the mail server: said more than 4096 bytes"), "{said}");
}
