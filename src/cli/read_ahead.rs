//! Reads and checks a journal's lines on one thread while another works on those read before: the check of a year of lines
//! takes as long as summing them up.

use std::sync::mpsc::sync_channel;
use std::thread;

use crate::journal::{ChainedLine, OpenError};

/// Lines handed over together, and their bytes at most, the last line aside.
const TOGETHER: usize = 256;
const TOGETHER_BYTES: usize = 256 * 1024;
/// Such parts that wait.
const WAITING: usize = 4;

/// A line as the one who works on it sees it, or why there are no more.
pub(super) type Read<'a> = Result<Line<'a>, OpenError>;

/// A line's text, and whether it follows from the one before (see [`ChainedLine`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Line<'a> {
    pub(super) text: &'a str,
    pub(super) is_chained: bool,
}

/// Lines on their way, in one text: a piece of memory for each of them would be taken on one thread and given back on the other,
/// and the two would wait for one another.
#[derive(Default)]
struct Part {
    texts: String,
    /// Where each line ends, and whether it follows from the one before.
    ends: Vec<(usize, bool)>,
    /// What came instead of the next line.
    error: Option<OpenError>,
}

/// Hands each line to `work`, in order, until it refuses one. Where the system grants no thread, all is done on this one.
pub(super) fn each<E>(
    mut lines: impl Iterator<Item = Result<ChainedLine, OpenError>> + Send,
    mut work: impl FnMut(Read<'_>) -> Result<(), E>,
) -> Result<(), E> {
    thread::scope(|scope| {
        let (parts, waiting) = sync_channel::<Part>(WAITING);
        let source = &mut lines;
        let read = move || {
            while let Some(part) = Part::next(source) {
                if parts.send(part).is_err() {
                    return;
                }
            }
        };
        match thread::Builder::new().spawn_scoped(scope, read) {
            // Ends when the last part is taken, or with the first that is refused: the reader finds nobody then.
            Ok(_) => waiting.into_iter().try_for_each(|part| part.each(&mut work)),
            Err(_) => Ok(()),
        }
    })?;
    std::iter::from_fn(|| Part::next(&mut lines)).try_for_each(|part| part.each(&mut work))
}

impl Part {
    /// The next lines; none at the end.
    fn next(lines: &mut impl Iterator<Item = Result<ChainedLine, OpenError>>) -> Option<Part> {
        let mut part = Part::default();
        while part.ends.len() < TOGETHER && part.texts.len() < TOGETHER_BYTES {
            match lines.next() {
                None => break,
                Some(Ok(ChainedLine { text, is_chained })) => {
                    part.texts.push_str(&text);
                    part.ends.push((part.texts.len(), is_chained));
                }
                Some(Err(error)) => {
                    part.error = Some(error);
                    break;
                }
            }
        }
        (!part.ends.is_empty() || part.error.is_some()).then_some(part)
    }

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

    fn lines(count: usize, length: usize) -> impl Iterator<Item = Result<ChainedLine, OpenError>> + Send {
        (0..count).map(move |number| {
            let text = format!("{number}{}", "x".repeat(length));
            Ok(ChainedLine { text, is_chained: number % 2 == 0 })
        })
    }

    #[test]
    fn each_line_comes_once_and_in_its_order() {
        for (count, length) in [(0, 1), (1, 1), (TOGETHER * 3 + 1, 8), (9, TOGETHER_BYTES)] {
            let mut seen = Vec::new();
            each(lines(count, length), |line| {
                let Line { text, is_chained } = line.unwrap();
                seen.push(ChainedLine { text: text.to_owned(), is_chained });
                Ok::<(), ()>(())
            })
            .unwrap();
            let expected: Vec<ChainedLine> = lines(count, length).map(Result::unwrap).collect();
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
        assert_eq!(seen, ["0x", "1x", &told, "0xx"]);
    }
}
