//! The owner's rules as agents are shown them. Whoever starts the server reads the code of the rules and hands them in:
//! this room shows them and knows none.

use std::collections::BTreeSet;

use rust_decimal::Decimal;

/// Reads the code of the owner's rules; `None` for a code of another version.
pub type ReadRules = fn(&str) -> Option<OwnerRules>;

/// The owner's rules.
#[derive(Debug)]
pub struct OwnerRules {
    /// Every rule, in the order in which they are listed.
    pub list: Vec<RuleInWords>,
    /// The markets in which entries are allowed; `None` is every market.
    pub markets: Option<BTreeSet<String>>,
    /// Percent from the mid beyond which an entry's price is pulled back.
    pub collar: Decimal,
    /// Percent of equity of all positions together.
    pub exposure: Decimal,
}

/// One rule.
#[derive(Debug)]
pub struct RuleInWords {
    /// Its key.
    pub key: &'static str,
    /// Its value as JSON.
    pub value: String,
    /// Its meaning with this value.
    pub words: String,
    /// The value, where it is a percentage of equity.
    pub percent_of_equity: Option<Decimal>,
}

impl OwnerRules {
    /// Whether entries are allowed in a market.
    pub(super) fn allows(&self, coin: &str) -> bool {
        self.markets.as_ref().is_none_or(|markets| markets.contains(coin))
    }
}
