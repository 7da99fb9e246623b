//! `pair`: a new client key, shown once, and a new pairing code.

use super::{Refusal, client_add, print};
use crate::home::{Home, Pairing, generate_key};

pub(super) fn run(home: &Home) -> Result<(), Refusal> {
    let opened = client_add::open(home)?;
    let key = generate_key().map_err(|error| Refusal::Io("make a key", error))?;
    opened.add(key.address())?;
    let config = &opened.config;
    let code = Pairing::new(config.listen, config.mode, config.account, key.address()).to_code();
    print(&format!(
        "client key (shown once)  {}\nclient address           {}\npairing code             {code}\n\
         A running service accepts it after a restart.\n",
        key.reveal().as_str(),
        key.address(),
    ))
}
