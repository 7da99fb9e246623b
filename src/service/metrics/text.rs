//! The Prometheus text exposition format, 0.0.4: families with their help and type, and samples under them.

use std::fmt::{Display, Write};

use rust_decimal::Decimal;

/// Value of `Content-Type`.
pub(in crate::service) const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// A family's type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Only ever grows.
    Counter,
    /// Goes up and down.
    Gauge,
    /// Counts by size.
    Histogram,
}

/// A page being written.
#[derive(Debug, Default)]
pub(super) struct Page(String);

/// A family being written.
#[derive(Debug)]
pub(super) struct Family<'a> {
    text: &'a mut String,
    name: &'static str,
}

impl Page {
    /// The whole page.
    #[must_use]
    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.0.into_bytes()
    }

    /// Begins a family. Its samples must follow before the next one begins.
    pub(super) fn family(&mut self, name: &'static str, kind: Kind, help: &str) -> Family<'_> {
        let kind = match kind {
            Kind::Counter => "counter",
            Kind::Gauge => "gauge",
            Kind::Histogram => "histogram",
        };
        // Writing to a string cannot fail, here and below.
        _ = writeln!(self.0, "# HELP {name} {}\n# TYPE {name} {kind}", escaped(help, false));
        Family { text: &mut self.0, name }
    }

    /// A family of one sample, or of none where the value is not known.
    pub(super) fn single(&mut self, name: &'static str, kind: Kind, help: &str, value: Option<impl Display>) {
        let mut family = self.family(name, kind, help);
        if let Some(value) = value {
            family.sample(&[], value);
        }
    }
}

impl Family<'_> {
    /// A sample. A set of labels may come once in a family.
    pub(super) fn sample(&mut self, labels: &[(&str, &str)], value: impl Display) {
        self.suffixed("", labels, value);
    }

    /// A sample of a histogram's parts.
    pub(super) fn suffixed(&mut self, suffix: &str, labels: &[(&str, &str)], value: impl Display) {
        _ = write!(self.text, "{}{suffix}", self.name);
        for (index, (name, value)) in labels.iter().enumerate() {
            let before = if index == 0 { '{' } else { ',' };
            _ = write!(self.text, "{before}{name}=\"{}\"", escaped(value, true));
        }
        let end = if labels.is_empty() { "" } else { "}" };
        _ = writeln!(self.text, "{end} {value}");
    }
}

/// A text in which no character can end it: line ends and backslashes, and in a label's value quotes, are escaped.
fn escaped(text: &str, is_quoted: bool) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '"' if is_quoted => out.push_str("\\\""),
            letter => out.push(letter),
        }
    }
    out
}

/// Nanoseconds as seconds, to the last digit.
#[must_use]
pub(super) fn seconds(nanos: u64) -> Decimal {
    Decimal::from_i128_with_scale(i128::from(nanos), 9).normalize()
}

/// Milliseconds as seconds.
#[must_use]
pub(super) fn seconds_of_ms(ms: u64) -> Decimal {
    Decimal::from_i128_with_scale(i128::from(ms), 3).normalize()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(page: Page) -> String {
        String::from_utf8(page.into_bytes()).unwrap()
    }

    #[test]
    fn help_and_type_stand_before_the_samples() {
        let mut page = Page::default();
        page.family("a_total", Kind::Counter, "What \\ a\nline \"says\".").sample(&[("b", "c"), ("d", "e")], 7);
        page.single("f", Kind::Gauge, "F.", Some(Decimal::new(-1250, 2)));
        page.single("g", Kind::Gauge, "G.", None::<u64>);
        let expected = "# HELP a_total What \\\\ a\\nline \"says\".\n# TYPE a_total counter\na_total{b=\"c\",d=\"e\"} 7\n\
                        # HELP f F.\n# TYPE f gauge\nf -12.50\n# HELP g G.\n# TYPE g gauge\n";
        assert_eq!(written(page), expected);
    }

    #[test]
    fn no_value_of_a_label_ends_it() {
        let mut page = Page::default();
        page.family("a", Kind::Gauge, "A.").sample(&[("b", "x\"} 1\nc 2\\")], 1);
        assert_eq!(written(page).lines().last(), Some(r#"a{b="x\"} 1\nc 2\\"} 1"#));
    }

    #[test]
    fn times_are_seconds_without_rounding() {
        let shown = [0, 50_000, 1_000_000_000, u64::MAX].map(|nanos| seconds(nanos).to_string());
        assert_eq!(shown, ["0", "0.00005", "1", "18446744073.709551615"]);
        assert_eq!(seconds_of_ms(1_795_211_345_678).to_string(), "1795211345.678");
    }
}
