//! `notify`: tells the owner what happens, or, as `notify test`, sends one message to each target.

use std::path::{Path, PathBuf};

use super::environment;
use super::output::{print, say};
use super::own_guard::OfHome;
use super::reached::guard_url;
use super::refusal::Refusal;
use super::running_here::running;
use crate::base::files::{FileError, Why, in_own_folder, read_trusted};
use crate::base::log_line::Reader;
use crate::guard::{Code, Verdict};
use crate::home::{Config as Guard, Home, LoadedConfig, in_container, load, local_url};
use crate::journal::{OpenError, read_events, read_risk};
use crate::notify::{Config, Guard as Expected, Options, OwnGuard, Past, RunError, run as tell, trial};
use crate::record::event::Event;

/// The address of a guard with the default listen address.
const DEFAULT_URL: &str = "http://127.0.0.1:8547";
/// Largest `notify.toml`.
const MAX_CONFIG: u64 = 256 * 1024;

#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(super) struct Args {
    #[command(subcommand)]
    test: Option<Test>,
    #[command(flatten)]
    own: RunArgs,
}

#[derive(Debug, clap::Subcommand)]
enum Test {
    /// Send one message to each target and print what each answered
    Test(TestArgs),
}

#[derive(Debug, Default, clap::Args)]
struct TestArgs {
    /// Another file than notify.toml in the home
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
}

#[derive(Debug, Default, clap::Args)]
struct RunArgs {
    /// Another file than notify.toml in the home
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// The guard's base URL, on this machine [default: notify.toml's, the home's, or http://127.0.0.1:8547]
    #[arg(long, value_name = "URL")]
    guard_url: Option<String>,
    /// Folder for what was told already [default: notify in the home]
    #[arg(long, value_name = "DIR")]
    state: Option<PathBuf>,
    /// The guard's journal, for events that are gone from its memory [default: the home's]
    #[arg(long, value_name = "DIR")]
    journal: Option<PathBuf>,
}

impl RunArgs {
    /// With `~` as a person means it.
    fn expanded(self) -> Self {
        let own = |path: Option<PathBuf>| path.map(|path| in_own_folder(path, std::env::home_dir));
        Self { file: own(self.file), state: own(self.state), journal: own(self.journal), guard_url: self.guard_url }
    }
}

pub(super) fn run(args: Args, home: &Home) -> Result<(), Refusal> {
    let in_container = || environment::container(false).map(|said| in_container(said, Path::new("/")));
    if let Some(Test::Test(test)) = args.test {
        let named = test.file.map(|file| in_own_folder(file, std::env::home_dir));
        let file = file(named, home);
        let config = read(&file, home)?;
        let mut untold = Ok(());
        let say = |line: &str| untold = print(&format!("{line}\n"));
        trial(&config, environment::credentials(), in_container()?, say)
            .map_err(|error| of_file(error, &file, home))?;
        return untold;
    }
    let own = args.own.expanded();
    let file = file(own.file, home);
    let config = read(&file, home)?;
    // A home that this user may not read, or that holds no set-up, has defaults.
    let guard = match load(&home.config_file(), &home.trusted()) {
        Ok(LoadedConfig::SetUp(guard)) => Some(guard),
        _ => None,
    };
    let (url, of_home) = match own.guard_url.or_else(|| config.guard.clone()) {
        Some(named) => (named, None),
        None => {
            let of_home: Box<dyn OwnGuard> = Box::new(OfHome::new(home.clone()));
            (url(guard.as_deref(), home)?, Some(of_home))
        }
    };
    own.journal.as_deref().and_then(without_journal).iter().for_each(|warning| say(warning));
    let named = own.journal.is_some();
    let expected = guard.as_deref().map(|guard| expected(guard, home));
    let journal = own.journal.or_else(|| guard.map(|guard| home.journal_dir(guard.mode, guard.account)));
    let options = Options {
        guard: url,
        expected,
        own: of_home,
        state: own.state.unwrap_or_else(|| home.dir().join("notify")),
        credentials: environment::credentials(),
        in_container: in_container()?,
        reader: Reader::of_stderr(environment::journal_stream().as_deref()),
        past: past(journal, named),
        config,
    };
    tell(options).map_err(|error| of_file(error, &file, home))
}

/// A secret that cannot be had, with the file that names it, and the line where that can be told.
fn of_file(error: RunError, file: &Path, home: &Home) -> Refusal {
    let RunError::Secret(why) = &error else { return Refusal::Notify(error) };
    let line = why.credential().and_then(|name| {
        let text = read_trusted(file, &home.trusted(), MAX_CONFIG).ok()?;
        let is_it = |line: &str| {
            line.contains("credential")
                && [format!("\"{name}\""), format!("'{name}'")].iter().any(|name| line.contains(name))
        };
        text.lines().position(is_it)
    });
    let line = line.map_or_else(String::new, |line| format!(" (line {})", line.saturating_add(1)));
    Refusal::NotifyConfig(file.to_owned(), format!("{why}{line}"))
}

/// Where the guard of this home answers: the one that runs, and else the next one by its config.
fn url(guard: Option<&Guard>, home: &Home) -> Result<String, Refusal> {
    let now = running(home).map(local_url);
    let later = || guard.map_or_else(|| Ok(DEFAULT_URL.to_owned()), |guard| guard_url(home, guard.listen));
    now.map_or_else(later, Ok)
}

/// Which guard this home's is.
fn expected(guard: &Guard, home: &Home) -> Expected {
    Expected {
        account: guard.account.to_string(),
        mode: guard.mode.to_string(),
        kill_file: home.kill_file().path().display().to_string(),
    }
}

/// The file that says whom to tell.
pub(super) fn file(named: Option<PathBuf>, home: &Home) -> PathBuf {
    named.unwrap_or_else(|| home.dir().join("notify.toml"))
}

/// Reads and checks it.
pub(super) fn read(file: &Path, home: &Home) -> Result<Config, Refusal> {
    let text = read_trusted(file, &home.trusted(), MAX_CONFIG).map_err(|error| match error {
        FileError { path, why: Why::Missing } => Refusal::NoNotifyConfig(path),
        error => Refusal::File(error),
    })?;
    let refusals = Code::ALL.iter().filter(|code| Verdict::of(**code) == Verdict::Veto);
    let refusals: Vec<&str> = refusals.map(|code| code.as_str()).collect();
    Config::parse(&text, &refusals).map_err(|problems| Refusal::NotifyConfig(file.to_owned(), problems.join("; ")))
}

/// The names of all targets, as far as the file of this home can be read.
pub(super) fn targets(home: &Home) -> Vec<String> {
    let config = read(&file(None, home), home).map(|config| config.target).unwrap_or_default();
    config.into_iter().map(|target| target.name).collect()
}

/// Reads and checks it with what it names on this machine, for who only asks whether it can stand.
pub(super) fn check(file: &Path, home: &Home) -> Result<Config, Refusal> {
    let config = read(file, home)?;
    let in_container = in_container(environment::container(false)?, Path::new("/"));
    let problems = config.out_of_reach(in_container);
    if problems.is_empty() { Ok(config) } else { Err(Refusal::NotifyConfig(file.to_owned(), problems.join("; "))) }
}

/// What a person must know who named a folder without a journal: it is found out now, and not when events are gone.
fn without_journal(named: &Path) -> Option<String> {
    let why = read_risk(named).err()?;
    let is_one_there = |folders: std::fs::ReadDir| folders.flatten().any(|folder| read_risk(&folder.path()).is_ok());
    if std::fs::read_dir(named).is_ok_and(is_one_there) {
        return None;
    }
    let why = match why {
        OpenError::NoRiskJournal(_) => "holds no journal".to_owned(),
        why => format!("cannot be read as a journal ({why})"),
    };
    Some(format!(
        "warning: --journal {} {why}; what is gone from the guard's memory will be told to be missing. A guard's journal is in \
         its home, in journals/MODE-ACCOUNT",
        named.display()
    ))
}

/// Reads a journal's events behind one of them: the one that was named, or the one of the guard that answers in a folder that
/// holds several, or the home's where it is that guard's.
fn past(journal: Option<PathBuf>, is_named: bool) -> Past {
    Box::new(move |guard, after, most| {
        let Some(folder) = &journal else { return (Vec::new(), "no journal of it is known here".to_owned()) };
        let is_it = folder.file_name().is_some_and(|name| name == guard);
        let folder = match is_named {
            true if read_risk(folder).is_err() => folder.join(guard),
            true => folder.clone(),
            false if is_it => folder.clone(),
            false => return (Vec::new(), format!("the journal in {} is another guard's", folder.display())),
        };
        let at = folder.display();
        match read_events(&folder, after) {
            Err(_) => (Vec::new(), format!("the journal in {at} could not be read")),
            Ok(lines) => {
                // A line that is no text is missing, and none behind it.
                let readable = lines.filter(|line| !matches!(line, Err(OpenError::Damaged(_))));
                let behind = readable.map_while(Result::ok).filter(|line| seq(line).is_some_and(|seq| seq > after));
                (behind.take(most).collect(), format!("the journal in {at} does not hold what is missing"))
            }
        }
    })
}

/// The number of an event as it stands in the journal, where it is the first member: a day has a million lines.
fn seq(line: &str) -> Option<u64> {
    let digits = line.strip_prefix("{\"seq\":").map(|rest| rest.split(',').next().unwrap_or_default());
    digits.and_then(|digits| digits.parse().ok()).or_else(|| Event::parse(line).map(|event| event.seq))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;

    use super::*;
    use crate::guard::AlertCode;
    use crate::journal::create_risk;
    use crate::notify::{Severity, alert_codes, alert_words};

    /// A folder without a journal is found out at the start, and where events were looked for is told when they are missing.
    #[test]
    fn a_named_folder_is_a_journal_or_holds_the_guards() {
        let folder = tempfile::tempdir().unwrap();
        let journals = folder.path().join("journals");
        let own = journals.join("testnet-0x1");
        fs::create_dir_all(&own).unwrap();
        for empty in [folder.path(), &journals, &own, &folder.path().join("none")] {
            let said = without_journal(empty).unwrap();
            let name = empty.display().to_string();
            assert!(said.contains(&name) && said.contains("holds no journal"), "{said}");
        }
        create_risk(&own, "{\"kind\":\"init\"}", None).unwrap();
        fs::write(own.join("events-2026-01-01.jsonl"), "").unwrap();
        assert_eq!((without_journal(&own), without_journal(&journals)), (None, None));
        assert!(without_journal(folder.path()).is_some());
        let found = |named: &Path, is_named: bool| past(Some(named.to_owned()), is_named)("testnet-0x1", 0, 9).1;
        let there = format!("the journal in {} does not hold what is missing", own.display());
        assert_eq!(
            (found(&own, true), found(&journals, true), found(&own, false)),
            (there.clone(), there.clone(), there)
        );
        assert!(found(&journals, false).contains("another guard's"));
        assert!(found(folder.path(), true).contains(&folder.path().join("testnet-0x1").display().to_string()));
        assert!(past(None, false)("testnet-0x1", 0, 9).1.contains("no journal"));
    }

    /// What is behind a line that is no text is told all the same.
    #[test]
    fn a_line_that_is_no_text_hides_none_behind_it() {
        let folder = tempfile::tempdir().unwrap();
        create_risk(folder.path(), "{\"kind\":\"init\"}", None).unwrap();
        let lines = b"{\"seq\":1}\n{\"seq\":2,\"a\":\"\xff\"}\n{\"seq\":3}\n";
        fs::write(folder.path().join("events-2026-01-01.jsonl"), lines).unwrap();
        let past = past(Some(folder.path().to_owned()), true);
        assert_eq!(past("testnet-0x1", 0, 9).0, ["{\"seq\":1}", "{\"seq\":3}"]);
        assert_eq!(past("testnet-0x1", 2, 9).0, ["{\"seq\":3}"]);
    }

    /// What each says a person should do is read at night: none may be left to the words for an unknown code.
    #[test]
    fn every_alert_has_words_of_its_own() {
        let known: BTreeSet<&str> = alert_codes().collect();
        // That one is told from the status a month before, not by its alert.
        let told = AlertCode::ALL
            .iter()
            .map(|code| code.as_str())
            .filter(|code| *code != AlertCode::ApiWalletExpiring.as_str());
        let without: Vec<&str> = told.filter(|code| !known.contains(code)).collect();
        assert_eq!(without, [""; 0]);
    }

    /// What is red on the page wakes a person, and nothing else does.
    #[test]
    fn the_page_and_the_notifier_call_the_same_alerts_severe() {
        let page = include_str!("../monitor/panels.js");
        let (_, list) = page.split_once("const SEVERE = new Set([").unwrap();
        let (list, _) = list.split_once("])").unwrap();
        let severe: BTreeSet<&str> = list.split(", ").map(|code| code.trim_matches('"')).collect();
        let critical = alert_codes().filter(|code| alert_words(code).severity == Severity::Critical);
        assert_eq!(severe, critical.collect());
        assert!(severe.contains("position_unknown") && severe.contains("unsettled"));
    }
}
