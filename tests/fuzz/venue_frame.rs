//! A frame of the venue's socket, or of something in its place: whatever comes is a frame or an error of one line, and
//! data belongs to a topic that can be asked for.

use super::data::Data;
use super::frame::{Frame, FrameError};
use super::refusal::Refusal;
use super::topic::{Subscription, Topic};
use crate::base::address::Address;

const WORDS: &[&str] = &[
    "\"channel\":\"userFills\"",
    "\"channel\":\"orderUpdates\"",
    "\"channel\":\"user\"",
    "\"channel\":\"clearinghouseState\"",
    "\"channel\":\"openOrders\"",
    "\"channel\":\"spotState\"",
    "\"channel\":\"webData3\"",
    "\"channel\":\"bbo\"",
    "\"channel\":\"error\"",
    "\"channel\":\"subscriptionResponse\"",
    "\"method\":\"subscribe\"",
    "\"isSnapshot\":true",
    "\"dex\":\"xyz\"",
    "\"user\":\"0x\"",
    "\"fills\":[",
    "\"time\":1",
    "Already subscribed: ",
    "Error parsing JSON into valid websocket request: ",
    "Cannot track more than ",
    "null",
    "-0.0",
    "{",
    "}",
    ",",
];

const ACCOUNT: Address = Address([0xa1; 20]);

fn is_line(text: &str) -> bool {
    text.chars().count() <= 240 && !text.contains(char::is_control)
}

/// What is subscribed to reads back as itself.
fn can_be_asked_for(topic: &Topic) {
    let asked = topic.subscription(&ACCOUNT);
    let read = Subscription::read(&asked).expect("a topic's own subscription");
    let user = matches!(topic, Topic::Account(_)).then_some(ACCOUNT);
    assert_eq!(read, Subscription { topic: topic.clone(), user });
    for frame in [topic.subscribe(&ACCOUNT), topic.unsubscribe(&ACCOUNT)] {
        assert!(serde_json::from_str::<serde_json::Value>(&frame).is_ok());
    }
}

fn data(data: &Data) -> String {
    can_be_asked_for(&data.topic());
    let (_, _) = (data.user(), data.state_ms());
    if let Data::Fills(rows) = data {
        let ends = rows.rows.iter().filter(|fill| fill.position_after().is_some()).count();
        return format!("fills {} {}", rows.is_snapshot, if ends == 0 { "none" } else { "some" });
    }
    match data.topic() {
        Topic::Account(feed) => feed.name().to_owned(),
        Topic::Mids => "mids".to_owned(),
        Topic::Market(feed, _) => feed.name().to_owned(),
    }
}

fn check(input: &[u8]) -> String {
    let text = String::from_utf8_lossy(input);
    match Frame::read(&text) {
        Ok(Frame::Data(read)) => data(&read),
        Ok(Frame::Acked { is_subscribed, subscription }) => {
            subscription.iter().for_each(|subscription| can_be_asked_for(&subscription.topic));
            format!("acked {is_subscribed} {}", subscription.is_some())
        }
        Ok(Frame::Refused(refusal)) => match refusal {
            Refusal::AlreadySubscribed(what) => format!("already subscribed {}", what.is_some()),
            Refusal::AlreadyUnsubscribed(what) => format!("already unsubscribed {}", what.is_some()),
            Refusal::NotServed(what) => format!("not served {}", what.is_some()),
            Refusal::TooManyUsers => "too many users".to_owned(),
            Refusal::Other(text) => {
                assert!(text.chars().count() <= 65, "{text}");
                "refused".to_owned()
            }
        },
        Ok(Frame::Pong) => "pong".to_owned(),
        Ok(Frame::Other(channel)) => {
            assert!(is_line(&channel), "{channel:?}");
            "other".to_owned()
        }
        Err(error) => {
            let told = error.to_string();
            assert!(is_line(&told), "{told:?}");
            match error {
                FrameError::NoFrame(_) => "no frame".to_owned(),
                FrameError::Shape { channel, text } => {
                    format!("{channel} {}", text.split('`').next().unwrap_or_default())
                }
            }
        }
    }
}

#[test]
fn venue_frame() {
    crate::fuzz::run("venue_frame", WORDS, check);
}
