//! Whether a key is an API wallet of the account, asked of the venue.

use std::fmt;

use serde_json::json;

use crate::venue::Address;
use crate::venue::client::{Client, Timeouts};
use crate::venue::info::Role;

/// Why a key is not taken as the account's API wallet.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum NotTheAgent {
    /// It is the account's own key.
    OwnKey(Address),
    /// It is the API wallet of another account (the key's address, that account, the account wanted).
    OfAnother(Address, Address, Address),
    /// It is no API wallet (the key's address, what the venue calls it).
    NoAgent(Address, &'static str),
    /// The venue did not answer so that it could be read (what happened).
    NoAnswer(String),
}

impl fmt::Display for NotTheAgent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OwnKey(account) => write!(
                f,
                "the key is the account's own ({account}); approve an API wallet at the venue and give its key, which \
                 cannot withdraw"
            ),
            Self::OfAnother(wallet, master, account) => {
                write!(
                    f,
                    "{wallet} is an API wallet of {master}, not of the account {account}; give a key of that account's"
                )
            }
            Self::NoAgent(wallet, role) => write!(
                f,
                "{wallet} is no API wallet: the venue knows it as {role}; approve it there for the account, then try again"
            ),
            Self::NoAnswer(what) => write!(f, "the venue could not be asked about the key: {what}; try again"),
        }
    }
}

/// Asks the venue at `url` whether `wallet` is an API wallet of `account`, or of the master that `account` is a
/// sub-account of (an API wallet signs for its master's sub-accounts too).
pub(super) fn check(url: &str, account: Address, wallet: Address) -> Result<(), NotTheAgent> {
    if wallet == account {
        return Err(NotTheAgent::OwnKey(account));
    }
    let client = Client::new(url, Timeouts::default()).map_err(|error| NotTheAgent::NoAnswer(error.to_string()))?;
    let master = match role(&client, wallet)? {
        Role::Agent(master) => master,
        Role::User => return Err(NotTheAgent::NoAgent(wallet, "an account of its own")),
        Role::SubAccount(_) => return Err(NotTheAgent::NoAgent(wallet, "a sub-account")),
        Role::Vault => return Err(NotTheAgent::NoAgent(wallet, "a vault")),
        Role::Missing => return Err(NotTheAgent::NoAgent(wallet, "nobody")),
    };
    if master == account || role(&client, account)? == Role::SubAccount(master) {
        Ok(())
    } else {
        Err(NotTheAgent::OfAnother(wallet, master, account))
    }
}

fn role(client: &Client, user: Address) -> Result<Role, NotTheAgent> {
    let answer = client.info(&json!({ "type": "userRole", "user": user }));
    let answer = answer.map_err(|error| NotTheAgent::NoAnswer(error.to_string()))?;
    Role::from_answer(&answer).map_err(NotTheAgent::NoAnswer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_accounts_own_key_is_refused_without_asking() {
        let account = Address([0x11; 20]);
        assert_eq!(check("http://127.0.0.1:9", account, account), Err(NotTheAgent::OwnKey(account)));
    }
}
