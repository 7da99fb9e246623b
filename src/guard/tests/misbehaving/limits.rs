//! The halts: what fires must be lost, and what is lost must fire.

use rust_decimal::{Decimal, dec};

use super::super::simulation::books::Books;
use super::checks::{NEXT_READ_MS, PROMISED_MS};
use super::loss::Loss;
use super::trouble::{How, On};
use super::world::STEP_MS;

/// A flow that the ledger may not show yet, and a change of the mode, make a loss beside them unsure for so long: the ledger
/// shows it up to two seconds late, and is read two seconds after the cash was seen to move.
const UNSURE_MS: u64 = 5_000;
/// What neither the ledger nor the mode explains within so long counts as lost.
const MAX_DOUBT_MS: u64 = 10_000;
/// The share of the limit at which a loss is surely none yet, and surely one: the guard rounds.
const NEAR: Decimal = dec!(0.99);
const BEYOND: Decimal = dec!(1.01);

/// Money that moved, or the purse it is in.
struct Moved {
    at_ms: u64,
    /// The read that explains it, and from when on it does.
    on: On,
    shows_ms: u64,
    /// When one that did arrived.
    told_ms: Option<u64>,
}

pub(super) struct Limits {
    pub(super) loss: Loss,
    /// The share that may be lost of the day's start, or of the peak.
    limit: Decimal,
    moved: Vec<Moved>,
    /// The times between which answers of the account were dated wrongly.
    misdated: Vec<(u64, u64)>,
    /// Nothing that tells where the equity went answers in time before this.
    explained_from: u64,
    lost_since: Option<u64>,
    /// A loss that came at once is doubted until then.
    doubted_until: u64,
    /// Ledger and mode, which such a loss waits for, are read this long.
    slow_until: u64,
    was_near: bool,
    was_active: bool,
    /// By how much later everything may be known.
    pub(super) slack_ms: u64,
}

impl Limits {
    pub(super) fn new(is_drawdown: bool, limit: Decimal) -> Self {
        let (moved, misdated, loss) = (Vec::new(), Vec::new(), Loss::new(is_drawdown));
        Self {
            loss,
            limit,
            moved,
            misdated,
            explained_from: 0,
            lost_since: None,
            doubted_until: 0,
            slow_until: 0,
            was_near: false,
            was_active: true,
            slack_ms: 0,
        }
    }

    /// Something moved that this read explains from `shows_ms` on.
    pub(super) fn moved(&mut self, at_ms: u64, on: On, shows_ms: u64) {
        self.moved.push(Moved { at_ms, on, shows_ms, told_ms: None });
    }

    /// Much was lost in one moment, and closed, perhaps: once it is read the ledger is waited for. Opened and closed between two reads
    /// it looks like a withdrawal that the ledger does not tell of.
    pub(super) fn lost_at_once(&mut self, now: u64, is_hidden: bool) {
        self.doubted_until = now + NEXT_READ_MS + if is_hidden { MAX_DOUBT_MS } else { 0 };
    }

    /// An answer of the account says to be of another time than this.
    pub(super) fn misdated(&mut self, now: u64, named_ms: u64) {
        self.misdated.push((now.min(named_ms), now.max(named_ms)));
    }

    /// A read begins that ends at `until`.
    pub(super) fn read(&mut self, now: u64, on: On, trouble: Option<How>, until: u64) {
        if matches!(trouble, None | Some(How::Slow)) {
            let told = self.moved.iter_mut().filter(|moved| moved.on == on && moved.shows_ms <= now);
            told.for_each(|moved| _ = moved.told_ms.get_or_insert(until));
            if trouble.is_some() && matches!(on, On::Ledger | On::Mode) {
                self.slow_until = until;
            }
        } else if matches!(on, On::Ledger | On::Mode) {
            self.explained_from = self.explained_from.max(until.max(now + 1_000) + 1_000);
        }
    }

    /// What is wrong with the state of the risk, if something is; `account_from` is from when on the account shows the truth.
    pub(super) fn look(&mut self, now: u64, is_active: bool, account_from: u64, books: &Books) -> Option<String> {
        let (least, most) = self.loss.now(books);
        let (least, most) = (least / self.limit, most / self.limit);
        self.was_near |= most >= NEAR;
        self.lost_since = (least >= BEYOND).then(|| self.lost_since.unwrap_or(now));
        let has_fired = std::mem::replace(&mut self.was_active, is_active) && !is_active;
        if has_fired && !self.was_near && !self.is_unexplained(now) && !self.is_misdated() {
            return Some(format!("a halt without a loss: {least:.3} to {most:.3} of the limit"));
        }
        let lost_since = self.lost_since?;
        let from = lost_since.max(account_from).max(self.doubted_until);
        let slow_until = if self.doubted_until > lost_since { self.slow_until } else { 0 };
        let explained_from = self.explained_from.max(slow_until);
        let from = from.max(self.unsure_until()).max(explained_from.min(from + MAX_DOUBT_MS));
        (is_active && now > from + PROMISED_MS + self.slack_ms)
            .then(|| format!("{least:.3} to {most:.3} of the limit are lost, and nothing fires"))
    }

    /// Whether something moved that nothing explains, and it or what moved shortly before it so long ago that it counts as lost:
    /// what moves beside a doubt does not begin another.
    fn is_unexplained(&self, now: u64) -> bool {
        // What arrives in this moment may come after what fired.
        let is_late = |moved: &Moved| moved.told_ms.is_none_or(|told_ms| told_ms + STEP_MS > now);
        let began_ms = |late: &Moved| {
            let before = self.moved.iter().rev().filter(|other| other.at_ms <= late.at_ms);
            before.map(|other| other.at_ms).take_while(|at_ms| at_ms + MAX_DOUBT_MS > late.at_ms).last()
        };
        let mut late = self.moved.iter().filter(|moved| is_late(moved)).filter_map(began_ms);
        late.any(|at_ms| at_ms + MAX_DOUBT_MS <= now)
    }

    /// Whether something moved between the time that an answer named and the time that it was of: whether it is in that answer
    /// no read can tell.
    fn is_misdated(&self) -> bool {
        let is_within = |at_ms: u64| self.misdated.iter().any(|(from, to)| (*from..=*to).contains(&at_ms));
        self.moved.iter().any(|moved| is_within(moved.at_ms))
    }

    /// Until when what moved may be what looks like a loss.
    fn unsure_until(&self) -> u64 {
        let told = |moved: &Moved| moved.told_ms.unwrap_or(u64::MAX).max(moved.at_ms + UNSURE_MS);
        self.moved.iter().map(|moved| told(moved).min(moved.at_ms + MAX_DOUBT_MS)).max().unwrap_or_default()
    }
}
