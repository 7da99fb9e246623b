//! Messages of a client on its socket, and the answer to each.

use super::super::engine::settings::Settings;
use super::super::venue::Venue;
use super::connection::Held;
use super::happened;
use super::hub::{Feeds, changed, data_frame, publish, send, state};
use super::kinds::Beat;
use super::markets::is_listed;
use super::subscription::Subscription;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use svc_guard::base::address::Address;

/// What is left to do about a message.
pub(crate) enum Heard {
    Done,
    /// Counted among those that wait.
    Post(Post),
}

/// A request to the exchange, or a read.
pub(crate) struct Post {
    pub(crate) id: u64,
    pub(crate) is_action: bool,
    pub(crate) payload: Value,
}

/// Takes one message of socket `id` in.
pub(crate) fn hear(venue: &mut Venue, id: u64, text: &str) -> Heard {
    let now_ms = venue.engine.now_ms;
    if !venue.feeds.limits.admits_message(&venue.engine.settings, now_ms) {
        let most = venue.engine.settings.feed_messages.unwrap_or(0);
        refuse(venue, id, &format!("Cannot send more than {most} messages per minute."));
        return Heard::Done;
    }
    let frame = serde_json::from_str::<Value>(text).unwrap_or_default();
    let subscription = frame.get("subscription").and_then(Subscription::read);
    match (frame.get("method").and_then(Value::as_str), subscription) {
        (Some("ping"), _) => send(venue, id, "pong", &json!({"channel": "pong"})),
        (Some("post"), _) => match post(&frame) {
            Some(Post { id: post, .. }) if !venue.feeds.limits.begin_post(&venue.engine.settings) => {
                refuse(venue, id, &format!("too many pending post requests id={post}"));
            }
            Some(post) => return Heard::Post(post),
            None => unread(venue, id, text),
        },
        (Some("subscribe"), Some(of)) => subscribe(venue, id, of),
        (Some("unsubscribe"), Some(of)) => unsubscribe(venue, id, &of),
        _ => unread(venue, id, text),
    }
    Heard::Done
}

fn refuse(venue: &mut Venue, id: u64, text: &str) {
    send(venue, id, "error", &json!({"channel": "error", "data": text}));
}

/// Says so of what could not be read.
pub(crate) fn unread(venue: &mut Venue, id: u64, text: &str) {
    refuse(venue, id, &format!("Error parsing JSON into valid websocket request: {text}"));
}

fn acknowledge(venue: &mut Venue, id: u64, method: &str, of: &Subscription) {
    let data = json!({"method": method, "subscription": of.normal});
    send(venue, id, "subscriptionResponse", &json!({"channel": "subscriptionResponse", "data": data}));
}

fn post(frame: &Value) -> Option<Post> {
    let (id, request) = (frame.get("id")?.as_u64()?, frame.get("request")?);
    let is_action = match request.get("type")?.as_str()? {
        "action" => true,
        "info" => false,
        _ => return None,
    };
    Some(Post { id, is_action, payload: request.get("payload")?.clone() })
}

fn unsubscribe(venue: &mut Venue, id: u64, of: &Subscription) {
    let held = venue.feeds.open.get_mut(&id).map(|connection| &mut connection.held);
    let found = held.and_then(|held| {
        let index = held.iter().position(|held| held.of.normal == of.normal)?;
        Some(held.remove(index))
    });
    match found {
        Some(_) => acknowledge(venue, id, "unsubscribe", of),
        None => refuse(venue, id, &format!("Already unsubscribed: {}", of.normal)),
    }
}

fn subscribe(venue: &mut Venue, id: u64, of: Subscription) {
    // So that what has happened before is in the first message and in no later one.
    publish(venue);
    let Some(connection) = venue.feeds.open.get(&id) else { return };
    if connection.held.iter().any(|held| held.of.normal == of.normal) {
        refuse(venue, id, &format!("Already subscribed: {}", of.normal));
        return;
    }
    let coin = of.text("coin").to_owned();
    let drops = of.kind.name == "bbo" || venue.engine.settings.feed_unknown_coin_drops;
    if drops && of.normal.get("coin").is_some() && !is_listed(venue, &coin) {
        venue.feeds.close(id, "unknown coin");
        return;
    }
    if let Err(text) = within_limits(&venue.feeds, &venue.engine.settings, &of) {
        refuse(venue, id, &text);
        return;
    }
    acknowledge(venue, id, "subscribe", &of);
    begin(venue, id, of);
}

/// The refusal of a subscription that is one too many.
fn within_limits(feeds: &Feeds, settings: &Settings, of: &Subscription) -> Result<(), String> {
    let held = || feeds.open.values().flat_map(|connection| &connection.held);
    if let Some(most) = settings.feed_subscriptions
        && u64::try_from(held().count()).unwrap_or(u64::MAX) >= most
    {
        return Err(format!("Cannot track more than {most} total subscriptions."));
    }
    let users: BTreeSet<[u8; 20]> = held().filter_map(|held| held.of.user).map(|Address(bytes)| bytes).collect();
    if let (Some(most), Some(Address(user))) = (settings.feed_users, of.user)
        && !users.contains(&user)
        && u64::try_from(users.len()).unwrap_or(u64::MAX) >= most
    {
        return Err(format!("Cannot track more than {most} total users."));
    }
    Ok(())
}

/// Holds a subscription and says its first message, if it has one.
fn begin(venue: &mut Venue, id: u64, of: Subscription) {
    let now_ms = venue.engine.now_ms;
    let mut held = Held { of, last_ms: now_ms, said: None, prices: Map::new(), dead: false };
    let (name, coin) = (held.of.kind.name, held.of.text("coin").to_owned());
    let first = match held.of.kind.beat {
        Beat::OnNews => {
            let keep = venue.feeds.troubles.keep(name, &coin);
            happened::snapshot(venue, &held.of, keep)
        }
        Beat::OnChange => changed(venue, &mut held),
        Beat::Again(_) => state(venue, &mut held),
    };
    let Feeds { open, troubles, .. } = &mut venue.feeds;
    let Some(connection) = open.get_mut(&id) else { return };
    held.dead = connection.dead.iter().any(|about| about.matches(name, &coin));
    if let Some(data) = first.filter(|_| !held.dead) {
        connection.send(data_frame(&held, &data), troubles, now_ms);
    }
    connection.held.push(held);
}
