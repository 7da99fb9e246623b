//! One target's thread: takes the next message that is due, sends it, and moves the target's place when it said yes.

use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::JoinHandle;
use std::time::Duration;

use super::draft::{Draft, Pace, Pick};
use super::forms::Teller;
use super::forms::answer::Answer;
use super::message::Message;
use super::office::Office;
use super::shared::Shared;
use crate::base::clock::{steady_ms, wall_ms};
use crate::base::log_line::Level;
use crate::base::sync::lock;
use crate::faults::Step;

/// How long nothing is looked for where nothing was filed: pauses, quiet hours and repeats end by the clock.
const IDLE: Duration = Duration::from_secs(1);
/// The first pause after a failure, and the longest.
const FIRST_MS: u64 = 1_000;
const LONGEST_MS: u64 = 60_000;
/// Times that a message is refused for what it is, before it is put aside and the ones behind it go on.
const MAX_REFUSED: u32 = 5;
/// Failures of one target are logged this often.
const LOG_EVERY_MS: u64 = 600_000;
/// How long a target takes for a message that takes them slowly: twenty of them before a kill are ten seconds.
const SLOW_MS: u64 = 500;
const TICK: Duration = Duration::from_millis(100);

/// What went wrong since the target last took something.
#[derive(Default)]
struct Trouble {
    tries: u32,
    refused: u32,
    logged_ms: Option<u64>,
}

/// Starts a target's thread.
pub(super) fn start(name: String, teller: Teller, shared: Arc<Shared>) -> io::Result<JoinHandle<()>> {
    let thread = std::thread::Builder::new().name(format!("tell-{name}"));
    thread.spawn(move || tell_all(&name, &teller, &shared))
}

fn tell_all(name: &str, teller: &Teller, shared: &Shared) {
    let mut trouble = Trouble::default();
    // Until when the target asked for a pause, by the clock that never steps.
    let (mut paused_ms, mut is_slow) = (0, false);
    while !shared.is_ending.load(Ordering::Relaxed) {
        let mut office = lock(&shared.office);
        let now = wall_ms();
        let is_paused = steady_ms() < paused_ms;
        let Some(draft) = office.next(name, pace(is_paused, is_slow), now) else {
            // Nothing waits, so nothing is kept from being told, whatever was refused before.
            if !is_paused && !office.is_deaf(name, now) {
                shared.pulse.rests(name);
            }
            drop(shared.news.wait_timeout(office, IDLE));
            continue;
        };
        let message = Message::of(&draft.notice, &office.watch.guard, &shared.secrets);
        let urgent = office.newest_urgent(name);
        drop(office);
        shared.pass(Step::NotifyTell);
        let begun_ms = steady_ms();
        let answer = teller.tell(&message, &shared.is_closing);
        is_slow = is_slow_by(&answer, steady_ms().saturating_sub(begun_ms));
        if let Answer::Partly(why) = &answer {
            trouble.log(&format!("{name} was told, but {why}"), shared);
        }
        match answer {
            Answer::Taken | Answer::Partly(_) => {
                shared.pass(Step::NotifyTold);
                lock(&shared.office).done(name, &draft, wall_ms());
                shared.log.line(Level::Info, &format!("told {name}: {}", message.subject()));
                let is_partly = matches!(answer, Answer::Partly(_));
                paused_ms = 0;
                trouble = Trouble { logged_ms: trouble.logged_ms.filter(|_| is_partly), ..Trouble::default() };
                shared.pulse.heard(name, true);
            }
            Answer::Later(why, asked_ms) => {
                trouble.failed(name, &why, shared);
                let asked_ms = asked_ms.unwrap_or(0);
                paused_ms = steady_ms().saturating_add(asked_ms);
                // What is critical is tried again after a minute, whatever was asked for.
                wait(asked_ms.min(LONGEST_MS), shared, |_| false);
                wait(pause_ms(trouble.tries).saturating_sub(asked_ms), shared, |office| {
                    office.newest_urgent(name) > urgent
                });
            }
            Answer::Refused(why) => {
                trouble.failed(name, &why, shared);
                trouble.refused += 1;
                if !is_enough(&draft, trouble.refused, lock(&shared.office).is_deaf(name, now)) {
                    wait(pause_ms(trouble.tries), shared, |office| office.newest_urgent(name) > urgent);
                    continue;
                }
                let is_lost = lock(&shared.office).refused(name, &draft, wall_ms());
                let what = if is_lost { "left out" } else { "kept aside, and tried again" };
                let text = format!("{what} for {name}, which refuses it: {}", message.subject());
                shared.log.line(if is_lost { Level::Error } else { Level::Warning }, &text);
                (trouble.tries, trouble.refused) = (0, 0);
            }
        }
        shared.is_dirty.store(true, Ordering::Relaxed);
    }
}

fn pace(is_paused: bool, is_slow: bool) -> Pace {
    match (is_paused, is_slow) {
        (true, _) => Pace::Paused,
        (false, true) => Pace::Slow,
        (false, false) => Pace::Brisk,
    }
}

/// Whether a target that answered so after so long is no brisk one.
fn is_slow_by(answer: &Answer, took_ms: u64) -> bool {
    !matches!(answer, Answer::Taken | Answer::Partly(_)) || took_ms >= SLOW_MS
}

/// Whether so many refusals in a row are enough to go on with the next message. One is, where the target refuses everything.
fn is_enough(draft: &Draft, refused: u32, is_deaf: bool) -> bool {
    is_deaf || matches!(draft.pick, Pick::Again(..)) || refused >= MAX_REFUSED
}

impl Trouble {
    fn failed(&mut self, name: &str, why: &str, shared: &Shared) {
        self.tries = self.tries.saturating_add(1);
        shared.pulse.heard(name, false);
        self.log(&format!("{name} was not told, and is tried again: {why}"), shared);
    }

    /// The same trouble again and again stands in the log seldom.
    fn log(&mut self, text: &str, shared: &Shared) {
        let now = steady_ms();
        if self.logged_ms.is_none_or(|logged| now.saturating_sub(logged) >= LOG_EVERY_MS) {
            self.logged_ms = Some(now);
            shared.log.line(Level::Warning, text);
        }
    }
}

/// The pause after so many tries: doubled each time, up to a minute.
fn pause_ms(tries: u32) -> u64 {
    FIRST_MS.saturating_mul(1_u64.checked_shl(tries.saturating_sub(1).min(16)).unwrap_or(u64::MAX)).min(LONGEST_MS)
}

/// Waits so long, or until the office `has_news`: a target that was away may be back by now, and a kill waits out no pause that older
/// messages have brought about. Whether it has.
fn wait(span_ms: u64, shared: &Shared, has_news: impl Fn(&Office) -> bool) -> bool {
    let until = steady_ms().saturating_add(span_ms);
    while steady_ms() < until && !shared.is_ending.load(Ordering::Relaxed) {
        if has_news(&lock(&shared.office)) {
            return true;
        }
        std::thread::sleep(TICK);
    }
    false
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::atomic::AtomicBool;
    use std::sync::{Condvar, Mutex};

    use super::*;
    use crate::base::log_line::Reader;
    use crate::faults::Faults;
    use crate::notify::log::Log;

    #[test]
    fn a_pause_doubles_up_to_a_minute() {
        let pauses = [1, 2, 3, 6, 7, 8, 100, u32::MAX].map(pause_ms);
        assert_eq!(pauses, [1_000, 2_000, 4_000, 32_000, 60_000, 60_000, 60_000, 60_000]);
    }

    #[test]
    fn a_pause_ends_with_what_is_new_and_critical() {
        let shared = Shared {
            office: Mutex::new(Office::default()),
            news: Condvar::new(),
            is_dirty: AtomicBool::new(false),
            is_ending: AtomicBool::new(false),
            is_closing: AtomicBool::new(false),
            secrets: Vec::new(),
            pulse: Arc::default(),
            log: Log::start(Reader::File, Vec::new()).unwrap(),
            faults: Faults::of_home(Path::new("none")),
        };
        assert!(!wait(1, &shared, |_| false), "nothing came");
        assert!(wait(LONGEST_MS, &shared, |office| *office == Office::default()));
        shared.is_ending.store(true, Ordering::Relaxed);
        assert!(!wait(LONGEST_MS, &shared, |_| true), "the end is no news");
    }

    #[test]
    fn who_takes_long_or_nothing_is_slow() {
        let later = Answer::Later(String::new(), None);
        assert!(
            !is_slow_by(&Answer::Taken, SLOW_MS - 1) && is_slow_by(&Answer::Taken, SLOW_MS) && is_slow_by(&later, 0)
        );
        assert_eq!(pace(false, is_slow_by(&later, 0)), Pace::Slow);
        assert_eq!([pace(true, true), pace(false, false)], [Pace::Paused, Pace::Brisk]);
    }
}
