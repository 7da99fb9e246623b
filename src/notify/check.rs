//! Reads `notify.toml` and checks it whole before anything starts; all that is wrong with it is said at once.

mod deaf;

use serde::Deserialize;

use super::config::{Config, Form, Place, Target};
use super::forms::smtp;
use super::guard_look::guard_url;
use super::hours::{Hours, parse_offset, span_ms};
use super::url::private_url;
use super::{shape, slip};
use crate::base::origin::Origin;
use deaf::{codes, deaf, in_vain, kind_of, unheard_summary};

/// Targets at most: each has a thread of its own.
const MAX_TARGETS: usize = 16;
/// Longest name of a target: it stands in file and log.
const MAX_NAME: usize = 40;
/// Longest topic of an ntfy server.
const MAX_TOPIC: usize = 64;
/// The kinds of what is told.
const KINDS: &[&str] = &[
    "decision", "error", "flatten", "health", "kill", "notifier", "protect", "risk", "sent", "started", "status",
    "stopped", "summary",
];
impl Config {
    /// Reads and checks a `notify.toml`. `refusals` are the codes of refused requests.
    ///
    /// # Errors
    /// All that is wrong with it, a line each.
    pub fn parse(text: &str, refusals: &[&str]) -> Result<Self, Vec<String>> {
        let mut problems = Vec::new();
        let Some(root) = shape::read(text, &mut problems) else { return Err(problems) };
        let lines = shape::Lines::of(text, &root);
        let Ok(config) = Self::deserialize(toml::Deserializer::from(root)) else {
            problems.push("it cannot be read".to_owned());
            return Err(problems);
        };
        config.check(refusals, &lines, &mut problems);
        if problems.is_empty() { Ok(config) } else { Err(problems) }
    }

    fn check(&self, refusals: &[&str], lines: &shape::Lines, problems: &mut Vec<String>) {
        let has_shape = problems.is_empty();
        let mut not = |wrong: bool, what: &str| {
            if wrong {
                problems.push(lines.at(None, what));
            }
        };
        let given = |text: &Option<String>| slip::given(text.as_deref().unwrap_or_default());
        not(
            self.utc_offset.as_deref().is_some_and(|text| parse_offset(text).is_none()),
            &format!("utc_offset must be such as \"+02:00\", not {}", given(&self.utc_offset)),
        );
        not(
            self.summary.is_some() && self.summary_minute().is_none(),
            &format!("summary must be a time such as \"07:00\", not {}", given(&self.summary)),
        );
        not(
            self.beat_ms() < 1_000,
            &format!("heartbeat_every must be such as \"1m\", a second at least, not {}", given(&self.heartbeat_every)),
        );
        not(
            self.guard.as_deref().is_some_and(|url| guard_url(url).is_none()),
            &format!(
                "guard must be http://HOST:PORT on loopback, such as \"http://127.0.0.1:8547\", not {}",
                given(&self.guard)
            ),
        );
        not(
            has_shape && self.target.is_empty(),
            "there is no [[target]], so nobody would be told: under a line [[target]] stand its name, its form and where it is, as notify.toml(5) shows",
        );
        not(self.target.len() > MAX_TARGETS, "there are more than 16 targets");
        if let Some(Err(why)) = self.heartbeat.as_ref().map(check_url) {
            problems.push(lines.at(None, &format!("heartbeat {why}")));
        }
        let mut names: Vec<&str> = self.target.iter().map(|target| target.name.as_str()).collect();
        names.sort_unstable();
        if let Some(name) = names.windows(2).find(|pair| pair.first() == pair.last()).and_then(<[&str]>::first) {
            problems.push(format!("two targets have the name {}: each has one of its own", slip::given(name)));
        }
        for (place, target) in self.target.iter().enumerate() {
            let mut wrong = target.problems(refusals);
            if wrong.is_empty() {
                wrong.extend(deaf(self, target, refusals));
            }
            if wrong.is_empty() {
                wrong.extend(in_vain(self, target, refusals));
            }
            let name = target.shown(place);
            // A key that holds the wrong kind of value was left out, and is named already.
            let is_named = |why: &String| {
                let needed = why.split_once(" needs ").map(|(_, key)| key);
                needed.or_else(|| why.split_once(" must ").map(|(key, _)| key)).is_some_and(|key| {
                    let own = format!("{name}: ");
                    let mut told = problems.iter().filter_map(|told| told.strip_prefix(&own));
                    told.any(|told| {
                        told.starts_with(&format!("{key} must be ")) || told.contains(&format!(": it is {key} "))
                    })
                })
            };
            wrong.retain(|why| !is_named(why));
            problems.extend(wrong.into_iter().map(|why| format!("{name}: {}", lines.at(Some(place), &why))));
        }
        if problems.is_empty() {
            problems.extend(unheard_summary(self, refusals));
        }
    }
}

/// The words that may stand among kinds and codes.
fn known<'a>(refusals: &[&'a str]) -> impl Iterator<Item = &'a str> {
    codes(refusals).chain(KINDS.iter().copied())
}

/// Whether a URL that stands in the open may be called; one that stands elsewhere is checked when it is read.
fn check_url(place: &Place) -> Result<(), String> {
    match place {
        Place::Here(url) => private_url(url).map(|_| ()).map_err(|why| format!("{why}{}", not_it(url))),
        Place::File { file } if !file.is_absolute() => Err("needs the whole path of its file".to_owned()),
        Place::Credential { credential } if credential.is_empty() || credential.contains('/') => {
            Err("needs the name of a credential, which is no path".to_owned())
        }
        _ => Ok(()),
    }
}

/// The server of a URL that was given, in a refusal: what stands behind it may be a secret, and a password before it is one.
fn not_it(url: &str) -> String {
    let start = url.find("://").map_or(0, |end| end.saturating_add(3));
    let server = url.get(start..).unwrap_or_default().split(['/', '?', '#']).next().unwrap_or_default();
    let scheme = url.get(..start).unwrap_or_default();
    if server.contains('@') { String::new() } else { format!(", not {}", slip::given(&format!("{scheme}{server}"))) }
}

impl Target {
    /// It in a refusal: by its name, where that is one, else by its place.
    fn shown(&self, place: usize) -> String {
        if slip::may_be_secret(&self.name) {
            return format!("target {} of the file", place.saturating_add(1));
        }
        format!("target {}", slip::given(&self.name))
    }

    fn problems(&self, refusals: &[&str]) -> Vec<String> {
        let mut problems = Vec::new();
        let fits = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
        if self.name.is_empty() || self.name.len() > MAX_NAME || !self.name.chars().all(fits) {
            problems.push("its name must be 1 to 40 letters, digits, -, _ or .".to_owned());
        }
        problems.extend(self.keys());
        for (what, place) in [("url", &self.url), ("token", &self.token), ("password", &self.password)] {
            problems.extend(self.place(what, place.as_ref()).map(|why| format!("{what} {why}")));
        }
        let is_span = |text: &str| Hours::parse(text).is_some_and(|hours| hours.from != hours.to);
        if let Some(text) = self.quiet.as_deref().filter(|text| !is_span(text)) {
            problems.push(format!(
                "quiet must be two times of the day, such as \"22:00-07:00\", not {}",
                slip::given(text)
            ));
        }
        problems.extend(self.unknown(refusals));
        for (what, table) in [("cooldown", &self.cooldown), ("repeat", &self.repeat)] {
            let wrong = table.iter().filter(|(_, text)| span_ms(text).is_none());
            problems.extend(wrong.map(|(code, text)| {
                let code = slip::unknown(code, known(refusals)).replace('"', "");
                format!("{what}.{code} must be such as \"90s\", \"10m\" or \"1h\", not {}", slip::given(text))
            }));
        }
        if self.form == Form::Smtp {
            problems.extend(smtp::check(self));
        }
        if self.form == Form::Ntfy {
            problems.extend(self.ntfy());
        }
        if self.run.first().is_some_and(|program| program.trim().is_empty()) {
            problems.push("run must begin with a program".to_owned());
        }
        problems
    }

    /// Kinds and codes that nothing is ever told under.
    fn unknown(&self, refusals: &[&str]) -> Vec<String> {
        let mut problems = Vec::new();
        let mut say = |key: &str, word: &str, what: &str| {
            problems.push(format!("{key}: {} is {what}", slip::unknown(word, known(refusals))));
        };
        let is_kind = |word: &str| KINDS.contains(&word);
        for kind in self.kinds.iter().filter(|kind| !is_kind(kind)) {
            let what = match kind_of(kind, refusals) {
                Some(of) => format!("a code, told under the kind {of:?}: name that, or the code in codes"),
                None => format!("no kind of what is told: they are {}", KINDS.join(", ")),
            };
            say("kinds", kind, &what);
        }
        let lists = [("codes", &self.codes), ("without", &self.without)];
        let listed = lists.into_iter().flat_map(|(key, codes)| codes.iter().map(move |code| (key, code)));
        let tables = [("cooldown", &self.cooldown), ("repeat", &self.repeat)];
        let timed = tables.into_iter().flat_map(|(key, table)| table.keys().map(move |code| (key, code)));
        let timed = timed.filter(|(key, code)| (*key, code.as_str()) != ("cooldown", "default"));
        for (key, code) in listed.chain(timed).filter(|(_, code)| kind_of(code, refusals).is_none()) {
            let what = match is_kind(code) {
                true => "no code but a kind, see kinds in notify.toml(5)",
                false => "no code of what is told, see notify.toml(5)",
            };
            say(key, code, what);
        }
        problems
    }

    /// What an ntfy server does not take.
    fn ntfy(&self) -> Vec<String> {
        let mut problems = Vec::new();
        let fits = |letter: char| letter.is_ascii_alphanumeric() || "-_".contains(letter);
        let is_topic = |topic: &String| (1..=MAX_TOPIC).contains(&topic.len()) && topic.chars().all(fits);
        if let Some(topic) = self.topic.as_ref().filter(|topic| !is_topic(topic)) {
            problems.push(format!("topic must be 1 to 64 letters, digits, - or _, not {}", slip::given(topic)));
        }
        if let Some(Place::Here(url)) = &self.url
            && private_url(url).is_ok()
            && Origin::parse(url).is_err()
        {
            problems.push(format!(
                "url must be the server's alone, without a path: the topic stands in topic; not {}",
                slip::given(url)
            ));
        }
        problems
    }

    /// What is wrong with the place of a URL or a secret.
    fn place(&self, what: &str, place: Option<&Place>) -> Option<String> {
        // These services' URLs are all that it takes to post there.
        let is_secret = what != "url" || matches!(self.form, Form::Slack | Form::Discord);
        match place? {
            Place::Here(_) if is_secret => {
                Some("is a secret: name { file = \"...\" } of mode 0600 or { credential = \"...\" }".to_owned())
            }
            place => check_url(place).err(),
        }
    }

    /// Keys that are missing, and keys that belong to another form.
    fn keys(&self) -> Vec<String> {
        let given = [
            ("url", self.url.is_some()),
            ("token", self.token.is_some()),
            ("topic", self.topic.is_some()),
            ("chat", self.chat.is_some()),
            ("server", self.server.is_some()),
            ("from", self.from.is_some()),
            ("to", !self.to.is_empty()),
            ("user", self.user.is_some()),
            ("password", self.password.is_some()),
            ("run", !self.run.is_empty()),
            ("encryption", self.encryption.is_some()),
        ];
        let (needed, allowed): (&[&str], &[&str]) = match self.form {
            Form::Json => (&["url"], &["token"]),
            Form::Ntfy => (&["url", "topic"], &["token"]),
            Form::Telegram => (&["token", "chat"], &["url"]),
            Form::Slack | Form::Discord => (&["url"], &[]),
            Form::Smtp => (&["server", "from", "to"], &["user", "password", "encryption"]),
            Form::Command => (&["run"], &[]),
        };
        let form = self.form.name();
        let mut problems = Vec::new();
        for (key, is_given) in given {
            if !is_given && needed.contains(&key) {
                problems.push(format!("{form} needs {key}"));
            } else if is_given && !needed.contains(&key) && !allowed.contains(&key) {
                problems.push(format!("{key} is no key of {form}"));
            }
        }
        problems
    }
}

#[cfg(test)]
mod tests;
