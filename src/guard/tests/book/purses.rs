//! The account's mode changes, and with it the purse that the equity is in: that is no discrepancy, and no row counts anew.

use super::world::BookWorld;
use crate::guard::Input;
use crate::venue::history::ledger;
use crate::venue::info::AccountMode;
use rust_decimal::{Decimal, dec};
use serde_json::{Value, json};

/// What the book was told to lack.
fn told(world: &BookWorld) -> Vec<&Value> {
    let is_of_the_book = |error: &&Value| error["text"].as_str().unwrap().starts_with("the book does not add up");
    world.of_kind("error").into_iter().filter(is_of_the_book).collect()
}

#[test]
fn another_purse_is_no_discrepancy_and_no_row_counts_anew() {
    // Longer than a halt waits for it, too.
    for seconds in [3, 200] {
        changes_its_purse(seconds);
    }
}

fn changes_its_purse(seconds: u32) {
    let mut world = BookWorld::new(1, false);
    world.live(60);
    // All of it is in the other purse, and for a while nobody has said so.
    for _ in 0..seconds {
        world.venue.now += 1_000;
        let state = serde_json::from_value(world.venue.account().0).unwrap();
        world.step(Input::Account { state, equity: Decimal::ZERO, begun_ms: world.venue.now });
        world.step(Input::Tick);
        while !world.reads.is_empty() {
            world.answer();
        }
    }
    world.step(Input::AccountMode { mode: AccountMode::Unified, begun_ms: world.venue.now });
    world.live(200);
    assert!(told(&world).is_empty(), "{:?}", told(&world));
    let sums = world.of_kind("balance");
    assert!(sums.iter().any(|sum| sum["why"] == "the account's mode changed"), "{sums:?}");
    assert!(
        sums.iter().all(|sum| sum["worst_fall"] == "0"),
        "what was read of the purse that was left is no fall: {sums:?}"
    );

    // Between two parts of one purse nothing moves, whatever the mode is later.
    let delta = json!({"type": "accountClassTransfer", "usdc": "77", "toPerp": true});
    let row = json!([{"time": world.venue.now, "hash": "0x77", "delta": delta}]);
    for mode in [AccountMode::Unified, AccountMode::Standard, AccountMode::Unified] {
        world.step(Input::AccountMode { mode, begun_ms: world.venue.now });
        world.step(Input::Ledger { updates: ledger(&row).unwrap().rows, begun_ms: world.venue.now });
    }
    let nothing: Vec<_> = world.of_kind("transfer").iter().map(|row| row["usdc"].as_str().unwrap()).collect();
    assert_eq!(nothing, ["0"], "{:?}", world.of_kind("transfer"));
}

/// The service ends after a purse was read that the account may have no more, and before the mode was.
#[test]
fn the_last_word_of_a_life_is_of_no_purse_that_is_doubted() {
    for (equity, is_sure) in [(dec!(9950), true), (dec!(25), false)] {
        let mut world = BookWorld::new(1, false);
        world.live(60);
        world.venue.now += 1_000;
        let state = serde_json::from_value(world.venue.account().0).unwrap();
        world.step(Input::Account { state, equity, begun_ms: world.venue.now });
        let before = world.of_kind("balance").len();
        world.step(Input::Shutdown { reason: "terminated".to_owned() });
        world.step(Input::SendsEnded);
        let sums = world.of_kind("balance");
        assert_eq!(sums.len() - before, usize::from(is_sure), "{sums:?}");
    }
}

/// Rows that move nothing are on record too: so a restart without a checkpoint neither judges them anew nor counts those beside
/// them otherwise.
#[test]
fn a_row_is_judged_once_whatever_dies_when() {
    let mut world = BookWorld::new(1, false);
    world.live(60);
    let account = super::super::fixture::ACCOUNT.to_string();
    let send = |source: &str, amount: &str, to: &str| {
        json!({"type": "send", "user": account, "destination": to, "sourceDex": source,
            "destinationDex": "spot", "token": "USDC", "amount": amount, "fee": "1"})
    };
    let stranger = "0x00000000000000000000000000000000000000ff";
    let time = world.venue.now;
    let row = |delta: Value| json!({"time": time, "hash": "0x5", "delta": delta});
    let (nothing, moved) = (send("spot", "500", stranger), send("", "300", &account));
    let rows = ledger(&json!([row(nothing), row(moved)])).unwrap().rows;
    let told = |world: &mut BookWorld, mode: AccountMode| {
        world.step(Input::AccountMode { mode, begun_ms: world.venue.now });
        world.step(Input::Ledger { updates: rows.clone(), begun_ms: world.venue.now });
        let rows = world.of_kind("transfer").into_iter();
        rows.map(|row| (row["usdc"].as_str().unwrap().to_owned(), row.get("why").is_some())).collect::<Vec<_>>()
    };
    let expected = [("0".to_owned(), true), ("-301".to_owned(), false)];
    assert_eq!(told(&mut world, AccountMode::Standard), expected);
    for mode in [AccountMode::Standard, AccountMode::Unified] {
        world.die(0);
        world.rise();
        assert_eq!(told(&mut world, mode), expected);
    }
    // The last of both may not have been written.
    let last = world.journal.iter().rposition(|event| event["kind"] == "transfer").unwrap();
    world.die(u64::try_from(world.journal.len() - last).unwrap());
    assert_eq!(world.of_kind("transfer").len(), 1);
    world.rise();
    assert_eq!(told(&mut world, AccountMode::Standard), expected);
}

#[test]
fn a_second_discrepancy_has_its_balance_too() {
    let mut world = BookWorld::new(1, true);
    world.live(60);
    let mut fees = Vec::new();
    for _ in 0..2 {
        let hidden = world.venue.trade("ETH", dec!(1), dec!(100), None);
        world.venue.hide_last();
        fees.push(hidden["fee"].as_str().unwrap().to_owned());
        world.live(150);
    }
    let off: Vec<_> = world.of_kind("balance").into_iter().filter(|sum| sum["difference"] != "0").collect();
    assert_eq!(off.len(), fees.len(), "{off:?}");
    world.die(0);
    world.rise();
    let before = told(&world).len();
    world.live(150);
    assert_eq!((before, told(&world).len()), (2, 2), "told again: {:?}", told(&world));
}

/// A transfer between both purses of an account, as the ledger shows it.
fn class_transfer(world: &mut BookWorld, usdc: &str) {
    let delta = json!({"type": "accountClassTransfer", "usdc": usdc, "toPerp": true});
    world.venue.ledger.push(json!({"time": world.venue.now, "hash": format!("0x{usdc}"), "delta": delta}));
    for _ in 0..3 {
        world.venue.now += 1_000;
        world.read_account();
        world.step(Input::Tick);
    }
}

/// The mode changes while the guard runs, or while it is away: what the ledger shows of before moved the purse of before, and of
/// what lies between both nobody knows it.
#[test]
fn a_row_moved_the_purse_of_its_own_time() {
    for (is_away, has_checkpoint) in [(false, false), (true, true), (true, false)] {
        let mut world = BookWorld::new(1, false);
        world.live(60);
        class_transfer(&mut world, "77");
        if is_away {
            if has_checkpoint {
                world.take_checkpoint();
            }
            world.die(0);
        }
        world.venue.now += 1_000;
        let time = world.venue.now;
        let delta = json!({"type": "accountClassTransfer", "usdc": "78", "toPerp": true});
        world.venue.ledger.push(json!({"time": time, "hash": "0x78", "delta": delta}));
        world.venue.now += 1_000;
        world.mode = AccountMode::Unified;
        if is_away {
            world.rise();
        } else {
            world.step(Input::AccountMode { mode: AccountMode::Unified, begun_ms: world.venue.now });
        }
        world.venue.now += 1_000;
        class_transfer(&mut world, "79");
        world.live(70);
        let row = |row: &&Value| (row["usdc"].as_str().map(str::to_owned), row.get("why").is_some());
        let rows: Vec<_> = world.of_kind("transfer").iter().map(row).collect();
        // Of a life that left no checkpoint the last sum tells up to when its mode was known.
        let first = if is_away && !has_checkpoint { (None, true) } else { (Some("77".to_owned()), false) };
        assert_eq!(rows, [first, (None, true), (Some("0".to_owned()), true)], "{is_away} {has_checkpoint}");
        assert!(told(&world).is_empty(), "{:?}", told(&world));
    }
}

/// A life ends before its book was summed up: what mode it was in is on record all the same.
#[test]
fn a_row_of_a_life_without_a_sum_moved_the_purse_of_its_own_time() {
    for (mode, usdc) in [(AccountMode::Standard, Some("78")), (AccountMode::Unified, None)] {
        let mut world = BookWorld::new(1, false);
        world.venue.now += 1_000;
        world.read_account();
        world.venue.now += 1_000;
        let delta = json!({"type": "accountClassTransfer", "usdc": "78", "toPerp": true});
        world.venue.ledger.push(json!({"time": world.venue.now, "hash": "0x78", "delta": delta}));
        assert!(world.of_kind("balance").is_empty());
        world.die(0);
        world.venue.now += 1_000;
        world.mode = mode;
        world.rise();
        world.live(70);
        assert_eq!(world.of_kind("transfer")[0]["usdc"].as_str(), usdc, "{mode:?}");
    }
}

/// Rows of one moment and hash are shown one after the other, the first of them last; and a death lies between.
#[test]
fn rows_that_differ_in_the_amount_alone_are_each_there_once() {
    for dies in [false, true] {
        let mut world = BookWorld::new(1, false);
        world.live(60);
        let time = world.venue.now;
        let row = |usdc: &str| json!({"time": time, "hash": "0x0", "delta": {"type": "deposit", "usdc": usdc}});
        let all = [row("5"), row("7"), row("7"), row("9")];
        for shown in [&all[1..2], &all[..2], &all[..], &all[..]] {
            let updates = ledger(&json!(shown)).unwrap().rows;
            world.step(Input::Ledger { updates, begun_ms: world.venue.now });
            if dies {
                world.die(0);
                world.rise();
            }
        }
        let kept: Vec<_> = world.of_kind("transfer").iter().map(|row| row["usdc"].as_str().unwrap()).collect();
        assert_eq!(kept, ["7", "5", "7", "9"]);
    }
}
