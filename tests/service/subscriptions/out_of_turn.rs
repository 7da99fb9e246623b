//! A venue whose answers are late, lost, or meant for another: each client hears what is its own, and all of it.

use super::*;

fn stranger(digit: u8) -> String {
    format!("0x{}", digit.to_string().repeat(40))
}

fn lose_acknowledgement(stand: &Stand) {
    trouble(stand, json!({"kind": "lose", "on": "subscriptionResponse", "times": 1}));
}

#[test]
fn a_lost_acknowledgement_costs_no_first_frame() {
    let stand = stand();
    let (mut direct, mut through, mut other) =
        (Subscriber::at_venue(&stand), Subscriber::at_guard(&stand), Subscriber::at_guard(&stand));
    other.subscribed(&json!({"type": "allMids"}));
    for subscription in [of_coin("l2Book", "BTC"), json!({"type": "userFills", "user": stranger(5)})] {
        direct.subscribe(&subscription);
        let expected = [direct.hear_on("subscriptionResponse"), direct.hear()];
        lose_acknowledgement(&stand);
        through.subscribe(&subscription);
        let got = [through.hear_on("subscriptionResponse"), through.hear()];
        assert_eq!(got.map(|frame| without_clocks(&frame)), expected.map(|frame| without_clocks(&frame)));
        for client in [&mut direct, &mut through] {
            client.say(&json!({"method": "unsubscribe", "subscription": subscription}).to_string());
            client.hear_on("subscriptionResponse");
        }
    }
}

#[test]
fn an_end_that_is_not_acknowledged_counts_as_long_as_its_socket() {
    let stand = stand();
    let (mut client, mut other) = (Subscriber::at_guard(&stand), Subscriber::at_guard(&stand));
    other.subscribed(&of_coin("bbo", "BTC"));
    client.subscribed(&of_coin("trades", "BTC"));
    for channel in ["subscriptionResponse", "error"] {
        trouble(&stand, json!({"kind": "mute", "on": channel}));
    }
    client.say(&json!({"method": "unsubscribe", "subscription": of_coin("trades", "BTC")}).to_string());
    client.hear_on("subscriptionResponse");
    let held = || (count(&stand, "held"), count(&stand, "at_venue"));
    until("the end at the venue", || (held_at_venue(&stand, "trades") == 0).then_some(()));
    assert_eq!(held(), (1, 2), "nobody knows that it ended");
    for op in [json!({"kind": "heal"}), json!({"kind": "drop", "on": "bbo"})] {
        trouble(&stand, op);
    }
    until("it to be gone with its socket", || (held() == (1, 1)).then_some(()));
}

/// Who wants what another let go of, while the venue has not said that this ended, has it from its beginning.
#[test]
fn what_is_asked_for_before_its_end_is_answered_begins_anew() {
    let stand = stand();
    let [mut other, mut first, mut second] = [(); 3].map(|()| Subscriber::at_guard(&stand));
    other.subscribed(&of_coin("bbo", "BTC"));
    first.subscribed(&of_coin("l2Book", "BTC"));
    first.hear_on("l2Book");
    for channel in ["subscriptionResponse", "error"] {
        trouble(&stand, json!({"kind": "mute", "on": channel}));
    }
    first.say(&json!({"method": "unsubscribe", "subscription": of_coin("l2Book", "BTC")}).to_string());
    first.hear_on("subscriptionResponse");
    until("the end at the venue", || (held_at_venue(&stand, "l2Book") == 0).then_some(()));
    price(&stand, "60200");
    while !other.hear_on("bbo").contains("602") {}
    second.subscribe(&of_coin("l2Book", "BTC"));
    trouble(&stand, json!({"kind": "heal"}));
    assert!(second.hear().contains("subscriptionResponse"), "nothing of before comes first");
    let begun = second.hear_on("l2Book");
    assert!(begun.contains("602"), "{begun}");
    price(&stand, "60300");
    while !second.hear_on("l2Book").contains("603") {}
    while !other.hear_on("bbo").contains("603") {}
    assert_eq!((held_at_venue(&stand, "l2Book"), count(&stand, "at_venue")), (1, 2));
}

/// The next frames of a subscriber that answer something.
fn answers(subscriber: &mut Subscriber, count: usize) -> Vec<String> {
    let frames = std::iter::repeat_with(|| subscriber.hear());
    let is_answer = |frame: &String| {
        ["subscriptionResponse", "error", "pong"].iter().any(|channel| value(frame)["channel"] == *channel)
    };
    frames.filter(is_answer).take(count).collect()
}

#[test]
fn what_is_asked_at_once_is_answered_in_its_order() {
    let stand = stand();
    let mut other = Subscriber::at_guard(&stand);
    let unknown =
        json!({"method": "get", "x": "of more than sixty-four letters, none of which is left out where it is quoted"});
    for held in [of_account("userFills"), of_coin("bbo", "BTC")] {
        other.subscribed(&held);
        let (mut direct, mut through) = (Subscriber::at_venue(&stand), Subscriber::at_guard(&stand));
        let asked = json!({"method": "subscribe", "subscription": held});
        for frame in [&asked, &asked, &json!({"method": "ping"}), &unknown] {
            direct.say(&frame.to_string());
            through.say(&frame.to_string());
        }
        assert_eq!(answers(&mut through, 4), answers(&mut direct, 4), "{held}");
    }
    // What the venue has to be asked for is answered twice as well, when it has answered.
    let (mut direct, mut through) = (Subscriber::at_venue(&stand), Subscriber::at_guard(&stand));
    let asked = json!({"method": "subscribe", "subscription": of_coin("trades", "SOL")}).to_string();
    for subscriber in [&mut direct, &mut through] {
        subscriber.say(&asked);
        subscriber.say(&asked);
    }
    assert_eq!(answers(&mut through, 2), answers(&mut direct, 2));
}

#[test]
fn one_user_too_many_is_told_to_who_asked() {
    let stand = stand();
    stand.venue.control(&json!({"op": "setting", "name": "feed_users", "value": 2})).unwrap();
    let (mut one, mut two) = (Subscriber::at_guard(&stand), Subscriber::at_guard(&stand));
    let of_user = |kind: &str, digit: u8| json!({"type": kind, "user": stranger(digit)});
    one.subscribed(&of_user("spotState", 5));
    // What is not acknowledged could be what is refused.
    lose_acknowledgement(&stand);
    one.subscribe(&of_user("orderUpdates", 5));
    two.subscribe(&of_user("spotState", 6));
    let refused = two.hear_on("error");
    assert!(refused.contains("Cannot track more than 2 total users."), "{refused}");
    loop {
        let frame = one.hear();
        assert!(!frame.contains("Cannot track"), "another's: {frame}");
        if frame.contains("subscriptionResponse") {
            break;
        }
    }
    let held = || (count(&stand, "held"), count(&stand, "at_venue"));
    until("what was refused to be in no book", || (held() == (2, 2)).then_some(()));
}

#[test]
fn late_clients_spend_no_messages_of_the_others() {
    const CLIENTS: usize = 30;
    let stand = stand();
    let fast = json!({"type": "fastAssetCtxs"});
    let mut first = Subscriber::at_guard(&stand);
    first.subscribed(&fast);
    first.hear_on("fastAssetCtxs");
    let sent = || stand.venue.truth()["feed"]["limits"]["messages_last_minute"].as_u64().unwrap();
    let before = sent();
    let mut late = Vec::new();
    for _ in 0..CLIENTS {
        let mut client = Subscriber::at_guard(&stand);
        client.subscribe(&fast);
        late.push(client);
        // The venue has time to answer each.
        std::thread::sleep(Duration::from_millis(100));
    }
    for client in &mut late {
        client.hear_on("subscriptionResponse");
        client.hear_on("fastAssetCtxs");
    }
    let spent = sent().saturating_sub(before);
    assert!(spent < CLIENTS as u64, "{spent} messages for {CLIENTS} clients");
}

#[test]
fn a_feed_that_the_venue_forgot_is_begun_anew() {
    let stand = stand();
    let (mut client, mut other) = (Subscriber::at_guard(&stand), Subscriber::at_guard(&stand));
    client.subscribed(&of_coin("l2Book", "BTC"));
    other.subscribed(&of_coin("bbo", "BTC"));
    client.hear_on("l2Book");
    trouble(&stand, json!({"kind": "dead", "on": "l2Book"}));
    price(&stand, "60900");
    while !other.hear_on("bbo").contains("609") {}
    while !client.hear_on("l2Book").contains("609") {}
    let mut late = Subscriber::at_guard(&stand);
    late.subscribe(&of_coin("l2Book", "BTC"));
    assert!(late.hear_on("l2Book").contains("609"));
}

/// At the venue the account and another address are two users, and one socket can have both.
#[test]
fn the_account_and_the_clients_address_are_heard_beside_each_other() {
    let stand = stand();
    let own = spelled(&stand);
    let mut client = Subscriber::at_guard(&stand);
    for kind in ["userFills", "orderUpdates", "userTwapHistory"] {
        for user in [ACCOUNT, own.as_str()] {
            let said = client.subscribed(&json!({"type": kind, "user": user}));
            assert_eq!(said["user"], user, "{said}");
        }
    }
    fill(&stand, "0.25");
    let mut heard = Vec::new();
    while heard.len() < 2 {
        let frame = client.hear_on("userFills");
        heard.extend((!frame.contains("isSnapshot")).then_some(frame));
    }
    let is_of = |frame: &String, user: &str| frame.contains(&format!("\"user\":\"{user}\""));
    assert!(is_of(&heard[0], ACCOUNT) != is_of(&heard[1], ACCOUNT), "{heard:?}");
    assert_eq!(heard[0].replace(&own, ACCOUNT), heard[1].replace(&own, ACCOUNT));
    // A coin that is called like the account is told of as it was asked for.
    client.subscribe(&json!({"type": "activeAssetData", "user": own, "coin": ACCOUNT}));
    let refused = client.hear_on("error");
    assert!(refused.contains(&own) && refused.contains(ACCOUNT), "{refused}");
}
