//! Reads a journal's lines on one thread and checks them on two more, while another works on those read before: the check of a year
//! of lines takes longer than summing them up.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, Scope};

use crate::journal::{Before, ChainedLine, OpenError};

/// Lines handed over together, and their bytes at most, the last line aside.
const TOGETHER: usize = 256;
const TOGETHER_BYTES: usize = 256 * 1024;
/// Such parts that wait for each thread that checks, and behind it.
const WAITING: usize = 2;
/// Threads that check: each has every second part.
const CHECKERS: usize = 2;

/// A line as the one who works on it sees it, or why there are no more.
pub(super) type Read<'a> = Result<Line<'a>, OpenError>;

/// A line's text, and whether it follows from the one before (see [`Before`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Line<'a> {
    pub(super) text: &'a str,
    pub(super) is_chained: bool,
}

/// Lines on their way, in one text: a piece of memory for each of them would be taken on one thread and given back on the other,
/// and the two would wait for one another.
struct Part<T> {
    texts: String,
    /// Where each line ends, and what came before it, or whether it follows from that.
    ends: Vec<(usize, T)>,
    /// What came instead of the next line.
    error: Option<OpenError>,
}

/// Hands each line to `work`, in order, until it refuses one. Where the system does not grant the threads, all is done on this one.
pub(super) fn each<E>(
    mut lines: impl Iterator<Item = Result<ChainedLine, OpenError>> + Send,
    mut work: impl FnMut(Read<'_>) -> Result<(), E>,
) -> Result<(), E> {
    thread::scope(|scope| {
        let checkers: Option<Vec<_>> = (0..CHECKERS).map(|_| checker(scope)).collect();
        let (to_check, checked): (Vec<_>, Vec<_>) = checkers.unwrap_or_default().into_iter().unzip();
        let source = &mut lines;
        let read = move || {
            let parts = std::iter::from_fn(|| Part::next(source));
            // Ends with the last one, or with the first that nobody takes.
            _ = to_check.iter().cycle().zip(parts).try_for_each(|(checker, part)| checker.send(part));
        };
        let is_read = !checked.is_empty() && thread::Builder::new().spawn_scoped(scope, read).is_ok();
        let mut parts = checked.iter().cycle().take_while(|_| is_read).map_while(|checker| checker.recv().ok());
        parts.try_for_each(|part| part.each(&mut work))
    })?;
    std::iter::from_fn(|| Part::next(&mut lines)).try_for_each(|part| part.checked().each(&mut work))
}

/// Where a thread that checks is sent parts, and where it hands them on.
type Checker = (SyncSender<Part<Before>>, Receiver<Part<bool>>);

/// A thread that checks the parts that it is sent; none where the system grants none.
fn checker<'scope>(scope: &'scope Scope<'scope, '_>) -> Option<Checker> {
    let (to_check, parts) = sync_channel::<Part<Before>>(WAITING);
    let (checked, taken) = sync_channel(WAITING);
    let check = move || _ = parts.into_iter().try_for_each(|part| checked.send(part.checked()));
    thread::Builder::new().spawn_scoped(scope, check).ok().map(|_| (to_check, taken))
}

impl Part<Before> {
    /// The next lines; none at the end.
    fn next(lines: &mut impl Iterator<Item = Result<ChainedLine, OpenError>>) -> Option<Self> {
        let mut part = Part { texts: String::new(), ends: Vec::new(), error: None };
        while part.ends.len() < TOGETHER && part.texts.len() < TOGETHER_BYTES {
            match lines.next() {
                None => break,
                Some(Ok(ChainedLine { text, before })) => {
                    part.texts.push_str(&text);
                    part.ends.push((part.texts.len(), before));
                }
                Some(Err(error)) => {
                    part.error = Some(error);
                    break;
                }
            }
        }
        (!part.ends.is_empty() || part.error.is_some()).then_some(part)
    }

    fn checked(self) -> Part<bool> {
        let Part { texts, ends, error } = self;
        let mut begun = 0;
        let check = |(end, before): (usize, Before)| {
            let line = texts.get(std::mem::replace(&mut begun, end)..end).unwrap_or_default();
            (end, before.leads_to(line))
        };
        let ends = ends.into_iter().map(check).collect();
        Part { ends, texts, error }
    }
}

impl Part<bool> {
    fn each<E>(self, work: &mut impl FnMut(Read<'_>) -> Result<(), E>) -> Result<(), E> {
        let mut begun = 0;
        for (end, is_chained) in self.ends {
            work(Ok(Line { text: self.texts.get(begun..end).unwrap_or_default(), is_chained }))?;
            begun = end;
        }
        self.error.map_or(Ok(()), |error| work(Err(error)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every second one has a chain value, and may follow any.
    fn text(number: usize, length: usize) -> String {
        let chain = if number.is_multiple_of(2) { format!(",\"chain\":\"{number:016x}\"}}") } else { String::new() };
        format!("{{\"n\":{number},\"x\":\"{}\"{chain}", "x".repeat(length))
    }

    fn lines(count: usize, length: usize) -> impl Iterator<Item = Result<ChainedLine, OpenError>> + Send {
        (0..count).map(move |number| Ok(ChainedLine { text: text(number, length), before: Before::ANY }))
    }

    #[test]
    fn each_line_comes_once_and_in_its_order() {
        for (count, length) in [(0, 1), (1, 1), (TOGETHER * 7 + 1, 8), (9, TOGETHER_BYTES)] {
            let mut seen = Vec::new();
            each(lines(count, length), |line| {
                let Line { text, is_chained } = line.unwrap();
                seen.push((text.to_owned(), is_chained));
                Ok::<(), ()>(())
            })
            .unwrap();
            let expected: Vec<(String, bool)> = (0..count).map(|n| (text(n, length), n.is_multiple_of(2))).collect();
            assert!(seen == expected, "{count} lines of {length}");
        }
    }

    #[test]
    fn a_line_that_is_refused_is_the_last() {
        let mut seen = 0;
        let refused = each(lines(TOGETHER * 20, 8), |_| {
            seen += 1;
            if seen == 300 { Err("enough") } else { Ok(()) }
        });
        assert_eq!((refused, seen), (Err("enough"), 300));
    }

    #[test]
    fn an_error_comes_behind_the_lines_before_it() {
        let gone = OpenError::NoRiskJournal("here".into());
        let (told, mut seen) = (gone.to_string(), Vec::new());
        each(lines(2, 1).chain([Err(gone)]).chain(lines(1, 2)), |line| {
            seen.push(line.map_or_else(|error| error.to_string(), |line| line.text.to_owned()));
            Ok::<(), ()>(())
        })
        .unwrap();
        assert_eq!(seen, [text(0, 1), text(1, 1), told, text(0, 2)]);
    }
}
