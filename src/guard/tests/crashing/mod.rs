//! Seeded schedules of faults: the core between a model venue and a model disk, both of which fail at any moment.
//!
//! The guard dies between journal and send and answer, and is made again from what the disk holds. Requests are lost,
//! refused, never sent, or carried out long after everybody gave them up; reads arrive late and in any order. When the
//! venue answers again everything settles: what the journal tells is what the venue did, nothing went out twice or
//! unnamed, what could still happen was reserved all the while, and no position is bare.

mod disk;
mod post;
mod truth;
mod venue;
mod world;

use std::collections::BTreeMap;

use world::{Plant, World};

const RUNS: u64 = 10_000;

/// Every so many-th of the runs.
fn runs(from: u64, every: u64) -> (BTreeMap<String, u64>, u64) {
    let (mut all, mut deaths) = (BTreeMap::new(), 0);
    for seed in (1 + from..=RUNS).step_by(usize::try_from(every).unwrap()) {
        let (ends, died) = World::new(seed, None).run().unwrap_or_else(|what| panic!("run {seed}: {what}"));
        ends.into_iter().for_each(|(end, count)| *all.entry(end).or_default() += count);
        deaths += died;
    }
    (all, deaths)
}

#[test]
fn ten_thousand_schedules_of_faults_settle() {
    let halves: Vec<_> = std::thread::scope(|scope| {
        let halves: Vec<_> = (0..2).map(|from| scope.spawn(move || runs(from, 2))).collect();
        halves.into_iter().map(|half| half.join().expect("see above")).collect()
    });
    let mut ends: BTreeMap<String, u64> = BTreeMap::new();
    let mut deaths = 0;
    for (half, died) in halves {
        half.into_iter().for_each(|(end, count)| *ends.entry(end).or_default() += count);
        deaths += died;
    }
    println!("{RUNS} runs, {deaths} deaths; actions ended: {ends:?}");
    for end in ["sent", "not sent", "happened", "did_not_happen", "moot"] {
        assert!(ends.get(end).is_some_and(|count| *count > 100), "{end}: {ends:?}");
    }
}

/// Each promise is broken once, and that is noticed.
#[test]
fn every_defect_that_is_planted_is_noticed() {
    for (plant, told) in [
        (Plant::Early, "no event on disk names it"),
        (Plant::Again, "goes out twice"),
        (Plant::Nonces, "nonce"),
        (Plant::Lie, "not the truth"),
        (Plant::Lost, "not settled"),
        (Plant::Free, "not reserved"),
        (Plant::Bare, "covered for"),
    ] {
        let found: Vec<String> =
            (1..2_000).filter_map(|seed| World::new(seed, Some(plant)).run().err()).take(3).collect();
        assert!(found.iter().any(|what| what.contains(told)), "{plant:?}: {found:?}");
    }
}
