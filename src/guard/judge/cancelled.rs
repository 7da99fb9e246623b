//! `cancelled`: a request that waits for a leverage setting is not sent once a cancel has named one of its orders.

use super::veto::Veto;
use crate::guard::code::Code;

pub(crate) fn veto() -> Veto {
    let text = "a cancel named an order of this request before it was sent; send it again if it is still meant";
    Veto::new(Code::Cancelled, text)
}
