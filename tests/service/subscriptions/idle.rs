//! A connection on which nothing is said is closed in the venue's words.

use super::*;

#[test]
fn who_says_nothing_and_hears_nothing_is_let_go() {
    let stand = stand();
    let mut silent = Subscriber::at_guard(&stand);
    silent.socket.get_mut().set_read_timeout(Some(Duration::from_secs(120))).unwrap();
    let mut talker = Subscriber::at_guard(&stand);
    let talks = std::thread::spawn(move || talk(&mut talker));
    let mut subscribed = Subscriber::at_guard(&stand);
    subscribed.subscribed(&of_coin("l2Book", "BTC"));
    assert_eq!(silent.closed(), (1000, "Inactive".to_owned()));
    assert_eq!(talks.join().unwrap(), Some((1000, "Inactive".to_owned())), "closed while it went on");
    // Who is told something is there, though it says nothing.
    subscribed.hear_on("l2Book");
    subscribed.say(r#"{"method":"ping"}"#);
    subscribed.hear_on("pong");
}

/// Goes on for longer than an idle connection lasts with what is answered alone: a feed that tells nothing at first is begun and
/// ended, a question, a frame that cannot be read. How the connection ended meanwhile.
fn talk(talker: &mut Subscriber) -> Option<(u16, String)> {
    let feed = json!({"type": "orderUpdates", "user": ACCOUNT});
    let said = [
        json!({"method": "subscribe", "subscription": feed}),
        json!({"method": "unsubscribe", "subscription": feed}),
        json!({"method": "post", "id": 1, "request": {"type": "info", "payload": {"type": "meta"}}}),
        json!({"method": "noSuchMethod"}),
    ];
    talker.socket.get_mut().set_read_timeout(Some(Duration::from_secs(5))).unwrap();
    (0..20).find_map(|_| {
        said.iter().for_each(|said| talker.say(&said.to_string()));
        loop {
            match talker.socket.read() {
                Ok(Message::Close(close)) => return close.map(|close| (close.code.into(), close.reason.to_string())),
                Ok(_) => {}
                Err(tungstenite::Error::Io(_)) => return None,
                Err(error) => panic!("{error}"),
            }
        }
    })
}
