//! Reads the members of a line as the guard writes it, one after the other and without a copy. Whatever is written otherwise is
//! none of its business: it says so, and the line is read as any JSON.

use std::borrow::Cow;

use rust_decimal::Decimal;

use super::line::Verdict;
use crate::base::amount::parse_info;
use crate::record::money::Fill;
use crate::record::text::Text;

/// The members that are left of a flat object.
struct Members<'a>(&'a str);

/// A value that holds no other.
#[derive(Clone, Copy)]
enum Plain<'a> {
    Text(&'a str),
    /// A number, `true`, `false` or `null`.
    Word(&'a str),
}

impl<'a> Members<'a> {
    fn of(line: &'a str) -> Option<Members<'a>> {
        behind(line, b'{').filter(|rest| !rest.is_empty()).map(Members)
    }

    /// The next one; `None` where it is written otherwise.
    fn next(&mut self) -> Option<(&'a str, Plain<'a>)> {
        let (key, rest) = text(behind(self.0, b'"')?)?;
        let rest = behind(rest, b':')?;
        let (value, rest) = match behind(rest, b'"') {
            Some(rest) => text(rest).map(|(text, rest)| (Plain::Text(text), rest))?,
            None => {
                let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'+' | b'.');
                let (word, rest) = rest.split_at_checked(rest.bytes().position(|byte| !is_plain(byte))?)?;
                (Plain::Word(word), rest)
            }
        };
        self.0 = if rest == "}" { "" } else { behind(rest, b',').filter(|rest| !rest.is_empty())? };
        Some((key, value))
    }
}

/// What is behind a byte that a text begins with; none of its own where it is another one.
fn behind(text: &str, byte: u8) -> Option<&str> {
    (text.as_bytes().first() == Some(&byte)).then(|| text.get(1..))?
}

/// A text up to its end, and what is behind that; `None` where something in it is escaped. A plain loop: lines are made of short
/// texts, which a search for one byte is too much ado for.
fn text(rest: &str) -> Option<(&str, &str)> {
    let end = rest.bytes().position(|byte| matches!(byte, b'"' | b'\\'))?;
    let (text, rest) = rest.split_at_checked(end)?;
    Some((text, behind(rest, b'"')?))
}

impl<'a> Plain<'a> {
    fn text(self) -> Option<&'a str> {
        match self {
            Plain::Text(text) => Some(text),
            Plain::Word(_) => None,
        }
    }

    fn is_null(self) -> bool {
        matches!(self, Plain::Word("null"))
    }

    fn amount(self) -> Option<Decimal> {
        parse_info(self.text()?).ok()
    }

    fn number(self) -> Option<u64> {
        match self {
            Plain::Word(word) if word.bytes().all(|byte| byte.is_ascii_digit()) => word.parse().ok(),
            _ => None,
        }
    }

    fn flag(self) -> Option<bool> {
        match self {
            Plain::Word("true") => Some(true),
            Plain::Word("false") => Some(false),
            _ => None,
        }
    }
}

fn side(text: &str) -> Text {
    match text {
        "buy" => Cow::Borrowed("buy"),
        "sell" => Cow::Borrowed("sell"),
        other => Cow::Owned(other.to_owned()),
    }
}

/// The fill that a line tells of, where it is written as the guard writes one that liquidated nobody.
pub(super) fn fill_as_written(line: &str) -> Option<Fill> {
    let (mut fill, mut members) = (Fill::default(), Members::of(line)?);
    while !members.0.is_empty() {
        let (key, value) = members.next()?;
        // As bytes: told apart one after the other, where texts are compared with each name of their length.
        match key.as_bytes() {
            b"coin" => value.text()?.clone_into(&mut fill.coin),
            b"side" => fill.side = side(value.text()?),
            b"px" => fill.px = value.amount()?,
            b"size" => fill.size = value.amount()?,
            b"fee" => fill.fee = value.amount()?,
            b"fee_token" => value.text()?.clone_into(&mut fill.fee_token),
            b"builder_fee" => fill.builder_fee = Some(value.amount()?),
            b"closed_pnl" => fill.closed_pnl = value.amount()?,
            b"position_before" => fill.position_before = value.amount()?,
            b"position_after" => fill.position_after = Some(value.amount()?),
            b"oid" => fill.oid = value.number()?,
            b"cloid" if value.is_null() => fill.cloid = None,
            b"cloid" => fill.cloid = Some(value.text()?.parse().ok()?),
            b"tid" => fill.tid = value.number()?,
            b"time" => fill.time = value.number()?,
            b"crossed" => fill.crossed = value.flag()?,
            b"intent" if value.is_null() => fill.intent = None,
            b"intent" => fill.intent = Some(value.number()?),
            b"client" if value.is_null() => fill.client = None,
            b"client" => fill.client = Some(value.text()?.to_owned()),
            b"late" => fill.late = value.flag()?,
            b"seq" | b"at_ms" | b"kind" | b"chain" | b"seen" => {}
            _ => return None,
        }
    }
    Some(fill)
}

/// What a decision tells, where it is written as the guard writes one that stands for itself alone: what is nested comes behind
/// that.
pub(super) fn verdict_as_written(line: &str) -> Option<Verdict<'_>> {
    if line.contains("\"count\":") {
        return None;
    }
    let (mut told, mut members, mut is_named) = (Verdict::default(), Members::of(line)?, false);
    loop {
        let (key, value) = members.next()?;
        match key {
            "client" => {
                told.client = if value.is_null() { None } else { Some(value.text()?.to_owned()) };
                is_named = true;
            }
            "verdict" => told.verdict = Cow::Borrowed(value.text()?),
            "code" => {
                told.code = Cow::Borrowed(value.text()?);
                return Some(told).filter(|told| is_named && !told.verdict.is_empty());
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    fn as_json(line: &str) -> Fill {
        serde_json::from_str(line).unwrap()
    }

    #[test]
    fn fills_of_real_events_are_read_alike() {
        let lines = include_str!("../../tests/data/golden_events.jsonl").lines();
        let fills: Vec<&str> = lines.filter(|line| line.contains(r#""kind":"fill""#)).collect();
        assert!(fills.len() >= 2);
        for line in fills {
            let read = fill_as_written(line);
            assert_eq!(read.is_none(), line.contains("liquidation"), "{line}");
            read.into_iter().for_each(|fill| assert_eq!(fill, as_json(line), "{line}"));
        }
    }

    #[test]
    fn decisions_of_real_events_are_read_alike() {
        let of_json = |line| serde_json::from_str::<Verdict<'_>>(line).unwrap();
        let told = |told: Verdict<'_>| (told.verdict.into_owned(), told.code.into_owned(), told.client, told.count);
        let lines = include_str!("../../tests/data/golden_events.jsonl").lines();
        let decisions: Vec<&str> = lines.filter(|line| line.contains(r#""kind":"decision""#)).collect();
        assert!(decisions.len() > 5);
        for line in decisions {
            let read = verdict_as_written(line);
            assert_eq!(read.is_none(), line.contains("\"count\":"), "{line}");
            read.into_iter().for_each(|read| assert_eq!(told(read), told(of_json(line)), "{line}"));
        }
        // What a client wrote stands for nothing of it.
        let line = r#"{"seq":1,"action":"a\",\"verdict\":\"allow\",\"code\":\"b","verdict":"veto","code":"malformed"}"#;
        assert!(verdict_as_written(line).is_none());
        assert_eq!(told(of_json(line)).0, "veto");
    }

    #[test]
    fn what_is_written_otherwise_is_left_to_others() {
        let line = r#"{"seq":1,"coin":"ETH","px":"1","crossed":true,"intent":null}"#;
        assert_eq!(fill_as_written(line), Some(as_json(line)));
        for other in [
            r#"{ "seq":1}"#,
            r#"{"seq":1"#,
            r#"{"seq":1,}"#,
            r#"{"seq":1}}"#,
            r#"{"coin":"E\u0054H"}"#,
            r#"{"px":1}"#,
            r#"{"px":"1e5"}"#,
            r#"{"oid":-1}"#,
            r#"{"oid":"1"}"#,
            r#"{"crossed":1}"#,
            r#"{"liquidation":null}"#,
            r#"{"changes":["a"]}"#,
            "[1]",
            "",
        ] {
            assert_eq!(fill_as_written(other), None, "{other}");
        }
    }

    proptest! {
        #[test]
        fn a_line_is_read_as_any_json_reads_it(
            px in "-?[0-9]{1,12}(\\.[0-9]{1,9})?", coin in "[A-Za-z:@0-9]{1,8}", late in any::<bool>(), time in any::<u64>(),
            intent in prop::option::of(any::<u64>()), cut in 0_usize..400
        ) {
            let event = json!({"seq": 7, "at_ms": 9, "kind": "fill", "coin": coin, "side": "buy", "px": px, "size": px, "fee": px,
                "fee_token": "USDC", "builder_fee": px, "closed_pnl": px, "position_before": px, "position_after": px, "oid": time,
                "cloid": Value::Null, "tid": time, "time": time, "crossed": late, "intent": intent, "client": coin, "late": late,
                "chain": "00"});
            let line = event.to_string();
            prop_assert_eq!(fill_as_written(&line), Some(as_json(&line)));
            // A line that ends early is none.
            let cut = cut.min(line.len() - 1);
            prop_assert_eq!(fill_as_written(&line[..cut]), None);
        }
    }
}
