//! The venue's time, as far as reads tell it: what days, nonces and expiries are counted in.
//!
//! The machine's clock may be wrong, and may be set right at any moment. Between two reads the venue's time goes on with
//! the machine's, but a leap of that one is not followed. Nor is an answer whose time lies far from what the clock shows,
//! until the next one agrees with it: a single one may be wrong, and what comes after it would all look old.

/// A longer pause than this between two steps is a leap of the clock, or a machine that slept: the next read tells.
const LEAP_MS: u64 = 10_000;

/// How old the venue's time may be in an answer that was made at once.
const LAG_MS: u64 = 2_000;

/// An answer whose time is further ahead than this of what the clock shows is believed when the next one agrees with it.
/// Answers that lag can have held the clock up by nearly as much.
const FAR_AHEAD_MS: u64 = 10_000;

/// One that is ahead by more than this and less is held for the time at which it came, until two more agree with it: what it was
/// believed to be of would make all that come after it look old.
const EARLY_MS: u64 = 1_000;

/// So many in a row are no mistake.
const EARLY_READS: u32 = 3;

/// The same for one further behind than this; two agree when they are no further from another than that.
const FAR_MS: u64 = 3_000;

/// What was read is further ahead than this of the machine's clock, and an answer agrees with that: no venue lags by as much, and
/// it was two wrong answers that were believed.
const RAN_AHEAD_MS: u64 = 300_000;

/// Before any answer only the machine's clock tells: one further behind that than this is believed when the next agrees with it.
const FIRST_BEHIND_MS: u64 = 120_000;

/// The machine's clock is off when it is further than this from the venue's.
const OFF_MS: u64 = 1_000;

/// So many answers in a row must show that it is: one may have been made a while before it was asked for.
const OFF_READS: u32 = 5;

/// The venue's time.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct VenueClock {
    /// The venue's time at the last step; none before the first read.
    venue_ms: Option<u64>,
    /// The machine's time at the last step.
    now_ms: u64,
    /// The venue's and the machine's time at the last read.
    last_read: Option<(u64, u64)>,
    /// A time far from this clock's, and when the read began that showed it.
    doubted: Option<(u64, u64)>,
    /// The last answer that was ahead of both clocks, when its read began, and how many in a row were as far ahead.
    early: Option<(u64, u64, u32)>,
    /// Whether the last answer was far from the clock, and the one before it as well.
    is_agreed: bool,
    /// Answers in a row that show the machine's clock to be off, and since when.
    off_reads: u32,
    off_since_ms: u64,
    /// By how much the last answer did at least, positive where the machine is ahead; none before the first.
    offset_ms: Option<i64>,
}

impl VenueClock {
    /// Goes on to this time of the machine's.
    pub(crate) fn advance(&mut self, now_ms: u64) {
        let passed_ms = now_ms.saturating_sub(self.now_ms).min(LEAP_MS);
        self.venue_ms = self.venue_ms.map(|venue_ms| venue_ms.saturating_add(passed_ms));
        self.now_ms = now_ms;
    }

    /// Whether an answer with this time is taken in. One far ahead is, once the next agrees with it, and so is one far
    /// behind where nothing newer `is_held` any more; then the clock is set by it.
    pub(crate) fn admits(&mut self, venue_ms: u64, begun_ms: u64, is_held: bool) -> bool {
        let (Some(shown_ms), Some((read_ms, at_ms))) = (self.venue_ms, self.last_read) else {
            return self.admits_first(venue_ms, begun_ms);
        };
        // A machine that slept has gone on by as much as the venue.
        let latest_ms = shown_ms.max(read_ms.saturating_add(self.now_ms.saturating_sub(at_ms)));
        let is_ahead = venue_ms > latest_ms.saturating_add(FAR_AHEAD_MS);
        let is_behind = venue_ms.saturating_add(FAR_MS) < read_ms;
        if !is_ahead && !is_behind {
            self.doubted = None;
            return true;
        }
        let is_believed = self.is_doubted_alike(venue_ms, begun_ms) && (is_ahead || !is_held);
        self.is_agreed = is_believed;
        self.doubted = (!is_believed).then_some((venue_ms, begun_ms));
        if is_believed {
            self.venue_ms = None;
        }
        // What only lags is dropped where it is compared with the newer answer.
        is_believed || is_behind && is_held
    }

    /// Whether what was read last came of answers that ran ahead, by the machine's clock and by an answer of this time.
    pub(crate) fn ran_ahead_of(&self, venue_ms: u64) -> bool {
        let ran_ahead = self.last_read.is_some_and(|(read_ms, _)| read_ms > self.now_ms.saturating_add(RAN_AHEAD_MS));
        ran_ahead && venue_ms <= self.now_ms.saturating_add(FAR_AHEAD_MS)
    }

    /// The same of the first answer, by which the day is counted from then on.
    fn admits_first(&mut self, venue_ms: u64, begun_ms: u64) -> bool {
        let is_ahead = venue_ms > self.now_ms.saturating_add(FAR_AHEAD_MS);
        let is_behind = venue_ms.saturating_add(FIRST_BEHIND_MS) < begun_ms;
        // A venue whose time stands still has stood still since then: what is held must be known all the same.
        let stands_still = is_behind && self.doubted.is_some_and(|(seen_ms, _)| seen_ms == venue_ms);
        self.is_agreed = self.is_doubted_alike(venue_ms, begun_ms);
        let is_believed = !is_ahead && !is_behind || stands_still || self.is_agreed;
        self.doubted = (!is_believed).then_some((venue_ms, begun_ms));
        is_believed
    }

    /// Whether the answer before this one was as far from what the clock shows.
    fn is_doubted_alike(&self, venue_ms: u64, begun_ms: u64) -> bool {
        self.doubted.is_some_and(|seen| agree((venue_ms, begun_ms), seen))
    }

    /// The time of an answer that has just come in: its own, or the latest that it can be of where it is ahead of both clocks.
    pub(crate) fn time_of(&mut self, venue_ms: u64, begun_ms: u64) -> u64 {
        let latest_ms = self.latest_ms();
        if std::mem::take(&mut self.is_agreed) || venue_ms <= latest_ms.saturating_add(EARLY_MS) {
            self.early = None;
            return venue_ms;
        }
        let before =
            self.early.filter(|(seen_ms, seen_begun_ms, _)| agree((venue_ms, begun_ms), (*seen_ms, *seen_begun_ms)));
        let reads = before.map_or(0, |(.., reads)| reads).saturating_add(1);
        self.early = Some((venue_ms, begun_ms, reads));
        if reads < EARLY_READS { latest_ms } else { venue_ms }
    }

    /// Takes in that the venue's time was `venue_ms` at some moment since `begun_ms`.
    pub(crate) fn read(&mut self, venue_ms: u64, begun_ms: u64) {
        let latest_ms = venue_ms.saturating_add(self.now_ms.saturating_sub(begun_ms)).saturating_add(LAG_MS);
        self.venue_ms = Some(self.venue_ms.unwrap_or(self.now_ms).clamp(venue_ms, latest_ms));
        // What stands still at the venue says nothing of the machine's clock.
        let has_moved = self.last_read.is_none_or(|(read_ms, _)| venue_ms > read_ms);
        self.last_read = Some((venue_ms, self.now_ms));
        if has_moved {
            // By the answer's own time, whatever it is held for.
            self.compare(self.early.map_or(venue_ms, |(told_ms, ..)| told_ms.max(venue_ms)), begun_ms);
        }
    }

    /// Sees how far the machine's clock is from the venue's at least.
    fn compare(&mut self, venue_ms: u64, begun_ms: u64) {
        let (ahead_ms, behind_ms) = (begun_ms.saturating_sub(venue_ms), venue_ms.saturating_sub(self.now_ms));
        let signed = |ms: u64| i64::try_from(ms).unwrap_or(i64::MAX);
        self.offset_ms = Some(signed(ahead_ms).saturating_sub(signed(behind_ms)));
        if ahead_ms.max(behind_ms) <= OFF_MS {
            self.off_reads = 0;
            return;
        }
        if self.off_reads == 0 {
            self.off_since_ms = self.now_ms;
        }
        self.off_reads = self.off_reads.saturating_add(1);
    }

    /// By how much the last answer shows the machine's clock to be off at least, positive where it is ahead.
    pub(crate) fn offset_ms(&self) -> Option<i64> {
        self.offset_ms
    }

    /// By how much the last answer shows the machine's clock to be ahead of the venue's at least.
    pub(crate) fn ahead_ms(&self) -> u64 {
        self.offset_ms.and_then(|ahead_ms| u64::try_from(ahead_ms).ok()).unwrap_or_default()
    }

    /// By how much the machine's clock is off, positive where it is ahead, and since when.
    pub(crate) fn off_by(&self) -> Option<(i64, u64)> {
        self.offset_ms.filter(|_| self.off_reads >= OFF_READS).map(|offset_ms| (offset_ms, self.off_since_ms))
    }

    /// The venue's time; none before the first read.
    pub(crate) fn venue_ms(&self) -> Option<u64> {
        self.venue_ms
    }

    /// The venue's time, or the machine's before the first read.
    pub(crate) fn best_ms(&self) -> u64 {
        self.venue_ms.unwrap_or(self.now_ms)
    }

    /// The venue's time when the machine's was `machine_ms`, a moment ago, as its answers tell it: these may lag, and where the
    /// machine's clock is ahead nothing else tells by how much.
    pub(crate) fn venue_at(&self, machine_ms: u64) -> u64 {
        let shown_ms = self.best_ms().saturating_sub(self.now_ms.saturating_sub(machine_ms));
        let by_read = self.last_read.map(|(read_ms, at_ms)| read_ms.saturating_add(machine_ms).saturating_sub(at_ms));
        by_read.map_or(shown_ms, |told_ms| told_ms.min(shown_ms))
    }

    /// The machine's time when the venue's was `venue_ms`, in an answer to a question of `begun_ms`; no later than now.
    pub(crate) fn machine_ms(&self, venue_ms: u64, begun_ms: u64) -> u64 {
        self.now_ms.saturating_sub(self.best_ms().saturating_sub(venue_ms)).max(begun_ms).min(self.now_ms)
    }

    /// A time that has passed by either clock.
    pub(crate) fn earliest_ms(&self) -> u64 {
        self.best_ms().min(self.now_ms)
    }

    /// A time that has not passed by one clock at least.
    pub(crate) fn latest_ms(&self) -> u64 {
        self.best_ms().max(self.now_ms)
    }
}

/// Whether the time of an answer went on since another one as it did between their questions.
fn agree((venue_ms, begun_ms): (u64, u64), (seen_ms, seen_begun_ms): (u64, u64)) -> bool {
    let (passed_ms, waited_ms) = (venue_ms.saturating_sub(seen_ms), begun_ms.saturating_sub(seen_begun_ms));
    venue_ms > seen_ms && passed_ms.abs_diff(waited_ms) <= FAR_MS
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: u64 = 1_800_000_000_000;

    #[test]
    fn a_clock_that_is_right_is_left_alone() {
        let mut clock = VenueClock::default();
        clock.advance(NOW);
        assert_eq!((clock.venue_ms(), clock.best_ms()), (None, NOW));
        for (venue_ms, begun_ms) in [(NOW, NOW), (NOW - 50, NOW - 100), (NOW - 2_000, NOW - 10)] {
            clock.read(venue_ms, begun_ms);
            assert_eq!(clock.venue_ms(), Some(NOW));
        }
        clock.advance(NOW + 700);
        assert_eq!(clock.venue_ms(), Some(NOW + 700));
    }

    #[test]
    fn a_clock_that_is_wrong_is_corrected_and_its_leaps_are_not_followed() {
        let mut clock = VenueClock::default();
        clock.advance(NOW + 7_200_000);
        clock.read(NOW, NOW + 7_200_000);
        assert_eq!(clock.venue_ms(), Some(NOW + LAG_MS));
        // Set right.
        clock.advance(NOW + 5);
        assert_eq!(clock.venue_ms(), Some(NOW + LAG_MS));
        clock.advance(NOW + 105);
        assert_eq!(clock.venue_ms(), Some(NOW + LAG_MS + 100));
        // And set wrong again, by days.
        clock.advance(NOW + 200_000_000);
        assert_eq!(clock.venue_ms(), Some(NOW + LAG_MS + 100 + LEAP_MS));
        assert_eq!((clock.earliest_ms(), clock.latest_ms()), (NOW + 12_100, NOW + 200_000_000));
        // A machine that is behind.
        clock.advance(NOW - 3_600_000);
        clock.read(NOW + 20_000, NOW - 3_600_000);
        assert_eq!((clock.earliest_ms(), clock.latest_ms()), (NOW - 3_600_000, NOW + 20_000));
    }

    /// A clock that was right at `NOW`.
    fn right() -> VenueClock {
        let mut clock = VenueClock::default();
        clock.advance(NOW);
        clock.read(NOW, NOW);
        clock
    }

    #[test]
    fn a_time_a_little_ahead_is_that_of_its_coming_until_two_more_agree() {
        assert_eq!(right().time_of(NOW + EARLY_MS, NOW), NOW + EARLY_MS);
        let mut clock = right();
        assert_eq!(clock.time_of(NOW + EARLY_MS + 1, NOW), NOW);
        clock.read(NOW, NOW);
        clock.advance(NOW + 1_000);
        assert_eq!(clock.time_of(NOW + 1_000, NOW + 1_000), NOW + 1_000, "it was a single one");
        let mut told = Vec::new();
        for second in 1..=4 {
            let (now, ahead) = (NOW + second * 1_000, NOW + second * 1_000 + 9_000);
            clock.advance(now);
            let time_ms = clock.time_of(ahead, now);
            clock.read(time_ms, now);
            told.push(time_ms - now);
        }
        assert_eq!(told, [0, 0, 9_000, 9_000]);
        // Nor are three believed that do not agree.
        let mut clock = right();
        assert!([9_000, 4_000, 8_500].iter().all(|ahead_ms| clock.time_of(NOW + ahead_ms, NOW) == NOW));
        // One far ahead was believed because the one before it agreed.
        let (mut clock, hour) = (right(), 3_600_000);
        assert!(!clock.admits(NOW + hour, NOW, true));
        clock.advance(NOW + 1_000);
        assert!(clock.admits(NOW + hour + 1_000, NOW + 1_000, true));
        assert_eq!(clock.time_of(NOW + hour + 1_000, NOW + 1_000), NOW + hour + 1_000);
    }

    #[test]
    fn a_time_far_ahead_is_believed_when_the_next_agrees() {
        for (ahead_ms, is_taken) in [(FAR_AHEAD_MS, true), (FAR_AHEAD_MS + 1, false)] {
            assert_eq!(right().admits(NOW + ahead_ms, NOW, true), is_taken, "{ahead_ms}");
        }
        let hour = 3_600_000;
        let mut clock = right();
        assert!(!clock.admits(NOW + hour, NOW, true));
        clock.advance(NOW + 1_000);
        assert!(clock.admits(NOW + 1_000, NOW + 1_000, true), "it was a single one");
        clock.read(NOW + 1_000, NOW + 1_000);
        for (second_ms, is_taken) in [(hour + 1_000, true), (hour, false), (2 * hour, false)] {
            let mut clock = right();
            assert!(!clock.admits(NOW + hour, NOW, true));
            clock.advance(NOW + 1_000);
            assert_eq!(clock.admits(NOW + second_ms, NOW + 1_000, true), is_taken, "{second_ms}");
        }
        // A machine that slept is no leap.
        let mut clock = right();
        clock.advance(NOW + hour);
        assert!(clock.admits(NOW + hour, NOW + hour, true));
    }

    #[test]
    fn a_time_far_behind_is_believed_once_nothing_newer_is_held() {
        let mut clock = right();
        let hour = 3_600_000;
        assert!(clock.admits(NOW - hour, NOW, true), "it is dropped for its age, not here");
        clock.advance(NOW + 1_000);
        assert!(!clock.admits(NOW - hour, NOW + 1_000, false), "a frozen answer");
        clock.advance(NOW + 2_000);
        assert!(clock.admits(NOW - hour + 1_000, NOW + 2_000, false));
        clock.read(NOW - hour + 1_000, NOW + 2_000);
        assert_eq!(clock.venue_ms(), Some(NOW - hour + 1_000 + LAG_MS));
    }

    /// At its limits and one past each: two wrong answers blind nobody, and where the machine's clock is behind a venue that lags
    /// takes nothing back.
    #[test]
    fn what_ran_ahead_of_the_machine_s_clock_is_held_against_no_answer_that_agrees_with_it() {
        for (ahead_ms, answer_ms, ran_ahead) in [
            (RAN_AHEAD_MS, 0, false),
            (RAN_AHEAD_MS + 1, 0, true),
            (RAN_AHEAD_MS + 1, FAR_AHEAD_MS, true),
            (RAN_AHEAD_MS + 1, FAR_AHEAD_MS + 1, false),
        ] {
            let mut clock = VenueClock::default();
            clock.advance(NOW);
            assert!(!clock.ran_ahead_of(NOW + answer_ms));
            clock.read(NOW + ahead_ms, NOW);
            assert_eq!(clock.ran_ahead_of(NOW + answer_ms), ran_ahead, "{ahead_ms} {answer_ms}");
        }
    }

    #[test]
    fn answers_that_stand_still_tell_nothing_of_the_machine_s_clock() {
        for (step_ms, is_off) in [(0, false), (1, true)] {
            let mut clock = right();
            for second in 1..20 {
                clock.advance(NOW + second * 1_000);
                clock.read(NOW + second * step_ms, NOW + second * 1_000);
            }
            assert_eq!(clock.off_by().is_some(), is_off, "{step_ms}");
        }
    }

    #[test]
    fn a_clock_is_off_when_every_answer_shows_it() {
        for (by_ms, is_off) in [(OFF_MS, false), (OFF_MS + 1, true)] {
            let (ahead, behind) = (&mut VenueClock::default(), &mut VenueClock::default());
            for second in 0..u64::from(OFF_READS) {
                assert_eq!((ahead.off_by(), behind.off_by()), (None, None));
                let now = NOW + second * 1_000;
                [&mut *ahead, &mut *behind].into_iter().for_each(|clock| clock.advance(now));
                ahead.read(now - by_ms, now);
                behind.read(now + by_ms, now);
            }
            let by = i64::try_from(by_ms).unwrap();
            assert_eq!(ahead.off_by(), is_off.then_some((by, NOW)));
            assert_eq!(behind.off_by(), is_off.then_some((-by, NOW)));
            ahead.read(NOW + 5_000, NOW + 5_000);
            assert_eq!(ahead.off_by(), None);
        }
    }
}
