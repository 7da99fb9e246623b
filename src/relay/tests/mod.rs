//! The relay between clients and a venue that are played.

mod churn;
mod games;
mod kept;
mod late;
mod order;
mod recorded;
mod scarce;
mod suspects;
mod troubles;
mod venue;
mod wishes;

use serde_json::Value;

use super::limits::Limits;
use super::line::OWN_LINE;
use super::messages::{ClientId, Config, Input, Output, Told};
use super::room::Relay;
use super::subscription::Subscription;
use crate::base::address::Address;
use crate::venue::stream::topic::{AccountFeed, Topic};

const ACCOUNT: &str = "0xa1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1";
const CLIENT: &str = "0xc3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3";
const STRANGER: &str = "0xb2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2";

fn address(text: &str) -> Address {
    text.parse().unwrap()
}

fn relay(budget: u32) -> Relay {
    let limits = Limits::for_budget(budget);
    Relay::new(Config { account: address(ACCOUNT), clients: vec![address(CLIENT)], limits, seed: 1 })
}

/// All that waits for a client.
fn taken(relay: &mut Relay, client: ClientId) -> Vec<String> {
    relay.take(client, usize::MAX).unwrap().iter().map(|frame| frame.to_string()).collect()
}

/// What was sent of these.
fn sent(outputs: Vec<Output>) -> Vec<String> {
    let text = |output| match output {
        Output::Send(text) => Some(text),
        Output::Connect | Output::Close => None,
    };
    outputs.into_iter().filter_map(text).collect()
}

fn tell(relay: &mut Relay, text: &str, now_ms: u64) -> Vec<String> {
    tell_on(relay, 0, text, now_ms)
}

fn tell_on(relay: &mut Relay, line: usize, text: &str, now_ms: u64) -> Vec<String> {
    sent(relay.step(line, Input::Frame(&Told::read(text, now_ms)), now_ms))
}

/// What is sent on a line until then; pings are answered, and nothing else.
fn sent_until(relay: &mut Relay, line: usize, from_ms: u64, until_ms: u64) -> Vec<(u64, String)> {
    let mut all = Vec::new();
    for now_ms in (from_ms..until_ms).step_by(100) {
        let outputs = relay.step(line, Input::Tick, now_ms);
        assert!(!outputs.contains(&Output::Close), "at {now_ms}");
        for text in sent(outputs) {
            match text.contains("ping") {
                true => drop(tell_on(relay, line, r#"{"channel":"pong"}"#, now_ms)),
                false => all.push((now_ms, text)),
            }
        }
    }
    all
}

/// The line on which a subscription comes.
fn line_of(subscription: &Value) -> usize {
    let of_account = Subscription::read(subscription).unwrap();
    let user = of_account.user.map(|user| if user == address(CLIENT) { address(ACCOUNT) } else { user });
    let is_own = |feed: &AccountFeed| {
        let own = Topic::Account(*feed).subscription(&address(ACCOUNT));
        user == Some(address(ACCOUNT))
            && Subscription::read(&own).unwrap().normal() == of_account.clone().of_user(address(ACCOUNT)).normal()
    };
    if AccountFeed::ALL.iter().any(is_own) { OWN_LINE } else { 0 }
}

/// A relay whose line for this is open, and on which the venue holds it for client 1, who has heard so.
fn holding(subscription: &str) -> Relay {
    let mut relay = relay(1_200);
    relay.subscribe(1, subscription, 0).unwrap();
    let asked: Value = serde_json::from_str(subscription).unwrap();
    if line_of(&asked) == OWN_LINE {
        assert!(!relay.is_wanted(0) && relay.step(OWN_LINE, Input::Connected, 0).is_empty());
        tell_on(&mut relay, OWN_LINE, &acknowledged(&asked), 0);
        return relay;
    }
    assert_eq!(relay.step(0, Input::Tick, 0), [Output::Connect]);
    let mut frames = sent(relay.step(0, Input::Connected, 0));
    if frames[0].contains("allMids") && frames[0].contains("post") {
        assert!(tell(&mut relay, &coins(1), 0).iter().all(|text| text.contains("subscribe")));
        frames = sent(relay.step(0, Input::Tick, 20));
    }
    let _sent = frames;
    tell(&mut relay, &acknowledged(&asked), 0);
    relay
}

/// The venue's acknowledgement of an end.
fn ended(asked: &Value) -> String {
    acknowledged(asked).replacen(r#""method":"subscribe""#, r#""method":"unsubscribe""#, 1)
}

/// The venue's acknowledgement.
fn acknowledged(asked: &Value) -> String {
    let mut asked = asked.clone();
    if let Some(user) = asked.get_mut("user")
        && user.as_str().is_some_and(|user| user.eq_ignore_ascii_case(CLIENT))
    {
        *user = Value::from(ACCOUNT);
    }
    let normal = super::subscription::Subscription::read(&asked).unwrap().normal();
    format!(r#"{{"channel":"subscriptionResponse","data":{{"method":"subscribe","subscription":{normal}}}}}"#)
}

/// The venue's list of coins.
fn coins(id: u64) -> String {
    let mids = r#"{"BTC":"1","ETH":"1","SOL":"1","@107":"1","PURR/USDC":"1"}"#;
    let payload = format!(r#"{{"type":"allMids","data":{mids}}}"#);
    format!(r#"{{"channel":"post","data":{{"id":{id},"response":{{"type":"info","payload":{payload}}}}}}}"#)
}
