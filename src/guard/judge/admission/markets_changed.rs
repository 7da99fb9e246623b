//! `markets_changed`: an entry goes to the market that its client meant.

use crate::guard::code::Code;
use crate::guard::judge::veto::Veto;
use crate::guard::state::guard::Guard;

pub(crate) fn check(guard: &Guard) -> Result<(), Veto> {
    match &guard.view.contradiction {
        Some((how, _)) => {
            let text = format!(
                "the venue's list of markets is not the one that is known ({how}), so an order might go to another market than was \
                 meant; exits pass, entries come back once the venue's list is the known one again or the guard was restarted"
            );
            Err(Veto::new(Code::MarketsChanged, text).with(&"the markets as known", how))
        }
        None => Ok(()),
    }
}
