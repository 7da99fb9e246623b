//! The one table of rules: a row a key, with its range, its words and which way is looser.

use crate::base::amount::{parse_setting, to_wire};
use std::collections::BTreeSet;

use rust_decimal::{Decimal, RoundingStrategy};
use serde_json::Value;

use super::error::Problem;
use super::markets::{Coin, MAX_COINS, Markets};
use super::owner_rules::Rules;
use super::raw::Raw;
use super::unit::Unit;

/// Which way a value is looser.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Looser {
    /// A higher value allows more.
    Higher,
    /// A lower value allows more.
    Lower,
}

/// Lowest and highest allowed value, and the digits allowed after the point.
struct Span {
    min: Decimal,
    max: Decimal,
    places: u32,
}

/// Where a rule's value lives in [`Rules`], and its range.
enum Slot {
    Amount { get: fn(&Rules) -> Decimal, set: fn(&mut Rules, Decimal), span: Span },
    OptionalAmount { get: fn(&Rules) -> Option<Decimal>, set: fn(&mut Rules, Option<Decimal>), span: Span },
    Count { get: fn(&Rules) -> u32, set: fn(&mut Rules, u32), min: u32, max: u32 },
    Markets,
}

/// One rule.
pub(super) struct Row {
    /// The key in the code and in TOML.
    pub(super) key: &'static str,
    slot: Slot,
    looser: Looser,
    /// The unit of its value.
    pub(super) unit: Unit,
    /// The rule in words; `{}` stands for the value with its unit.
    words: &'static str,
}

/// A decimal rule, `min` and `max` in units of its last allowed digit.
macro_rules! amount {
    ($key:ident, $min:literal..=$max:literal, places $places:literal, $unit:ident, $looser:ident, $words:literal) => {
        Row {
            key: stringify!($key),
            slot: Slot::Amount {
                get: |rules| rules.$key,
                set: |rules, value| rules.$key = value,
                span: span($min, $max, $places),
            },
            looser: Looser::$looser,
            unit: Unit::$unit,
            words: $words,
        }
    };
}

/// A whole-number rule.
macro_rules! count {
    ($key:ident, $min:literal..=$max:literal, $unit:ident, $looser:ident, $words:literal) => {
        Row {
            key: stringify!($key),
            slot: Slot::Count { get: |rules| rules.$key, set: |rules, value| rules.$key = value, min: $min, max: $max },
            looser: Looser::$looser,
            unit: Unit::$unit,
            words: $words,
        }
    };
}

const fn span(min: u32, max: u32, places: u32) -> Span {
    Span {
        min: Decimal::from_parts(min, 0, 0, false, places),
        max: Decimal::from_parts(max, 0, 0, false, places),
        places,
    }
}

/// Every rule, sorted by key: the order of the canonical JSON.
pub(super) const ROWS: &[Row] = &[
    amount!(collar, 1..=5_000, places 2, Percent, Higher, "an entry's price beyond the mid (a buy's above, a sell's below) is pulled to within {} of the mid"),
    amount!(daily_loss, 1..=10_000, places 2, Percent, Higher, "everything is closed for the day at a loss of {} of the day's starting equity"),
    amount!(drawdown, 1..=10_000, places 2, Percent, Higher, "everything is closed and trading stops {} below the peak equity"),
    // A longer window catches more repeats, so the shorter one is looser.
    amount!(duplicate_window, 0..=3_600_000, places 3, Seconds, Lower, "the same entry again within {} is refused"),
    amount!(exposure, 100..=1_000_000, places 2, Percent, Higher, "all markets together are held to {} of equity"),
    count!(leverage, 1..=100, Times, Higher, "a market's leverage setting is at most {}"),
    amount!(loss_per_trade, 1..=10_000, places 2, Percent, Higher, "a market's stop loses at most {} of equity"),
    // Looser is any market that the other does not allow.
    Row {
        key: "markets",
        slot: Slot::Markets,
        looser: Looser::Higher,
        unit: Unit::Coins,
        words: "entries are allowed in {}",
    },
    amount!(max_stop, 5..=5_000, places 2, Percent, Higher, "a stop is at most {} from the price"),
    count!(open_orders, 1..=1_000, Number, Higher, "at most {} entries are open at one time"),
    amount!(open_risk, 1..=10_000, places 2, Percent, Higher, "all stops together lose at most {} of equity"),
    // No limit is the loosest value.
    Row {
        key: "order_value",
        slot: Slot::OptionalAmount {
            get: |rules| rules.order_value,
            set: |rules, value| rules.order_value = value,
            span: Span { min: Decimal::TEN, max: Decimal::from_parts(1_000_000_000, 0, 0, false, 0), places: 2 },
        },
        looser: Looser::Higher,
        unit: Unit::Usdc,
        words: "one order is worth at most {}",
    },
    count!(orders_per_minute, 1..=1_200, Number, Higher, "at most {} entries are sent in a minute"),
    amount!(position, 100..=1_000_000, places 2, Percent, Higher, "one market is held to {} of equity"),
    // A wider stop lets a position run further into its loss, so the wider one is looser.
    amount!(stop, 5..=5_000, places 2, Percent, Higher, "a stop that is missing is attached {} from the price"),
];

impl Row {
    /// The value as the canonical JSON writes it.
    pub(super) fn json(&self, rules: &Rules) -> Value {
        match &self.slot {
            Slot::Amount { get, .. } => Value::String(to_wire(get(rules))),
            Slot::OptionalAmount { get, .. } => get(rules).map_or(Value::Null, |value| Value::String(to_wire(value))),
            Slot::Count { get, .. } => Value::from(get(rules)),
            Slot::Markets => match &rules.markets {
                Markets::All => Value::from("all"),
                Markets::List(coins) => coins.iter().map(Coin::as_str).collect(),
            },
        }
    }

    /// The rule in words with its value.
    pub(super) fn words(&self, rules: &Rules) -> String {
        let value = match &self.slot {
            Slot::Amount { get, .. } => to_wire(get(rules)),
            Slot::OptionalAmount { get, .. } => match get(rules) {
                Some(value) => to_wire(value),
                None => return format!("{}: no limit", self.key.replace('_', " ")),
            },
            Slot::Count { get, .. } => get(rules).to_string(),
            Slot::Markets => match &rules.markets {
                Markets::All => "every core perp".to_owned(),
                Markets::List(coins) => {
                    let listed = coins.iter().map(Coin::as_str).collect::<Vec<_>>().join(", ");
                    let likely: Vec<String> = coins.iter().filter_map(Coin::likely).collect();
                    match likely.as_slice() {
                        [] => listed,
                        [coin] => format!("{listed} (the venue writes its coins in capitals: is {coin} meant?)"),
                        coins => format!(
                            "{listed} (the venue writes its coins in capitals: are {} meant?)",
                            coins.join(", ")
                        ),
                    }
                }
            },
        };
        self.words.replace("{}", &format!("{value}{}", self.unit.shown()))
    }

    /// Whether it can be no limit.
    pub(super) fn is_optional(&self) -> bool {
        matches!(self.slot, Slot::OptionalAmount { .. })
    }

    /// Whether this rule is looser in `rules` than in `other`.
    pub(super) fn is_looser(&self, rules: &Rules, other: &Rules) -> bool {
        match &self.slot {
            Slot::Amount { get, .. } => self.exceeds(&get(rules), &get(other)),
            Slot::Count { get, .. } => self.exceeds(&get(rules), &get(other)),
            Slot::OptionalAmount { get, .. } => match (get(rules), get(other)) {
                (_, None) => false,
                (None, Some(_)) => true,
                (Some(value), Some(limit)) => self.exceeds(&value, &limit),
            },
            Slot::Markets => rules.markets.is_looser(&other.markets),
        }
    }

    /// The nearest value that it takes and that is no looser than this one; none where every one is.
    pub(super) fn near(&self, asked: Decimal) -> Option<Decimal> {
        let (min, max, places) = match &self.slot {
            Slot::Amount { span, .. } | Slot::OptionalAmount { span, .. } => (span.min, span.max, span.places),
            Slot::Count { min, max, .. } => (Decimal::from(*min), Decimal::from(*max), 0),
            Slot::Markets => return None,
        };
        match self.looser {
            Looser::Higher => Some(asked.round_dp_with_strategy(places, RoundingStrategy::ToZero).min(max)),
            Looser::Lower => Some(asked.round_dp_with_strategy(places, RoundingStrategy::AwayFromZero).max(min)),
        }
        .filter(|near| (min..=max).contains(near))
    }

    fn exceeds<T: PartialOrd>(&self, value: &T, limit: &T) -> bool {
        match self.looser {
            Looser::Higher => value > limit,
            Looser::Lower => value < limit,
        }
    }

    /// Puts a value as written into `rules`, or says what is allowed there.
    pub(super) fn read(&self, raw: &Raw, rules: &mut Rules) -> Result<(), Problem> {
        let refused = |allowed: String| Problem { key: self.key.to_owned(), value: raw.to_string(), allowed };
        match &self.slot {
            Slot::Amount { set, span, .. } => set(rules, span.read(raw).map_err(refused)?),
            Slot::OptionalAmount { set, span, .. } => match raw {
                Raw::Null => set(rules, None),
                _ => set(rules, Some(span.read(raw).map_err(refused)?)),
            },
            Slot::Count { set, min, max, .. } => match raw {
                Raw::Whole(number) if (i64::from(*min)..=i64::from(*max)).contains(number) => {
                    // Within a u32's range by the check above.
                    set(rules, u32::try_from(*number).unwrap_or(*max));
                }
                _ => return Err(refused(format!("must be a whole number from {min} to {max}"))),
            },
            Slot::Markets => rules.markets = read_markets(raw).map_err(refused)?,
        }
        Ok(())
    }
}

impl Span {
    fn read(&self, raw: &Raw) -> Result<Decimal, String> {
        let value = match raw {
            Raw::Text(text) => parse_setting(text),
            Raw::Whole(number) => u64::try_from(*number).ok().map(Decimal::from),
            _ => None,
        };
        match value.map(|value| value.normalize()) {
            Some(value) if value >= self.min && value <= self.max && value.scale() <= self.places => Ok(value),
            _ => Err(self.allowed()),
        }
    }

    fn allowed(&self) -> String {
        let (min, max) = (to_wire(self.min), to_wire(self.max));
        format!("must be a decimal in quotes from {min} to {max} with at most {} digits after the point", self.places)
    }
}

fn read_markets(raw: &Raw) -> Result<Markets, String> {
    let allowed = || {
        format!(
            "must be \"all\" or a list of 1 to {MAX_COINS} different coins as the venue spells its core perps \
             (letters and digits, at most 16)"
        )
    };
    match raw {
        Raw::Text(text) if text == "all" => Ok(Markets::All),
        Raw::List(items) if (1..=MAX_COINS).contains(&items.len()) => {
            let mut coins = BTreeSet::new();
            for item in items {
                let coin = match item {
                    // Whoever types it among coins means all of them.
                    Raw::Text(text) if text == "all" => None,
                    Raw::Text(text) => Coin::parse(text),
                    _ => None,
                };
                if !coin.is_some_and(|coin| coins.insert(coin)) {
                    return Err(format!("{item}: {}", allowed()));
                }
            }
            Ok(Markets::List(coins))
        }
        _ => Err(allowed()),
    }
}
