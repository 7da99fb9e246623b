//! `action_not_allowed`: action types, and one grouping of orders, that the guard never forwards.

use super::veto::Veto;
use crate::base::text::short;
use crate::guard::code::Code;
use crate::venue::action::{Grouping, OrderAction};

/// Refuses a bid for priority: its fee is money that no rule bounds.
pub(crate) fn check_grouping(action: &OrderAction) -> Result<(), Veto> {
    match action.grouping {
        Grouping::Priority(_) => {
            let text = "a grouping that bids a priority fee is never forwarded; use na, normalTpsl or positionTpsl";
            Err(Veto::new(Code::ActionNotAllowed, text))
        }
        _ => Ok(()),
    }
}

/// The refusal of the guard's own action where the venue's are posted.
pub(crate) fn guard_kill() -> Veto {
    Veto::new(Code::ActionNotAllowed, "guardKill is posted to /guard/kill, not to /exchange")
}

/// The refusal of a type that the guard does not judge, known to the venue or not.
pub(crate) fn other(name: &str) -> Veto {
    let why = match name {
        "scheduleCancel" => {
            "when it fires it cancels every order of the account, the stops of the positions too; cancel entries one by \
             one, or let the guard's kill switch close everything"
        }
        "twapOrder" => "its slices would be opened without a judgement of each; send orders",
        "approveAgent"
        | "approveBuilderFee"
        | "convertToMultiSigUser"
        | "multiSig"
        | "userSetAbstraction"
        | "agentSetAbstraction" => {
            "it gives authority over the account, or changes whose it is; do it at the venue's own page"
        }
        "usdSend"
        | "spotSend"
        | "sendAsset"
        | "withdraw3"
        | "usdClassTransfer"
        | "subAccountTransfer"
        | "subAccountSpotTransfer"
        | "vaultTransfer"
        | "tokenDelegate"
        | "cDeposit"
        | "cWithdraw" => "it moves money; do it at the venue's own page",
        _ => "it is no type that this guard knows and can judge; do it at the venue's own page",
    };
    Veto::new(Code::ActionNotAllowed, format!("{} is never forwarded: {why}", short(name)))
}
