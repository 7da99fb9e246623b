//! Whatever is done to lines is found where it was done.

use proptest::prelude::*;

use crate::journal::chain::Lines;
use crate::journal::{Chain, LineFault, seal};

/// Lines with the places where they start, and at last the end.
fn lines(texts: &[String]) -> (Vec<u8>, Vec<usize>) {
    let (mut bytes, mut starts, mut chain) = (Vec::new(), vec![0], Chain::START);
    for text in texts {
        chain = seal(chain, &serde_json::json!({ "text": text }).to_string(), &mut bytes).unwrap();
        starts.push(bytes.len());
    }
    (bytes, starts)
}

/// How many lines are right, and where the first is not.
fn read(bytes: &[u8]) -> (usize, Option<(u64, LineFault)>) {
    let (mut lines, mut good) = (Lines::new(bytes, 0, Chain::START), 0);
    loop {
        match lines.advance() {
            Ok(true) => good += 1,
            Ok(false) => return (good, None),
            Err(fault) => return (good, Some((lines.start(), fault))),
        }
    }
}

fn texts() -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec("[ -~é\n]{0,40}", 2..8)
}

proptest! {
    #[test]
    fn untouched_lines_are_right(texts in texts()) {
        let (bytes, _) = lines(&texts);
        let (good, fault) = read(&bytes);
        prop_assert_eq!(good, texts.len());
        prop_assert!(fault.is_none());
    }

    #[test]
    fn a_changed_byte_is_found_in_its_line(texts in texts(), at in any::<prop::sample::Index>(), bits in 1..=255_u8) {
        let (mut bytes, starts) = lines(&texts);
        let at = at.index(bytes.len());
        bytes[at] ^= bits;
        let touched = starts.iter().rposition(|start| *start <= at).unwrap();
        let (good, fault) = read(&bytes);
        prop_assert_eq!(good, touched);
        prop_assert_eq!(fault.unwrap().0, starts[touched] as u64);
    }

    #[test]
    fn a_cut_line_is_found(texts in texts(), at in any::<prop::sample::Index>()) {
        let (bytes, starts) = lines(&texts);
        let at = at.index(bytes.len());
        let (good, fault) = read(&bytes[..at]);
        prop_assert_eq!(good, starts.iter().rposition(|start| *start <= at).unwrap());
        prop_assert_eq!(fault.is_some(), !starts.contains(&at));
    }

    #[test]
    fn a_removed_line_is_found_at_its_place(texts in texts(), line in any::<prop::sample::Index>()) {
        let (bytes, starts) = lines(&texts);
        let line = line.index(texts.len() - 1);
        let left = [&bytes[..starts[line]], &bytes[starts[line + 1]..]].concat();
        let (good, fault) = read(&left);
        prop_assert_eq!(good, line);
        prop_assert!(matches!(fault, Some((at, LineFault::Broken)) if at == starts[line] as u64));
    }

    #[test]
    fn a_moved_line_is_found(texts in texts(), line in any::<prop::sample::Index>()) {
        let (bytes, starts) = lines(&texts);
        let line = line.index(texts.len() - 1);
        let [a, b, c] = [starts[line], starts[line + 1], starts[line + 2]];
        let moved = [&bytes[..a], &bytes[b..c], &bytes[a..b], &bytes[c..]].concat();
        let (good, fault) = read(&moved);
        prop_assert_eq!(good, line);
        prop_assert!(matches!(fault, Some((_, LineFault::Broken))));
    }

    #[test]
    fn a_doubled_line_is_found(texts in texts(), line in any::<prop::sample::Index>()) {
        let (bytes, starts) = lines(&texts);
        let line = line.index(texts.len());
        let doubled = [&bytes[..starts[line + 1]], &bytes[starts[line]..]].concat();
        prop_assert_eq!(read(&doubled).0, line + 1);
        prop_assert!(read(&doubled).1.is_some());
    }
}

/// Values from another implementation of Keccak-256.
#[test]
fn values_are_those_of_keccak() {
    let mut bytes = Vec::new();
    let chain = seal(Chain::START, r#"{"seq":1}"#, &mut bytes).unwrap();
    seal(chain, r#"{"seq":2}"#, &mut bytes).unwrap();
    let expected = "{\"seq\":1,\"chain\":\"af2d99eb49f097e5\"}\n{\"seq\":2,\"chain\":\"6fb086b0c00a23c7\"}\n";
    assert_eq!(String::from_utf8(bytes).unwrap(), expected);
}

#[test]
fn what_is_no_body_is_refused_and_leaves_nothing() {
    let mut bytes = Vec::new();
    for text in [
        "",
        "{}",
        "{",
        "[1]",
        "{\"a\":1",
        "{\"a\":\n1}",
        &format!("{{\"a\":\"{}\"}}", "x".repeat(crate::journal::MAX_LINE)),
    ] {
        assert!(matches!(seal(Chain::START, text, &mut bytes), Err(LineFault::NotABody)));
        assert!(bytes.is_empty());
    }
}

#[test]
fn an_endless_line_is_refused_without_reading_it_all() {
    let bytes = vec![b'x'; crate::journal::MAX_LINE + 10];
    assert!(matches!(read(&bytes), (0, Some((0, LineFault::TooLong)))));
}
