//! Posts: each has its own time, and a fault on the way to the venue is a fault of its post alone.

use super::{End, Socket, quiet_venue, until};
use serde_json::{Value, json};

fn read(socket: &mut Socket, id: u64, kind: &str) {
    let request = json!({"type": "info", "payload": {"type": kind}});
    socket.say(&json!({"method": "post", "id": id, "request": request}).to_string());
}

#[test]
fn a_slow_answer_lets_another_go_first() {
    let sim = quiet_venue();
    let mut socket = Socket::open(&sim);
    sim.control(&json!({"op": "fault", "on": "meta", "kind": "reorder", "ms": 60_000})).unwrap();
    read(&mut socket, 1, "meta");
    // Its place among the reads is taken: the next one goes through, and only then it follows.
    until(&sim, "the first waits", |_| sim.truth()["reads"]["meta"] == 1);
    read(&mut socket, 2, "allMids");
    assert_eq!(socket.hear_on("post")["id"], 2);
    assert_eq!(socket.hear_on("post")["id"], 1);
}

#[test]
fn posts_that_wait_are_limited() {
    let sim = quiet_venue();
    sim.setting("feed_posts", 1).unwrap();
    sim.fault("meta", "stall", 1).unwrap();
    let mut socket = Socket::open(&sim);
    read(&mut socket, 1, "meta");
    until(&sim, "the first waits", |feed| feed["limits"]["posts_waiting"] == 1);
    read(&mut socket, 1234, "allMids");
    assert_eq!(socket.hear_on("error"), "too many pending post requests id=1234");
}

#[test]
fn a_read_over_the_weight_is_a_429_in_its_frame() {
    let sim = quiet_venue();
    sim.setting("weight_limit", 1).unwrap();
    let mut socket = Socket::open(&sim);
    read(&mut socket, 7, "allMids");
    let answer = json!({"id": 7, "response": {"type": "error", "payload": "429 Too Many Requests"}});
    assert_eq!(socket.hear_on("post"), answer);
}

#[test]
fn a_connection_lost_while_a_post_waits_leaves_it_unanswered() {
    let sim = quiet_venue();
    sim.fault("meta", "drop_before", 1).unwrap();
    let mut socket = Socket::open(&sim);
    read(&mut socket, 1, "meta");
    assert_eq!(socket.end(), End::Cut);
    assert_eq!(sim.truth()["feed"]["limits"]["posts_waiting"], Value::from(0));
}
