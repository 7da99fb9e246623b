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

/// A line, or why there are no more.
pub(super) type Read = Result<ChainedLine, OpenError>;

/// Hands each line to `work`, in order, until it refuses one. Where the system grants no thread, all is done on this one.
pub(super) fn each<E>(
    mut lines: impl Iterator<Item = Read> + Send,
    mut work: impl FnMut(Read) -> Result<(), E>,
) -> Result<(), E> {
    thread::scope(|scope| {
        let (parts, waiting) = sync_channel::<Vec<Read>>(WAITING);
        let source = &mut lines;
        let read = move || {
            while let Some(part) = next_part(source) {
                if parts.send(part).is_err() {
                    return;
                }
            }
        };
        match thread::Builder::new().spawn_scoped(scope, read) {
            // Ends when the last part is taken, or with the first that is refused: the reader finds nobody then.
            Ok(_) => waiting.into_iter().flatten().try_for_each(&mut work),
            Err(_) => Ok(()),
        }
    })?;
    lines.try_for_each(work)
}

/// The next lines; none at the end.
fn next_part(lines: &mut impl Iterator<Item = Read>) -> Option<Vec<Read>> {
    let (mut part, mut bytes) = (Vec::new(), 0_usize);
    while part.len() < TOGETHER && bytes < TOGETHER_BYTES {
        let Some(line) = lines.next() else { break };
        bytes = bytes.saturating_add(line.as_ref().map_or(0, |line| line.text.len()));
        part.push(line);
    }
    (!part.is_empty()).then_some(part)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(count: usize, length: usize) -> impl Iterator<Item = Read> + Send {
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
                seen.push(line.unwrap());
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
}
