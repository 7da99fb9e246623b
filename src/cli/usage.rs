//! A command line that cannot be read: one reason and the way out, in one line like every other refusal.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use clap::Command;
use clap::error::ErrorKind;

use super::refusal::Refusal;
use super::slips::check_no_key;
use crate::base::shell::numbered;
use crate::base::text::{visible, without_keys};
use crate::rules::CODE_PREFIX;

/// Longest word of a refusal: a path is shorter, and what is behind a longer one must still be seen.
const MAX_WORD: usize = 300;
/// Longest code of rules in one.
const MAX_CODE: usize = 1_000;
/// Most characters of a refusal.
const MAX_TEXT: usize = 3_000;

/// Whether this is no error but what was asked for: the version, or the help text.
pub(super) fn is_answer(error: &clap::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
    )
}

/// The refusal of an option that begins with one dash: the parser reads its first letter alone, and answers `-home` with help.
pub(super) fn one_dash(program: &Command, words: impl Iterator<Item = OsString>) -> Option<Refusal> {
    let is_named = |word: &String| {
        let name = word.strip_prefix('-').filter(|name| name.len() > 1)?;
        is_option(program, name.split('=').next()?).then_some(())
    };
    let words: Vec<String> = words.skip(1).filter_map(|word| word.into_string().ok()).collect();
    if let Some((typed, name)) = words.iter().find_map(|word| Some((word, pasted(word)?)))
        && is_option(program, name.split('=').next()?)
    {
        return Some(Refusal::Usage(format!("{typed}: such an option begins with two plain dashes: --{name}")));
    }
    let words = words.into_iter();
    let typed = words.take_while(|word| word != "--").find(|word| is_named(word).is_some())?;
    Some(Refusal::Usage(format!("{typed}: such an option begins with two dashes: -{typed}")))
}

/// The name of an option before which a text that was pasted has a long dash.
fn pasted(word: &str) -> Option<&str> {
    let name = word
        .trim_start_matches(['-', '\u{2010}', '\u{2011}', '\u{2012}', '\u{2013}', '\u{2014}', '\u{2015}', '\u{2212}']);
    let before = word.strip_suffix(name)?;
    (!before.is_ascii()).then_some(name)
}

fn is_option(program: &Command, name: &str) -> bool {
    program.get_arguments().any(|argument| argument.get_long() == Some(name))
        || program.get_subcommands().any(|command| is_option(command, name))
}

/// The refusal that says what the parser says, and where words are missing a command that has them.
pub(super) fn refusal(error: &clap::Error, whole: Option<String>) -> Refusal {
    let said = one_line(&error.render().to_string());
    match whole {
        Some(whole) => Refusal::Usage(format!("{said}; a whole one is `svc-guard {whole}`")),
        None => Refusal::Usage(said),
    }
}

/// The refusal of words that are no text, each with its place on the command line.
pub(super) fn not_text(words: impl Iterator<Item = OsString>) -> Refusal {
    let bad = words.enumerate().skip(1).filter(|(_, word)| word.to_str().is_none());
    let bad: Vec<String> = bad.map(|(place, word)| format!("argument {place}, {}", readable(&word))).collect();
    let (are, each) = if bad.len() == 1 { ("is", "it") } else { ("are", "each") };
    Refusal::Usage(format!("{} {are} no UTF-8 text; write {each} in UTF-8", bad.join(" and ")))
}

/// Refuses a name for a key's new file that means standard output to other programs, and what [`check_text`] refuses.
pub(super) fn check_new_key_file(path: &Path, flag: &'static str) -> Result<(), Refusal> {
    if path == Path::new("-") {
        return Err(Refusal::Given(format!(
            "{flag}: - is no file here, for a key goes to a new file and nowhere else; name one"
        )));
    }
    check_no_key(flag, &path.file_name().unwrap_or_default().to_string_lossy())?;
    check_text(path, flag)
}

/// Refuses a path that cannot be typed: what was made there could be named by no command.
pub(super) fn check_text(path: &Path, instead: &'static str) -> Result<(), Refusal> {
    let lacks = match path.to_str() {
        None => "is no UTF-8 text",
        Some(text) if text.contains(char::is_control) => "has a control character",
        Some(_) => return Ok(()),
    };
    Err(Refusal::NotText(readable(path.as_os_str()), lacks, instead))
}

/// A word with the bytes that are no text, or that control a terminal, as numbers.
pub(super) fn readable(word: &OsStr) -> String {
    let mut text = String::new();
    for chunk in word.as_encoded_bytes().utf8_chunks() {
        text.push_str(&numbered(chunk.valid()));
        chunk.invalid().iter().for_each(|byte| text.push_str(&format!("\\x{byte:02x}")));
    }
    format!("\"{text}\"")
}

/// A refusal as a terminal may show it: what was typed may stand in it, so it is bounded and has no control characters.
pub(super) fn shown(text: &str) -> String {
    // A command without the whole of its rules could not be typed again.
    let is_code = |word: &str| word.trim_start_matches(['"', '\'']).starts_with(CODE_PREFIX);
    let most = |word: &str| if is_code(word) { MAX_CODE } else { MAX_WORD };
    let words: Vec<String> = without_keys(text).split(' ').map(|word| visible(word, most(word))).collect();
    visible(&words.join(" "), MAX_TEXT)
}

/// The parser's message in one line: its reason and its tips, without the usage that the help text shows better.
fn one_line(message: &str) -> String {
    let lines = message.lines().map(str::trim).filter(|line| !line.is_empty());
    let lines = lines.take_while(|line| !line.starts_with("Usage:") && !line.starts_with("For more information"));
    let mut line = String::new();
    for part in lines {
        let joint = match line.chars().last() {
            None => "",
            Some(':') => " ",
            Some(_) => "; ",
        };
        line.push_str(joint);
        line.push_str(part.trim_start_matches("error: "));
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_typed_is_shown_without_harm() {
        assert_eq!(shown("no file a\nb\u{1b}[31mc; name one"), "no file a b[31mc; name one");
        let long = shown(&format!("no file {}; name one", "x".repeat(9_000)));
        assert!(long.starts_with("no file xxx") && long.ends_with("… name one") && long.len() < 400, "{long}");
        assert!(shown(&"x ".repeat(9_000)).len() < 3_100);
    }

    #[test]
    fn a_message_is_one_line() {
        let message =
            "error: the following required arguments were not provided:\n  --note <TEXT>\n\nUsage: x\n\nFor more";
        assert_eq!(one_line(message), "the following required arguments were not provided: --note <TEXT>");
        let message =
            "error: unexpected argument '--forec'\n\n  tip: a similar argument exists: '--force'\n\nUsage: x\n";
        assert_eq!(one_line(message), "unexpected argument '--forec'; tip: a similar argument exists: '--force'");
    }
}
