//! A strict reader of the Prometheus text format, 0.0.4: whatever is not as the format says ends the test.

use std::collections::{BTreeMap, BTreeSet};

/// A page that was read.
#[derive(Debug, PartialEq)]
pub(super) struct Scrape {
    pub(super) families: BTreeMap<String, Family>,
    /// Values by series, the labels sorted as they stand.
    samples: BTreeMap<String, String>,
}

/// The lines of a family before its samples.
#[derive(Debug, PartialEq)]
pub(super) struct Family {
    pub(super) kind: String,
    pub(super) help: String,
    /// Names of its samples' labels, in order; a histogram's `le` is none of them.
    pub(super) labels: Vec<String>,
}

impl Scrape {
    pub(super) fn read(text: &str) -> Self {
        let mut families = BTreeMap::<String, Family>::new();
        let mut samples = BTreeMap::new();
        let mut open = None::<String>;
        let mut helped = None::<(String, String)>;
        assert!(text.ends_with('\n'), "the last line has no end");
        for line in text.lines() {
            if let Some(rest) = line.strip_prefix("# HELP ") {
                let (name, help) = rest.split_once(' ').unwrap_or_else(|| panic!("no help: {line}"));
                assert!(is_name(name, true) && !help.is_empty() && helped.is_none(), "{line}");
                helped = Some((name.to_owned(), help.to_owned()));
            } else if let Some(rest) = line.strip_prefix("# TYPE ") {
                let (name, kind) = rest.split_once(' ').unwrap_or_else(|| panic!("no type: {line}"));
                let (of, help) = helped.take().unwrap_or_else(|| panic!("no help before {line}"));
                assert_eq!(of, name);
                assert!(["counter", "gauge", "histogram"].contains(&kind), "{line}");
                assert_eq!(kind == "counter", name.ends_with("_total"), "{line}");
                let family = Family { kind: kind.to_owned(), help, labels: Vec::new() };
                assert!(families.insert(name.to_owned(), family).is_none(), "{name} begins twice");
                open = Some(name.to_owned());
            } else {
                let name = open.as_deref().unwrap_or_else(|| panic!("no family is open at {line}"));
                let family = families.get_mut(name).unwrap();
                assert!(helped.is_none(), "a sample between help and type: {line}");
                let (series, value) = sample(line, name, family);
                assert!(samples.insert(series, value).is_none(), "a series comes twice: {line}");
            }
        }
        assert!(helped.is_none(), "a help without its type");
        let scrape = Self { families, samples };
        scrape.families.iter().filter(|(_, family)| family.kind == "histogram").for_each(|(name, _)| {
            scrape.is_a_histogram(name);
        });
        scrape
    }

    /// A sample's value as it stands.
    pub(super) fn text(&self, series: &str) -> Option<&str> {
        self.samples.get(series).map(String::as_str)
    }

    /// A sample that is a whole number.
    pub(super) fn count(&self, series: &str) -> u64 {
        let value = self.text(series).unwrap_or_else(|| panic!("no {series} in {:#?}", self.samples));
        value.parse().unwrap_or_else(|_| panic!("{series} is {value}"))
    }

    pub(super) fn series(&self) -> BTreeSet<&str> {
        self.samples.keys().map(String::as_str).collect()
    }

    /// The samples of a family by their labels.
    pub(super) fn of(&self, family: &str) -> BTreeMap<String, u64> {
        let own = |series: &String| {
            let labels = series.strip_prefix(family)?.strip_prefix('{')?.strip_suffix('}')?;
            Some((labels.to_owned(), self.count(series)))
        };
        self.samples.keys().filter_map(own).collect()
    }

    /// Buckets rise with their bounds and in their counts, the last is infinite and is the count.
    fn is_a_histogram(&self, name: &str) {
        let bucket = |series: &String| {
            let bound = series.strip_prefix(name)?.strip_prefix("_bucket{le=\"")?.strip_suffix("\"}")?;
            let bound: f64 = if bound == "+Inf" { f64::INFINITY } else { bound.parse().unwrap() };
            Some((bound, self.count(series)))
        };
        let mut buckets: Vec<(f64, u64)> = self.samples.keys().filter_map(bucket).collect();
        buckets.sort_by(|a, b| a.0.total_cmp(&b.0));
        assert!(buckets.len() > 1 && buckets.is_sorted_by(|a, b| a.0 < b.0 && a.1 <= b.1), "{name}: {buckets:?}");
        let (bound, count) = *buckets.last().unwrap();
        assert!(bound.is_infinite(), "{name}: {buckets:?}");
        assert_eq!(count, self.count(&format!("{name}_count")), "{name}");
        let sum: f64 = self.text(&format!("{name}_sum")).unwrap().parse().unwrap();
        assert!(if count == 0 { sum == 0.0 } else { sum > 0.0 }, "{name}: {count} in {sum} s");
    }
}

/// A sample's series and value.
fn sample(line: &str, family_name: &str, family: &mut Family) -> (String, String) {
    let (series, value) = line.rsplit_once(' ').unwrap_or_else(|| panic!("no value: {line}"));
    let number: f64 = value.parse().unwrap_or_else(|_| panic!("no number: {line}"));
    assert!(number.is_finite() && (family.kind == "gauge" || number >= 0.0), "{line}");
    let (name, labels) = match series.split_once('{') {
        Some((name, rest)) => (name, labels(rest.strip_suffix('}').unwrap_or_else(|| panic!("{line}")))),
        None => (series, Vec::new()),
    };
    assert!(is_name(name, true), "{line}");
    let suffix = name.strip_prefix(family_name).unwrap_or_else(|| panic!("{line} is none of {family_name}"));
    let allowed: &[&str] = if family.kind == "histogram" { &["_bucket", "_sum", "_count"] } else { &[""] };
    assert!(allowed.contains(&suffix), "{line} is none of {family_name}");
    let distinct: BTreeSet<&String> = labels.iter().collect();
    assert_eq!(distinct.len(), labels.len(), "a label comes twice: {line}");
    assert_eq!(labels == ["le"], suffix == "_bucket", "{line}");
    if suffix.is_empty() {
        let first = family.labels.is_empty();
        assert!(first || family.labels == labels, "other labels than before: {line}");
        family.labels = labels;
    }
    (series.to_owned(), value.to_owned())
}

/// The names of labels; their values are quoted, and no quote, backslash or line end stands in them unescaped.
fn labels(text: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let (name, after) = rest.split_once("=\"").unwrap_or_else(|| panic!("{text}"));
        assert!(is_name(name, false) && !name.starts_with("__"), "{text}");
        names.push(name.to_owned());
        let mut letters = after.char_indices();
        let end = loop {
            match letters.next().unwrap_or_else(|| panic!("no end: {text}")) {
                (end, '"') => break end,
                (_, '\\') => assert!(matches!(letters.next(), Some((_, '\\' | '"' | 'n'))), "{text}"),
                (..) => {}
            }
        };
        rest = &after[end + 1..];
        if !rest.is_empty() {
            rest = rest.strip_prefix(',').filter(|rest| !rest.is_empty()).unwrap_or_else(|| panic!("{text}"));
        }
    }
    names
}

fn is_name(text: &str, with_colons: bool) -> bool {
    let fits = |letter: char| letter.is_ascii_alphanumeric() || letter == '_' || (with_colons && letter == ':');
    text.chars().all(fits) && text.starts_with(|letter: char| !letter.is_ascii_digit())
}

/// What the reader must not let pass.
#[test]
fn the_reader_is_strict() {
    let head = "# HELP a_total A.\n# TYPE a_total counter\n";
    Scrape::read(&format!("{head}a_total{{b=\"x\\\"}},c=\\\\\",d=\"\"}} 1\n"));
    for wrong in [
        "a_total 1\n",
        "# TYPE a_total counter\na_total 1\n",
        "# HELP a_total A.\na_total 1\n",
        &format!("{head}a_total 1"),
        &format!("{head}a_total 1\na_total 2\n"),
        &format!("{head}b_total 1\n"),
        &format!("{head}a_total x\n"),
        &format!("{head}a_total NaN\n"),
        &format!("{head}a_total -1\n"),
        &format!("{head}a_total{{b=\"x\\q\"}} 1\n"),
        &format!("{head}a_total{{b=\"x\",}} 1\n"),
        &format!("{head}a_total{{b=\"x\",b=\"y\"}} 1\n"),
        &format!("{head}a_total{{0b=\"x\"}} 1\n"),
        &format!("{head}{head}"),
        "# HELP a A.\n# TYPE a counter\na 1\n",
        "# HELP h H.\n# TYPE h histogram\nh_bucket{le=\"1\"} 2\nh_bucket{le=\"+Inf\"} 1\nh_sum 1\nh_count 1\n",
        "# HELP h H.\n# TYPE h histogram\nh_bucket{le=\"1\"} 1\nh_bucket{le=\"+Inf\"} 2\nh_sum 1\nh_count 1\n",
        "# HELP h H.\n# TYPE h histogram\nh_bucket{le=\"1\"} 1\nh_bucket{le=\"2\"} 1\nh_sum 1\nh_count 1\n",
    ] {
        assert!(std::panic::catch_unwind(|| Scrape::read(wrong)).is_err(), "let pass: {wrong}");
    }
}
