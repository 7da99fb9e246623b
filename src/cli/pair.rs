//! `pair`: a new client key, shown once, and a new pairing code.

use super::configured::LockedConfig;
use super::output::{is_seen, print};
use super::reached::pairing_code;
use super::refusal::Refusal;
use super::set_up::SignalsBlocked;
use crate::home::{Home, Pairing, generate_key};

pub(super) fn run(home: &Home) -> Result<(), Refusal> {
    if !is_seen() {
        return Err(Refusal::Unseen("the client key", "client add --out FILE"));
    }
    let locked = LockedConfig::open(home)?;
    let key = generate_key().map_err(|error| Refusal::Io("make a key", error))?;
    let _whole = SignalsBlocked::new();
    locked.add_client(key.address())?;
    let config = &locked.config;
    let code = Pairing::new(config.listen, config.mode, config.account, key.address());
    let code = pairing_code(code.as_ref());
    let told = print(&format!(
        "client key (shown once)  {}\nclient address           {}\npairing code             {code}\n\
         A running service accepts it after a restart.\n",
        key.reveal().as_str(),
        key.address(),
    ));
    // A client whose key nobody has seen is none.
    told.map_err(|refusal| locked.undone(&refusal))
}
