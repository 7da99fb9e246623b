//! The nature of the world that a game is played in: the rules, how the venue and the way to it behave, and what the client is fond of.
//!
//! Half of the worlds are honest: everything answers soon and truly. Each of the others has one thing wrong with it, so that
//! what a game shows has one cause.

use rust_decimal::dec;

use super::super::simulation::dice::Dice;
use super::super::simulation::push::Manner;
use super::super::simulation::venue::Manners;
use super::moves::Move;
use crate::rules::Rules;

/// What answers come to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Traffic {
    /// Clients' actions.
    Clients,
    /// The guard's own.
    Own,
    /// Reads of the account.
    Account,
    /// Reads of the open orders.
    Orders,
    /// Reads of the prices.
    Prices,
    /// Reads of the leverage settings.
    Settings,
    /// Questions after an order's status.
    Statuses,
    /// Reads of the ledger and the account's mode.
    Ledger,
}

impl Traffic {
    const ALL: [Self; 8] = [
        Self::Clients,
        Self::Own,
        Self::Account,
        Self::Orders,
        Self::Prices,
        Self::Settings,
        Self::Statuses,
        Self::Ledger,
    ];
}

/// An answer that lags shows what was so long ago at most.
pub(super) const LAG_MS: u64 = 6_000;

/// What is wrong with the world beside the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Trouble {
    /// Nothing.
    None,
    /// Reads show what was.
    Lag,
    /// Answers of one kind come late, by so many milliseconds.
    Slow(Traffic, u64),
    /// Every third answer of one kind never comes.
    Hangs(Traffic),
    /// What trades stands apart from the marks at times.
    Apart,
    /// Answers are lost.
    Loss,
    /// Fills come in parts, and what must fill at once finds nobody.
    Thin,
    /// Stops are refused.
    Refusals,
    /// Few orders may rest.
    FullBook,
    /// The account turns out to have so few requests left.
    Allowance(u64),
    /// The open orders can no longer be read.
    Blind,
}

impl Trouble {
    /// Whether answers of this kind come late or never.
    pub(super) fn is_of(self, kind: Traffic) -> bool {
        matches!(self, Self::Slow(other, _) | Self::Hangs(other) if other == kind)
    }
}

/// How a game ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    /// As it began.
    Quiet,
    /// The owner pulls the kill switch.
    Kill,
    /// The price falls or rises by much.
    Crash,
}

/// What kind of world a game is played in.
#[derive(Debug, Clone)]
pub(super) struct Nature {
    pub(super) rules: Rules,
    pub(super) trouble: Trouble,
    pub(super) manners: Manners,
    pub(super) ending: Ending,
    /// How the venue's live feed is, where there is one.
    pub(super) feed: Option<Manner>,
    pub(super) clients: u8,
    /// The guard dies now and then.
    pub(super) has_restarts: bool,
    pub(super) steps: u64,
    /// How long a step takes at most.
    pub(super) pace_ms: u64,
    /// What the client does, each as often as it stands here.
    pub(super) fond_of: Vec<Move>,
}

impl Nature {
    pub(super) fn draw(dice: &mut Dice) -> Self {
        let trouble = trouble(dice);
        Self {
            rules: rules(dice),
            trouble,
            manners: manners(trouble, dice),
            ending: dice.pick(&[Ending::Quiet, Ending::Quiet, Ending::Kill, Ending::Crash]),
            feed: None,
            clients: u8::try_from(1 + dice.roll(3)).unwrap_or(1),
            has_restarts: dice.one_in(10),
            // What was read once is known for a while: a world that shows nothing more is played beyond that.
            steps: if trouble == Trouble::Blind { 40 } else { 6 + dice.roll(16) },
            pace_ms: if trouble == Trouble::Blind { 1_500 } else { dice.pick(&[80, 400, 900, 1_500]) },
            fond_of: fond_of(trouble, dice),
        }
    }

    /// How much longer than in an honest world what is promised may take here.
    pub(super) fn slack_ms(&self) -> u64 {
        let restarts = if self.has_restarts { 2_000 } else { 0 };
        restarts
            + self.feed.map_or(0, |feed| feed.slack_ms())
            + match self.trouble {
                Trouble::None | Trouble::Allowance(_) | Trouble::Apart => 0,
                Trouble::Slow(Traffic::Clients, ms) => ms,
                // One that hangs, and the next.
                Trouble::Hangs(_) => 10_000,
                Trouble::Lag => LAG_MS,
                Trouble::Slow(_, ms) => 3 * ms,
                Trouble::FullBook => 4_000,
                Trouble::Thin | Trouble::Refusals | Trouble::Loss | Trouble::Blind => 60_000,
            }
    }
}

impl Nature {
    /// How much longer than what else is promised a flatten may take here: an account without allowance may send one
    /// request in ten seconds, and a flatten takes a few.
    pub(super) fn flat_slack_ms(&self) -> u64 {
        if matches!(self.trouble, Trouble::Allowance(_)) { 40_000 } else { 0 }
    }
}

/// A few kinds of move again and again, and some of the others; where a trouble is of use to a client, those that use it.
fn fond_of(trouble: Trouble, dice: &mut Dice) -> Vec<Move> {
    let mut fond_of = vec![Move::Entry, Move::Entry, Move::Entry, Move::Drift, Move::Drift];
    match trouble {
        Trouble::FullBook => fond_of.extend([Move::Profits, Move::Profits]),
        Trouble::Slow(Traffic::Clients, _) | Trouble::Hangs(Traffic::Clients) => {
            fond_of.extend([Move::Modify, Move::Modify, Move::FalseStops, Move::FalseStops, Move::BareBehindStops]);
        }
        _ => {}
    }
    for _ in 0..2 + dice.roll(4) {
        fond_of.extend([dice.pick(&Move::ALL); 4]);
    }
    fond_of.extend(Move::ALL.iter().filter(|_| dice.one_in(6)));
    fond_of
}

fn rules(dice: &mut Dice) -> Rules {
    let base = Rules { orders_per_minute: 1_200, duplicate_window: dec!(0), ..Rules::default() };
    match dice.roll(6) {
        0 => Rules { loss_per_trade: dec!(0.5), open_risk: dec!(1), ..base },
        1 => Rules { open_orders: 3, ..base },
        2 => Rules { exposure: dec!(120), ..base },
        3 => Rules { daily_loss: dec!(1), drawdown: dec!(3), ..base },
        4 => Rules { position: dec!(50), order_value: Some(dec!(2000)), stop: dec!(1), ..base },
        _ => base,
    }
}

fn trouble(dice: &mut Dice) -> Trouble {
    match dice.roll(24) {
        0 => Trouble::Lag,
        1..=3 => Trouble::Slow(dice.pick(&Traffic::ALL), dice.pick(&[400, 1_500, 2_500])),
        4 | 5 => Trouble::Hangs(dice.pick(&Traffic::ALL)),
        6 => Trouble::Loss,
        7 => Trouble::Thin,
        8 => Trouble::Refusals,
        9 => Trouble::FullBook,
        10 => Trouble::Allowance(40 + dice.roll(100)),
        11 if dice.one_in(2) => Trouble::Blind,
        12 => Trouble::Apart,
        _ => Trouble::None,
    }
}

fn manners(trouble: Trouble, dice: &mut Dice) -> Manners {
    let honest = Manners {
        refuses_stop: 0,
        misses: 0,
        is_thin: 0,
        fills_in_part: 0,
        cuts_stop: 0,
        takes_idle_triggers: dice.one_in(2),
        most_orders: 1_000,
    };
    match trouble {
        Trouble::Thin => Manners { is_thin: 3, fills_in_part: 2, cuts_stop: 6, misses: 6, ..honest },
        Trouble::Refusals => Manners { refuses_stop: 3, ..honest },
        Trouble::FullBook => Manners { most_orders: 16, fills_in_part: 2, ..honest },
        _ => honest,
    }
}
