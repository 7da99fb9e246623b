//! Rules as text: the `sr1_` code both ways, and the owner's TOML.
//!
//! A code is the sealed text of the canonical JSON: every key, sorted, no white space, decimals as their shortest
//! strings.

use super::error::{Problem, Problems, RulesError};
use super::owner_rules::Rules;
use super::raw::Raw;
use super::table::{ROWS, Row};
use crate::base::sealed::{self, CodeError};
use crate::base::shell::numbered;
use crate::base::text::{nearest, pasted_quotes, short, start};

/// What every rules code starts with.
pub const CODE_PREFIX: &str = "sr1_";

impl Rules {
    /// The canonical JSON: every key, sorted, no white space.
    #[must_use]
    pub fn to_json(&self) -> String {
        let object: serde_json::Map<_, _> = ROWS.iter().map(|row| (row.key.to_owned(), row.json(self))).collect();
        serde_json::Value::Object(object).to_string()
    }

    /// The rules as an `sr1_` code.
    #[must_use]
    pub fn to_code(&self) -> String {
        sealed::close(CODE_PREFIX, &self.to_json())
    }

    /// Reads an `sr1_` code. Exactly the codes that [`Rules::to_code`] writes are accepted.
    ///
    /// # Errors
    /// The code's own fault, or every key that is missing, unknown or out of its range.
    pub fn from_code(code: &str) -> Result<Self, RulesError> {
        let json = sealed::open(CODE_PREFIX, code).map_err(RulesError::Code)?;
        let object: serde_json::Map<String, serde_json::Value> =
            serde_json::from_slice(&json).map_err(|_| RulesError::Code(CodeError::Content))?;
        let rules = read(object.iter().map(|(key, value)| (key.as_str(), Raw::from(value))), true)?;
        // A repeated key, another order, a longer decimal: all of them show here.
        if rules.to_json().as_bytes() != json {
            return Err(RulesError::Code(CodeError::NotCanonical));
        }
        Ok(rules)
    }

    /// Reads a TOML table of rules, as in `--rules @FILE`. A key left out keeps its default.
    ///
    /// # Errors
    /// The TOML's own fault, or every key that is unknown or out of its range, all at once.
    pub fn from_toml(text: &str) -> Result<Self, RulesError> {
        let table: toml::Table = toml::from_str(text).map_err(|error| RulesError::Toml(toml_fault(&error, text)))?;
        read(table.iter().map(|(key, value)| (key.as_str(), Raw::from(value))), false)
    }
}

/// A TOML parser's error in one line, with where it is.
pub(crate) fn toml_fault(error: &toml::de::Error, text: &str) -> String {
    let start = error.span().map_or(0, |span| span.start);
    let line = text.bytes().take(start).filter(|&byte| byte == b'\n').count().saturating_add(1);
    let is_control = |letter: char| letter.is_control() && letter != '\t';
    if let Some((line, text)) = text.lines().enumerate().find(|(_, text)| text.contains(is_control)) {
        let line = line.saturating_add(1);
        return format!(
            "line {line}, {}: it holds a control character; type the line anew",
            numbered(&short(text.trim()))
        );
    }
    match open_text(text, line) {
        Some(opened) => format!(
            "line {opened}: a text in quotes does not end on its line; join it to one line, as an sr1_ code is one"
        ),
        None => {
            let shown = text.lines().nth(line.saturating_sub(1)).map(|text| short(text.trim())).unwrap_or_default();
            let said = error.message().replace('\n', ", ");
            format!("line {line}, {shown}: {said}{}", form(&said, &shown))
        }
    }
}

/// What is right instead, where the parser's own words do not tell a person.
fn form(said: &str, line: &str) -> String {
    if let Some(way) = pasted_quotes(line) {
        return format!("; {way}");
    }
    way(said, line).to_owned()
}

fn way(said: &str, line: &str) -> &'static str {
    if line.contains("as of a key") {
        return "; if it is a key, it does not belong in a file that others may read: take it out, and approve a new API wallet at the \
                venue in its place";
    }
    if said.starts_with("duplicate key") {
        return "; a key, and a table of its name, stands once in a file";
    }
    // A word that is none of TOML's is taken for the beginning of whatever value begins like it.
    if said.starts_with("invalid") || said.contains("expected") {
        return "; true, false and numbers stand without quotes, every other value in them";
    }
    ""
}

/// The line of a text that is broken by a line's end, at or before the line that cannot be read.
fn open_text(text: &str, line: usize) -> Option<usize> {
    let is_open = |text: &str| {
        let plain = !text.trim_start().starts_with('#') && !text.contains(['\'', '\\']) && !text.contains("\"\"\"");
        plain && text.matches('"').count() % 2 == 1
    };
    text.lines().take(line).position(is_open).map(|place| place.saturating_add(1))
}

/// Reads keys and values over the defaults, collecting every problem.
fn read<'a>(entries: impl Iterator<Item = (&'a str, Raw)>, every_key: bool) -> Result<Rules, RulesError> {
    let mut rules = Rules::default();
    let mut problems = Vec::new();
    let mut missing: Vec<&Row> = if every_key { ROWS.iter().collect() } else { Vec::new() };
    for (key, raw) in entries {
        missing.retain(|row| row.key != key);
        match ROWS.iter().find(|row| row.key == key) {
            Some(row) => problems.extend(row.read(&raw, &mut rules).err()),
            None => problems.push(unknown(key)),
        }
    }
    problems.extend(missing.iter().map(|row| Problem {
        key: row.key.to_owned(),
        value: String::new(),
        allowed: "missing from the rules code".to_owned(),
    }));
    if problems.is_empty() && rules.stop > rules.max_stop {
        problems.push(Problem {
            key: "stop".to_owned(),
            value: rules.stop.to_string(),
            allowed: format!("must not be wider than max_stop ({})", rules.max_stop),
        });
    }
    if problems.is_empty() { Ok(rules) } else { Err(RulesError::Problems(Problems(problems))) }
}

fn unknown(key: &str) -> Problem {
    let shown = start(key, 40);
    let allowed = match nearest(key, Rules::keys()) {
        Some(meant) => format!("is not a rule; {meant} is one"),
        None => format!("is not a rule; the rules are {}", Rules::keys().collect::<Vec<_>>().join(", ")),
    };
    Problem { key: shown, value: String::new(), allowed }
}
