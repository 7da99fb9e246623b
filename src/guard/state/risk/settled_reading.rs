//! Which read of the account sets the marks: the day's start and the peak.
//!
//! A single read may be wrong, and after a change of the account's mode it is of the wrong purse. One that jumps away from
//! the last is held until the next agrees with it, and until the mode was read since, where it is cash that moved. Cash that
//! more than doubles the account is held until the ledger tells of it, ten seconds at most, and entries are judged without it. A
//! loss is not held: it is looked at, twice, in any case.

use crate::base::amount::percent_of;
use crate::guard::state::risk::cash_balance::Cash;
use crate::guard::state::risk::equity_peaks::EquitySample;
use crate::guard::state::risk::transfers::Transfer;
use crate::guard::state::view::AccountView;
use rust_decimal::Decimal;

/// An equity that moves by more than this share between two reads, percent, jumps.
const JUMP_PCT: Decimal = Decimal::ONE;

/// An equity of more than so many times the one before was not won within a second.
pub(crate) const WINDFALL: Decimal = Decimal::TWO;

/// A jump is taken for what it looks like after this long, whatever the mode says or does not say.
const MAX_HELD_MS: u64 = 10_000;

/// Equities far from one another that are held at most.
const MOST_LEVELS: usize = 8;

/// A read that is not settled yet.
#[derive(Debug, Clone)]
struct Held {
    cash: Cash,
    /// When the first one of these was.
    since_ms: u64,
    /// When the read began that showed the cash which this one has: a mode read since then is of that, however prices have leapt.
    moved_ms: u64,
    /// The highest equity that two of them agree on, but for one that came from nowhere.
    peak: Option<EquitySample>,
    /// Of the reads since then the last one at each equity: one of before a change of the purse, and those of the wrong one.
    levels: Vec<Cash>,
}

impl Held {
    fn note(&mut self, cash: &Cash) {
        self.levels.pop_if(|last| !jumps(last.equity, cash.equity));
        self.levels.push(cash.clone());
        let over = self.levels.len().saturating_sub(MOST_LEVELS);
        self.levels.drain(..over);
    }

    /// Takes in a read that agrees with the held one.
    fn agree(&mut self, cash: &Cash) {
        let lower = if cash.equity < self.cash.equity { cash } else { &self.cash };
        if self.peak.is_none_or(|peak| lower.equity > peak.equity) {
            self.peak = Some(EquitySample { at_ms: lower.at_ms, equity: lower.equity });
        }
    }
}

/// Cash that moved and was taken for what it looked like, though nobody had read the mode since.
#[derive(Debug, Clone)]
struct Doubt {
    /// The reads before and after it.
    before: Cash,
    after: Cash,
    /// A mode that was read from then on tells where it is kept.
    since_ms: u64,
}

/// The last read that was settled, and the one that is not yet.
#[derive(Debug, Clone, Default)]
pub(crate) struct Settled {
    last: Option<Cash>,
    held: Option<Held>,
    /// The last one, or the day's start, carried on over reads that did not tell the equity.
    carried: Option<Cash>,
    doubt: Option<Doubt>,
    /// The highest of the held reads, where it is above the settled one, once a mode that was read since tells that they were of
    /// this purse.
    peak: Option<EquitySample>,
}

impl Settled {
    /// The last read that sets marks.
    pub(crate) fn last(&self) -> Option<&Cash> {
        self.last.as_ref()
    }

    /// The last read before a change of the purse: one that is not settled, where it had lost and the first read after it shows the
    /// same, for that loss was no flow. What had come in may be of the change, and sets no mark.
    pub(crate) fn before_change(&self, account: &AccountView, equity: Decimal) -> Option<&Cash> {
        let last = self.last.as_ref()?;
        // What was closed went at the price that the last read showed: prices of another moment could tell anything.
        let is_same = |cash: &Cash| !jumps(cash.carried_to(account, |_| None).equity, equity);
        let mut unsettled = self.held.iter().flat_map(|held| held.levels.iter().rev());
        unsettled.find(|cash| cash.equity < last.equity && is_same(cash)).or(Some(last))
    }

    /// The last settled equity, while reads show a higher one that came from nowhere.
    pub(crate) fn before_windfall(&self) -> Option<Decimal> {
        let (last, held) = (self.last.as_ref()?, self.held.as_ref()?);
        is_windfall(last, &held.cash).then_some(last.equity)
    }

    /// Takes a read for settled.
    pub(crate) fn settle(&mut self, cash: Option<Cash>) {
        (self.last, self.held, self.carried, self.peak) = (cash, None, None, None);
    }

    /// The equity of an account that was read without it. What was closed counts at the first prices that are of after the read
    /// which shows it, where `is_priced`.
    pub(crate) fn carry(
        &mut self,
        account: &AccountView,
        price: impl Fn(u32) -> Option<Decimal>,
        is_priced: bool,
    ) -> Option<Decimal> {
        let before = self.carried.as_ref().or(self.last.as_ref())?;
        // It holds no flow of since the read that did tell the equity.
        let carried = before.carried_to(account, price).at_time(before.at_ms);
        let equity = carried.equity;
        if is_priced {
            self.carried = Some(carried);
        }
        Some(equity)
    }

    /// Has what was read without its equity be carried on from this, where no read of this life has told it.
    pub(crate) fn carry_from(&mut self, cash: impl FnOnce() -> Option<Cash>) {
        if self.last.is_none() && self.carried.is_none() {
            self.carried = cash();
        }
    }

    /// Takes a read in; whether it sets marks. `mode_ms` is when the last read of the mode began.
    pub(crate) fn add(&mut self, cash: &Cash, mode_ms: u64, now_ms: u64) -> bool {
        self.carried = None;
        let Some(last) = &self.last else {
            self.settle(Some(cash.clone()));
            return true;
        };
        let (is_like, is_back) = (cash.is_like(last), cash.is_like(last) && cash.has_sizes_of(last));
        if jumps(last.equity, cash.equity) {
            let (since_ms, moved_ms) = (now_ms, cash.begun_ms);
            let held = self.held.get_or_insert(Held {
                cash: cash.clone(),
                since_ms,
                moved_ms,
                peak: None,
                levels: Vec::new(),
            });
            held.note(cash);
            if !cash.is_like(&held.cash) {
                // How long prices have leapt says nothing of cash that moved only now.
                held.since_ms = now_ms;
            }
            let is_first = held.cash.begun_ms == cash.begun_ms;
            let is_same = !is_first && !jumps(held.cash.equity, cash.equity);
            let is_windfall = is_windfall(last, cash);
            let is_known = is_like || mode_ms >= held.moved_ms && !is_windfall;
            if is_same && !is_windfall {
                held.agree(cash);
            }
            if !(is_same && is_known) && now_ms.saturating_sub(held.since_ms) < MAX_HELD_MS {
                if !is_same {
                    if !cash.is_like(&held.cash) {
                        held.moved_ms = cash.begun_ms;
                    }
                    held.cash = cash.clone();
                }
                return false;
            }
            let since_ms = held.moved_ms;
            if mode_ms < since_ms && !is_like {
                // What moved before and is as much in doubt may have come back.
                let doubt = self.doubt.take().filter(|doubt| mode_ms < doubt.since_ms);
                let before = doubt.map_or_else(|| last.clone(), |doubt| doubt.before);
                self.doubt = (!cash.is_like(&before)).then(|| Doubt { before, after: cash.clone(), since_ms });
            }
        }
        // What was held and is gone again with nothing to show for it was none of the account's.
        let told = self.held.take().filter(|held| mode_ms >= held.moved_ms && !is_back);
        self.settle(Some(cash.clone()));
        self.peak = told.and_then(|held| held.peak).filter(|peak| peak.equity > cash.equity);
        true
    }

    /// The highest equity that was held until now and turned out to be of this purse, once.
    pub(crate) fn take_peak(&mut self) -> Option<EquitySample> {
        self.peak.take()
    }

    /// Whether cash jumped that may be kept somewhere else: the mode, last asked for at `mode_ms`, was not read since.
    pub(crate) fn is_purse_doubted(&self, mode_ms: u64) -> bool {
        let (Some(last), Some(held)) = (&self.last, &self.held) else { return false };
        !held.cash.is_like(last) && mode_ms < held.moved_ms
    }

    /// The same, however long ago it jumped, as long as the ledger does not tell of it. No halt goes by this.
    pub(crate) fn is_purse_unsure(&self, mode_ms: u64) -> bool {
        self.is_purse_doubted(mode_ms) || self.doubt.as_ref().is_some_and(|doubt| mode_ms < doubt.since_ms)
    }

    pub(crate) fn shift(&mut self, flow: &Transfer) {
        let held = self.held.iter_mut().flat_map(|held| held.levels.iter_mut().chain([&mut held.cash]));
        self.last.iter_mut().chain(held).chain(&mut self.carried).for_each(|cash| cash.shift(flow));
        self.held.iter_mut().filter_map(|held| held.peak.as_mut()).for_each(|peak| peak.move_with(flow));
        if let Some(doubt) = &mut self.doubt {
            [&mut doubt.before, &mut doubt.after].into_iter().for_each(|cash| cash.shift(flow));
        }
        self.doubt.take_if(|doubt| doubt.after.is_like(&doubt.before));
    }
}

/// Whether cash that came with nothing traded more than doubled the account: a deposit, of which the ledger tells soon, or reads
/// that are wrong.
fn is_windfall(last: &Cash, cash: &Cash) -> bool {
    cash.equity > last.equity.saturating_mul(WINDFALL) && cash.has_sizes_of(last) && !cash.is_like(last)
}

/// Whether an equity is far from the one before.
pub(crate) fn jumps(before: Decimal, equity: Decimal) -> bool {
    equity.saturating_sub(before).abs() > percent_of(before.abs(), JUMP_PCT)
}
