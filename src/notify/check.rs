//! Reads `notify.toml` and checks it whole before anything starts; all that is wrong with it is said at once.

use super::config::{Config, Form, Place, Target};
use super::forms::smtp;
use super::hours::{Hours, parse_offset, span_ms};
use super::url::private_url;

/// Targets at most: each has a thread of its own.
const MAX_TARGETS: usize = 16;
/// Longest name of a target: it stands in file and log.
const MAX_NAME: usize = 40;

impl Config {
    /// Reads and checks a `notify.toml`.
    ///
    /// # Errors
    /// All that is wrong with it, a line each.
    pub fn parse(text: &str) -> Result<Self, Vec<String>> {
        let config: Self = toml::from_str(text).map_err(|error| {
            // The message may repeat a line of the file, and somebody may have put a token there.
            vec![error.message().to_owned() + &line_of(text, error.span().map(|span| span.start))]
        })?;
        let mut problems = Vec::new();
        config.check(&mut problems);
        if problems.is_empty() { Ok(config) } else { Err(problems) }
    }

    fn check(&self, problems: &mut Vec<String>) {
        let mut not = |wrong: bool, what: &str| {
            if wrong {
                problems.push(what.to_owned());
            }
        };
        not(
            self.utc_offset.as_deref().is_some_and(|text| parse_offset(text).is_none()),
            "utc_offset must be such as \"+02:00\"",
        );
        not(self.summary.is_some() && self.summary_minute().is_none(), "summary must be a time such as \"07:00\"");
        not(self.beat_ms() < 1_000, "heartbeat_every must be such as \"1m\", a second at least");
        not(self.target.is_empty(), "there is no [[target]], so nobody would be told");
        not(self.target.len() > MAX_TARGETS, "there are more than 16 targets");
        if let Some(Err(why)) = self.heartbeat.as_ref().map(check_url) {
            problems.push(format!("heartbeat {why}"));
        }
        let mut names: Vec<&str> = self.target.iter().map(|target| target.name.as_str()).collect();
        names.sort_unstable();
        if names.windows(2).any(|pair| pair.first() == pair.last()) {
            problems.push("two targets have one name".to_owned());
        }
        for target in &self.target {
            problems.extend(target.problems().into_iter().map(|why| format!("target {:?}: {why}", target.name)));
        }
    }
}

/// Where in the file a fault is.
fn line_of(text: &str, at: Option<usize>) -> String {
    let line = at.and_then(|at| text.get(..at)).map(|before| before.matches('\n').count() + 1);
    line.map_or_else(String::new, |line| format!(" (line {line})"))
}

/// Whether a URL that stands in the open may be called; one that stands elsewhere is checked when it is read.
fn check_url(place: &Place) -> Result<(), String> {
    match place {
        Place::Here(url) => private_url(url).map(|_| ()),
        Place::File { file } if !file.is_absolute() => Err("needs the whole path of its file".to_owned()),
        Place::Credential { credential } if credential.is_empty() || credential.contains('/') => {
            Err("needs the name of a credential, which is no path".to_owned())
        }
        _ => Ok(()),
    }
}

impl Target {
    fn problems(&self) -> Vec<String> {
        let mut problems = Vec::new();
        let fits = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
        if self.name.is_empty() || self.name.len() > MAX_NAME || !self.name.chars().all(fits) {
            problems.push("its name must be 1 to 40 letters, digits, -, _ or .".to_owned());
        }
        problems.extend(self.keys());
        for (what, place) in [("url", &self.url), ("token", &self.token), ("password", &self.password)] {
            problems.extend(self.place(what, place.as_ref()).map(|why| format!("{what} {why}")));
        }
        if self.quiet.as_deref().is_some_and(|text| Hours::parse(text).is_none()) {
            problems.push("quiet must be such as \"22:00-07:00\"".to_owned());
        }
        for (what, table) in [("cooldown", &self.cooldown), ("repeat", &self.repeat)] {
            let wrong = table.iter().filter(|(_, text)| span_ms(text).is_none());
            problems.extend(wrong.map(|(code, _)| format!("{what}.{code} must be such as \"90s\", \"10m\" or \"1h\"")));
        }
        if self.form == Form::Smtp {
            problems.extend(smtp::check(self));
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
        ];
        let (needed, allowed): (&[&str], &[&str]) = match self.form {
            Form::Json => (&["url"], &["token"]),
            Form::Ntfy => (&["url", "topic"], &["token"]),
            Form::Telegram => (&["token", "chat"], &["url"]),
            Form::Slack | Form::Discord => (&["url"], &[]),
            Form::Smtp => (&["server", "from", "to"], &["user", "password"]),
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
