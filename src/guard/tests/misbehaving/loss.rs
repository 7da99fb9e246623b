//! A loss, as far as the reads of the account can tell of it.
//!
//! Money that moved between two reads, and what was won or lost between them, came in an order that no read shows; and a loss is
//! a larger share of what a withdrawal left than of what was there before it. So the loss is counted twice: by the order that
//! makes it least, and by the one that makes it most. What is lost by the first must fire, what is not by the second must not.

use rust_decimal::{Decimal, dec};

use super::super::simulation::books::{Books, COINS};

const DECIMALS: u32 = 12;
/// Of nothing no loss is a share.
const LEAST_EQUITY: Decimal = dec!(1);

/// What a share of the account is worth by one way to count, with 1 at the start.
#[derive(Clone, Copy)]
struct Path {
    px: Decimal,
    /// At the read before.
    before: Decimal,
    peak: Decimal,
}

/// The loss since the last read that set it, by both ways to count.
pub(super) struct Loss {
    kindest: Path,
    harshest: Path,
    /// The last read of the account that showed the truth.
    last: Option<Books>,
    /// What flowed since then, and whether the account changed its purse.
    flows: Vec<Decimal>,
    has_changed_mode: bool,
    /// Whether it is measured from the highest that was reached, or from the start.
    is_drawdown: bool,
}

impl Loss {
    pub(super) fn new(is_drawdown: bool) -> Self {
        let path = Path { px: dec!(1), before: dec!(1), peak: dec!(1) };
        let (last, flows) = (None, Vec::new());
        Self { kindest: path, harshest: path, last, flows, has_changed_mode: false, is_drawdown }
    }

    /// Whether anything was read yet.
    pub(super) fn is_read(&self) -> bool {
        self.last.is_some()
    }

    /// Whether the last read showed the sizes that are held now: what was opened and closed since then no read tells of.
    pub(super) fn has_read_size(&self, books: &Books) -> bool {
        self.last.as_ref().is_some_and(|last| COINS.iter().all(|coin| last.held(coin) == books.held(coin)))
    }

    pub(super) fn flowed(&mut self, usd: Decimal) {
        self.flows.push(usd);
    }

    pub(super) fn mode_changed(&mut self) {
        self.has_changed_mode = true;
    }

    /// A read of the account shows these books.
    pub(super) fn read(&mut self, books: &Books) {
        let (kind, harsh) = self.factors(books);
        self.kindest.px = (self.kindest.px * kind).round_dp(DECIMALS);
        self.harshest.px = (self.harshest.px * harsh).round_dp(DECIMALS);
        // One read that leaps sets no peak.
        self.kindest.peak = self.kindest.peak.max(self.kindest.px.min(self.kindest.before));
        self.kindest.before = self.kindest.px;
        self.last = Some(books.clone());
        (self.flows, self.has_changed_mode) = (Vec::new(), false);
    }

    /// What is lost now at the least and at the most, as a share.
    pub(super) fn now(&mut self, books: &Books) -> (Decimal, Decimal) {
        let (kind, harsh) = self.factors(books);
        let harshest_px = self.harshest.px * harsh;
        self.harshest.peak = self.harshest.peak.max(harshest_px);
        let of = |path: &Path| if self.is_drawdown { path.peak } else { dec!(1) };
        (dec!(1) - self.kindest.px * kind / of(&self.kindest), dec!(1) - harshest_px / of(&self.harshest))
    }

    /// By how much a share moved since the last read, at the best and at the worst.
    fn factors(&self, books: &Books) -> (Decimal, Decimal) {
        let Some(last) = &self.last else { return (dec!(1), dec!(1)) };
        let was = last.equity();
        let flowed: Decimal = self.flows.iter().sum();
        let won = books.equity() - was - flowed;
        let sums = self.flows.iter().scan(was, |sum, usd| {
            *sum += usd;
            Some(*sum)
        });
        let bases = sums.chain([was]).map(|base| base.max(LEAST_EQUITY));
        let mut all: Vec<Decimal> = bases.map(|base| dec!(1) + won / base).collect();
        all.push(books.share_px() / last.share_px());
        if self.has_changed_mode {
            // What the equity differs by counts as a flow, but for what positions that stayed have won or lost.
            all.push(dec!(1) + won_on_what_stayed(last, books) / was.max(LEAST_EQUITY));
        }
        let most = |one: Decimal, other: Decimal| one.max(other);
        let least = |one: Decimal, other: Decimal| one.min(other);
        (all.iter().copied().fold(Decimal::MIN, most), all.iter().copied().fold(Decimal::MAX, least))
    }
}

fn won_on_what_stayed(last: &Books, books: &Books) -> Decimal {
    let of = |coin: &&'static str| {
        let (was, is) = (last.held(coin), books.held(coin));
        let stayed = if (was > Decimal::ZERO) == (is > Decimal::ZERO) { is } else { Decimal::ZERO };
        let kept = if was.is_zero() { Decimal::ZERO } else { (stayed / was).min(dec!(1)) };
        books.unrealized(coin) - last.unrealized(coin) * kept
    };
    COINS.iter().map(of).sum()
}
