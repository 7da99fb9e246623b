//! An adversary: a seeded client that tries to break the promises rather than to trade, against the core and the model venue.
//!
//! After everything that happens the promises are held against the venue's own books, never against what the guard takes
//! them for. A game is short; there are many. `ADVERSARY_GAMES` plays more of them, `ADVERSARY_SEED` plays one and prints
//! what happened.

mod checks;
mod game;
mod line;
mod moves;
mod nature;
mod network;
mod promise;
mod requests;
mod tally;
mod truth;
mod world;

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use promise::{Broken, Promise};
use tally::Tally;
use world::World;

const GAMES: u64 = 100_000;

/// Promises that do not hold yet: games that break them are counted and fail nothing. Empty once all do.
const NOT_YET_HELD: &[Promise] = &[
    Promise::Covered,
    Promise::StopStays,
    Promise::LossPerTrade,
    Promise::OpenRisk,
    Promise::Position,
    Promise::Exposure,
    Promise::OpenOrders,
    Promise::KillEndsFlat,
    Promise::LossEndsFlat,
    Promise::ExitIsSent,
    Promise::Authority,
];

/// What came of many games.
#[derive(Default)]
struct Outcome {
    tally: Tally,
    /// How often each promise was broken, with the first seeds that broke it.
    broken: BTreeMap<Promise, (usize, Vec<u64>)>,
}

impl Outcome {
    fn add(&mut self, seed: u64, tally: &Tally, broken: Option<Broken>) {
        self.tally.add(tally);
        if let Some(broken) = broken {
            let (count, seeds) = self.broken.entry(broken.promise).or_default();
            *count += 1;
            seeds.push(seed);
            seeds.sort_unstable();
            seeds.truncate(8);
        }
    }
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// Plays the games of these seeds on all cores.
fn play(games: u64) -> Outcome {
    let (next, outcome) = (AtomicU64::new(0), Mutex::new(Outcome::default()));
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= games {
                        break;
                    }
                    let mut world = World::new(seed, false);
                    world.game();
                    outcome.lock().unwrap().add(seed, &world.tally, world.broken);
                }
            });
        }
    });
    outcome.into_inner().unwrap()
}

/// What happened in one game.
fn told(seed: u64) -> String {
    let mut world = World::new(seed, true);
    world.game();
    let head = format!("seed {seed}: {:?} {:?}", world.nature, world.broken);
    format!("{}\n{head}", world.trace.unwrap_or_default().join("\n"))
}

#[test]
fn no_client_breaks_the_promises() {
    if let Some(seed) = number("ADVERSARY_SEED") {
        println!("{}", told(seed));
        return;
    }
    let outcome = play(number("ADVERSARY_GAMES").unwrap_or(GAMES));
    println!("{:?}\n{:?}", outcome.tally, outcome.broken);
    let first = outcome
        .broken
        .iter()
        .filter(|(promise, _)| !NOT_YET_HELD.contains(promise))
        .find_map(|(_, (_, seeds))| seeds.first());
    if let Some(seed) = first {
        panic!("{}", told(*seed));
    }
}
