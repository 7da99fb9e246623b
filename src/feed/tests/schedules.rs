//! Troubles drawn at random, many at a time. What is believed is held at every step by the player; after the last trouble
//! everything is believed again. `FEED_SCHEDULES=10000 FEED_SEED=7` plays more.

use super::player::Player;
use super::venue::{Random, Trouble};
use crate::base::ip_share::{IP_BUDGET, SMALLEST_BUDGET};

const FEEDS: [&str; 12] = [
    "userFills",
    "orderUpdates",
    "userEvents",
    "userNonFundingLedgerUpdates",
    "userFundings",
    "clearinghouseState",
    "openOrders",
    "spotState",
    "webData3",
    "allMids",
    "bbo",
    "activeAssetCtx",
];

/// As many as are played where nothing else is said, and the frames that these come to at least.
const SCHEDULES: u64 = 800;
const FRAMES: u64 = 1_000_000;

fn number(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).map_or(otherwise, |text| text.parse().unwrap())
}

fn trouble(random: &mut Random) -> Trouble {
    let mut trouble = Trouble::default();
    let feed = |random: &mut Random| Some(FEEDS[usize::try_from(random.below(12)).unwrap()].to_owned());
    for _ in 0..=random.below(3) {
        match random.below(12) {
            0 => trouble.refuses = true,
            1 => trouble.half_open = true,
            2 | 3 => trouble.dead_feed = feed(random),
            4 => trouble.lag_ms = random.below(12_000),
            5 => trouble.lost = random.below(60),
            6 => trouble.doubled = random.below(60),
            7 => trouble.late = random.below(60),
            8 => trouble.garbage = random.below(4),
            9 => trouble.behind_ms = random.below(12_000),
            10 => trouble.not_served = feed(random),
            _ => (trouble.short_snapshot, trouble.is_strange) = (random.chance(70), random.chance(20)),
        }
    }
    trouble
}

/// Plays one schedule: how many frames came.
fn play(seed: u64) -> u64 {
    let mut random = Random(seed);
    let mut player = Player::new(seed, if random.chance(30) { SMALLEST_BUDGET } else { IP_BUDGET }, Trouble::default());
    for _ in 0..2 + random.below(8) {
        player.venue.trouble = if random.chance(75) { trouble(&mut random) } else { Trouble::default() };
        player.run(1_000 + random.below(40_000));
        if random.chance(30) {
            player.cut();
        }
    }
    player.venue.trouble = Trouble::default();
    // A new socket may have to wait for the minute's limit, and what was given up for the socket is asked for on the next.
    player.run(90_000);
    player.cut();
    player.run(75_000);
    assert!(player.is_healthy(), "{:?}", player.feed);
    player.knows_every_fill();
    player.feed.counts().frames
}

#[test]
fn what_is_believed_is_so_whatever_the_socket_does() {
    let (schedules, first) = (number("FEED_SCHEDULES", SCHEDULES), number("FEED_SEED", 1));
    let mut frames = 0;
    for seed in first..first + schedules {
        let played = std::panic::catch_unwind(|| play(seed));
        frames += played.unwrap_or_else(|_| panic!("FEED_SCHEDULES=1 FEED_SEED={seed} plays it again"));
    }
    println!("{schedules} schedules, {frames} frames");
    assert!(schedules < SCHEDULES || frames >= FRAMES, "{frames} frames, at least {FRAMES}");
}
