//! A loss that would fire a halt but for cash that came in, of which the ledger has not told yet: a deposit hides it. No halt is
//! decided here.

/// When the ledger is asked for what came in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct HiddenLoss {
    /// From when on it must show that.
    pub(crate) ledger_from_ms: u64,
    /// It was asked for since.
    pub(crate) is_ledger_asked: bool,
}

impl HiddenLoss {
    /// The ledger was read, and is asked once more after that time if something is hidden still.
    pub(crate) fn ask_again(&mut self, ledger_ms: u64, from_ms: u64) {
        if ledger_ms >= self.ledger_from_ms {
            *self = Self { ledger_from_ms: from_ms, is_ledger_asked: false };
        }
    }

    /// Whether the ledger is to be asked now; it counts as asked then.
    pub(crate) fn is_due(&mut self, now_ms: u64) -> bool {
        now_ms >= self.ledger_from_ms && !std::mem::replace(&mut self.is_ledger_asked, now_ms >= self.ledger_from_ms)
    }
}
