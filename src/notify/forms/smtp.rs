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
use super::session::{self, Sent, Tls, Way};
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
const MAX_WORDS: usize = 4096;

/// The way to a mail server.
pub(in crate::notify) struct Mail {
    host: String,
    port: u16,
    tls: Tls,
    account: Option<Credentials>,
    from: Address,
    to: Vec<Address>,
    /// What the server is sent and may say again.
    secrets: Vec<String>,
}

/// What is wrong with a target's mail keys.
pub(in crate::notify) fn check(target: &Target) -> Vec<String> {
    let mut problems = Vec::new();
    let addresses = target.from.iter().chain(&target.to);
    problems.extend(
        addresses
            .filter(|text| text.parse::<Address>().is_err())
            .map(|text| format!("{} is no mail address", slip::given(text))),
    );
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

/// User and password as they go to the server (RFC 4616, AUTH LOGIN).
pub(super) fn as_sent(account: Option<(&str, &str)>) -> impl Iterator<Item = String> {
    let texts = account.map(|(user, password)| [user.to_owned(), password.to_owned(), format!("\0{user}\0{password}")]);
    texts.into_iter().flatten().map(|text| STANDARD.encode(text))
}

fn is_loopback(host: &str) -> bool {
    let ip: Option<IpAddr> = host.trim_matches(['[', ']']).parse().ok();
    host == "localhost" || ip.is_some_and(|ip| ip.is_loopback())
}

impl Mail {
    pub(super) fn of(target: &Target, password: Option<String>, secrets: Vec<String>) -> Result<Self, SecretError> {
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
        Ok(Self { host: host.to_owned(), port: port.unwrap_or(usual), tls, account, from, to, secrets })
    }

    pub(super) fn send(&self, message: &Message) -> Answer {
        let now = std::time::Duration::from_millis(crate::base::clock::wall_ms());
        let date = httpdate::fmt_http_date(std::time::UNIX_EPOCH + now).replace(" GMT", " +0000");
        let mut id = [0; 12];
        if let Err(error) = fill_random(&mut id) {
            return Answer::Later(error.to_string(), None);
        }
        let all: Vec<&str> = self.to.iter().map(AsRef::as_ref).collect();
        let mail = text(message, (self.from.as_ref(), &all.join(", ")), &date, &hex(&id));
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
            to: &self.to,
            patience: WHOLE + CONNECT,
        };
        let said = |why: &str| {
            format!("the mail server: {}", bounded.why().unwrap_or_else(|| heard(why, MAX_WORDS, &self.secrets)))
        };
        match session::send(&way, mail.as_bytes()) {
            Sent::Taken(None) => Answer::Taken,
            Sent::Taken(Some((whom, why))) => Answer::Partly(format!("{whom} gets none: {}", said(&why))),
            Sent::Refused(why) => Answer::Refused(said(&why)),
            Sent::Later(why) => Answer::Later(said(&why), None),
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The mail's text (RFC 5322, RFC 2045): all that came from outside is base64, so nothing in it can be a header or an end.
fn text(message: &Message, (from, to): (&str, &str), date: &str, id: &str) -> String {
    let subject = encoded_words(&within(&message.subject(), MAX_TITLE));
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

    /// What becomes of a mail at a server that answers so to these steps, and well to all others.
    fn answered(steps: &'static [(&'static str, &'static str)]) -> (Answer, usize) {
        let server = TcpListener::bind("127.0.0.1:0").unwrap();
        let config = format!(
            "name = 'm'\nform = 'smtp'\nserver = '{}'\nencryption = 'none'\nfrom = 'a@m.example'\nto = ['b@m.example', 'c@m.example']\n",
            server.local_addr().unwrap()
        );
        let served = std::thread::spawn(move || {
            let (stream, _) = server.accept().unwrap();
            let mut writer = stream.try_clone().unwrap();
            let of = |step: &str| {
                steps.iter().find(|(at, _)| step == *at || at.len() > 1 && step.contains(at)).map(|(_, line)| *line)
            };
            let greeting = of("greeting").unwrap_or("220 mail.example");
            writer.write_all(format!("{greeting}\r\n").as_bytes()).unwrap();
            let (mut in_mail, mut taken) = (false, 0);
            for said in BufReader::new(stream).lines().map_while(Result::ok) {
                let answer = match said.as_str() {
                    "." => of(".").unwrap_or("250 taken"),
                    _ if in_mail => continue,
                    "DATA" => of("DATA").unwrap_or("354 go on"),
                    said => of(said).unwrap_or("250 fine"),
                };
                taken += usize::from(said == "." && answer.starts_with('2'));
                in_mail = said == "DATA" && answer.starts_with('3');
                _ = writer.write_all(format!("{answer}\r\n").as_bytes());
            }
            taken
        });
        let notice = Notice::once("kill", "kill", Severity::Critical, "Kill switch pulled");
        let target: Target = toml::from_str(&config).unwrap();
        let answer = Mail::of(&target, None, Vec::new()).unwrap().send(&Message::of(&notice, &Guard::default(), &[]));
        (answer, served.join().unwrap())
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
        for steps in [
            &[(".", "451 later")],
            &[(".", "452 full")],
            &[("greeting", "554 no service")],
            &[("EHLO", "550 not you")],
            &[("MAIL", "553 no such name")],
            &[("c@m.example", "450 not yet")],
        ] {
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

    #[test]
    fn nothing_in_a_mail_can_be_a_header_or_its_end() {
        let nasty = "a\r\nBcc: other@x.example\r\n.\r\nQUIT é".repeat(3);
        let notice = Notice::once("kill", "kill", Severity::Critical, nasty.clone()).words(nasty, "", "");
        let mail = text(&Message::of(&notice, &Guard::default(), &[]), ("g@m.example", "o@m.example"), "now", "1");
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
