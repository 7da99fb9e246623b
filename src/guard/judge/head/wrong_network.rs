//! `wrong_network`: where the owner requires one network, a request is signed for that one.

use crate::guard::code::Code;
use crate::guard::judge::veto::Veto;
use crate::guard::state::guard::Guard;
use crate::venue::signing::Source;

pub(crate) fn check(guard: &Guard, signed_as: Source) -> Result<(), Veto> {
    if !guard.config.require_network || signed_as == guard.config.account_network {
        return Ok(());
    }
    let (wanted, signed) = (guard.config.account_network.name(), signed_as.name());
    let text = format!("signed for {signed}, and require_network asks for {wanted}; sign for {wanted}");
    Err(Veto::new(Code::WrongNetwork, text))
}
