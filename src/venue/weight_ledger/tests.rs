//! The ledger's tests: who may spend how much, to the last weight.

use super::*;
use crate::base::ip_share::IP_BUDGET;
use crate::venue::weight::Priority::{ClientEntry, ClientExit, EarlyRead, Flatten, PassThrough, Read};
use proptest::prelude::*;

const ALL: [Priority; PRIORITIES] = Priority::ALL;
const T0: u64 = 1_700_000_000_000;
const ONE: Address = Address([1; 20]);
const OTHER: Address = Address([2; 20]);

fn ledger(budget: u32) -> Ledger {
    Ledger::new(budget, [&ONE])
}

/// Spends one by one until no more may be; how much that was.
fn drain(ledger: &mut Ledger, priority: Priority, client: Option<&Address>) -> u32 {
    (0..10_000).take_while(|_| ledger.try_spend(priority, client, 1, T0).is_ok()).map(|_| 1).sum()
}

#[test]
fn whole_budget_covers_the_fastest_reads() {
    let reads_a_minute = 60 * (2 + 2 + 2) + 12 * 20;
    assert!(ledger(IP_BUDGET).reserves[Read as usize] >= reads_a_minute);
}

/// What the feed frees is the clients', and the reads have their whole reserve again as soon as it ends.
#[test]
fn a_live_feed_frees_a_part_of_what_is_kept_for_the_reads() {
    for (budget, freed) in [(IP_BUDGET, 131), (SMALLEST_BUDGET, 0)] {
        let [mut alone, mut fed] = [ledger(budget), ledger(budget)];
        fed.set_fed(true);
        let (entries, with_feed) =
            (drain(&mut alone, ClientEntry, Some(&ONE)), drain(&mut fed, ClientEntry, Some(&ONE)));
        assert_eq!(with_feed, entries + freed, "{budget}");
        let kept = fed.reserves[Read as usize] - freed;
        assert!(kept >= READ_LEAST && fed.has_room(Read, None, kept, T0), "{budget}: {kept}");
        fed.set_fed(false);
        assert!(!fed.has_room(PassThrough, None, 1, T0) && !fed.has_room(ClientEntry, Some(&ONE), 1, T0), "{budget}");
    }
}

#[test]
fn budget_is_spent_to_the_last_and_no_further() {
    let mut ledger = ledger(150);
    assert_eq!(ledger.try_spend(Flatten, None, 150, T0), Ok(()));
    assert_eq!(ledger.used(T0), 150);
    assert!(matches!(ledger.try_spend(Flatten, None, 1, T0), Err(Denied::Wait { .. })));
    assert_eq!(ledger.try_spend(Flatten, None, 151, T0), Err(Denied::TooHeavy { weight: 151, most: 150 }));
}

#[test]
fn each_priority_leaves_what_it_yields_to() {
    for budget in [SMALLEST_BUDGET, IP_BUDGET] {
        for priority in ALL {
            let mut ledger = ledger(budget);
            assert!(drain(&mut ledger, priority, Some(&ONE)) > 0, "{priority:?}");
            for other in ALL.into_iter().filter(|other| yields(priority, *other)) {
                let reserve = ledger.reserves[other as usize];
                assert_eq!(ledger.try_spend(other, Some(&ONE), reserve, T0), Ok(()), "{other:?} after {priority:?}");
            }
        }
    }
}

/// A read for which nothing is kept comes within a minute, whatever clients ask for meanwhile; when it waits no more, what
/// was kept for it is theirs again.
#[test]
fn a_read_that_waits_is_not_crowded_out() {
    for client in [PassThrough, ClientEntry, EarlyRead] {
        let mut ledger = ledger(SMALLEST_BUDGET);
        drain(&mut ledger, client, Some(&ONE));
        let mut now_ms = T0;
        let mut waited = 0;
        while ledger.try_claim(20, Claim::Seldom, now_ms).is_err() {
            waited += 1;
            now_ms += 1_000;
            assert!(waited <= 61, "{client:?}");
            while ledger.try_spend(client, Some(&ONE), 1, now_ms).is_ok() {}
        }
        assert!(waited > 0, "{client:?}");
        // The floor of the steady reads is untouched by it.
        assert_eq!(ledger.try_spend(Read, None, read_floor(SMALLEST_BUDGET), now_ms), Ok(()));
    }
    let mut ledger = ledger(SMALLEST_BUDGET);
    drain(&mut ledger, EarlyRead, None);
    assert!(ledger.try_claim(20, Claim::Seldom, T0 + 60_000).is_err());
    let room = |ledger: &Ledger, at_ms: u64| ledger.wait_ms(PassThrough, 20, at_ms) == 0;
    assert!(!room(&ledger, T0 + 62_000));
    assert!(room(&ledger, T0 + 64_000), "it did not ask again");
}

/// Two reads that come each minute, and ask each second once they are due: at small shares they alone fill the room.
#[test]
fn a_read_that_a_request_waits_for_goes_before_those_that_nobody_does() {
    for budget in [SMALLEST_BUDGET, IP_BUDGET / 4] {
        for claim in [Claim::Called, Claim::Feed, Claim::Seldom] {
            let mut ledger = ledger(budget);
            let (mut due, mut came) = ([0; 2], None);
            for second in 0..180 {
                let now_ms = T0 + second * 1_000;
                for due in due.iter_mut().filter(|due| second >= **due) {
                    if ledger.try_claim(20, Claim::Seldom, now_ms).is_ok() {
                        *due = second + 60;
                    }
                }
                let is_ok = second > 5 && ledger.try_claim(20, claim, now_ms).is_ok();
                came = came.or(is_ok.then_some(second));
            }
            if claim > Claim::Seldom {
                assert!(came.is_some_and(|second| second <= 61), "{budget}: {came:?}");
            } else if budget == SMALLEST_BUDGET {
                assert_eq!(came, None, "else this shows nothing");
            }
        }
    }
}

#[test]
fn exits_leave_the_floor_of_the_reads_and_reads_leave_the_exits() {
    let mut ledger = ledger(IP_BUDGET);
    let [flatten, exit, read, ..] = ledger.reserves;
    assert_eq!(drain(&mut ledger, ClientExit, Some(&ONE)), IP_BUDGET - flatten - read);
    assert_eq!(drain(&mut ledger, EarlyRead, None), 0);
    assert_eq!(drain(&mut ledger, Read, None), read);
    assert_eq!(drain(&mut ledger, Flatten, None), flatten);
    let mut ledger = self::ledger(IP_BUDGET);
    assert_eq!(drain(&mut ledger, Read, None), IP_BUDGET - flatten - exit);
    assert_eq!(drain(&mut ledger, ClientExit, Some(&ONE)), exit);
}

#[test]
fn a_client_has_its_part_whatever_another_spends_and_all_of_it_alone() {
    let shared = || Ledger::new(IP_BUDGET, [&ONE, &OTHER]);
    let [flatten, exit, read, _, entry, _] = shared().reserves;
    let mut ledger = shared();
    assert_eq!(drain(&mut ledger, ClientExit, Some(&ONE)), IP_BUDGET - flatten - read - exit / 2 - entry / 2);
    assert_eq!(drain(&mut ledger, ClientEntry, Some(&OTHER)), entry / 2, "its exits are left to it");
    assert_eq!(drain(&mut ledger, ClientExit, Some(&OTHER)), exit / 2);
    let mut ledger = shared();
    drain(&mut ledger, ClientEntry, Some(&ONE));
    drain(&mut ledger, PassThrough, None);
    assert_eq!(drain(&mut ledger, ClientEntry, Some(&OTHER)), entry / 2);
    assert_eq!(drain(&mut ledger, ClientExit, Some(&OTHER)), exit - exit / 2);
    let mut alone = self::ledger(IP_BUDGET);
    let exit = alone.reserves[ClientExit as usize];
    assert_eq!(drain(&mut alone, ClientEntry, Some(&ONE)), IP_BUDGET - flatten - read - exit);
}

#[test]
fn entries_leave_room_to_take_back_what_was_placed() {
    for (clients, part) in [(vec![&ONE], 66), (vec![&ONE, &OTHER], 46)] {
        let mut ledger = Ledger::new(IP_BUDGET, clients);
        let mut place_and_cancel = || {
            ledger.try_spend(ClientEntry, Some(&ONE), 1, T0).is_ok_and(|()| {
                assert_eq!(ledger.try_spend(ClientExit, Some(&ONE), 1, T0), Ok(()));
                true
            })
        };
        let rounds = (0..10_000).take_while(|_| place_and_cancel()).count();
        assert!(rounds > 100, "{rounds}");
        let left = drain(&mut ledger, ClientExit, Some(&ONE));
        assert!((part - 1..=part).contains(&left), "{left} of {part}");
    }
}

/// Such as are called for by another client's requests.
#[test]
fn reads_out_of_turn_leave_each_client_its_part_of_what_is_kept_for_entries() {
    for budget in [SMALLEST_BUDGET, IP_BUDGET] {
        let mut ledger = Ledger::new(budget, [&ONE, &OTHER]);
        let [.., entry, _] = ledger.reserves;
        let beyond = budget - ledger.reserves.iter().sum::<u32>();
        assert_eq!(drain(&mut ledger, EarlyRead, None), beyond);
        assert!(ledger.try_claim(1, Claim::Seldom, T0).is_err());
        let mut unclaimed = ledger.clone();
        unclaimed.claimed = (0, 0);
        // What cannot be halved goes to who comes first.
        let parts = [&ONE, &OTHER].map(|client| drain(&mut unclaimed, ClientEntry, Some(client)));
        assert_eq!(parts, [entry - entry / 2, entry / 2], "{budget}");
    }
    // A documented question's weight is still left to them at the smallest share.
    assert!(ledger(SMALLEST_BUDGET).try_claim(20, Claim::Seldom, T0).is_ok());
}

/// Such as by lives before this one, of which nobody knows what was spent for whom.
#[test]
fn an_exit_within_its_part_fits_whatever_was_spent() {
    let mut ledger = Ledger::new(IP_BUDGET, [&ONE, &OTHER]);
    ledger.charge(PassThrough, None, IP_BUDGET, T0);
    let part = ledger.reserves[ClientExit as usize] / 2;
    for client in [&ONE, &OTHER] {
        assert_eq!(drain(&mut ledger, ClientExit, Some(client)), part);
        assert!(matches!(ledger.try_spend(ClientExit, Some(client), 1, T0), Err(Denied::Wait { .. })));
        assert!(ledger.try_spend(ClientEntry, Some(client), 1, T0).is_err());
    }
}

/// More clients than the reserve has parts for: one that spends without end keeps no other's exit in, and alone it has as
/// much as ever.
#[test]
fn each_of_many_clients_has_an_exit() {
    for (budget, count) in [(SMALLEST_BUDGET, 14), (SMALLEST_BUDGET, 15), (SMALLEST_BUDGET, 64), (IP_BUDGET, 255)] {
        let clients: Vec<Address> = (0..count).map(|n: u8| Address([n; 20])).chain([ONE]).collect();
        let mut ledger = Ledger::new(budget, &clients);
        let drained = drain(&mut ledger, ClientExit, Some(&ONE));
        assert!(drained >= ledger.reserves[ClientExit as usize], "{drained} of {budget}, {count} clients");
        drain(&mut ledger, PassThrough, None);
        drain(&mut ledger, EarlyRead, None);
        for client in clients.iter().filter(|client| **client != ONE) {
            assert!(ledger.has_room(ClientExit, Some(client), 1, T0), "{count}");
            assert_eq!(ledger.try_spend(ClientExit, Some(client), 1, T0), Ok(()));
        }
        assert!(
            !ledger.has_room(ClientExit, Some(&ONE), 1, T0) && ledger.try_spend(ClientExit, Some(&ONE), 1, T0).is_err()
        );
    }
}

/// Each send is followed by reads that come before their time.
#[test]
fn no_read_crowds_out_the_exits_of_two_clients_that_trade_down_in_steps() {
    for reads in [Read, EarlyRead] {
        let mut ledger = Ledger::new(IP_BUDGET, [&ONE, &OTHER]);
        drain(&mut ledger, reads, None);
        assert!((0..46).all(|_| ledger.try_spend(ClientExit, Some(&ONE), 1, T0).is_ok()), "{reads:?}");
        // Reads out of turn leave what is kept for entries, of which a client's exits may have its part.
        let [.., entry, _] = ledger.reserves;
        let more = if reads == Read { 0 } else { entry - entry / 2 };
        assert_eq!(drain(&mut ledger, ClientExit, Some(&ONE)), more, "{reads:?}");
    }
}

#[test]
fn a_reserve_already_used_holds_nothing_more_back() {
    let mut ledger = ledger(150);
    let [flatten, _, read, ..] = ledger.reserves;
    ledger.try_spend(Flatten, None, flatten, T0).unwrap();
    assert_eq!(ledger.try_spend(ClientExit, Some(&ONE), 150 - flatten - read, T0), Ok(()));
}

#[test]
fn wait_is_exact() {
    let mut ledger = ledger(150);
    ledger.try_spend(Flatten, None, 100, T0 + 250).unwrap();
    ledger.try_spend(Flatten, None, 50, T0 + 5_250).unwrap();
    let now_ms = T0 + 10_400;
    let Err(Denied::Wait { ms }) = ledger.try_spend(Flatten, None, 100, now_ms) else { panic!("spent") };
    assert_eq!(now_ms + ms, T0 + 61_000);
    assert!(ledger.try_spend(Flatten, None, 100, now_ms + ms - 1).is_err());
    assert_eq!(ledger.try_spend(Flatten, None, 100, now_ms + ms), Ok(()));
}

#[test]
fn a_clock_that_steps_back_frees_nothing() {
    let mut ledger = ledger(150);
    ledger.try_spend(Flatten, None, 150, T0).unwrap();
    assert_eq!(ledger.used(T0 - 3_600_000), 150);
    assert!(ledger.try_spend(Flatten, None, 1, T0 - 3_600_000).is_err());
}

proptest! {
    #[test]
    fn no_minute_holds_more_than_the_budget_and_the_exits_kept(
        steps in prop::collection::vec((0..PRIORITIES, 0..3_usize, 0..60_u32, 0..9_000_u64), 1..300),
        budget in SMALLEST_BUDGET..=IP_BUDGET,
    ) {
        let mut ledger = Ledger::new(budget, [&ONE, &OTHER]);
        let mut spent: Vec<(u64, u32)> = Vec::new();
        let mut now_ms = T0;
        for (priority, client, weight, pause_ms) in steps {
            now_ms += pause_ms;
            let client = [None, Some(&ONE), Some(&OTHER)][client];
            match ledger.try_spend(ALL[priority], client, weight, now_ms) {
                Ok(()) => spent.push((now_ms, weight)),
                Err(Denied::Wait { ms }) => {
                    let mut later = ledger.clone();
                    prop_assert_eq!(later.try_spend(ALL[priority], client, weight, now_ms + ms), Ok(()));
                }
                Err(Denied::TooHeavy { most, .. }) => prop_assert!(weight > most),
            }
            let minute: u32 = spent.iter().filter(|(at, _)| at + 60_000 > now_ms).map(|(_, w)| w).sum();
            // Beside a flatten, whose weight is anybody's, each client's exits keep their part.
            let most = budget + ledger.reserves[ClientExit as usize];
            prop_assert!(minute <= most, "{} of {}", minute, most);
        }
    }
}

/// Asked side by side, before any of the answers is here.
#[test]
fn long_answers_on_their_way_fit_beside_what_is_kept_for_others() {
    for (weight, most) in [(20, 100), (20, 83), (20, 0)] {
        let mut ledger = ledger(IP_BUDGET);
        let room = IP_BUDGET - ledger.reserves.iter().sum::<u32>();
        let asked: Vec<OnWay> = (0..100).map_while(|_| ledger.try_ask(PassThrough, weight, most, T0).ok()).collect();
        assert_eq!(asked.len(), usize::try_from(room / (weight + most)).unwrap());
        assert!(matches!(ledger.try_ask(PassThrough, weight, most, T0), Err(Denied::Wait { .. })));
        asked.into_iter().for_each(|asked| ledger.settle(asked, Some(most), T0));
        assert!(ledger.used(T0) <= room, "{}", ledger.used(T0));
        for other in ALL.into_iter().filter(|other| yields(PassThrough, *other)) {
            let reserve = ledger.reserves[other as usize];
            assert_eq!(ledger.try_spend(other, Some(&ONE), reserve, T0), Ok(()), "{other:?}");
        }
    }
}

#[test]
fn what_an_answer_did_not_weigh_is_free_again_and_what_it_did_counts_from_then_on() {
    let mut ledger = ledger(IP_BUDGET);
    let room = IP_BUDGET - ledger.reserves.iter().sum::<u32>();
    let on_way = ledger.try_ask(PassThrough, 20, room - 20, T0).unwrap();
    assert_eq!((ledger.used(T0), ledger.used(T0 + 70_000)), (room, room - 20), "for as long as it takes");
    assert_eq!(ledger.last_minute(T0).iter().map(|(.., weight)| weight).sum::<u32>(), room);
    assert!(!ledger.has_room(PassThrough, None, 1, T0));
    ledger.settle(on_way, Some(7), T0 + 5_000);
    assert_eq!([5_000, 61_000, 65_999, 66_000].map(|at| ledger.used(T0 + at)), [27, 7, 7, 0]);
    assert!(ledger.has_room(PassThrough, None, room - 27, T0 + 5_000));
    assert!(!ledger.has_room(PassThrough, None, room - 26, T0 + 5_000));
    assert_eq!(ledger.totals().map(|(_, total)| total).sum::<u64>(), 27, "what was kept was never spent");
    // One whose answer was lost may have been counted whole.
    let on_way = ledger.try_ask(PassThrough, 20, 100, T0 + 70_000).unwrap();
    ledger.settle(on_way, None, T0 + 80_000);
    assert_eq!(ledger.used(T0 + 80_000), 120);
}

#[test]
fn where_a_long_answer_does_not_fit_one_question_at_a_time_goes_by_its_own_weight() {
    let room = |ledger: &Ledger| ledger.budget - ledger.reserves.iter().sum::<u32>();
    for budget in [SMALLEST_BUDGET, IP_BUDGET / 3] {
        let mut ledger = ledger(budget);
        assert!(room(&ledger) < 21 + 100, "else this shows nothing");
        let only = ledger.try_ask(PassThrough, 1, 100, T0).unwrap();
        assert!(matches!(ledger.try_ask(PassThrough, 1, 100, T0), Err(Denied::Wait { .. })), "another one");
        assert_eq!(ledger.used(T0), 1);
        ledger.settle(only, Some(0), T0);
        let only = ledger.try_ask(PassThrough, 1, 100, T0).unwrap();
        ledger.settle(only, Some(100), T0);
        assert!(ledger.try_ask(PassThrough, 1, 100, T0).is_err(), "its answer is counted");
    }
    // At the share from which one fits it does so whole, beside none that does not.
    let fits = (SMALLEST_BUDGET..IP_BUDGET).find(|budget| room(&ledger(*budget)) >= 120).unwrap();
    for (budget, whole) in [(fits - 1, 20), (fits, 120)] {
        let mut ledger = ledger(budget);
        let asked = ledger.try_ask(PassThrough, 20, 100, T0).unwrap();
        assert_eq!(ledger.used(T0), whole, "{budget}");
        ledger.settle(asked, Some(0), T0);
    }
    // So it does beside what a start has spent, to the last weight, and no second one overdraws.
    for (left, may_ask) in [(19, false), (20, true)] {
        let mut ledger = ledger(IP_BUDGET);
        ledger.charge(EarlyRead, None, room(&ledger) - left, T0);
        let asked = ledger.try_ask(PassThrough, 20, 100, T0);
        assert_eq!(asked.is_ok(), may_ask, "{left}");
        let _settled = asked.map(|asked| ledger.settle(asked, Some(100), T0));
        assert!(ledger.try_ask(PassThrough, 1, 0, T0).is_err() || !may_ask);
    }
}
