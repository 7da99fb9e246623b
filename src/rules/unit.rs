//! The units of the rules' values: how each is shown, and how a person may type it.

/// The unit of a rule's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Percent.
    Percent,
    /// USDC.
    Usdc,
    /// Seconds.
    Seconds,
    /// So many times.
    Times,
    /// A count of something.
    Number,
    /// Names of coins.
    Coins,
}

impl Unit {
    /// Those that can stand behind a number.
    pub const WRITTEN: [Unit; 4] = [Unit::Percent, Unit::Usdc, Unit::Seconds, Unit::Times];

    /// What stands behind a value in words.
    pub(super) fn shown(self) -> &'static str {
        match self {
            Unit::Percent => "%",
            Unit::Usdc => " USDC",
            Unit::Seconds => " s",
            Unit::Times | Unit::Number | Unit::Coins => "",
        }
    }

    /// The forms in which a person may type it behind a number.
    #[must_use]
    pub fn forms(self) -> &'static [&'static str] {
        match self {
            Unit::Percent => &["%"],
            Unit::Usdc => &["USDC", "usdc"],
            Unit::Seconds => &["s"],
            Unit::Times => &["x", "×"],
            Unit::Number | Unit::Coins => &[],
        }
    }

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Unit::Percent => "percent",
            Unit::Usdc => "USDC",
            Unit::Seconds => "seconds",
            Unit::Times => "times, x",
            Unit::Number => "a number without a unit",
            Unit::Coins => "coins",
        }
    }
}
