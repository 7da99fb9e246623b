//! Whether each key of a `notify.toml` is one, and holds the kind of value that it takes. All that is wrong is said at once, in
//! words of our own: a parser's stop at the first fault, and may repeat a line that somebody put a token in.

use std::collections::{BTreeMap, BTreeSet};

use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};

use super::slip;
use crate::base::text::pasted_quotes;

/// Faults of writing that are said at most.
const MOST: usize = 8;

/// What a key takes.
#[derive(Debug, Clone, Copy)]
enum Takes {
    Text,
    Texts,
    /// A table of texts.
    Spans,
    /// A text, or the name of a file or a credential.
    Place,
    OneOf(&'static [&'static str]),
}

const FORMS: &[&str] = &["json", "ntfy", "telegram", "slack", "discord", "smtp", "command"];

const TOP: &[(&str, Takes)] = &[
    ("guard", Takes::Text),
    ("utc_offset", Takes::Text),
    ("summary", Takes::Text),
    ("heartbeat", Takes::Place),
    ("heartbeat_every", Takes::Text),
];

const TARGET: &[(&str, Takes)] = &[
    ("name", Takes::Text),
    ("form", Takes::OneOf(FORMS)),
    ("url", Takes::Place),
    ("token", Takes::Place),
    ("topic", Takes::Text),
    ("chat", Takes::Text),
    ("server", Takes::Text),
    ("encryption", Takes::OneOf(&["tls", "starttls", "none"])),
    ("from", Takes::Text),
    ("to", Takes::Texts),
    ("user", Takes::Text),
    ("password", Takes::Place),
    ("run", Takes::Texts),
    ("least", Takes::OneOf(&["info", "warning", "critical"])),
    ("kinds", Takes::Texts),
    ("codes", Takes::Texts),
    ("without", Takes::Texts),
    ("quiet", Takes::Text),
    ("cooldown", Takes::Spans),
    ("repeat", Takes::Spans),
];

/// Words of other programs for a target's keys.
const OTHERS: &[(&str, &str)] = &[
    ("host", "server"),
    ("hostname", "server"),
    ("port", "server"),
    ("command", "run"),
    ("cmd", "run"),
    ("exec", "run"),
    ("type", "form"),
    ("webhook", "url"),
    ("chat_id", "chat"),
    ("username", "user"),
    ("pass", "password"),
    ("level", "least"),
    ("severity", "least"),
];

/// Words of other programs for the value of a key that takes one of a few.
const OTHER_WORDS: &[(&str, &str)] = &[
    ("webhook", "json"),
    ("http", "json"),
    ("https", "json"),
    ("post", "json"),
    ("mail", "smtp"),
    ("email", "smtp"),
    ("exec", "command"),
    ("script", "command"),
    ("program", "command"),
    ("shell", "command"),
    ("ssl", "tls"),
    ("warn", "warning"),
    ("error", "critical"),
];

/// What stands behind the name of a key whose value is kept elsewhere, with the form that says so.
const ELSEWHERE: [(&str, &str); 2] =
    [("_file", "{ file = \"/whole/path\" }"), ("_credential", "{ credential = \"name\" }")];

/// What can be read of a file; what cannot is said and left out.
pub(super) fn read<'a>(text: &'a str, problems: &mut Vec<String>) -> Option<Spanned<DeTable<'a>>> {
    let (mut root, faults) = DeTable::parse_recoverable(text);
    // A parser stumbles more than once over one mistake.
    let lines: BTreeSet<usize> =
        faults.iter().map(|fault| fault.span().map_or(1, |span| line_of(text, span.start))).collect();
    for line in lines.into_iter().take(MOST) {
        let written = text.lines().nth(line.saturating_sub(1)).unwrap_or_default();
        problems.push(format!(
            "line {line} cannot be read: {}",
            pasted_quotes(written).unwrap_or(
                "a line is a key with its value (name = \"value\"), each key once, [[target]], or # and a comment"
            )
        ));
    }
    if !faults.is_empty() {
        return None;
    }
    let all = std::mem::replace(root.get_mut(), DeTable::new());
    for (key, mut value) in all {
        let at = line_of(text, key.span().start);
        let is_kept = match &**key.get_ref() {
            "target" => targets(text, at, value.get_mut(), problems),
            name => keep(TOP, (name, at), value.get_ref(), problems),
        };
        if is_kept {
            root.get_mut().insert(key, value);
        }
    }
    Some(root)
}

/// Takes what is wrong out of each target. Says whether there are targets at all.
fn targets(text: &str, at: usize, value: &mut DeValue<'_>, problems: &mut Vec<String>) -> bool {
    let DeValue::Array(list) = value else {
        problems.push(format!("target must stand as [[target]], with two brackets (line {at})"));
        return false;
    };
    let mut whole = DeArray::new();
    for mut target in std::mem::replace(list, DeArray::new()) {
        if one(text, &mut target, problems) {
            whole.push(target);
        }
    }
    *list = whole;
    true
}

/// A target in a refusal: by its name, where that is one.
fn named(target: &DeTable<'_>, at: usize) -> String {
    match target.get("name").map(Spanned::get_ref) {
        Some(DeValue::String(name)) if !slip::may_be_secret(name) => format!("target {}: ", slip::given(name)),
        Some(_) => format!("the target of line {at}: "),
        None => String::new(),
    }
}

/// Takes what is wrong out of one target. Says whether the rest of it can be read.
fn one(text: &str, target: &mut Spanned<DeValue<'_>>, problems: &mut Vec<String>) -> bool {
    let at = line_of(text, target.span().start);
    let DeValue::Table(target) = target.get_mut() else {
        problems.push(format!("target must stand as [[target]], with two brackets (line {at})"));
        return false;
    };
    let name = named(target, at);
    let mut own = Vec::new();
    for needed in ["name", "form"].into_iter().filter(|needed| !target.contains_key(*needed)) {
        own.push(format!("{needed} is missing (line {at})"));
    }
    for (key, value) in std::mem::replace(target, DeTable::new()) {
        let at = line_of(text, key.span().start);
        if keep(TARGET, (&**key.get_ref(), at), value.get_ref(), &mut own) {
            target.insert(key, value);
        }
    }
    problems.extend(own.into_iter().map(|why| format!("{name}{why}")));
    target.contains_key("name") && target.contains_key("form")
}

/// Whether a key may stand there with this value; why not is said.
fn keep(keys: &[(&str, Takes)], (key, line): (&str, usize), value: &DeValue<'_>, problems: &mut Vec<String>) -> bool {
    let why = match keys.iter().find(|(known, _)| *known == key) {
        None => Some(format!("is no key that can stand there{}", meant(keys, key))),
        Some((_, takes)) => wrong(*takes, value),
    };
    let name = if why.is_some() { shown(keys, key) } else { String::new() };
    problems.extend(why.iter().map(|why| format!("{name} {why} (line {line})")));
    why.is_none()
}

/// A key in a refusal.
fn shown(keys: &[(&str, Takes)], key: &str) -> String {
    // A name that is known by its like is no secret.
    if !meant(keys, key).is_empty() {
        return key.to_owned();
    }
    slip::unknown(key, keys.iter().map(|(known, _)| *known).chain(["target", "targets"])).replace('"', "")
}

/// The key that was meant, where it is written nearly so.
fn meant(keys: &[(&str, Takes)], key: &str) -> String {
    let plain = |key: &str| key.to_ascii_lowercase().replace('-', "_").trim_end_matches('s').to_owned();
    if std::ptr::eq(keys, TOP) && plain(key) == "target" {
        return ": it is target, as [[target]]".to_owned();
    }
    let name = key.to_ascii_lowercase().replace('-', "_");
    if let Some((place, form)) = ELSEWHERE.iter().find_map(|(end, form)| Some((name.strip_suffix(end)?, form)))
        && keys.iter().any(|(known, takes)| *known == place && matches!(takes, Takes::Place))
    {
        return format!(": it is {place} = {form}");
    }
    let is_of = |keys: &[(&str, Takes)]| keys.iter().any(|(known, _)| *known == name);
    if std::ptr::eq(keys, TARGET) {
        if is_of(TOP) {
            return ": it stands at the top of the file, above the first [[target]]".to_owned();
        }
        if let Some((_, known)) = OTHERS.iter().find(|(other, _)| *other == name) {
            return format!(": it is {known}");
        }
    } else if is_of(TARGET) {
        return ": it stands below a line [[target]]".to_owned();
    }
    let known = keys.iter().map(|(known, _)| *known);
    let same = known.clone().find(|known| plain(known) == plain(key));
    same.or_else(|| slip::meant(key, known)).map_or_else(String::new, |known| format!(": it is {known}"))
}

/// What is wrong with a value. It is not repeated where it may be a token that somebody put there.
fn wrong(takes: Takes, value: &DeValue<'_>) -> Option<String> {
    let is_text = |value: &DeValue<'_>| matches!(value, DeValue::String(_));
    let (is_right, must) = match (takes, value) {
        (Takes::Text, value) => (is_text(value), "must be a text in quotes".to_owned()),
        (Takes::Texts, value) => {
            let is_list = matches!(value, DeValue::Array(list) if list.iter().all(|text| is_text(text.get_ref())));
            (is_list, "must be a list of texts, such as [\"one\", \"two\"]".to_owned())
        }
        (Takes::Spans, value) => {
            let is_table = matches!(value, DeValue::Table(table) if table.values().all(|text| is_text(text.get_ref())));
            (is_table, "must be times by code, such as { kill = \"10m\" }".to_owned())
        }
        (Takes::Place, DeValue::Table(place)) => {
            let mut parts = place.iter().map(|(key, value)| (&**key.get_ref(), is_text(value.get_ref())));
            let first = parts.next();
            let is_one = matches!(first, Some(("file" | "credential", true))) && parts.next().is_none();
            (is_one, "must name one place: { file = \"/whole/path\" } or { credential = \"name\" }".to_owned())
        }
        (Takes::Place, value) => {
            let must = "must be a text in quotes, { file = \"/whole/path\" } or { credential = \"name\" }";
            (is_text(value), must.to_owned())
        }
        (Takes::OneOf(words), value) => {
            let is_one = matches!(value, DeValue::String(text) if words.iter().any(|word| *word == &**text));
            let named: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
            let given = if let DeValue::String(text) = value { instead(words, text) } else { String::new() };
            (is_one, format!("must be one of {}{given}", named.join(", ")))
        }
    };
    (!is_right).then_some(must)
}

/// A word that stands where one of a few is taken, with the one that was meant.
fn instead(words: &[&'static str], given: &str) -> String {
    let small = given.to_ascii_lowercase();
    let other =
        OTHER_WORDS.iter().find(|(other, known)| *other == small && words.contains(known)).map(|(_, known)| *known);
    let is_known = |known: &&&str| **known == small;
    let meant = other.or_else(|| words.iter().find(is_known).copied());
    let meant = meant.or_else(|| slip::meant(given, words.iter().copied()));
    let shown = if meant.is_some() { format!("{given:?}") } else { slip::unknown(given, words.iter().copied()) };
    meant.map_or_else(|| format!(", not {shown}"), |known| format!(", not {shown}: it is \"{known}\""))
}

/// The lines of the keys of a file: those of its top, and those of each target by its place, whose own line has the empty key.
#[derive(Debug, Default)]
pub(super) struct Lines(BTreeMap<(Option<usize>, String), usize>);

impl Lines {
    pub(super) fn of(text: &str, root: &Spanned<DeTable<'_>>) -> Self {
        let mut lines = BTreeMap::new();
        let mut take = |place: Option<usize>, keys: &DeTable<'_>| {
            let keys = keys.keys().map(|key| (key.get_ref().to_string(), line_of(text, key.span().start)));
            lines.extend(keys.map(|(key, line)| ((place, key), line)));
        };
        take(None, root.get_ref());
        let targets = root.get_ref().get("target").map(Spanned::get_ref);
        let list = if let Some(DeValue::Array(list)) = targets { Some(list) } else { None };
        let mut begins = Vec::new();
        for (place, target) in list.into_iter().flat_map(|list| list.iter()).enumerate() {
            if let DeValue::Table(keys) = target.get_ref() {
                take(Some(place), keys);
            }
            begins.push(((Some(place), String::new()), line_of(text, target.span().start)));
        }
        lines.extend(begins);
        Self(lines)
    }

    /// What is wrong, which begins with its key, with the line of that, or with the target's own.
    pub(super) fn at(&self, place: Option<usize>, why: &str) -> String {
        let key = why.split([' ', '.', ':']).next().unwrap_or_default();
        let line = |key: &str| self.0.get(&(place, key.to_owned()));
        line(key).or_else(|| line("")).map_or_else(|| why.to_owned(), |line| format!("{why} (line {line})"))
    }
}

/// The line that a place of the text is on.
fn line_of(text: &str, at: usize) -> usize {
    text.get(..at).unwrap_or_default().matches('\n').count().saturating_add(1)
}
