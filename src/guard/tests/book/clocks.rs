//! The machine's clock is set ahead and back: the service's own never goes back in a life, and is slower until the time is reached. Rows
//! go by the venue's time, each once.

use super::world::BookWorld;
use crate::guard::state::risk::risk_state::RiskState;
use crate::guard::tests::fixture::NOW;
use rust_decimal::{Decimal, dec};
use serde_json::{Value, json};

const HOUR: u64 = 3_600_000;
const DAY: u64 = 24 * HOUR;

/// The book begins at the venue's time: nothing that happens after the first start is of before it.
#[test]
fn a_clock_that_is_ahead_at_the_first_start_loses_no_row() {
    for has_feed in [false, true] {
        for ahead_ms in [60_000, 6 * HOUR] {
            let mut world = BookWorld::with_clock(1, has_feed, ahead_ms);
            world.live(5);
            for _ in 0..3 {
                let fill = world.venue.trade("ETH", dec!(1), dec!(100), None);
                if has_feed {
                    world.tell("userFills", "fills", json!([fill]));
                }
                world.venue.deposit(dec!(33));
                world.venue.pay_funding();
                world.live(90);
            }
            // In the next life the clock is right.
            world.take_checkpoint();
            world.die(0);
            world.ahead_ms = 0;
            world.rise();
            world.live(90);
            world.venue.deposit(dec!(44));
            world.live(90);
            world.hold_to_record();
            let sums = world.of_kind("balance");
            // What funding paid shows within the hour, and is less than a cent here.
            let apart = sums.iter().map(|sum| sum["difference"].as_str().unwrap().parse::<Decimal>().unwrap());
            assert!(apart.into_iter().all(|apart| apart.abs() < dec!(0.01)), "{sums:?}");
        }
    }
}

#[test]
fn no_row_is_lost_or_doubled_and_each_counts_on_the_venues_day() {
    for has_feed in [false, true] {
        let mut world = BookWorld::new(1, has_feed);
        // A minute before a UTC day of the venue's ends.
        world.venue.now = NOW - NOW % DAY + DAY - 60_000;
        world.live(30);
        let trades = |world: &mut BookWorld| {
            let fill = world.venue.trade("ETH", dec!(1), dec!(100), None);
            if has_feed {
                world.tell("userFills", "fills", json!([fill]));
            }
            world.live(20);
        };
        trades(&mut world);
        // Ahead by an hour, then set back: the service's clock loses what is left of it by a tenth of the time that passes.
        world.ahead_ms = HOUR;
        trades(&mut world);
        for second in 0..120 {
            world.ahead_ms -= 100;
            world.live(1);
            if second % 40 == 0 {
                trades(&mut world);
                world.venue.pay_funding();
            }
        }
        world.venue.deposit(dec!(100));
        world.live(90);
        // The next life's clock is the machine's again: an hour behind the last event.
        world.take_checkpoint();
        world.die(0);
        world.ahead_ms = 0;
        world.rise();
        world.live(30);
        trades(&mut world);
        world.venue.pay_funding();
        world.venue.now += HOUR;
        world.live(200);
        world.hold_to_record();
        let errors: Vec<&str> =
            world.of_kind("error").into_iter().map(|error| error["text"].as_str().unwrap()).collect();
        assert!(errors.iter().all(|text| !text.contains("book") && !text.contains("missing")), "{errors:?}");
        let sums = world.of_kind("balance");
        assert_eq!(sums.last().unwrap()["difference"], "0", "{sums:?}");
        let times: Vec<u64> = sums.iter().map(|sum| sum["venue_ms"].as_u64().unwrap()).collect();
        assert!(times.is_sorted() && times.last().unwrap() <= &world.venue.now, "{times:?}");
    }
}

/// A row of the ledger that is of a time to come is told of once and not in the book, neither then nor once the venue shows it no more.
#[test]
fn an_entry_of_the_ledger_of_a_time_to_come_is_not_in_the_book() {
    // A little ahead it may be: clocks are not that exact.
    for (ahead_ms, is_taken) in [(0, true), (10 * HOUR, false)] {
        let mut world = BookWorld::new(1, true);
        world.live(30);
        world.venue.deposit(dec!(12));
        let mut lie = world.venue.ledger.last().unwrap().clone();
        (lie["time"], lie["hash"]) = (json!(world.venue.now + ahead_ms), json!("0x2"));
        world.venue.ledger.push(lie);
        world.live(90);
        let told = |world: &BookWorld| {
            let texts = world.of_kind("error").into_iter().map(|error| error["text"].to_string());
            texts.filter(|text| text.contains("userNonFundingLedgerUpdates has a row of")).count()
        };
        assert_eq!(world.of_kind("transfer").len(), 1 + usize::from(is_taken), "{ahead_ms}");
        assert_eq!(told(&world), usize::from(!is_taken), "{ahead_ms}");
        if !is_taken {
            world.venue.ledger.pop();
            world.live(90);
            world.hold_to_record();
        }
    }
}

/// The ledger was read by a clock that was ahead, and the next life is begun after a time without one that is longer than that.
#[test]
fn what_flowed_while_nobody_watched_fires_no_halt_after_a_clock_that_was_ahead() {
    for (ahead_ms, away_ms) in [(2 * HOUR, 3 * HOUR), (HOUR * 3 / 2, 2 * HOUR), (0, 3 * HOUR)] {
        let mut world = BookWorld::with_clock(1, false, ahead_ms);
        world.live(90);
        world.take_checkpoint();
        world.die(0);
        world.ahead_ms = 0;
        world.venue.now += 10 * 60_000;
        world.venue.deposit(dec!(-3000));
        world.venue.now += away_ms;
        world.rise();
        world.live(200);
        world.hold_to_record();
        assert_eq!(world.guard.risk.state, RiskState::Active, "{ahead_ms}");
        assert_eq!(world.of_kind("transfer").len(), 1);
    }
}

/// What the account made today, as the guard measures it.
fn pnl(world: &BookWorld) -> Value {
    world.guard.status_json(world.now_ms(), (0, 0))["risk"]["day_pnl"].clone()
}

/// A clock that is behind makes no answer of the ledger too early: what flowed just before a start is taken as soon as with one that is
/// right, and so is all that flows later.
#[test]
fn what_flows_around_a_start_fires_no_halt_where_the_clock_is_behind() {
    for behind_ms in [0, 12_000, 600_000, 3 * HOUR] {
        for has_feed in [false, true] {
            let mut world = BookWorld::new(1, has_feed);
            world.live(90);
            world.take_checkpoint();
            world.die(0);
            world.venue.deposit(dec!(-3000));
            world.venue.now += 1_000;
            world.behind_ms = behind_ms;
            world.rise();
            world.read_account();
            world.live(30);
            assert_eq!((world.guard.risk.state, pnl(&world)), (RiskState::Active, json!("0")), "{behind_ms}");
            world.venue.deposit(dec!(-2000));
            world.live(30);
            assert_eq!((world.guard.risk.state, pnl(&world)), (RiskState::Active, json!("0")), "{behind_ms}");
            world.hold_to_record();
        }
    }
}

/// What was counted is known again in the next answer, however far ahead or behind the clock is: by one that is behind the ledger is
/// asked for from long ago.
#[test]
fn no_flow_counts_twice_where_the_clock_is_wrong() {
    for (ahead_ms, behind_ms) in [(0, 0), (5 * HOUR, 0), (2 * DAY, 0), (0, 3 * HOUR), (0, 5 * HOUR), (0, 2 * DAY)] {
        let mut world = BookWorld::with_clock(1, false, ahead_ms);
        world.live(30);
        world.venue.deposit(dec!(-3000));
        world.live(90);
        // In the life in which it is behind the row is four hours old and more.
        world.take_checkpoint();
        world.die(0);
        world.venue.now += if behind_ms > 0 { 5 * HOUR } else { 0 };
        world.behind_ms = behind_ms;
        world.rise();
        for _ in 0..4 {
            world.live(61);
            assert_eq!(
                (world.guard.risk.state, pnl(&world)),
                (RiskState::Active, json!("0")),
                "{ahead_ms} {behind_ms}"
            );
        }
        world.hold_to_record();
    }
}

/// The journal was begun by a clock that was ahead, which counts no more once a life has read the ledger by another.
#[test]
fn a_journal_that_was_begun_by_a_clock_ahead_loses_no_flow() {
    for init_ms in [NOW, NOW + 3 * HOUR] {
        let mut world = BookWorld::new(1, false);
        world.risk.insert(0, json!({"kind": "init", "at_ms": init_ms, "mode": "testnet"}));
        world.die(0);
        world.rise();
        world.live(90);
        world.take_checkpoint();
        world.die(0);
        world.venue.now += 10 * 60_000;
        world.venue.deposit(dec!(-3000));
        world.venue.now += 5 * HOUR / 2;
        world.rise();
        world.live(200);
        world.hold_to_record();
        assert_eq!((world.guard.risk.state, pnl(&world)), (RiskState::Active, json!("0")), "{init_ms}");
    }
}
