//! One trouble at a time: how soon it is found, and what is still believed meanwhile.

use super::player::{Player, everything};
use super::venue::Trouble;
use crate::base::ip_share::{IP_BUDGET, SMALLEST_BUDGET};
use crate::feed::Stage;
use crate::venue::stream::topic::{AccountFeed, MarketFeed, Topic};

fn healthy() -> Player {
    let mut player = Player::new(1, IP_BUDGET, Trouble::default());
    player.run(2_000);
    assert!(player.is_healthy(), "{:?}", player.feed);
    player.run(40_000);
    player
}

/// Plays until something holds: after how long.
fn until(player: &mut Player, most_ms: u64, holds: impl Fn(&Player) -> bool) -> u64 {
    let begun_ms = player.now_ms;
    while !holds(player) {
        player.run(100);
        assert!(player.now_ms - begun_ms <= most_ms, "not within {most_ms} ms: {:?}", player.feed);
    }
    player.now_ms - begun_ms
}

/// A start whose reads wait for weight hears all the same what was withdrawn: it explains a loss.
#[test]
fn rows_of_the_ledger_wait_for_no_read() {
    let mut player = Player::new(1, IP_BUDGET, Trouble::default());
    let ledger = Topic::Account(AccountFeed::Ledger);
    until(&mut player, 2_000, |player| player.told.contains_key(&ledger));
    assert!(!player.told.contains_key(&Topic::Account(AccountFeed::Account)), "states follow on the reads");
    assert_ne!(player.feed.stage(), Stage::Live);
}

/// So are trades: what they open must not wait for what is read beside the socket. What a first frame shows was traded before.
#[test]
fn a_trade_that_waits_for_reads_is_told_of_at_once() {
    let mut player = Player::new(1, IP_BUDGET, Trouble::default());
    until(&mut player, 2_000, |player| player.feed.stage() == Stage::Reading);
    let before = player.traded;
    player.venue.trade(player.now_ms);
    until(&mut player, 300, |player| player.traded > before);
    until(&mut player, 2_000, Player::is_healthy);
    let waited = player.traded;
    player.venue.trade(player.now_ms);
    player.run(1_000);
    assert_eq!(player.traded, waited, "nothing waits any more");
}

#[test]
fn a_healthy_feed_tells_everything_and_stays() {
    let mut player = healthy();
    player.run(600_000);
    assert!(player.is_healthy());
    assert_eq!((player.feed.counts().sockets, player.closes.len()), (1, 0));
    player.knows_every_fill();
    for coin in ["BTC", "ETH"] {
        for feed in MarketFeed::ALL {
            assert!(player.told.contains_key(&Topic::Market(feed, coin.to_owned())), "{feed} of {coin}");
        }
    }
    assert!(!player.told.keys().any(|topic| matches!(topic, Topic::Market(_, coin) if coin == "SOL")));
    assert_eq!(player.feed.counts().renewed, 0);
}

#[test]
fn a_cut_socket_is_back_within_two_seconds_with_all_that_happened() {
    let mut player = healthy();
    for _ in 0..5 {
        player.cut();
        assert_eq!((player.proved.len(), player.feed.stage()), (0, Stage::Waiting));
        player.venue.trade(player.now_ms);
        until(&mut player, 2_000, Player::is_healthy);
        player.knows_every_fill();
        player.run(40_000);
    }
}

#[test]
fn a_feed_that_goes_silent_is_found_within_sixteen_seconds_and_begun_anew_alone() {
    for feed in ["clearinghouseState", "openOrders", "spotState", "webData3"] {
        let mut player = healthy();
        player.venue.trouble = Trouble { dead_feed: Some(feed.to_owned()), ..Trouble::default() };
        let topic = Topic::Account(feed.parse().unwrap());
        until(&mut player, 16_000, |player| !player.proved.contains(&topic));
        assert_eq!(player.proved.len(), everything().len() - 1, "the others are believed all along");
        assert_eq!(player.feed.counts().renewed, 1);
        player.venue.trouble = Trouble::default();
        until(&mut player, 6_000, Player::is_healthy);
        assert_eq!(player.feed.counts().sockets, 1, "{feed}");
        // Twice in vain, and the socket goes.
        player.venue.trouble = Trouble { dead_feed: Some(feed.to_owned()), ..Trouble::default() };
        until(&mut player, 26_000, |player| player.closes == ["a feed stays silent"]);
        player.venue.trouble = Trouble::default();
        until(&mut player, 4_000, Player::is_healthy);
    }
}

#[test]
fn a_market_that_goes_silent_costs_no_socket() {
    let mut player = healthy();
    player.venue.trouble = Trouble { dead_feed: Some("activeAssetCtx".to_owned()), ..Trouble::default() };
    player.run(60_000);
    assert!(player.is_healthy() && player.feed.counts().renewed > 0 && player.closes.is_empty());
    let prices = Topic::Market(MarketFeed::AssetCtx, "BTC".to_owned());
    let silent_ms = player.told[&prices];
    player.venue.trouble = Trouble::default();
    until(&mut player, 70_000, |player| player.told[&prices] > silent_ms);
}

#[test]
fn a_half_open_socket_is_found_by_its_pings() {
    let mut player = healthy();
    player.venue.trouble = Trouble { half_open: true, ..Trouble::default() };
    until(&mut player, 15_200, |player| player.closes == ["a ping was not answered"]);
    assert!(player.proved.is_empty());
}

#[test]
fn a_server_that_lags_behind_is_left() {
    let mut player = healthy();
    player.venue.trouble = Trouble { behind_ms: 6_000, ..Trouble::default() };
    let account = Topic::Account(AccountFeed::Account);
    until(&mut player, 16_000, |player| !player.proved.contains(&account));
    assert!(player.feed.lag_ms() >= Some(6_000) && player.feed.counts().untimely > 0);
    until(&mut player, 12_000, |player| !player.closes.is_empty());
    player.venue.trouble = Trouble { behind_ms: 4_000, ..Trouble::default() };
    until(&mut player, 4_000, Player::is_healthy);
}

#[test]
fn a_feed_that_the_venue_does_not_have_is_done_without() {
    let mut player =
        Player::new(3, IP_BUDGET, Trouble { not_served: Some("webData3".to_owned()), ..Trouble::default() });
    player.run(120_000);
    assert_eq!((player.feed.stage(), player.closes.len()), (Stage::Live, 0));
    assert_eq!(player.proved.len(), everything().len() - 1);
    assert!(!player.proved.contains(&Topic::Account(AccountFeed::WebData)));
}

#[test]
fn a_spoilt_frame_ends_the_socket_where_it_may_have_told_of_a_trade() {
    let mut player = healthy();
    player.venue.trouble = Trouble { garbage: 100, ..Trouble::default() };
    until(&mut player, 5_000, |player| player.closes == ["a frame that may tell of a trade cannot be read"]);
    player.venue.trouble = Trouble::default();
    until(&mut player, 2_000, Player::is_healthy);
    player.knows_every_fill();
}

#[test]
fn nothing_of_a_stranger_is_taken_in() {
    let mut player = Player::new(5, IP_BUDGET, Trouble { is_strange: true, ..Trouble::default() });
    player.run(60_000);
    assert!(player.proved.is_empty() && player.feed.counts().unasked > 0 && !player.closes.is_empty());
}

#[test]
fn a_venue_that_refuses_is_tried_within_its_limits() {
    for budget in [IP_BUDGET, SMALLEST_BUDGET] {
        let mut player = Player::new(7, budget, Trouble { refuses: true, ..Trouble::default() });
        player.run(600_000);
        assert_eq!(player.feed.counts().sockets, 0);
        player.venue.trouble = Trouble::default();
        until(&mut player, 42_000, Player::is_healthy);
    }
}

#[test]
fn sockets_that_break_at_once_are_not_opened_without_end() {
    for budget in [IP_BUDGET, SMALLEST_BUDGET] {
        let mut player = Player::new(9, budget, Trouble::default());
        for _ in 0..3_000 {
            player.run(100);
            player.cut();
        }
        let opened = player.feed.counts().sockets;
        assert!((10..=100).contains(&opened), "{opened}");
    }
}

#[test]
fn a_short_snapshot_loses_nothing() {
    let mut player = healthy();
    player.venue.trouble = Trouble { short_snapshot: true, ..Trouble::default() };
    for _ in 0..10 {
        player.cut();
        (0..3).for_each(|_| player.venue.trade(player.now_ms));
        until(&mut player, 15_000, Player::is_healthy);
        player.knows_every_fill();
    }
}
