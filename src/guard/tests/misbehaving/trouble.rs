//! Troubles: what misbehaves, how, and for how long.

use super::super::simulation::dice::Dice;

/// What misbehaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum On {
    Prices,
    Account,
    Orders,
    Ledger,
    Mode,
    Twaps,
    Markets,
    Status,
    Place,
    Cancel,
    EndTwap,
    /// A market's leverage setting.
    Leverage,
    /// How many requests the venue still takes.
    Allowance,
    /// A noop, which settles what has no answer.
    Burn,
    SetLeverage,
}

const ALL: [On; 15] = [
    On::Prices,
    On::Account,
    On::Orders,
    On::Ledger,
    On::Mode,
    On::Twaps,
    On::Markets,
    On::Status,
    On::Place,
    On::Cancel,
    On::EndTwap,
    On::Leverage,
    On::Allowance,
    On::Burn,
    On::SetLeverage,
];

/// What is read beside prices, account and orders, and may be of some time ago. Ledger and mode are not among them: an answer of
/// theirs from after a loss was read is what a halt goes by.
pub(super) const OF_BESIDE: [On; 2] = [On::Twaps, On::Status];

/// How it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum How {
    /// No answer comes; of an action nobody knows whether it was done.
    Hung,
    Slow,
    /// Of a read, no answer, be it 403, 429 or 502: the core hears of none; of an action, one that says that it was not done.
    Failing,
    /// The state of some time ago, which says so.
    Stale,
    /// The venue's time in the answer is wrong.
    Ahead,
    Behind,
    /// In one answer it is far off.
    FarOff,
    /// One read shows half of the equity or of the prices, two markets in each other's place, or no request left.
    Wrong,
    /// HTTP 502: done or not.
    Gateway,
    /// HTTP 403.
    Forbidden,
    /// Done, and answered with something of another kind.
    OtherText,
    /// The request is refused as a whole.
    Whole,
    /// Each order of it is.
    ByOrder,
    /// One status for all of them.
    OneStatus,
}

const OF_READS: [How; 4] = [How::Hung, How::Slow, How::Failing, How::OtherText];
const OF_THE_ACCOUNT: [How; 8] =
    [How::Hung, How::Slow, How::Failing, How::OtherText, How::Stale, How::Ahead, How::Behind, How::Wrong];
const OF_THE_FIRST_ACCOUNT: [How; 4] = [How::Wrong, How::FarOff, How::Stale, How::Slow];
const OF_ACTIONS: [How; 9] = [
    How::Hung,
    How::Slow,
    How::Failing,
    How::Gateway,
    How::Forbidden,
    How::OtherText,
    How::Whole,
    How::ByOrder,
    How::OneStatus,
];

#[derive(Clone, Copy, Debug)]
pub(super) struct Trouble {
    pub(super) on: On,
    pub(super) how: How,
    pub(super) from_ms: u64,
    pub(super) until_ms: u64,
}

impl Trouble {
    pub(super) fn draw(begins_ms: u64, dice: &mut Dice) -> Self {
        let on = dice.pick(&ALL);
        let how = match on {
            On::Account => dice.pick(&OF_THE_ACCOUNT),
            On::Prices => dice.pick(&[How::Hung, How::Slow, How::Failing, How::OtherText, How::Stale, How::Wrong]),
            On::Orders => dice.pick(&[How::Hung, How::Slow, How::Failing, How::OtherText, How::Stale]),
            On::Markets => dice.pick(&[How::Hung, How::Slow, How::Failing, How::OtherText, How::Stale, How::Wrong]),
            On::Allowance => dice.pick(&[How::Hung, How::Failing, How::Wrong]),
            On::Place | On::Cancel | On::EndTwap | On::Burn | On::SetLeverage => dice.pick(&OF_ACTIONS),
            _ => dice.pick(&OF_READS),
        };
        let from_ms = begins_ms + 2_000 + dice.roll(8_000);
        let longest = if dice.one_in(3) { 25_000 } else { 6_000 };
        let until_ms = from_ms + 500 + dice.roll(longest);
        Self { on, how, from_ms, until_ms }
    }

    /// One that begins with the very first answer: mostly the account's, which all is measured by from then on.
    pub(super) fn first(begins_ms: u64, dice: &mut Dice) -> Self {
        let drawn = Self::draw(begins_ms, dice);
        let until_ms = begins_ms + 500 + dice.roll(6_000);
        let first = Self { from_ms: begins_ms, until_ms, ..drawn };
        // No equity is read before the mode was.
        if dice.one_in(3) && drawn.on != On::Mode {
            first
        } else {
            Self { on: On::Account, how: dice.pick(&OF_THE_FIRST_ACCOUNT), ..first }
        }
    }

    /// One of the reads beside the steady ones tells how things were some time ago, of actions of which nobody heard an answer too.
    pub(super) fn stale(begins_ms: u64, dice: &mut Dice) -> Vec<Self> {
        let on = dice.pick(&OF_BESIDE);
        let from_ms = begins_ms + 2_000 + dice.roll(8_000);
        let until_ms = from_ms + 1_000 + dice.roll(25_000);
        let stale = Self { on, how: How::Stale, from_ms, until_ms };
        let unheard = Self { on: On::Place, how: dice.pick(&[How::Hung, How::Gateway]), ..stale };
        if on == On::Status || dice.one_in(4) { vec![stale, unheard] } else { vec![stale] }
    }

    /// What brings about what this one meets: a nonce is burnt only for an action that nobody answered.
    pub(super) fn company(&self, dice: &mut Dice) -> Option<Self> {
        let on = if dice.one_in(2) { On::Place } else { On::Cancel };
        (self.on == On::Burn).then(|| Self { on, how: dice.pick(&[How::Hung, How::Gateway]), ..*self })
    }
}
