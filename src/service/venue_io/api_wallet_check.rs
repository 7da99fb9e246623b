//! Whether a key is an API wallet of the account, asked of the venue (which calls API wallets agents).
//!
//! Source: <https://hyperliquid.gitbook.io/hyperliquid-docs/for-developers/api/nonces-and-api-wallets>

use std::time::Duration;

use serde_json::{Value, json};

use crate::base::address::Address;
use crate::base::day::day_of;
use crate::venue::client::{Client, Timeouts};
use crate::venue::info::{Role, valid_until_ms};
use crate::venue::weight::info_weight;

/// Why a key is not taken as the account's API wallet.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotTheAgent {
    /// It is the account's own key.
    #[error(
        "the key is that of {0}, which is named as the account itself; if {0} is your API wallet, name the main account \
         that approved it (--account); if it is the account, keep its key away from here, approve an API wallet at the \
         venue and give that one's key, which cannot withdraw"
    )]
    OwnKey(Address),
    /// It is the API wallet of another account (the key's address, that account, the account wanted).
    #[error(
        "{0} is an API wallet of {1}, not of the account {2}; give a key of that account's, or guard {1} if the account is what is wrong"
    )]
    OfAnother(Address, Address, Address),
    /// It is no API wallet (the key's address, what the venue calls it).
    #[error(
        "{0} is no API wallet: the venue knows it as {1}; approve it there for the account, then try again (testnet and mainnet each know their own wallets); but never a bot's client key, which would trade past the guard then"
    )]
    NoAgent(Address, &'static str),
    /// Its approval has ended (the key's address, when, in UTC ms).
    #[error(
        "the approval of the API wallet {0} ended on {day} (UTC); approve a new API wallet at the venue and give its key",
        day = day_of(*.1)
    )]
    Expired(Address, u64),
    /// The venue did not answer so that it could be read (what happened).
    #[error("the venue could not be asked about the key: {0}; try again")]
    NoAnswer(String),
}

/// How the venue is asked: a question of `/info`, its answer or what happened instead.
pub(in crate::service) type Ask<'a> = &'a dyn Fn(&Value) -> Result<Value, String>;

/// The owner of an API wallet that may act for the account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Owner {
    /// The account itself, or its master or leader.
    pub master: Address,
    /// The account is a vault, and the venue does not say who leads it.
    pub is_unsure: bool,
}

impl Owner {
    /// The warning for a person where the venue could not vouch for the API wallet.
    #[must_use]
    pub fn doubt(&self, account: Address, wallet: Address) -> Option<String> {
        self.is_unsure.then(|| {
            format!(
                "the account {account} is a vault, and the venue does not say whose: it could not be checked that {}, whose \
                 API wallet {wallet} is, leads it; if not, the venue refuses all that is sent, no position is covered, and \
                 the status alerts `signer_unknown`",
                self.master
            )
        })
    }
}

/// An API wallet that the venue knows as the account's.
#[derive(Debug, PartialEq, Eq)]
pub struct Approved {
    /// Its owner.
    pub owner: Owner,
    /// When the approval ends, UTC ms; none for a wallet without a name: the venue does not say when that one ends.
    pub until_ms: Option<u64>,
}

/// Asks the venue whether `wallet` is an API wallet of `account`, or of the master that `account` is a sub-account of
/// (an API wallet signs for its master's sub-accounts too), and whether its approval still holds at `now_ms`.
///
/// # Errors
/// [`NotTheAgent`].
pub fn check(client: &Client, account: Address, wallet: Address, now_ms: u64) -> Result<Approved, NotTheAgent> {
    let ask: Ask = &|question| client.info(question).map_err(|error| error.to_string());
    let owner = check_role(ask, account, wallet)?;
    let answer = ask(&json!({"type": "extraAgents", "user": owner.master})).map_err(NotTheAgent::NoAnswer)?;
    match valid_until_ms(&answer, &wallet) {
        Some(until_ms) if until_ms <= now_ms => Err(NotTheAgent::Expired(wallet, until_ms)),
        until_ms => Ok(Approved { owner, until_ms }),
    }
}

/// A client of the venue for a question that a person waits for.
///
/// # Errors
/// [`NotTheAgent::NoAnswer`] when the address cannot be called.
pub fn client(url: &str) -> Result<Client, NotTheAgent> {
    Client::new(url, Timeouts::default()).map_err(|error| NotTheAgent::NoAnswer(error.to_string()))
}

/// Two answers that speak against the wallet are this far apart.
const AGAIN: Duration = Duration::from_secs(1);

/// The same as [`check_role`], and what speaks against the wallet is asked twice: a service that has run with it must not stay away
/// for one wrong answer.
pub(in crate::service) fn check_role_surely(ask: Ask, account: Address, wallet: Address) -> Result<Owner, NotTheAgent> {
    match check_role(ask, account, wallet) {
        Err(NotTheAgent::NoAgent(..) | NotTheAgent::OfAnother(..)) => {
            std::thread::sleep(AGAIN);
            check_role(ask, account, wallet)
        }
        told => told,
    }
}

/// The account that `wallet` is an API wallet of: `account` itself or its master. Whose a vault is the venue does not say
/// here; a wallet of somebody else's is refused there at its first send.
pub(in crate::service) fn check_role(ask: Ask, account: Address, wallet: Address) -> Result<Owner, NotTheAgent> {
    if wallet == account {
        return Err(NotTheAgent::OwnKey(account));
    }
    let master = match role(ask, wallet)? {
        Role::Agent(master) => master,
        Role::User => return Err(NotTheAgent::NoAgent(wallet, "an account of its own")),
        Role::SubAccount(_) => return Err(NotTheAgent::NoAgent(wallet, "a sub-account")),
        Role::Vault => return Err(NotTheAgent::NoAgent(wallet, "a vault")),
        Role::Missing => return Err(NotTheAgent::NoAgent(wallet, "nobody")),
    };
    if master == account {
        return Ok(Owner { master, is_unsure: false });
    }
    match role(ask, account)? {
        Role::Vault => Ok(Owner { master, is_unsure: true }),
        Role::SubAccount(owner) if owner == master => Ok(Owner { master, is_unsure: false }),
        _ => Err(NotTheAgent::OfAnother(wallet, master, account)),
    }
}

/// What is wrong with `account` where it is one that holds nothing whatever happens: nobody's, or an API wallet.
///
/// # Errors
/// What happened where the venue did not answer so that it could be read.
pub fn account_doubt(client: &Client, account: Address) -> Result<Option<String>, String> {
    let answer = client.info(&json!({ "type": "userRole", "user": account })).map_err(|error| error.to_string())?;
    Ok(doubt_of_role(account, &Role::from_answer(&answer)?))
}

/// The same of an account of this role.
pub(in crate::service) fn doubt_of_role(account: Address, role: &Role) -> Option<String> {
    match role {
        Role::User | Role::SubAccount(_) | Role::Vault => None,
        Role::Missing => Some(format!(
            "the venue knows no account {account}: nothing was ever paid in there; compare the address with the venue's own \
             page, and guard the account that was meant from a home of its own, which `svc-guard --home DIR init` sets up"
        )),
        Role::Agent(master) => Some(format!(
            "the account {account} is an API wallet of {master} and can hold nothing; guard that account from a home of its \
             own: `svc-guard --home DIR init --account {master}`"
        )),
    }
}

/// The account that sends of the wallet of `master` must name: none for the master itself.
pub(in crate::service) fn acts_for(account: Address, master: Address) -> Option<Address> {
    (account != master).then_some(account)
}

/// Weight of the check of a wallet of `master`: a question for the wallet, one more for another account.
pub(in crate::service) fn check_weight(account: Address, master: Address) -> u32 {
    let questions = if account == master { 1 } else { 2 };
    info_weight("userRole").saturating_mul(questions)
}

fn role(ask: Ask, user: Address) -> Result<Role, NotTheAgent> {
    let answer = ask(&json!({ "type": "userRole", "user": user })).map_err(NotTheAgent::NoAnswer)?;
    Role::from_answer(&answer).map_err(NotTheAgent::NoAnswer)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ACCOUNT: Address = Address([0x11; 20]);
    const WALLET: Address = Address([0x22; 20]);
    const MASTER: Address = Address([0x33; 20]);

    /// The check against a venue where these addresses have these roles.
    fn checked(roles: &[(Address, Value)]) -> Result<Owner, NotTheAgent> {
        let ask: Ask = &|question| {
            let known = roles.iter().find(|(address, _)| question["user"] == json!(address));
            known.map(|(_, role)| role.clone()).ok_or_else(|| "nobody answers".to_owned())
        };
        check_role(ask, ACCOUNT, WALLET)
    }

    #[test]
    fn each_role_has_its_verdict() {
        let agent_of = |master: Address| json!({"role": "agent", "data": {"user": master}});
        let sure = |master: Address| Ok(Owner { master, is_unsure: false });
        assert_eq!(checked(&[(WALLET, agent_of(ACCOUNT))]), sure(ACCOUNT));
        let sub = (ACCOUNT, json!({"role": "subAccount", "data": {"master": MASTER}}));
        assert_eq!(checked(&[(WALLET, agent_of(MASTER)), sub]), sure(MASTER));
        let vault = (ACCOUNT, json!({"role": "vault"}));
        let of_vault = checked(&[(WALLET, agent_of(MASTER)), vault]).unwrap();
        assert_eq!(of_vault, Owner { master: MASTER, is_unsure: true });
        assert!(of_vault.doubt(ACCOUNT, WALLET).unwrap().contains(&MASTER.to_string()));
        let stranger = (ACCOUNT, json!({"role": "user"}));
        let of_another = Err(NotTheAgent::OfAnother(WALLET, MASTER, ACCOUNT));
        assert_eq!(checked(&[(WALLET, agent_of(MASTER)), stranger]), of_another);
        for (role, name) in [("user", "an account of its own"), ("vault", "a vault"), ("missing", "nobody")] {
            assert_eq!(checked(&[(WALLET, json!({"role": role}))]), Err(NotTheAgent::NoAgent(WALLET, name)));
        }
        assert_eq!(checked(&[]), Err(NotTheAgent::NoAnswer("nobody answers".to_owned())));
    }

    #[test]
    fn an_account_that_holds_nothing_is_doubted() {
        let doubt = |role: Role| doubt_of_role(ACCOUNT, &role);
        assert_eq!([Role::User, Role::SubAccount(MASTER), Role::Vault].map(doubt), [None, None, None]);
        assert!(doubt(Role::Missing).unwrap().contains(&format!("knows no account {ACCOUNT}")));
        assert!(doubt(Role::Agent(MASTER)).unwrap().ends_with(&format!("init --account {MASTER}`")));
    }

    #[test]
    fn the_accounts_own_key_is_refused_without_asking() {
        assert_eq!(check_role(&|_| Err("asked".to_owned()), ACCOUNT, ACCOUNT), Err(NotTheAgent::OwnKey(ACCOUNT)));
    }
}
