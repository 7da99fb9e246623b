//! One line of a log on standard error, as whoever reads it wants it: a person at a terminal the time of day, the service
//! manager's journal a priority and no time, which it keeps itself, and a file or a pipe the whole time.

use std::ffi::OsStr;
use std::io::{self, IsTerminal};
use std::os::fd::AsFd;

use super::moment::{clock, iso};
use super::text::one_line;

/// Most characters of a line.
pub const MAX_LINE: usize = 1_200;

/// The level of a line; a log that shows one level shows all before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Something does not work.
    Error,
    /// Something that a person should look at.
    Warning,
    /// Something that a person wants to know.
    Info,
    /// Everything.
    Detail,
}

/// Who reads the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reader {
    /// A person: the time of day.
    Terminal,
    /// The journal: `<N>`, by which it files the line (sd-daemon(3)), and no time.
    Journal,
    /// A file, a pipe, a container's log: day and time.
    File,
}

impl Reader {
    /// Who reads standard error. `journal_stream` is `JOURNAL_STREAM`: device and inode of what the service manager connected to
    /// its journal; a process that was started with its standard error sent elsewhere has the variable too.
    #[must_use]
    pub fn of_stderr(journal_stream: Option<&OsStr>) -> Self {
        let stderr = io::stderr();
        if stderr.is_terminal() {
            return Self::Terminal;
        }
        let found = nix::sys::stat::fstat(stderr.as_fd()).ok().map(|stat| format!("{}:{}", stat.st_dev, stat.st_ino));
        match (journal_stream.and_then(OsStr::to_str), found) {
            (Some(named), Some(found)) if named == found => Self::Journal,
            _ => Self::File,
        }
    }

    /// A line as it is written, without its end. Text of a client or of the venue may hold line ends and control characters.
    #[must_use]
    pub fn line(self, level: Level, name: &str, text: &str, at_ms: u64) -> String {
        let (priority, word) = match level {
            Level::Error => (3, "error: "),
            Level::Warning => (4, "warning: "),
            Level::Info => (6, ""),
            Level::Detail => (7, "detail: "),
        };
        let before = match self {
            Self::Terminal => format!("{} ", clock(at_ms)),
            Self::Journal => format!("<{priority}>"),
            Self::File => format!("{} ", iso(at_ms)),
        };
        let more = if text.chars().nth(MAX_LINE).is_some() { "…" } else { "" };
        format!("{before}{name}: {word}{}{more}", one_line(text, MAX_LINE))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_one_line_with_its_level_for_each_reader() {
        let at_ms = 1_800_000_000_000 + 3_723_045;
        let line = |reader: Reader, level, text: &str| reader.line(level, "svc-guard", text, at_ms);
        assert_eq!(line(Reader::Terminal, Level::Error, "x"), "09:02:03 svc-guard: error: x");
        assert_eq!(line(Reader::File, Level::Info, "x"), "2027-01-15T09:02:03.045Z svc-guard: x");
        let levels =
            [Level::Error, Level::Warning, Level::Info, Level::Detail].map(|level| line(Reader::Journal, level, "x"));
        assert_eq!(
            levels,
            ["<3>svc-guard: error: x", "<4>svc-guard: warning: x", "<6>svc-guard: x", "<7>svc-guard: detail: x"]
        );
        assert_eq!(line(Reader::Journal, Level::Warning, "a\n<0>b\u{1b}[2J"), "<4>svc-guard: warning: a <0>b [2J");
        assert_eq!(
            line(Reader::Journal, Level::Detail, &"x".repeat(10_000)).len(),
            "<7>svc-guard: detail: …".len() + MAX_LINE
        );
    }

    #[test]
    fn a_stream_that_is_not_the_journals_gets_the_time() {
        for named in [None, Some("0:0"), Some(""), Some("nonsense")] {
            assert_ne!(Reader::of_stderr(named.map(OsStr::new)), Reader::Journal, "{named:?}");
        }
    }
}
