//! One mail's way through a server that speaks SMTP (RFC 5321): whose answer means what. A refusal of the message, or of all whom
//! it is for, is told from a server that has no service now; who is refused among others keeps it from nobody.

use lettre::Address;
use lettre::transport::smtp::Error;
use lettre::transport::smtp::authentication::{Credentials, Mechanism};
use lettre::transport::smtp::client::{SmtpConnection, TlsParameters};
use lettre::transport::smtp::commands::{Data, Mail, Rcpt};
use lettre::transport::smtp::extension::ClientId;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

/// How a connection is kept private.
pub(super) enum Tls {
    None,
    /// Asked for once connected, and nothing without it.
    Asked(TlsParameters),
    /// From the first byte on.
    First(TlsParameters),
}

/// For whom a server took a mail.
#[derive(Debug, Default)]
pub(super) struct Heard {
    /// Whether there is anybody.
    pub(super) has_taker: bool,
    /// The first of those whom it refused, with what it said.
    pub(super) refused: Option<(Address, String)>,
    /// Those whom it may take it for later, with what it said of the first.
    pub(super) put_off: Vec<Address>,
    pub(super) later: String,
}

/// What became of it.
#[derive(Debug)]
pub(super) enum Sent {
    /// The server took it, or would have if not for whom it is.
    Heard(Heard),
    /// It refuses the message.
    Refused(String),
    /// It may take it later.
    Later(String),
}

/// A server, who writes, and who is written to.
pub(super) struct Way<'a> {
    pub(super) address: SocketAddr,
    pub(super) tls: &'a Tls,
    pub(super) account: Option<&'a Credentials>,
    pub(super) from: &'a Address,
    pub(super) to: &'a [Address],
    pub(super) patience: Duration,
}

/// Sends a mail.
pub(super) fn send(way: &Way<'_>, mail: &[u8]) -> Sent {
    let mut connection = match open(way) {
        Ok(connection) => connection,
        Err(error) => return Sent::Later(error.to_string()),
    };
    let sent = deliver(&mut connection, way, mail);
    if matches!(&sent, Sent::Heard(heard) if heard.has_taker) {
        _ = connection.quit();
    } else {
        connection.abort();
    }
    sent
}

/// What is wrong up to here is the server's state, or the account's, which can be mended.
fn open(way: &Way<'_>) -> Result<SmtpConnection, Error> {
    // The machine's name is nobody's business.
    let hello = ClientId::Ipv4(Ipv4Addr::LOCALHOST);
    let first = if let Tls::First(parameters) = way.tls { Some(parameters) } else { None };
    let mut connection = SmtpConnection::connect(way.address, Some(way.patience), &hello, first, None)?;
    if let Tls::Asked(parameters) = way.tls {
        connection.starttls(parameters, &hello)?;
    }
    if let Some(account) = way.account {
        connection.auth(&[Mechanism::Plain, Mechanism::Login], account)?;
    }
    Ok(connection)
}

fn deliver(connection: &mut SmtpConnection, way: &Way<'_>, mail: &[u8]) -> Sent {
    if let Err(error) = connection.command(Mail::new(Some(way.from.clone()), Vec::new())) {
        return Sent::Later(error.to_string());
    }
    let mut heard = Heard::default();
    for to in way.to {
        match connection.command(Rcpt::new(to.clone(), Vec::new())) {
            Ok(_) => heard.has_taker = true,
            Err(error) if error.is_permanent() => {
                _ = heard.refused.get_or_insert((to.clone(), error.to_string()));
            }
            Err(error) if error.is_transient() => {
                if heard.put_off.is_empty() {
                    heard.later = error.to_string();
                }
                heard.put_off.push(to.clone());
            }
            Err(error) => return Sent::Later(error.to_string()),
        }
    }
    if !heard.has_taker {
        return Sent::Heard(heard);
    }
    let said = connection.command(Data).and_then(|_| connection.message(mail));
    match said {
        Ok(_) => Sent::Heard(heard),
        Err(error) if error.is_permanent() => Sent::Refused(error.to_string()),
        Err(error) => Sent::Later(error.to_string()),
    }
}
