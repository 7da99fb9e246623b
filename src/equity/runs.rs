//! Points put together for an answer: never over a minute that was not measured.

use rust_decimal::Decimal;

use super::point::Point;

/// Minutes that follow each other, each of them measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Run {
    /// The first of them.
    pub first: u64,
    /// How many they are.
    pub minutes: u64,
    /// The last equity measured in them.
    pub last: Decimal,
    /// The lowest one.
    pub low: Decimal,
    /// The highest one.
    pub high: Decimal,
}

/// Runs of at most `step` minutes, each within one such span since 1970; so many at most.
#[derive(Debug)]
pub struct Runs {
    step: u64,
    most: usize,
    /// Those that there are.
    pub runs: Vec<Run>,
    /// The first minute that there was no room for.
    pub next: Option<u64>,
}

impl Runs {
    /// None yet.
    #[must_use]
    pub fn new(step: u64, most: usize) -> Self {
        Self { step: step.max(1), most, runs: Vec::new(), next: None }
    }

    /// Takes the next point, later than all before it; none any more once one had no room.
    pub fn push(&mut self, point: &Point) {
        if self.next.is_some() {
            return;
        }
        let span = |minute: u64| minute.checked_div(self.step);
        let follows = |run: &&mut Run| {
            run.first.saturating_add(run.minutes) == point.minute && span(run.first) == span(point.minute)
        };
        if let Some(run) = self.runs.last_mut().filter(follows) {
            run.minutes = run.minutes.saturating_add(1);
            run.last = point.last;
            run.low = run.low.min(point.low);
            run.high = run.high.max(point.high);
        } else if self.runs.len() < self.most {
            let Point { minute: first, last, low, high } = *point;
            self.runs.push(Run { first, minutes: 1, last, low, high });
        } else {
            self.next = Some(point.minute);
        }
    }
}
