//! Keys of rows, told apart from the report's own words: a market or a client may be called like one of them.

use std::borrow::Cow;

/// The row of what is nobody's, in texts.
const NOBODY: &str = "(nobody)";
/// The row of all rows together, in texts.
pub(super) const TOTAL: &str = "(total)";
/// What comes on top of the names that are told apart.
pub(super) const OTHERS: &str = "(others)";

/// What a row stands for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Key {
    /// What is nobody's.
    Nobody,
    /// A day, a market or a client.
    Named(String),
    /// All that come on top of those that are told apart.
    Others,
}

impl Key {
    /// This one, or nobody.
    pub(super) fn of(name: Option<&str>) -> Key {
        name.map_or(Key::Nobody, |name| Key::Named(name.to_owned()))
    }

    /// The name, where it is one.
    pub(super) fn name(&self) -> Option<&str> {
        match self {
            Key::Named(name) => Some(name),
            Key::Nobody | Key::Others => None,
        }
    }

    /// In csv and in a table, where it stands beside the report's own words.
    pub(super) fn text(&self) -> String {
        match self {
            Key::Nobody => NOBODY.to_owned(),
            Key::Named(name) => beside_own_words(name).into_owned(),
            Key::Others => OTHERS.to_owned(),
        }
    }
}

/// A name as it stands where the report's own words may stand as well: these are in parentheses, so a name that begins with one is
/// in quotes, and so is one that begins with a quote.
pub(super) fn beside_own_words(name: &str) -> Cow<'_, str> {
    if name.starts_with(['(', '"']) { Cow::Owned(format!("\"{name}\"")) } else { Cow::Borrowed(name) }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn no_two_keys_have_the_same_text() {
        let names = [TOTAL, OTHERS, NOBODY, "\"(total)\"", "\"\"(total)\"\"", "(", "\"", "", "ETH", "'=x", "=x"];
        let keys = names.into_iter().map(|name| Key::of(Some(name))).chain([Key::Nobody, Key::Others]);
        let texts: BTreeSet<String> = keys.map(|key| key.text()).chain([TOTAL.to_owned()]).collect();
        assert_eq!(texts.len(), names.len() + 3, "{texts:?}");
        assert_eq!(Key::of(Some("ETH")).text(), "ETH");
    }
}
