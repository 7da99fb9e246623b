//! The one place that reads the machine's clock. Time-outs of single waits use `Instant` where they stand; every time that
//! is compared, written down or sent comes from here.

use std::sync::{LazyLock, Mutex};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use super::sync::lock;

/// While the machine's clock stands behind the service's, that one loses a tenth of the time that passes.
const SLOWER_BY: u32 = 10;

/// UTC epoch milliseconds; 0 on a machine whose clock stands before 1970. Never goes back while the service runs: pauses,
/// ages and the order of reads are measured with it, and would all stand still until the old time is reached again.
#[must_use]
pub fn now_ms() -> u64 {
    static CLOCK: Mutex<Clock> = Mutex::new(Clock { shown: Duration::ZERO, steady: Duration::ZERO });
    let mut clock = lock(&CLOCK);
    u64::try_from(clock.next(wall(), steady()).as_millis()).unwrap_or(u64::MAX)
}

/// UTC epoch milliseconds by the machine's clock as it stands, which may go back: for hours of the day and for what people read,
/// where no span is measured by it.
#[must_use]
pub fn wall_ms() -> u64 {
    u64::try_from(wall().as_millis()).unwrap_or(u64::MAX)
}

/// What an earlier life spent a minute ago has a time on the steady clock too.
const BEFORE_START: Duration = Duration::from_secs(120);

/// Milliseconds by a clock that never steps, two minutes at the start: what budgets are counted on.
#[must_use]
pub fn steady_ms() -> u64 {
    u64::try_from(steady().saturating_add(BEFORE_START).as_millis()).unwrap_or(u64::MAX)
}

fn steady() -> Duration {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    START.elapsed()
}

/// The machine's clock since 1970.
fn wall() -> Duration {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    #[cfg(feature = "faults")]
    let since = {
        let offset_ms = crate::faults::clock_offset_ms();
        let offset = Duration::from_millis(offset_ms.unsigned_abs());
        if offset_ms < 0 { since.saturating_sub(offset) } else { since.saturating_add(offset) }
    };
    since
}

/// The service's clock: it follows the machine's forward at once, and is caught up with by slowing down.
struct Clock {
    /// The time last shown.
    shown: Duration,
    /// The steady clock then.
    steady: Duration,
}

impl Clock {
    fn next(&mut self, wall: Duration, steady: Duration) -> Duration {
        let passed = steady.saturating_sub(self.steady);
        self.steady = self.steady.max(steady);
        let slowed = self.shown.saturating_add(passed.saturating_sub(passed / SLOWER_BY));
        self.shown = wall.max(slowed);
        self.shown
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_set_back_is_caught_up_with_and_never_goes_back() {
        let second = Duration::from_secs;
        let mut clock = Clock { shown: Duration::ZERO, steady: Duration::ZERO };
        assert_eq!(clock.next(second(1_000), second(5)), second(1_000));
        assert_eq!(clock.next(second(1_010), second(15)), second(1_010), "right all along");
        assert_eq!(clock.next(second(5_000), second(16)), second(5_000), "set ahead");
        // Set back by an hour: nine seconds pass in ten.
        assert_eq!(clock.next(second(1_500), second(26)), second(5_009));
        assert_eq!(clock.next(second(1_500), second(26)), second(5_009));
        assert_eq!(clock.next(second(1_600), second(126)), second(5_099));
        assert_eq!(clock.next(second(5_200), second(140)), second(5_200), "caught up with");
    }
}
