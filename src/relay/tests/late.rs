//! Who comes late begins with what is so now, and never with what was.

use serde_json::{Value, json};

use super::{acknowledged, ended, holding, sent, taken};
use crate::relay::messages::{Input, Told};
use crate::relay::room::Relay;

/// A minute of the venue's begins here.
const MINUTE_MS: u64 = 1_791_480_420_000;
/// The steady time of that moment.
const STEADY_MS: u64 = 50_000;

fn candle() -> Value {
    json!({"type": "candle", "interval": "1m", "coin": "BTC"})
}

fn frame(from_ms: u64, px: u64) -> String {
    let ends_ms = from_ms + 59_999;
    format!(r#"{{"channel":"candle","data":{{"t":{from_ms},"T":{ends_ms},"s":"BTC","i":"1m","c":"{px}"}}}}"#)
}

/// Tells something at so many milliseconds of that minute.
fn tell(relay: &mut Relay, text: &str, at_ms: u64) -> Vec<String> {
    sent(relay.step(0, Input::Frame(&Told::read(text, MINUTE_MS + at_ms)), STEADY_MS + at_ms))
}

/// A relay that holds candles, and was told one at so many milliseconds of the minute.
fn told_at(at_ms: u64) -> Relay {
    let mut relay = holding(&candle().to_string());
    tell(&mut relay, &frame(MINUTE_MS, 1), at_ms);
    taken(&mut relay, 1);
    relay
}

#[test]
fn a_candle_is_given_to_who_comes_late_until_its_interval_may_have_ended() {
    // Which moment of the venue's it is may be known two seconds late: by then the next minute can have begun.
    for (told_ms, joined_ms, is_given) in [
        (0, 57_999, true),
        (0, 58_000, false),
        (57_000, 57_999, true),
        (59_000, 59_001, false),
        (58_000, 60_000, false),
    ] {
        let mut relay = told_at(told_ms);
        relay.subscribe(2, &candle().to_string(), STEADY_MS + joined_ms).unwrap();
        let expected = if is_given { vec![acknowledged(&candle()), frame(MINUTE_MS, 1)] } else { Vec::new() };
        assert_eq!(taken(&mut relay, 2), expected, "{told_ms} {joined_ms}");
    }
}

#[test]
fn who_comes_after_a_candles_end_begins_with_the_one_of_now() {
    let mut relay = told_at(58_000);
    relay.subscribe(2, &candle().to_string(), STEADY_MS + 62_000).unwrap();
    let asked = sent(relay.step(0, Input::Tick, STEADY_MS + 62_000));
    let asked: Vec<_> = asked.iter().filter(|text| !text.contains("ping")).collect();
    assert!(asked.len() == 1 && asked[0].contains("unsubscribe"), "{asked:?}");
    assert_eq!(tell(&mut relay, &ended(&candle()), 62_010).len(), 1);
    tell(&mut relay, &acknowledged(&candle()), 62_020);
    tell(&mut relay, &frame(MINUTE_MS + 60_000, 2), 62_020);
    assert_eq!(taken(&mut relay, 2), [acknowledged(&candle()), frame(MINUTE_MS + 60_000, 2)]);
    // Where the venue tells of the next minute by itself there is nothing to ask for.
    let mut relay = told_at(58_000);
    tell(&mut relay, &frame(MINUTE_MS + 60_000, 2), 61_000);
    relay.subscribe(2, &candle().to_string(), STEADY_MS + 62_000).unwrap();
    assert_eq!(taken(&mut relay, 2), [acknowledged(&candle()), frame(MINUTE_MS + 60_000, 2)]);
}
