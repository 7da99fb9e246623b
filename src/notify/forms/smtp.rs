//! Mail: a plain text over SMTP, with TLS from the first byte or after the greeting, never without it but on loopback.

use std::net::IpAddr;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use lettre::Address;
use lettre::transport::smtp::authentication::Credentials;
use lettre::transport::smtp::client::{CertificateStore, TlsParameters};

use super::answer::Answer;
use super::bounded::{Bounded, Bounds};
use super::owed::Owed;
use super::session::{self, Heard, Sent, Tls, Way};
use crate::base::files::fill_random;
use crate::base::origin::split_port;
use crate::notify::config::{Encryption, Target};
use crate::notify::message::Message;
use crate::notify::secrets::SecretError;
use crate::notify::slip;
use crate::notify::words::{heard, within};

/// For the connection, and for the whole of one try.
const CONNECT: Duration = Duration::from_secs(10);
const WHOLE: Duration = Duration::from_secs(20);
/// The most that a server may say; its certificates are among it.
const MAX_PLAIN: usize = 4096;
const MAX_TLS: usize = 64 * 1024;
/// Characters of base64 on a line, and bytes of a title in one encoded word: its line, with the header's name, has 76 at most.
const LINE: usize = 76;
const WORD: usize = 39;
const MAX_TITLE: usize = 300;

/// The way to a mail server.
pub(in crate::notify) struct Mail {
    host: String,
    port: u16,
    tls: Tls,
    account: Option<Credentials>,
    from: Address,
    to: Vec<Address>,
    owed: Owed,
}

/// What is wrong with a target's mail keys.
pub(in crate::notify) fn check(target: &Target) -> Vec<String> {
    let mut problems = Vec::new();
    let addresses = target.from.iter().map(|from| ("from", from)).chain(target.to.iter().map(|to| ("to", to)));
    for (key, text) in addresses {
        let why = match text.parse::<Address>() {
            Err(_) => "is no mail address",
            Ok(_) if !text.is_ascii() => "has letters that not every mail server takes: write a domain as xn--...",
            Ok(_) => continue,
        };
        problems.push(format!("{key}: {} {why}", slip::given(text)));
    }
    let server = target.server.as_deref().unwrap_or_default();
    match split_port(server) {
        None => problems.push("server must be HOST or HOST:PORT".to_owned()),
        Some((host, _)) if target.encryption == Some(Encryption::None) && !is_loopback(host) => {
            problems.push("encryption = \"none\" is for a server on loopback only".to_owned());
        }
        Some(_) => {}
    }
    if target.user.is_some() != target.password.is_some() {
        problems.push("user and password belong together".to_owned());
    }
    problems
}

fn is_loopback(host: &str) -> bool {
    let ip: Option<IpAddr> = host.trim_matches(['[', ']']).parse().ok();
    host == "localhost" || ip.is_some_and(|ip| ip.is_loopback())
}

impl Mail {
    pub(super) fn of(target: &Target, password: Option<String>) -> Result<Self, SecretError> {
        let wrong = |why: String| SecretError::Target(target.name.clone(), why);
        let server = target.server.as_deref().unwrap_or_default();
        let (host, port) = split_port(server).ok_or_else(|| wrong("server must be HOST or HOST:PORT".to_owned()))?;
        let host = host.trim_matches(['[', ']']);
        let parameters = || {
            let builder = TlsParameters::builder(host.to_owned()).certificate_store(CertificateStore::WebpkiRoots);
            builder.build_rustls().map_err(|error| wrong(error.to_string()))
        };
        let (tls, usual) = match target.encryption.unwrap_or_default() {
            Encryption::Tls => (Tls::First(parameters()?), 465),
            Encryption::Starttls => (Tls::Asked(parameters()?), 587),
            Encryption::None => (Tls::None, 25),
        };
        let account = target.user.clone().zip(password).map(|(user, password)| Credentials::new(user, password));
        let address = |text: &str| text.parse::<Address>().map_err(|error| wrong(error.to_string()));
        let from = address(target.from.as_deref().unwrap_or_default())?;
        let to = target.to.iter().map(|to| address(to)).collect::<Result<Vec<_>, _>>()?;
        Ok(Self { host: host.to_owned(), port: port.unwrap_or(usual), tls, account, from, to, owed: Owed::default() })
    }

    pub(super) fn send(&self, message: &Message) -> Answer {
        let now = std::time::Duration::from_millis(crate::base::clock::wall_ms());
        let date = httpdate::fmt_http_date(std::time::UNIX_EPOCH + now).replace(" GMT", " +0000");
        let mut id = [0; 12];
        if let Err(error) = fill_random(&mut id) {
            return Answer::Later(error.to_string(), None);
        }
        let all: Vec<&str> = self.to.iter().map(AsRef::as_ref).collect();
        let mail = text(message, (self.from.as_ref(), all.as_slice()), &date, &hex(&id));
        let to = self.owed.to(message.id(), &self.to);
        let bytes = if matches!(self.tls, Tls::None) { MAX_PLAIN } else { MAX_TLS };
        let bounded = match Bounded::to(&self.host, self.port, Bounds { connect: CONNECT, whole: WHOLE, bytes }) {
            Ok(bounded) => bounded,
            Err(error) => return Answer::Later(error.to_string(), None),
        };
        let way = Way {
            address: bounded.address,
            tls: &self.tls,
            account: self.account.as_ref(),
            from: &self.from,
            to: &to,
            patience: WHOLE + CONNECT,
        };
        let said = |why: &str| format!("the mail server: {}", bounded.why().unwrap_or_else(|| heard(why)));
        match session::send(&way, mail.as_bytes()) {
            Sent::Heard(heard) => self.heard(message.id(), heard, said),
            Sent::Refused(why) => Answer::Refused(said(&why)),
            Sent::Later(why) => Answer::Later(said(&why), None),
        }
    }

    /// The answer that a mail has by what the server says of whom it is for.
    fn heard(&self, id: u64, heard: Heard, said: impl Fn(&str) -> String) -> Answer {
        let Heard { has_taker, refused, put_off, later } = heard;
        let (first, is_begun) = (put_off.first().cloned(), has_taker || self.owed.is_begun(id));
        if !is_begun && first.is_some() || is_begun && self.owed.put_off(id, put_off) {
            return Answer::Later(said(&later), None);
        }
        match refused.or(first.map(|first| (first, later))) {
            Some((_, why)) if !is_begun => Answer::Refused(said(&why)),
            Some((whom, why)) => Answer::Partly(format!("{whom} gets none: {}", said(&why))),
            None => Answer::Taken,
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The mail's text (RFC 5322, RFC 2045): all that came from outside is base64, so nothing in it can be a header or an end.
fn text(message: &Message, (from, to): (&str, &[&str]), date: &str, id: &str) -> String {
    let subject = encoded_words(&within(&message.subject(), MAX_TITLE));
    let to = listed(to);
    let domain = from.rsplit_once('@').map_or("localhost", |(_, domain)| domain);
    let encoded = STANDARD.encode(format!("{}\n\n{}\n", message.subject(), message.lines().join("\n\n")));
    let lines: Vec<&str> =
        (0..encoded.len()).step_by(LINE).filter_map(|at| encoded.get(at..encoded.len().min(at + LINE))).collect();
    format!(
        "From: {from}\r\nTo: {to}\r\nSubject: {subject}\r\nDate: {date}\r\nMessage-ID: <{id}@{domain}>\r\nMIME-Version: 1.0\r\n\
         Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: base64\r\nAuto-Submitted: auto-generated\r\n\r\n{}\r\n",
        lines.join("\r\n")
    )
}

/// Addresses on lines that no server refuses for their length.
fn listed(addresses: &[&str]) -> String {
    let (mut list, mut line) = (String::new(), "To: ".len());
    for address in addresses {
        let joint = match list.is_empty() {
            true => "",
            false if line + address.len() + 2 > LINE => ",\r\n ",
            false => ", ",
        };
        line = if joint.contains('\n') { 1 } else { line + joint.len() } + address.len();
        list = list + joint + address;
    }
    list
}

/// A header's text as encoded words (RFC 2047), each short enough for a line.
fn encoded_words(text: &str) -> String {
    let mut words = Vec::new();
    let mut word = String::new();
    for letter in text.chars() {
        if word.len() + letter.len_utf8() > WORD {
            words.push(std::mem::take(&mut word));
        }
        word.push(letter);
    }
    words.push(word);
    let encoded = words.iter().map(|word| format!("=?utf-8?B?{}?=", STANDARD.encode(word)));
    encoded.collect::<Vec<_>>().join("\r\n ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::notify::notice::{Notice, Severity};
    use crate::notify::watch::Guard;
    use std::io::{BufRead, BufReader, Write};
    use std::net::TcpListener;

    type Steps = &'static [(&'static str, &'static str)];

    /// What becomes of a mail at a server that answers so to these steps, and well to all others.
    fn answered(steps: Steps) -> (Answer, usize) {
        let (mut answers, heard) = tried(&[steps]);
        (answers.remove(0), heard[0].iter().filter(|said| *said == ".").count())
    }

    /// The same of a mail that is tried once for each of these, with all that was said to the server each time up to a mail that it
    /// took.
    fn tried(rounds: &[Steps]) -> (Vec<Answer>, Vec<Vec<String>>) {
        let server = TcpListener::bind("127.0.0.1:0").unwrap();
        let config = format!(
            "name = 'm'\nform = 'smtp'\nserver = '{}'\nencryption = 'none'\nfrom = 'a@m.example'\nto = ['b@m.example', 'c@m.example']\n",
            server.local_addr().unwrap()
        );
        let owned = rounds.to_vec();
        let served = std::thread::spawn(move || owned.into_iter().map(|steps| serve(&server, steps)).collect());
        let notice = Notice { id: 7, ..Notice::once("kill", "kill", Severity::Critical, "Kill switch pulled") };
        let target: Target = toml::from_str(&config).unwrap();
        let mail = Mail::of(&target, None).unwrap();
        let answers = rounds.iter().map(|_| mail.send(&Message::of(&notice, &Guard::default(), &[]))).collect();
        (answers, served.join().unwrap())
    }

    fn serve(server: &TcpListener, steps: Steps) -> Vec<String> {
        let (stream, _) = server.accept().unwrap();
        let mut writer = stream.try_clone().unwrap();
        let of = |step: &str| {
            steps.iter().find(|(at, _)| step == *at || at.len() > 1 && step.contains(at)).map(|(_, line)| *line)
        };
        let greeting = of("greeting").unwrap_or("220 mail.example");
        writer.write_all(format!("{greeting}\r\n").as_bytes()).unwrap();
        let (mut in_mail, mut heard) = (false, Vec::new());
        for said in BufReader::new(stream).lines().map_while(Result::ok) {
            let answer = match said.as_str() {
                "." => of(".").unwrap_or("250 taken"),
                _ if in_mail => continue,
                "DATA" => of("DATA").unwrap_or("354 go on"),
                said => of(said).unwrap_or("250 fine"),
            };
            in_mail = said == "DATA" && answer.starts_with('3');
            _ = writer.write_all(format!("{answer}\r\n").as_bytes());
            heard.extend(answer.starts_with('2').then_some(said));
        }
        heard
    }

    #[test]
    fn a_mail_that_is_refused_for_itself_is_told_from_a_server_that_takes_none() {
        assert_eq!(answered(&[]), (Answer::Taken, 1));
        for steps in [
            &[(".", "552 too large")],
            &[(".", "554 looks like spam")],
            &[(".", "550 no such words")],
            &[("DATA", "554 no")],
        ] {
            let (answer, taken) = answered(steps);
            assert!(matches!(answer, Answer::Refused(why) if why.contains(&steps[0].1[4..])), "{steps:?}");
            assert_eq!(taken, 0);
        }
        let busy: [Steps; 7] = [
            &[(".", "451 later")],
            &[(".", "452 full")],
            &[("greeting", "554 no service")],
            &[("EHLO", "550 not you")],
            &[("MAIL", "553 no such name")],
            &[("m.example>", "450 not yet")],
            &[("b@m.example", "450 not yet"), ("c@m.example", "550 gone")],
        ];
        for steps in busy {
            let (answer, taken) = answered(steps);
            assert!(matches!(answer, Answer::Later(..)), "{steps:?}: {answer:?}");
            assert_eq!(taken, 0);
        }
    }

    #[test]
    fn one_mailbox_that_is_gone_keeps_the_mail_from_nobody_else() {
        let (answer, taken) = answered(&[("b@m.example", "550 no such box")]);
        assert!(
            matches!(&answer, Answer::Partly(why) if why.contains("b@m.example") && why.contains("no such box")),
            "{answer:?}"
        );
        assert_eq!(taken, 1);
        let (answer, taken) = answered(&[("b@m.example", "550 gone"), ("c@m.example", "550 gone too")]);
        assert!(matches!(&answer, Answer::Refused(why) if why.contains("gone")), "{answer:?}");
        assert_eq!(taken, 0);
    }

    /// Who is put off hears later, and the others at once and once; in the end he holds nobody up.
    #[test]
    fn one_mailbox_that_is_full_keeps_the_mail_from_nobody_else() {
        const FULL: Steps = &[("c@m.example", "452 full")];
        let mailed = |heard: &[String], whom: &str| {
            heard.iter().any(|said| said.contains(whom)) && heard.iter().any(|said| said == ".")
        };
        let (answers, heard) = tried(&[FULL, FULL, &[]]);
        assert!(matches!(&answers[..], [Answer::Later(..), Answer::Later(..), Answer::Taken]), "{answers:?}");
        assert!(
            mailed(&heard[0], "b@m.example") && !heard[1..].iter().any(|said| mailed(said, "b@m.example")),
            "{heard:?}"
        );
        assert!(mailed(&heard[2], "c@m.example"), "{heard:?}");
        // A server without service for anybody counts for none of them.
        let (answers, _) = tried(&[FULL, &[("greeting", "421 later")], FULL, FULL, FULL, FULL, FULL]);
        let (last, before) = answers.split_last().unwrap();
        assert!(before.iter().all(|answer| matches!(answer, Answer::Later(..))), "{answers:?}");
        assert!(
            matches!(last, Answer::Partly(why) if why.starts_with("c@m.example gets none") && why.contains("full")),
            "{last:?}"
        );
        let (answers, _) = tried(&[FULL, &[("c@m.example", "550 gone")]]);
        assert!(matches!(&answers[1], Answer::Partly(why) if why.contains("gone")), "{answers:?}");
    }

    #[test]
    fn nothing_in_a_mail_can_be_a_header_or_its_end() {
        let nasty = "a\r\nBcc: other@x.example\r\n.\r\nQUIT é".repeat(3);
        let notice = Notice::once("kill", "kill", Severity::Critical, nasty.clone()).words(nasty, "", "");
        let mail =
            text(&Message::of(&notice, &Guard::default(), &[]), ("g@m.example", &["o@m.example"; 40][..]), "now", "1");
        let (head, body) = mail.split_once("\r\n\r\n").unwrap();
        let names: Vec<&str> =
            head.lines().filter(|line| !line.starts_with(' ')).map(|line| line.split(':').next().unwrap()).collect();
        let wanted = [
            "From",
            "To",
            "Subject",
            "Date",
            "Message-ID",
            "MIME-Version",
            "Content-Type",
            "Content-Transfer-Encoding",
            "Auto-Submitted",
        ];
        assert_eq!(names, wanted);
        assert!(mail.lines().all(|line| line.len() <= 76 && line.is_ascii()), "{mail}");
        assert!(body.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+/=\r\n".contains(&byte)));
        let decoded = STANDARD.decode(body.replace("\r\n", "")).unwrap();
        assert!(String::from_utf8(decoded).unwrap().contains("QUIT é"));
    }
}
