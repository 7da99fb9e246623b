//! Two clients of one guard: what one of them does leaves the other its own.

use std::collections::BTreeSet;

use rust_decimal::dec;
use serde_json::{Value, json};

use super::fixture::*;
use crate::base::address::Address;
use crate::guard::input::RequestBody;
use crate::guard::{Config, Guard, Input, Mode};
use crate::rules::Rules;
use crate::venue::envelope::Envelope;
use crate::venue::signing::Source;

const OTHER: Address = Address([0xc2; 20]);

fn config_of_two() -> Config {
    two_under(wide())
}

fn two_under(rules: Rules) -> Config {
    Config { clients: BTreeSet::from([CLIENT, OTHER]), ..config(Mode::Testnet, rules) }
}

/// Has a client ask, under a nonce of its own.
fn ask(desk: &mut Desk, client: Address, action: Value) -> Decided {
    let nonce = NOW + 1_000 + desk.guard.last_seq();
    let body = json!({"action": action, "nonce": nonce, "signature": {"r": "0x1", "s": "0x1", "v": 27}});
    let envelope = Box::new(Envelope::parse(body.to_string().as_bytes()).unwrap());
    Decided::of(desk.post_as(RequestBody::Signed { envelope, client, signed_as: Source::Testnet }))
}

/// The next life of a guard: by its checkpoint, or by the events of these decisions.
fn next_lives(desk: &Desk, decided: &[Decided]) -> [Desk; 2] {
    let checkpoint: Value = serde_json::from_str(&desk.guard.checkpoint(desk.now)).unwrap();
    let mut lives = [(); 2].map(|()| Guard::new(config_of_two(), desk.guard.last_seq()));
    lives[0].restore_checkpoint_json(&checkpoint);
    decided.iter().for_each(|decided| lives[1].restore_json(&decided.event));
    lives.map(|guard| Desk::with(guard, desk.now))
}

/// The ids derive from what everybody may read: one that another client took is still good for its own.
#[test]
fn an_id_for_one_trade_is_used_up_for_its_client_alone() {
    let exit = |number: u8| {
        let id = json!(format!("0x7376636f6e63{}", format!("{number:02x}").repeat(10)));
        place(vec![with(close(ETH, false, "2000", "1"), "/c", id)])
    };
    let desk_that_holds = |mut desk: Desk| {
        desk.hold("ETH", dec!(10));
        desk
    };
    let mut desk = desk_that_holds(Desk::of(config_of_two()));
    let decided = [ask(&mut desk, OTHER, exit(1)), ask(&mut desk, CLIENT, exit(1)), ask(&mut desk, OTHER, exit(2))];
    for decided in &decided {
        decided.reduces();
    }
    let [by_checkpoint, by_events] = next_lives(&desk, &decided);
    for mut desk in [desk, by_checkpoint, by_events].map(desk_that_holds) {
        ask(&mut desk, CLIENT, exit(1)).vetoed("duplicate_order");
        ask(&mut desk, OTHER, exit(1)).vetoed("duplicate_order");
        ask(&mut desk, CLIENT, exit(2)).reduces();
    }
}

fn take_profits(count: usize) -> Value {
    let order = |at: usize| with(close(ETH, false, &(2100 + at).to_string(), "0.01"), "/t/limit/tif", json!("Gtc"));
    place((0..count).map(order).collect())
}

/// An entry with two children of its client's.
fn group() -> Value {
    let orders = [buy(ETH, "1990", "1"), take_profit(ETH, false, "2200", "1"), stop(ETH, false, "1960", "1")];
    json!({"type": "order", "orders": orders, "grouping": "normalTpsl"})
}

fn take_profit(asset: u32, is_buy: bool, px: &str, size: &str) -> Value {
    with(stop(asset, is_buy, px, size), "/t/trigger/tpsl", json!("tp"))
}

#[test]
fn the_children_of_an_entry_count_among_its_clients_exits() {
    let mut desk = Desk::of(config_of_two());
    desk.hold("ETH", dec!(10));
    ask(&mut desk, OTHER, take_profits(97)).reduces();
    ask(&mut desk, OTHER, group()).allowed();
    ask(&mut desk, OTHER, group()).vetoed("open_exits_limit").says(&["99", "2 more", "of this client"]);
    ask(&mut desk, CLIENT, take_profits(100)).reduces();
}

/// The children wait at the venue behind their entry, which a read shows.
#[test]
fn the_children_that_wait_count_too() {
    let mut desk = Desk::of(config_of_two());
    desk.hold("ETH", dec!(10));
    ask(&mut desk, OTHER, take_profits(97)).reduces();
    let decided = ask(&mut desk, OTHER, group());
    let cloid = |place: usize| serde_json::from_value(decided.allowed().sent_order(place)["c"].clone()).unwrap();
    let mut entry = open("ETH", "B", "1990", "1", 7);
    entry.cloid = cloid(0);
    entry.children = [(1, 8), (2, 9)]
        .map(|(place, oid)| {
            let mut child = open("ETH", "A", "1960", "1", oid);
            (child.cloid, child.reduce_only) = (cloid(place), true);
            child
        })
        .into();
    desk.answer(decided.seq(), 0, statuses(json!([{"resting": {"oid": 7}}, "waitingForFill", "waitingForFill"])));
    desk.now += 1;
    desk.show(vec![entry]);
    ask(&mut desk, OTHER, take_profits(2)).vetoed("open_exits_limit").says(&["99"]);
}

#[test]
fn the_next_life_knows_whose_the_exits_are() {
    let mut desk = Desk::of(config_of_two());
    desk.hold("ETH", dec!(10));
    let decided = ask(&mut desk, OTHER, take_profits(100));
    let shown: Vec<_> = (0..100)
        .map(|place| {
            let mut order = open("ETH", "A", "2100", "0.01", 100 + place);
            order.cloid =
                serde_json::from_value(decided.sent_order(usize::try_from(place).unwrap())["c"].clone()).unwrap();
            order.reduce_only = true;
            order
        })
        .collect();
    for mut desk in next_lives(&desk, &[decided]) {
        desk.hold("ETH", dec!(10));
        desk.show(shown.clone());
        ask(&mut desk, OTHER, take_profits(1))
            .vetoed("open_exits_limit")
            .says(&["100 reduce-only orders of this client"]);
        ask(&mut desk, CLIENT, take_profits(100)).reduces();
    }
}

/// Whoevers the exits are that rest: a client's own half of an equal part stays its own.
#[test]
fn a_clients_part_of_the_exits_is_kept_for_it() {
    let mut desk = Desk::of(config_of_two());
    desk.hold("ETH", dec!(10));
    desk.show(
        (0..180)
            .map(|at| {
                let mut order = open("ETH", "A", "2100", "0.01", 100 + at);
                order.reduce_only = true;
                order
            })
            .collect(),
    );
    ask(&mut desk, OTHER, take_profits(51)).vetoed("open_exits_limit").says(&["of all clients", "50 are kept"]);
    ask(&mut desk, OTHER, take_profits(50)).reduces();
    ask(&mut desk, CLIENT, take_profits(50)).reduces();
}

fn exit() -> Value {
    place(vec![close(ETH, false, "2000", "1")])
}

/// Asks, and has the venue answer what is sent.
fn passes(desk: &mut Desk, client: Address) -> bool {
    let decided = ask(desk, client, exit());
    let passes = decided.verdict() != "veto";
    if passes {
        desk.answer(decided.seq(), 0, json!({"status": "err", "response": "no"}));
    }
    passes
}

#[test]
fn clients_take_turns_at_the_last_requests() {
    let mut desk = Desk::of(config_of_two());
    desk.show(vec![open_stop("ETH", "A", "1900", "10", 7)]);
    desk.hold("ETH", dec!(10));
    desk.step(Input::RequestsLeft(190));
    assert!(passes(&mut desk, CLIENT));
    assert!(!passes(&mut desk, OTHER), "a place every 10 s");
    // The other goes on asking, and its turn is next.
    desk.wait(9_999);
    assert!(!passes(&mut desk, OTHER));
    desk.wait(1);
    ask(&mut desk, CLIENT, exit()).vetoed("venue_budget").says(&["another client's turn"]);
    assert!(passes(&mut desk, OTHER));
    desk.wait(10_000);
    assert!(passes(&mut desk, CLIENT));
    // Whoever asks no more keeps nobody waiting.
    assert!(!passes(&mut desk, OTHER));
    desk.wait(10_000);
    assert!(passes(&mut desk, CLIENT));
}

/// Half of the places for requests that wait are the other's.
#[test]
fn requests_that_wait_leave_the_other_client_its_part() {
    let mut desk = Desk::blank(config_of_two());
    desk.read();
    // No market's leverage is known, and nobody answers.
    let post = |desk: &mut Desk, client: Address| {
        let nonce = NOW + 1_000 + u64::try_from(desk.guard.parked.len()).unwrap() + desk.guard.last_seq();
        let action = place(vec![buy(ETH, "1990", "0.01")]);
        let body = json!({"action": action, "nonce": nonce, "signature": {"r": "0x1", "s": "0x1", "v": 27}});
        let envelope = Box::new(Envelope::parse(body.to_string().as_bytes()).unwrap());
        let before = desk.guard.parked.len();
        desk.post_as(RequestBody::Signed { envelope, client, signed_as: Source::Testnet });
        desk.guard.parked.len() > before
    };
    for at in 0..33 {
        assert_eq!(post(&mut desk, OTHER), at < 32, "{at}");
    }
    assert!(post(&mut desk, CLIENT));
}

/// Half of what the rule allows goes to whoever comes, and of the other half each has its part.
#[test]
fn entries_that_rest_leave_another_client_its_part() {
    for (limit, of_one, of_other) in [(8, 6, 2), (3, 2, 1), (2, 1, 1), (1, 1, 0)] {
        let mut desk = Desk::of(two_under(Rules { open_orders: limit, ..wide() }));
        let mut entries = (0..).map(|number: u32| place(vec![buy(ETH, &(1900 + number).to_string(), "0.1")]));
        let mut ask_for = |client, count: usize| {
            for entry in entries.by_ref().take(count) {
                ask(&mut desk, client, entry).resized();
            }
            ask(&mut desk, client, entries.next().unwrap()).vetoed("open_orders_limit").text().to_owned()
        };
        let told = ask_for(CLIENT, of_one);
        let kept =
            if of_other > 0 { format!(", of which {of_other} are kept for other clients") } else { String::new() };
        assert_eq!(told, format!("{of_one} open entries and 1 more are over {limit}{kept}; cancel some first"));
        let told = ask_for(OTHER, of_other);
        assert_eq!(told, format!("{limit} open entries and 1 more are over {limit}; cancel some first"));
    }
}
