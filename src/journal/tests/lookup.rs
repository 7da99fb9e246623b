//! Every decision is found, whichever file, day or run of the index it is in.

use nix::libc::EIO;

use super::*;
use crate::base::address::Cloid;

fn cloid(n: u64) -> String {
    format!("0x{n:032x}")
}

fn decision(seq: u64, nonce: u64, cloids: &[String]) -> Value {
    let orders: Vec<_> = cloids.iter().map(|cloid| json!({"a": 0, "c": cloid})).collect();
    json!({"seq": seq, "kind": "decision", "nonce": nonce, "request": {"type": "order", "orders": orders}, "forward": null})
}

fn serving(seq: u64, kind: &str, of: u64) -> Value {
    let name = match kind {
        "sent" => "decision",
        "intent" => "of",
        _ => "intent",
    };
    let mut event = json!({"seq": seq, "kind": kind});
    event[name] = json!(of);
    event
}

fn append(store: &mut Store, at_ms: u64, events: &[Value]) {
    store.append(at_ms, events.iter().map(line).collect(), vec![]).unwrap();
}

#[test]
fn all_that_served_a_decision_is_found_with_it() {
    let place = Place::new();
    let (mut store, _) = place.open();
    let one = decision(1, 7, &[cloid(1), cloid(2)]);
    append(
        &mut store,
        NOON,
        &[one.clone(), decision(2, 8, &[cloid(1)]), serving(3, "sent", 1), serving(4, "intent", 1)],
    );
    append(
        &mut store,
        NOON + DAY,
        &[serving(5, "sent", 4), serving(6, "sent", 2), serving(7, "done", 4), serving(8, "done", 1)],
    );
    append(&mut store, NOON + DAY, &[serving(9, "recovered", 4), decision(10, 7, &[])]);
    let check = |lookup: &Lookup| {
        let found = lookup.by_nonce(7).unwrap();
        let full = json!({
            "decision": one, "sent": [serving(3, "sent", 1), serving(5, "sent", 4)], "intents": [serving(4, "intent", 1)],
            "recovered": [serving(9, "recovered", 4)], "done": serving(8, "done", 1)
        });
        let bare = json!({"decision": decision(10, 7, &[]), "sent": [], "intents": [], "recovered": [], "done": null});
        assert_eq!(json!(found), json!([full, bare]));
        assert_eq!(json!(lookup.by_cloid(&cloid(2)).unwrap()), json!([full]));
        assert_eq!(lookup.by_cloid(&cloid(1)).unwrap().len(), 2);
        assert!(lookup.by_nonce(9).unwrap().is_empty());
        assert!(lookup.by_cloid(&cloid(9)).unwrap().is_empty());
        assert!(matches!(lookup.by_cloid("0x12"), Err(LookupError::NotACloid)));
    };
    check(&store.lookup());
    drop(store);
    check(&place.open().0.lookup());
}

/// Runs, merges, several days, files begun after failures, restarts, and an index that is lost or spoiled.
#[test]
fn a_long_journal_is_searched_as_a_whole() {
    let place = Place::new();
    // A nonce is asked three times, the last time long after.
    let nonce = |seq: u64| if seq > 80_000 { seq - 80_000 } else { seq / 2 * 2 };
    let mut seq = 0;
    for restart in 0..3 {
        let store = place.open_with(once(Step::EventsSync, 1, Fault::Fail { after: 0, errno: EIO }));
        let lookup = store.lookup();
        let journal = start(store, None, 8, |(), result| assert!(result.is_ok()));
        let queue = journal.queue();
        for part in 0..14 {
            let events =
                (1..=2000).map(|n| line(&decision(seq + n, nonce(seq + n), &[cloid((seq + n) * 1000)]))).collect();
            seq += 2000;
            let at_ms = NOON + (restart * 14 + part) / 5 * DAY;
            let risk = vec![checkpoint(seq)];
            queue.send(Batch { at_ms, events, risk, worth: Worth::Own, after: () }).unwrap();
        }
        drop((queue, journal));
        assert_eq!(lookup.by_nonce(nonce(seq)).unwrap().last().unwrap().decision["seq"], seq);
    }
    let check = |count: usize| {
        let (store, opened) = place.open();
        let lookup = store.lookup();
        let journal = start(store, Some(opened.history), 1, |(), _| ());
        while lookup.is_behind() {
            lookup.by_nonce(1).unwrap();
        }
        for asked in (1..=seq).step_by(997) {
            let found = lookup.by_nonce(asked).unwrap();
            let found: Vec<_> = found.iter().map(|found| found.decision["seq"].as_u64().unwrap()).collect();
            let expected: Vec<_> = (1..=seq).filter(|seq| nonce(*seq) == asked).collect();
            assert_eq!(found, expected, "nonce {asked}");
            let found = lookup.by_cloid(&cloid(asked * 1000)).unwrap();
            assert_eq!(found.len(), 1);
            assert_eq!(found[0].decision["seq"], asked);
        }
        drop(journal);
        assert!(place.runs().len() <= count, "{:?}", place.runs());
    };
    check(12);
    std::fs::write(&place.runs()[0], b"not a run").unwrap();
    check(12);
    std::fs::remove_dir_all(place.file("index")).unwrap();
    check(12);
    assert!(place.event_files().len() > 9);
}

#[test]
fn an_index_of_another_journal_is_not_believed() {
    let (place, other) = (Place::new(), Place::new());
    for (place, first) in [(&place, 100), (&other, 200)] {
        let store = place.open().0;
        let journal = start(store, None, 8, |(), _| ());
        let events = (1..=5).map(|n| line(&decision(n, first + n, &[]))).collect();
        journal.queue().send(Batch { at_ms: NOON, events, risk: vec![], worth: Worth::Own, after: () }).unwrap();
    }
    std::fs::remove_dir_all(place.file("index")).unwrap();
    copy_folder(&other.file("index"), &place.file("index"));
    let lookup = place.open().0.lookup();
    assert!(lookup.by_nonce(203).unwrap().is_empty());
    assert_eq!(lookup.by_nonce(103).unwrap().len(), 1);
}

#[test]
fn a_nonce_repeated_without_end_gives_a_bounded_answer() {
    let place = Place::new();
    let (mut store, _) = place.open();
    let events: Vec<_> = (1..=1000).map(|seq| decision(seq, 5, &[])).collect();
    append(&mut store, NOON, &events);
    let found = store.lookup().by_nonce(5).unwrap();
    assert_eq!(found.len(), MAX_DECISIONS);
    assert_eq!(found[MAX_DECISIONS - 1].decision["seq"], MAX_DECISIONS);
}

#[test]
fn client_order_ids_are_found_wherever_they_stand() {
    let event = json!({
        "kind": "decision", "nonce": 3, "request": {"type": "modify", "oid": cloid(1), "order": {"c": cloid(2)}},
        "pre": [{"cancels": [{"cloid": cloid(3).to_uppercase().replace('X', "x")}]}], "forward": {"orders": [{"c": cloid(4)}]},
        "post": [], "text": cloid(5)
    });
    let cloids = (1..=4).map(|n: u128| Cloid(n.to_be_bytes())).collect();
    assert_eq!(keys_of(&event), Keys { nonce: Some(3), cloids, serves: None });
    assert_eq!(keys_of(&json!({"kind": "flatten", "of": 3})), Keys::default());
    for text in ["0x", "0x+0000000000000000000000000000001", &cloid(1)[1..], &format!("{}0", cloid(1))] {
        assert!(text.parse::<Cloid>().is_err(), "{text}");
    }
}
