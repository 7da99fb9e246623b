//! Sentences that begin with a number: of one thing they are other words than of many.

/// The count and the text, where `[one/many]` is the word for one, or the one for any other count.
pub(super) fn in_number(count: u64, text: &str) -> String {
    let (mut told, mut rest) = (format!("{count} "), text);
    while let Some((before, choice)) = rest.split_once('[') {
        let (words, behind) = choice.split_once(']').unwrap_or((choice, ""));
        let (one, many) = words.split_once('/').unwrap_or((words, words));
        told.push_str(before);
        told.push_str(if count == 1 { one } else { many });
        rest = behind;
    }
    told + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_has_words_of_its_own() {
        let text = "[line does/lines do] not follow; [it was/they were] changed.";
        assert_eq!(in_number(1, text), "1 line does not follow; it was changed.");
        for count in [0, 2] {
            assert_eq!(in_number(count, text), format!("{count} lines do not follow; they were changed."));
        }
        assert_eq!(in_number(1, "word"), "1 word");
    }
}
