//! An adversary: a seeded client that tries to break the promises rather than to trade, against the core and the model venue.
//!
//! After everything that happens the promises are held against the venue's own books, never against what the guard takes
//! them for. In one game of three the guard listens to the venue's live feed as well. A game is short; there are many, and the first one that breaks a promise ends them. `ADVERSARY_GAMES` plays so
//! many, all of them, from the seed `ADVERSARY_FROM` on; `ADVERSARY_SEED` plays one and prints what happened.

mod absence;
mod checks;
mod feed;
mod game;
mod leaving;
mod line;
mod moves;
mod nature;
mod network;
mod own_stops;
mod promise;
mod requests;
mod tally;
mod told;
pub(super) mod truth;
mod waiting;
mod world;

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use promise::Promise;
use tally::Tally;
use world::World;

const GAMES: u64 = 100_000;
/// Later games that once broke a promise, all without the live feed.
const FOUND: [u64; 37] = [
    125_737, 221_963, 404_510, 439_825, 502_004, 615_181, 735_204, 782_153, 789_601, 850_133, 860_683, 865_965,
    933_906, 1_020_416, 1_040_890, 2_013_303, 2_121_363, 2_183_979, 2_243_874, 524_310, 957_236, 2_040_029, 2_151_532,
    3_022_599, 3_055_320, 4_097_314, 4_188_454, 4_197_073, 4_559_319, 4_597_585, 4_617_368, 5_107_253, 5_540_881,
    7_304_236, 7_856_878, 7_871_180, 7_990_998,
];

/// The same of games with children that are cancelled, or with the live feed.
const FOUND_SINCE: [u64; 38] = [
    147_766, 8_010_834, 8_023_329, 8_032_903, 8_159_118, 8_201_676, 8_215_553, 8_280_645, 8_423_389, 8_549_344,
    8_874_537, 9_185_187, 9_357_719, 10_125_525, 10_167_834, 10_240_062, 10_243_035, 10_256_113, 11_398_863,
    11_464_722, 11_517_459, 12_162_612, 12_570_215, 12_648_525, 13_089_228, 13_342_739, 13_376_520, 13_605_010,
    13_672_173, 13_702_106, 20_222_927, 20_424_457, 20_928_209, 21_023_405, 22_159_406, 22_247_161, 23_051_980,
    24_520_535,
];

/// What came of many games.
#[derive(Default)]
struct Outcome {
    tally: Tally,
    /// How often each promise was broken, with the first seeds that broke it.
    broken: BTreeMap<Promise, (u64, Vec<u64>)>,
}

impl Outcome {
    fn add(&mut self, seed: u64, world: &World) {
        self.tally.add(&world.tally);
        for promise in world.broken.iter().map(|broken| broken.promise) {
            let (count, seeds) = self.broken.entry(promise).or_default();
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

/// Plays the games of these seeds on all cores: all of them, or up to the first that breaks a promise.
fn play(from: u64, games: u64, is_all: bool) -> Outcome {
    let (next, outcome) = (AtomicU64::new(from), Mutex::new(Outcome::default()));
    let is_broken = AtomicBool::new(false);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while is_all || !is_broken.load(Ordering::Relaxed) {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= from + games {
                        break;
                    }
                    let mut world = World::new(seed, false);
                    world.game();
                    is_broken.fetch_or(world.broken.is_some(), Ordering::Relaxed);
                    outcome.lock().unwrap().add(seed, &world);
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
    let games = number("ADVERSARY_GAMES");
    let from = number("ADVERSARY_FROM").unwrap_or_default();
    let mut outcome = play(from, games.unwrap_or(GAMES), games.is_some());
    for seed in FOUND.into_iter().chain(FOUND_SINCE) {
        let mut world = World::new(seed, false);
        world.game();
        outcome.add(seed, &world);
    }
    println!("{:?}\n{:?}", outcome.tally, outcome.broken);
    let first = outcome.broken.values().filter_map(|(_, seeds)| seeds.first()).min();
    if let Some(seed) = first {
        panic!("{}", told(*seed));
    }
    outcome.tally.is_lively();
}
