//! Slips on the command line, each with the command that was meant: a rule in the wrong place, a key that was typed, a kill
//! under another name, a command that is not whole.

use std::ffi::OsString;

use clap::Command;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use super::kill_typed::Typed;
use super::refusal::Refusal;
use super::{here, one_rule, rule_offered, values};
use crate::base::mode::Mode;
use crate::base::shell::word;
use crate::base::text::{nearest, without_keys};
use crate::rules::Rules;

/// Hex digits of a key.
const KEY_DIGITS: usize = 64;

/// Words that a person may type to have it released, alone or behind `kill`.
const RELEASES: [&str; 7] = ["off", "release", "unkill", "un_kill", "reset", "clear", "undo"];

/// Words of no command that go on with the trade: a reason behind one of them is none for a kill.
const GOES_ON: [&str; 8] = ["release", "unkill", "resume", "reset", "clear", "start", "restart", "unpause"];

/// Flags of an address, which a kill does not take.
const ADDRESSES: [&str; 4] = ["--url", "--listen", "--guard-url", "--port"];

/// A whole command for each that needs more than its name. What a kill needs is always told.
const WHOLE: &[(&str, &str)] = &[
    ("client", "client add --out FILE"),
    ("client add", "client add --out FILE"),
    ("completions", "completions bash"),
    ("config", "config get rules"),
    ("config get", "config get rules"),
    ("config set", "config set rules stop=1.5"),
    ("config set equity_cap", "config set equity_cap 10000"),
    ("config set ip_share", "config set ip_share 1/2"),
    ("config set listen", "config set listen 127.0.0.1:8547"),
    ("journal-init", "journal-init --mode MODE --note 'first start'"),
    ("journal-resume", "journal-resume --mode MODE --note 'looked into it'"),
    ("journal-show", "journal-show --mode MODE"),
    ("key", "key check --key-stdin < FILE"),
    ("key check", "key check --key-stdin < FILE"),
    ("key replace", "key replace --key-stdin < FILE"),
    ("report", "report --mode MODE"),
];

/// A rule that was typed where it does not belong, or without what belongs around it.
pub(super) fn rule(words: &[String]) -> Option<Refusal> {
    let is_rule = |word: &str| Rules::keys().any(|key| word.split('=').next() == Some(key));
    // A rule that was typed as a flag, or with its table.
    let plain = |word: &String| {
        let bare = ["--", "rules."].into_iter().find_map(|before| word.strip_prefix(before));
        bare.filter(|name| is_rule(name)).unwrap_or(word).to_owned()
    };
    let words: Vec<String> = words.iter().map(plain).collect();
    let has_flags = words.iter().any(|word| word.starts_with("--"));
    let first = words.first().filter(|first| !has_flags && ["config", "rules", "set"].contains(&first.as_str()))?;
    let mut rest = words.iter().skip(usize::from(first == "config")).map(String::as_str).peekable();
    while rest.next_if(|word| ["set", "rules"].contains(word)).is_some() {}
    let mut typed = rest.next()?.to_owned();
    let has_value = rule_offered::meant(&typed).is_some_and(|change| !change.ends_with("=VALUE"));
    if !has_value {
        rest.next().into_iter().for_each(|value| typed.push_str(&format!("={value}")));
    }
    let is_list = typed.starts_with("markets");
    while let Some(more) = rest.next_if(|_| is_list || typed.ends_with(',')) {
        typed.push_str(if typed.ends_with(',') || more.starts_with(',') { "" } else { "," });
        typed.push_str(more);
    }
    if let Some(more) = rest.next().and_then(rule_offered::meant).filter(|more| more.ends_with("=VALUE")) {
        let more = rest.next().map(|value| more.replace("VALUE", value));
        let both: Option<Vec<String>> = [rule_offered::meant(&typed), more].into_iter().collect();
        return both.map(|both| Refusal::Given(one_by_one(&both)));
    }
    let changes: Vec<String> = words.iter().filter(|word| word.contains('=')).cloned().collect();
    if one_rule::several(&changes.join(" ")).len() > 1 {
        return Some(Refusal::Given(one_by_one(&changes)));
    }
    let change = rule_offered::meant(&typed)?;
    let key = change.split('=').next().unwrap_or_default();
    let change = word(&change);
    Some(Refusal::Given(format!("{key:?} is one of the rules: `svc-guard config set rules {change}` changes it")))
}

/// Changes of rules that were typed as one, each with its command.
pub(super) fn one_by_one(changes: &[String]) -> String {
    let commands = changes.iter().map(|change| format!("`svc-guard config set rules {}`", word(change)));
    format!("{:?} is more than one rule: {}", changes.join(" "), commands.collect::<Vec<_>>().join(", then "))
}

/// A key that was typed as a word of its own: everybody on the machine knows it by now.
pub(super) fn key(error: &clap::Error, words: &[String]) -> Option<Refusal> {
    // Also behind a flag that takes none.
    let is_stray =
        matches!(error.kind(), ErrorKind::UnknownArgument | ErrorKind::InvalidSubcommand | ErrorKind::TooManyValues);
    let value = |word: &'_ String| word.split_once('=').map_or(word.as_str(), |(_, value)| value).to_owned();
    let typed = words.iter().map(value).find(|value| is_key(value)).filter(|_| is_stray)?;
    Some(Refusal::KeyTyped(format!("argument {}", without_keys(&typed))))
}

/// Refuses a key where a file is to be named, or something else that would be repeated.
pub(super) fn check_no_key(flag: &str, value: &str) -> Result<(), Refusal> {
    if is_key(value) { Err(Refusal::KeyTyped(format!("{flag} {}", without_keys(value)))) } else { Ok(()) }
}

fn is_key(word: &str) -> bool {
    let digits = word.trim_start_matches('@').trim_start_matches("0x");
    digits.len() == KEY_DIGITS && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Whether a command that there is not was to pull the kill switch.
pub(super) fn is_kill(program: &Command, error: &clap::Error, words: &[String]) -> bool {
    let suggested = match error.get(ContextKind::SuggestedSubcommand) {
        Some(ContextValue::Strings(names)) => names.iter().any(|name| name == "kill"),
        Some(ContextValue::String(name)) => name == "kill",
        _ => false,
    };
    let typed = words.iter().find(|word| !word.starts_with('-')).map(|word| word.to_ascii_lowercase());
    if typed.as_deref().is_some_and(|typed| GOES_ON.contains(&typed) || is_other_command(program, typed)) {
        return false;
    }
    let is_like = typed.is_none_or(|typed| is_like_kill(&typed));
    let has_reason = has_reason(words);
    let is_unknown = matches!(error.kind(), ErrorKind::InvalidSubcommand | ErrorKind::UnknownArgument);
    error.kind() == ErrorKind::InvalidSubcommand && (suggested || is_like) || is_unknown && has_reason
}

fn is_like_kill(typed: &str) -> bool {
    typed.starts_with("kil") || nearest(typed, ["kill"].into_iter()).is_some()
}

fn is_other_command(program: &Command, typed: &str) -> bool {
    program.find_subcommand(typed).is_some_and(|command| command.get_name() != "kill")
}

/// Whether a reason for a kill was typed.
pub(super) fn has_reason(words: &[String]) -> bool {
    words.iter().any(|word| word == "--reason" || word.starts_with("--reason="))
}

/// The name of what was wanted by a kill that is none: its release, or a look at it.
pub(super) fn instead_of_kill(words: &[String]) -> Option<&'static str> {
    let mut typed = words.iter().map(|word| word.trim_start_matches('-').to_ascii_lowercase().replace('-', "_"));
    let first = typed.find(|word| word != "help")?;
    if ["unkill", "un_kill"].into_iter().any(|name| nearest(&first, [name].into_iter()).is_some()) {
        return Some("unkill");
    }
    if !is_like_kill(&first) || has_reason(words) {
        return None;
    }
    match typed.next()?.as_str() {
        word if RELEASES.contains(&word) => Some("unkill"),
        "status" | "state" => Some("status"),
        _ => None,
    }
}

/// The kill that was typed: for how long it is to wait, and as its reason whatever stands there and is no flag.
pub(super) fn kill(words: &[String]) -> Typed {
    let mut typed = words.iter().skip(usize::from(words.first().is_some_and(|first| !first.starts_with('-'))));
    let mut reason: Vec<&str> = Vec::new();
    while let Some(next) = typed.next() {
        match next.as_str() {
            "--wait" => _ = typed.next(),
            flag if ADDRESSES.contains(&flag) => _ = typed.next(),
            flag if flag.starts_with("--reason=") => reason.extend(flag.split_once('=').map(|(_, text)| text)),
            flag if flag.starts_with("--") || ["-h", "-V"].contains(&flag) => {}
            text => reason.push(text),
        }
    }
    let reason = reason.join(" ");
    let is_taken = values::reason(&reason).is_ok();
    let is_plain = !reason.trim().is_empty() && !reason.contains('`') && without_keys(&reason) == reason;
    Typed { reason: Some(reason).filter(|_| is_taken && is_plain), wait: wait(words) }
}

/// For how long a kill was to wait, where that can be read.
fn wait(words: &[String]) -> Option<u16> {
    let mut typed = words.iter();
    let value =
        typed.find_map(|word| word.strip_prefix("--wait").filter(|rest| rest.is_empty() || rest.starts_with('=')))?;
    let next = || typed.next().filter(|next| !next.starts_with("--")).map_or(values::USUAL_WAIT, String::as_str);
    values::seconds(value.strip_prefix('=').unwrap_or_else(next)).ok()
}

/// The address that was typed for a kill, which goes by a home and takes none.
pub(super) fn address_of_kill(words: &[String]) -> Option<String> {
    let mut typed = words.iter();
    let (flag, value) = typed.find_map(|word| {
        let (flag, value) = word.split_once('=').map_or((word.as_str(), None), |(flag, value)| (flag, Some(value)));
        ADDRESSES.contains(&flag).then_some((flag, value))
    })?;
    let value = value.or_else(|| typed.next().map(String::as_str))?;
    let bare = value.split_once("://").map_or(value, |(_, bare)| bare).split('/').next().unwrap_or_default();
    let is_port = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let port = bare.strip_prefix(':').unwrap_or(bare);
    let place = if flag == "--port" || is_port(port) { format!("127.0.0.1:{port}") } else { bare.to_owned() };
    Some(format!("http://{}", place.replacen("localhost:", "127.0.0.1:", 1)))
}

/// The command that was begun, with what belongs to it, for a home of this mode where that is known.
pub(super) fn whole(program: &Command, error: &clap::Error, words: &[String], mode: Option<Mode>) -> Option<String> {
    let is_empty =
        matches!(error.get(ContextKind::InvalidValue), Some(ContextValue::String(value)) if value.is_empty());
    let is_short =
        is_empty || matches!(error.kind(), ErrorKind::MissingRequiredArgument | ErrorKind::MissingSubcommand);
    let (mut command, mut path) = (program, Vec::new());
    for word in words.iter().filter(|_| is_short) {
        let Some(next) = command.find_subcommand(word) else { break };
        (command, _) = (next, path.push(word.as_str()));
    }
    let behind = words.get(path.len()).map(String::as_str);
    let path = path.join(" ");
    let longer = behind.map(|behind| format!("{path} {behind}"));
    let of = |begun: &str| WHOLE.iter().find(|(known, _)| *known == begun);
    let (_, whole) = longer.and_then(|longer| of(&longer)).or_else(|| of(&path))?;
    let whole = mode.map_or_else(|| (*whole).to_owned(), |mode| whole.replace("MODE", mode.name()));
    Some(with_flags(whole, words))
}

/// A sample value of each flag that is most often typed without one.
const SAMPLES: [(&str, &str); 3] = [("--from", "2026-11-01"), ("--to", "2026-11-30"), ("--by", "day")];

/// The command with the flags that were typed too, each with its value.
fn with_flags(mut command: String, words: &[String]) -> String {
    let mut words = words.iter().skip_while(|typed| !typed.starts_with("--")).peekable();
    while let Some(typed) = words.next() {
        let flag = typed.split('=').next().unwrap_or(typed);
        let value = words.next_if(|next| !next.starts_with("--"));
        if !command.contains(flag) {
            let sample = SAMPLES.iter().find(|(known, _)| known == typed).map(|(_, sample)| (*sample).to_owned());
            [Some(typed.clone()), value.cloned().or(sample)]
                .into_iter()
                .flatten()
                .for_each(|typed| command.push_str(&format!(" {}", word(&typed))));
        }
    }
    command
}

/// The words of a command line, without those that name home and config.
pub(super) fn words(typed: impl Iterator<Item = OsString>) -> Vec<String> {
    here::behind(typed).iter().map(|word| word.to_string_lossy().into_owned()).collect()
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory, Parser};

    use super::*;
    use crate::cli::Cli;

    fn typed(line: &str) -> Vec<String> {
        words(format!("svc-guard {line}").split(' ').map(OsString::from))
    }

    #[test]
    fn a_rule_is_known_wherever_it_is_typed() {
        for (line, change) in [
            ("config set stop 3", "stop=3"),
            ("config set stop=3 x", "stop=3"),
            ("config set rules stop 3", "stop=3"),
            ("--home /x config rules stop=3", "stop=3"),
            ("config stop: 3", "stop=3"),
            ("rules stop=3", "stop=3"),
            ("config set rules markets=BTC, ETH", "markets=BTC,ETH"),
            ("config set stop", "stop=VALUE"),
            ("config set daily_loss 5%", "daily_loss=5%"),
            ("config set rules.stop 3", "stop=3"),
            ("set stop 3", "stop=3"),
            ("config set rules.collar=10%", "collar=10%"),
        ] {
            let said = rule(&typed(line)).map(|refusal| refusal.to_string()).unwrap_or_default();
            assert!(said.contains(&format!("`svc-guard config set rules {change}` changes it")), "{line}: {said}");
        }
        for line in
            ["config set rules", "config get stop", "stop 3", "config set listen stop=3", "config set stopper 3"]
        {
            assert!(rule(&typed(line)).is_none(), "{line}");
        }
    }

    #[test]
    fn a_flag_without_its_value_gets_one_in_the_whole_command() {
        for (line, proposed) in [
            ("report --mode paper --from", "report --mode paper --from 2026-11-01"),
            ("report --mode paper --by", "report --mode paper --by day"),
            ("report --mode paper --by market --to", "report --mode paper --by market --to 2026-11-30"),
        ] {
            let line = typed(line);
            let read = |words: &[String]| {
                Cli::try_parse_from(["svc-guard"].into_iter().chain(words.iter().map(String::as_str))).map(drop)
            };
            let error = read(&line).unwrap_err();
            let said = whole(&Cli::command(), &error, &line, Some(Mode::Paper)).unwrap();
            assert_eq!(said, proposed);
            read(&typed(&said)).unwrap();
        }
    }

    /// Every command that cannot stand alone has a whole one, which is taken.
    #[test]
    fn a_command_that_is_not_whole_has_one_that_is() {
        fn each(command: &Command, path: &str, found: &mut Vec<String>) {
            for sub in command.get_subcommands() {
                let path = format!("{path} {}", sub.get_name()).trim().to_owned();
                found.push(path.clone());
                each(sub, &path, found);
            }
        }
        let program = Cli::command();
        let mut found = Vec::new();
        each(&program, "", &mut found);
        let read = |line: &str| Cli::try_parse_from(["svc-guard"].into_iter().chain(line.split(' ')));
        for command in found {
            let Err(error) = read(&command) else { continue };
            if command == "kill" {
                continue;
            }
            let example = whole(&program, &error, &typed(&command), Some(Mode::Testnet));
            let example = example.unwrap_or_else(|| panic!("{command}"));
            assert!(example.starts_with(&command), "{command}: {example}");
            let bare =
                example.split(" < ").next().unwrap().replace("'first start'", "x").replace("'looked into it'", "x");
            assert!(read(&bare).is_ok(), "{example}");
        }
    }

    #[test]
    fn an_address_is_no_part_of_a_reason() {
        for (line, address) in [
            ("kill --reason x --url http://127.0.0.1:1", Some("http://127.0.0.1:1")),
            ("kill --url=http://127.0.0.1:1 --reason x", Some("http://127.0.0.1:1")),
            ("kill --listen 127.0.0.1:1 --reason x --wait 5", Some("http://127.0.0.1:1")),
            ("kill --reason x --url localhost:1/healthz", Some("http://127.0.0.1:1")),
            ("kill --reason x --url https://127.0.0.1:1/", Some("http://127.0.0.1:1")),
            ("kill --reason x --listen :1", Some("http://127.0.0.1:1")),
            ("kill --reason x --port 1", Some("http://127.0.0.1:1")),
            ("kill --reason x --guard-url http://127.0.0.1:1", Some("http://127.0.0.1:1")),
            ("kill --reason x --wait 5", None),
            ("kill x --url", None),
        ] {
            let words = typed(line);
            assert_eq!(address_of_kill(&words).as_deref(), address, "{line}");
            let wait = if line.contains("--wait 5") { " --wait 5" } else { "" };
            assert!(!line.contains("--reason") || kill(&words).words() == format!("kill --reason x{wait}"), "{line}");
        }
        assert_eq!(kill(&typed("kill --reason -5% --now")).words(), "kill --reason -5%");
        assert_eq!(kill(&typed("kill --reason=--x")).words(), "kill --reason TEXT");
    }

    #[test]
    fn what_was_to_kill_is_known_by_its_like_and_its_reason() {
        let is_kill = |line: &str| {
            let error = Cli::try_parse_from(format!("svc-guard {line}").split(' ')).unwrap_err();
            super::is_kill(&Cli::command(), &error, &typed(line))
        };
        for line in ["kil --reason x", "Kill --reason x", "KILL", "killswitch", "stop --reason x", "--reason x", "kll"]
        {
            assert!(is_kill(line), "{line}");
        }
        for line in [
            "nonsense",
            "status",
            "journal-init --reaso x",
            "config kill",
            "unkill",
            "release --reason x",
            "run --reason x",
            "resume --reason x",
        ] {
            assert!(!is_kill(line), "{line}");
        }
    }
}
