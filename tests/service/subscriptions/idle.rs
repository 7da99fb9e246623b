//! A connection on which nothing is said is closed in the venue's words.

use super::*;

#[test]
fn who_says_nothing_and_hears_nothing_is_let_go() {
    let stand = stand();
    let mut silent = Subscriber::at_guard(&stand);
    silent.socket.get_mut().set_read_timeout(Some(Duration::from_secs(120))).unwrap();
    let mut subscribed = Subscriber::at_guard(&stand);
    subscribed.subscribed(&of_coin("l2Book", "BTC"));
    assert_eq!(silent.closed(), (1000, "Inactive".to_owned()));
    // Who is told something is there, though it says nothing.
    subscribed.hear_on("l2Book");
    subscribed.say(r#"{"method":"ping"}"#);
    subscribed.hear_on("pong");
}
