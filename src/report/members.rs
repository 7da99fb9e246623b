//! Reads the members of a line as the guard writes it, one after the other and without a copy. Whatever is written otherwise is
//! none of its business: it says so, and the line is read as any JSON.

use std::borrow::Cow;

use rust_decimal::Decimal;

use super::line::Verdict;
use crate::base::amount::{parse_count, parse_info};
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
        let (value, rest) = Plain::of(behind(rest, b':')?)?;
        self.0 = beyond(rest)?;
        Some((key, value))
    }

    /// The value of the next one if that is this one, by its name as it is written.
    fn named(&mut self, name: &str) -> Option<Plain<'a>> {
        let (value, rest) = Plain::of(self.0.strip_prefix(name)?)?;
        self.0 = beyond(rest)?;
        Some(value)
    }

    /// The value of the next one if that is this one; nothing of another one.
    fn if_named(&mut self, name: &str) -> Option<Option<Plain<'a>>> {
        if self.0.starts_with(name) { self.named(name).map(Some) } else { Some(None) }
    }
}

/// What is behind a member: nothing at the end of the object.
fn beyond(rest: &str) -> Option<&str> {
    if rest == "}" { Some("") } else { behind(rest, b',').filter(|rest| !rest.is_empty()) }
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
    /// The one that a text begins with, and what is behind it.
    fn of(rest: &'a str) -> Option<(Plain<'a>, &'a str)> {
        if let Some(rest) = behind(rest, b'"') {
            return text(rest).map(|(text, rest)| (Plain::Text(text), rest));
        }
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'+' | b'.');
        let (word, rest) = rest.split_at_checked(rest.bytes().position(|byte| !is_plain(byte))?)?;
        Some((Plain::Word(word), rest))
    }

    fn text(self) -> Option<&'a str> {
        match self {
            Plain::Text(text) => Some(text),
            Plain::Word(_) => None,
        }
    }

    fn is_null(self) -> bool {
        matches!(self, Plain::Word("null"))
    }

    /// It as read so, or `null`.
    fn or_null<T>(self, read: impl Fn(Self) -> Option<T>) -> Option<Option<T>> {
        if self.is_null() { Some(None) } else { read(self).map(Some) }
    }

    fn amount(self) -> Option<Decimal> {
        parse_info(self.text()?).ok()
    }

    fn number(self) -> Option<u64> {
        match self {
            Plain::Word(word) => parse_count(word),
            Plain::Text(_) => None,
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

/// The fill that a line tells of, where it is written as the guard writes one that liquidated nobody: in this order.
pub(super) fn fill_as_written(line: &str) -> Option<Fill> {
    let mut members = Members::of(line)?;
    let mut value = |name: &str| members.named(name);
    value("\"seq\":")?;
    value("\"at_ms\":")?;
    value("\"kind\":")?;
    let (coin, side) = (value("\"coin\":")?.text()?, side(value("\"side\":")?.text()?));
    let (px, size) = (value("\"px\":")?.amount()?, value("\"size\":")?.amount()?);
    let (fee, fee_token) = (value("\"fee\":")?.amount()?, value("\"fee_token\":")?.text()?);
    let builder_fee = members.if_named("\"builder_fee\":")?;
    let mut value = |name: &str| members.named(name);
    let mut fill = Fill {
        coin: coin.to_owned(),
        side,
        px,
        size,
        fee,
        fee_token: fee_token.to_owned(),
        builder_fee: builder_fee.map_or(Some(None), |fee| fee.amount().map(Some))?,
        closed_pnl: value("\"closed_pnl\":")?.amount()?,
        position_before: value("\"position_before\":")?.amount()?,
        position_after: Some(value("\"position_after\":")?.amount()?),
        oid: value("\"oid\":")?.number()?,
        cloid: value("\"cloid\":")?.or_null(|cloid| cloid.text()?.parse().ok())?,
        tid: value("\"tid\":")?.number()?,
        time: value("\"time\":")?.number()?,
        crossed: value("\"crossed\":")?.flag()?,
        intent: value("\"intent\":")?.or_null(Plain::number)?,
        client: value("\"client\":")?.or_null(|client| client.text().map(str::to_owned))?,
        ..Fill::default()
    };
    while !members.0.is_empty() {
        match members.next()? {
            ("late", late) => fill.late = late.flag()?,
            ("chain" | "seen", _) => {}
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
        let line = r#"{"seq":1,"at_ms":2,"kind":"fill","coin":"ETH","side":"buy","px":"1","size":"2","fee":"0.1","fee_token":"USDC","closed_pnl":"0","position_before":"0","position_after":"2","oid":7,"cloid":null,"tid":8,"time":9,"crossed":true,"intent":null,"client":null,"chain":"00"}"#;
        assert_eq!(fill_as_written(line), Some(as_json(line)));
        for (there, instead) in [
            ("{\"seq\"", "{ \"seq\""),
            ("\"chain\":\"00\"}", "\"chain\":\"00\""),
            ("\"chain\":\"00\"}", "\"chain\":\"00\",}"),
            ("\"chain\":\"00\"}", "\"chain\":\"00\"}}"),
            ("\"ETH\"", "\"E\\u0054H\""),
            ("\"px\":\"1\"", "\"px\":1"),
            ("\"px\":\"1\"", "\"px\":\"1e5\""),
            ("\"px\":\"1\",\"size\":\"2\"", "\"size\":\"2\",\"px\":\"1\""),
            ("\"px\":\"1\",", ""),
            ("\"oid\":7", "\"oid\":-1"),
            ("\"oid\":7", "\"oid\":\"1\""),
            ("\"oid\":7", "\"oid\":18446744073709551616"),
            ("\"position_after\":\"2\"", "\"position_after\":null"),
            ("\"crossed\":true", "\"crossed\":1"),
            ("\"intent\"", "\"liquidation\":null,\"intent\""),
            ("\"chain\"", "\"changes\":[\"a\"],\"chain\""),
        ] {
            assert!(line.contains(there), "{there}");
            assert_eq!(fill_as_written(&line.replace(there, instead)), None, "{instead}");
        }
        for other in ["[1]", "{}", ""] {
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
