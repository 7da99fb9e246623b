//! Reads that the live feed waits for.

use super::*;
use crate::venue::weight_ledger::Claim;

const FILLS: Read = Read::Fills { since_ms: 0 };

/// A life that reads without a feed, in a minute of which others have spent all that the guard keeps for nobody.
struct Crowded {
    schedule: Schedule,
    ledger: Ledger,
    /// The reads that began and were paid for, and when.
    read: Vec<(Task, u64)>,
    /// Whether the venue answers the fills.
    tells_fills: bool,
    /// Whether something fills each second, and may be bare.
    trades: bool,
    step_ms: usize,
}

impl Crowded {
    fn new(budget: u32) -> Self {
        let mut schedule = Schedule::new(&TASKS, &[Task::Fills], Intervals::for_budget(budget), budget);
        let Intervals { prices_ms, orders_ms, .. } = Intervals::for_budget(budget);
        read_once(
            &mut schedule,
            [(Task::Mids, prices_ms), (Task::Account, prices_ms), (Task::Orders, orders_ms)],
            true,
        );
        Self {
            schedule,
            ledger: Ledger::new(budget, []),
            read: Vec::new(),
            tells_fills: true,
            trades: false,
            step_ms: 50,
        }
    }

    /// Others take all that they may.
    fn crowd(&mut self, now_ms: u64) {
        for other in [Priority::EarlyRead, Priority::ClientEntry, Priority::PassThrough] {
            while self.ledger.has_room(other, None, 1, now_ms) {
                self.ledger.charge(other, None, 1, now_ms);
            }
        }
    }

    /// Goes on for so long, and reads as the poller does.
    fn run(&mut self, times_ms: std::ops::Range<u64>) {
        let budget = self.ledger.budget();
        for now_ms in times_ms.step_by(self.step_ms) {
            self.crowd(now_ms);
            if self.trades && now_ms % 1_000 < 250 {
                [Read::AccountNow, Read::OrdersNow].iter().for_each(|read| self.schedule.want(read, now_ms));
            }
            for lane in [Lane::Prices, Lane::Account, Lane::Orders, Lane::Beside] {
                self.schedule.left = IP_BUDGET.saturating_sub(self.ledger.used(now_ms));
                let wait_ms = |priority, weight| self.ledger.wait_ms(priority, weight, now_ms);
                let Some((task, read_for)) = self.schedule.begin(lane, now_ms, wait_ms) else { continue };
                let weight = self.schedule.weight_of(task);
                let is_urgent = read_for.is_urgent;
                let mut spend = |priority| self.ledger.try_spend(priority, None, weight, now_ms).is_ok();
                let is_ok = match (task, read_for.is_early) {
                    (Task::Fills, true) => self.ledger.try_claim(weight, Claim::Feed, now_ms).is_ok(),
                    (_, is_early) => {
                        let first = if is_early { Priority::EarlyRead } else { Priority::Read };
                        let is_paid = spend(first) || is_urgent && spend(Priority::Flatten);
                        if !is_paid && read_for.may_overdraw {
                            self.ledger.charge(Priority::Read, None, weight, now_ms);
                        }
                        is_paid || read_for.may_overdraw
                    }
                };
                if is_ok {
                    self.read.push((task, now_ms));
                }
                let every_ms = match task {
                    Task::Fills => u64::MAX,
                    Task::Orders => Intervals::for_budget(budget).orders_ms,
                    _ => Intervals::for_budget(budget).account_ms,
                };
                self.schedule.done(task, now_ms, every_ms, is_ok && (task != Task::Fills || self.tells_fills));
            }
            let used = self.ledger.used(now_ms);
            // What may be bare overdraws.
            assert!(used <= budget || self.trades, "{used} at {}", now_ms - T0);
        }
    }

    fn open_socket(&mut self, now_ms: u64) {
        [Read::Account, Read::Orders, FILLS].iter().for_each(|read| self.schedule.want(read, now_ms));
    }

    fn times(&self, of: Task) -> Vec<u64> {
        self.read.iter().filter(|(task, _)| *task == of).map(|(_, at_ms)| at_ms - T0).collect()
    }
}

/// Reads that would end all this reading wait for no room: no client can touch what pays for it.
#[test]
fn what_a_new_socket_waits_for_is_read_at_once_in_a_crowded_minute() {
    for budget in [SMALLEST_BUDGET, 300, IP_BUDGET] {
        let mut life = Crowded::new(budget);
        life.run(T0 + 1..T0 + 600);
        life.read.clear();
        life.open_socket(T0 + 600);
        life.run(T0 + 600..T0 + 2_600);
        for task in [Task::Account, Task::Orders, Task::Fills] {
            assert_eq!(life.times(task).first(), Some(&600), "{task:?} of {budget}: {:?}", life.read);
        }
    }
}

/// The floor is for the steady reads too: they go on, however often a socket is cut or the venue fails.
#[test]
fn sockets_that_are_cut_again_and_again_leave_the_steady_reads_their_floor() {
    for tells_fills in [true, false] {
        let mut life = Crowded { tells_fills, ..Crowded::new(IP_BUDGET) };
        for second in 0..180 {
            let now_ms = T0 + 1 + second * 1_000;
            life.open_socket(now_ms);
            life.run(now_ms..now_ms + 1_000);
        }
        let in_last_minute = |task| life.times(task).into_iter().filter(|at_ms| *at_ms > 120_000).count();
        let [fills, accounts, orders] = [Task::Fills, Task::Account, Task::Orders].map(in_last_minute);
        assert!((1..=12).contains(&fills), "{fills}");
        assert!(accounts >= 55 && orders >= 6, "{accounts} and {orders}");
    }
}

/// A bot that trades on has the open orders read after each fill, and however spent the minute is that leaves the feed its room: where
/// the guard is calm in between, and where it never is.
#[test]
fn sockets_that_are_cut_while_a_bot_trades_are_back_at_once() {
    for steady in [true, false] {
        let mut life = Crowded { trades: true, step_ms: 250, ..Crowded::new(IP_BUDGET) };
        for cut in 0..12 {
            let now_ms = T0 + 1 + cut * 20_000;
            life.open_socket(now_ms);
            let before = life.read.len();
            life.schedule.set_pace(Pace::default());
            life.run(now_ms..now_ms + 2_000);
            life.schedule.set_pace(Pace { steady, beside: true, pressing: false });
            life.run(now_ms + 2_000..now_ms + 20_000);
            let first = |of: Task| life.read.iter().skip(before).find(|(task, _)| *task == of);
            for task in [Task::Account, Task::Orders, Task::Fills] {
                let after_ms = first(task).map(|(_, at_ms)| at_ms - now_ms);
                assert!(after_ms.is_some_and(|after_ms| after_ms <= 1_500), "{steady} {cut}: {task:?} {after_ms:?}");
            }
        }
        let orders = life.times(Task::Orders).into_iter().filter(|at_ms| *at_ms > 180_000).count();
        assert!(orders >= 12, "{orders}");
    }
}

/// At the smallest share a minute has room for little else than the steady reads: the feed is back within two turns of the open
/// orders, though those are wanted each second.
#[test]
fn a_socket_that_is_cut_while_a_bot_trades_is_back_at_the_smallest_share() {
    let mut life = Crowded { trades: true, step_ms: 250, ..Crowded::new(SMALLEST_BUDGET) };
    let turn_ms = Intervals::for_budget(SMALLEST_BUDGET).orders_ms;
    for cut in 0..6 {
        let now_ms = T0 + 1 + cut * 90_000;
        life.open_socket(now_ms);
        let before = life.read.len();
        life.schedule.set_pace(Pace::default());
        life.run(now_ms..now_ms + 45_000);
        life.schedule.set_pace(Pace { beside: true, ..Pace::default() });
        life.run(now_ms + 45_000..now_ms + 90_000);
        let fills =
            life.read.iter().skip(before).find(|(task, _)| *task == Task::Fills).map(|(_, at_ms)| at_ms - now_ms);
        assert!(fills.is_some_and(|after_ms| after_ms <= 2 * turn_ms), "{cut}: {fills:?}");
    }
    assert!(life.times(Task::Orders).len() >= 12, "{:?}", life.times(Task::Orders));
}

/// What has to go, or stays bare, is read as if there were no feed.
#[test]
fn what_presses_leaves_the_feed_nothing() {
    for (pressing, left, times) in [(false, 450, 1), (true, 450, 2), (false, 1_000, 2)] {
        let mut schedule = Schedule::new(&TASKS, &[Task::Fills], Intervals::for_budget(IP_BUDGET), IP_BUDGET);
        read_once(&mut schedule, [(Task::Mids, 1_000), (Task::Account, 1_000), (Task::Orders, 5_000)], true);
        schedule.want(&FILLS, T0 + 300);
        schedule.set_pace(Pace { pressing, ..Pace::default() });
        schedule.left = left - 1;
        schedule.want(&Read::OrdersNow, T0 + 300);
        let begun = (T0 + 300..T0 + 6_000).filter(|now_ms| {
            let is_begun = schedule.begin(Lane::Orders, *now_ms, |_, _| 0).is_some();
            if is_begun {
                schedule.done(Task::Orders, *now_ms, 5_000, true);
            }
            is_begun
        });
        assert_eq!(begun.count(), times, "{pressing} {left}");
    }
}

/// Open orders that are read on at full pace spend what the fills wait for.
#[test]
fn open_orders_give_the_fills_their_next_turn() {
    let turns = |fills_room: bool, wanted: Option<Read>| {
        let mut schedule = Schedule::new(&TASKS, &[Task::Fills], Intervals::for_budget(IP_BUDGET), IP_BUDGET);
        read_once(&mut schedule, [(Task::Mids, 1_000), (Task::Account, 1_000), (Task::Orders, 5_000)], true);
        schedule.want(&FILLS, T0 + 5_000);
        let mut turns = Vec::new();
        for now_ms in T0 + 5_000..T0 + 30_000 {
            let wait_ms = |_, _| if fills_room { 0 } else { 30_000 };
            if schedule.begin(Lane::Beside, now_ms, wait_ms).is_some() {
                schedule.done(Task::Fills, now_ms, u64::MAX, fills_room);
            }
            if now_ms == T0 + 12_000 {
                wanted.iter().for_each(|read| schedule.want(read, now_ms));
            }
            if schedule.begin(Lane::Orders, now_ms, |_, _| 0).is_some() {
                turns.push((now_ms - T0) / 1_000);
                schedule.done(Task::Orders, now_ms, 5_000, true);
            }
        }
        turns
    };
    assert_eq!(turns(true, None), [5, 15, 20, 25]);
    assert_eq!(turns(false, None), [5, 15, 25]);
    // What a stop or a halt waits for is no turn that can be given.
    assert_eq!(turns(false, Some(Read::OrdersNow)), [5, 12, 22]);
}
