//! Prints a long list on a thread of its own, while what comes next is worked out: to write an item takes as long as to come by it.

use std::panic::resume_unwind;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;

use super::refusal::Refusal;

/// Items handed over together.
const TOGETHER: usize = 256;
/// Such parts that wait.
const WAITING: usize = 4;

/// Prints an item.
type Print<'a, T> = dyn FnMut(&T) -> Result<(), Refusal> + Send + 'a;

/// Where the items of a list go, in their order.
pub(super) enum List<'a, T> {
    /// To the thread that prints them.
    Beside(Vec<T>, SyncSender<Vec<T>>),
    /// Printed at once: the system grants no thread.
    Here(&'a mut Print<'a, T>),
}

impl<T> List<'_, T> {
    /// Puts the next item to the others. Refused once one could not be printed.
    pub(super) fn put(&mut self, item: T) -> Result<(), Refusal> {
        match self {
            List::Here(print) => print(&item),
            List::Beside(part, _) if part.len().saturating_add(1) < TOGETHER => {
                part.push(item);
                Ok(())
            }
            List::Beside(part, parts) => {
                part.push(item);
                parts.send(std::mem::take(part)).map_err(|_| Refusal::Closed)
            }
        }
    }
}

/// Does the work, and prints what it lists meanwhile; what printing was refused for comes before what the work was.
pub(super) fn beside<T: Send>(
    mut print: impl FnMut(&T) -> Result<(), Refusal> + Send,
    work: impl FnOnce(&mut List<'_, T>) -> Result<(), Refusal>,
) -> Result<(), Refusal> {
    let mut work = Some(work);
    let done = thread::scope(|scope| {
        let (parts, waiting) = sync_channel::<Vec<T>>(WAITING);
        let print = &mut print;
        let all = move || waiting.into_iter().try_for_each(|part| part.iter().try_for_each(&mut *print));
        let printing = thread::Builder::new().spawn_scoped(scope, all).ok()?;
        let mut list = List::Beside(Vec::new(), parts);
        let done = work.take()?(&mut list);
        if let List::Beside(rest, parts) = list {
            // Nobody takes it where one before could not be printed.
            _ = parts.send(rest);
        }
        let printed = printing.join().unwrap_or_else(|panic| resume_unwind(panic));
        Some(printed.and(done))
    });
    match (done, work) {
        (Some(done), _) => done,
        (None, Some(work)) => work(&mut List::Here(&mut print)),
        (None, None) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_item_is_printed_once_and_in_its_order() {
        for count in [0, 1, TOGETHER - 1, TOGETHER, TOGETHER * 9 + 1] {
            let mut printed = Vec::new();
            let print = |item: &usize| {
                printed.push(*item);
                Ok(())
            };
            beside(print, |list| (0..count).try_for_each(|item| list.put(item))).unwrap();
            assert_eq!(printed, (0..count).collect::<Vec<_>>());
        }
    }

    #[test]
    fn an_item_that_cannot_be_printed_ends_the_work() {
        let (mut worked, mut printed) = (0, 0);
        let print = |_: &usize| {
            printed += 1;
            if printed == 300 { Err(Refusal::ReaderGone) } else { Ok(()) }
        };
        let work = |list: &mut List<'_, usize>| {
            (0..TOGETHER * 100).try_for_each(|item| {
                worked += 1;
                list.put(item)
            })
        };
        let refused = beside(print, work);
        assert!(matches!(refused, Err(Refusal::ReaderGone)), "{refused:?}");
        assert!(printed == 300 && worked < TOGETHER * 100, "{printed} {worked}");
    }

    #[test]
    fn what_came_before_a_refusal_is_printed() {
        let mut printed = 0;
        let print = |_: &u8| {
            printed += 1;
            Ok(())
        };
        let refused = beside(print, |list| list.put(1).and_then(|()| list.put(2)).and(Err(Refusal::Back)));
        assert!(matches!(refused, Err(Refusal::Back)) && printed == 2, "{refused:?} {printed}");
    }
}
