//! `health` and `kill`.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::process::Output;

use crate::place::*;

/// A service that gives one answer to one question.
fn one_answer(answer: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut request = [0; 1024];
        let read = stream.read(&mut request).unwrap();
        assert!(text(&request[..read]).starts_with("GET /healthz HTTP/1.1\r\n"));
        stream.write_all(answer.as_bytes()).unwrap();
    });
    address
}

fn unhealthy(output: &Output, reason: &str) {
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains(reason), "{}", text(&output.stderr));
}

#[test]
fn health_is_0_or_1() {
    const WELL: &str = "HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\n{\"ok\":true}";
    const ILL: &str =
        "HTTP/1.1 503 X\r\nContent-Length: 50\r\n\r\n{\"ok\":false,\"problems\":[\"prices stale\",\"journal\"]}";
    let place = Place::paper();
    assert_eq!(succeeded(&place.run(&["health", "--listen", &one_answer(WELL)])), "");
    succeeded(&place.run(&["health", "--url", &format!("http://{}", one_answer(WELL))]));
    succeeded(&place.command(&["health"]).env("SVC_GUARD_LISTEN", one_answer(WELL)).output().unwrap());
    place.write_config(&place.config().replace("127.0.0.1:8547", &one_answer(WELL)));
    succeeded(&place.run(&["health"]));
    unhealthy(&place.run(&["health", "--listen", &one_answer(ILL)]), "prices stale; journal");
    let redirect = "HTTP/1.1 302 X\r\nLocation: http://127.0.0.1:9/\r\nContent-Length: 0\r\n\r\n";
    unhealthy(&place.run(&["health", "--listen", &one_answer(redirect)]), "");
    unhealthy(&place.run(&["health", "--listen", "127.0.0.1:9"]), "no answer from http://127.0.0.1:9");
    unhealthy(&place.run(&["health", "--url", "ftp://x"]), "--url \"ftp://x\" must be");
    let plain = "for a guard speaks no https: `svc-guard --home ";
    unhealthy(&place.run(&["health", "--url", "https://127.0.0.1:9/x"]), plain);
    unhealthy(&place.run(&["health", "--url", "https://127.0.0.1:9/x"]), "health --url http://127.0.0.1:9`");
    unhealthy(&place.run(&["health", "--url", "127.0.0.1:9"]), "health --url http://127.0.0.1:9`");
    unhealthy(&Place::empty().run(&["health"]), "holds no set-up");
}

/// Healthy and not trading are two questions.
#[test]
fn health_asks_whether_it_trades() {
    let well = |body: &str| -> &'static str {
        format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len()).leak()
    };
    let place = Place::paper();
    let ask = |body: &str, more: &[&str]| {
        let listen = one_answer(well(body));
        place.run(&[&["health", "--listen", &listen], more].concat())
    };
    let killed = r#"{"ok":true,"not_trading":["the kill switch is pulled (too wild)","a halt"]}"#;
    assert_eq!(succeeded(&ask(killed, &[])), "");
    unhealthy(&ask(killed, &["--trading"]), "the kill switch is pulled (too wild); a halt");
    assert_eq!(succeeded(&ask(r#"{"ok":true}"#, &["--trading"])), "");
    // Whatever else listens there is no healthy guard, though it says 200 to everything.
    for other in ["pong", "", "{}", "[]", "null", r#"{"status":"ok"}"#, r#"{"ok":false}"#, r#"{"ok":"yes"}"#] {
        unhealthy(&ask(other, &[]), "does not answer as a guard does: is that the guard?");
        unhealthy(&ask(other, &["--trading"]), "is that the guard?");
    }
    const ILL: &str = "HTTP/1.1 503 X\r\nContent-Length: 59\r\n\r\n{\"ok\":false,\"problems\":[\"prices\"],\"not_trading\":[\"killed\"]}";
    unhealthy(&place.run(&["health", "--trading", "--listen", &one_answer(ILL)]), "prices; killed");
    assert!(!text(&place.run(&["health", "--listen", &one_answer(ILL)]).stderr).contains("killed"));
}

#[test]
fn kill_leaves_the_kill_file() {
    // It is pulled, and nobody reads it: that is no success.
    let unheard = |output: &Output, found: &str| {
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(
            said.contains(&format!("{found} (too wild), but no guard runs on this home: no running guard")),
            "{said}"
        );
        said
    };
    for place in [Place::empty(), Place::paper()] {
        // What sends nothing closes nothing at its next start either.
        let said = unheard(&place.run(&["kill", "--reason", "too wild"]), "the kill switch is pulled");
        assert!(!said.contains("closes everything"), "{said}");
        let file = place.home().join("kill");
        assert!(fs::read_to_string(&file).unwrap().starts_with("too wild\n"));
        assert_eq!(mode(&file), 0o644);
        unheard(&place.run(&["kill", "--reason", "again"]), "the kill switch was pulled before");
    }
    // Who holds something hears what closes it.
    let testnet = Place::empty();
    succeeded(&testnet.run(&init(&["--network", "testnet", "--no-key"])));
    let said = unheard(&testnet.run(&["kill", "--reason", "too wild"]), "the kill switch is pulled");
    let start = format!("`svc-guard --home {} run --network testnet --key-stdin < FILE`", testnet.home().display());
    for part in
        [&start[..], "starts this home's, which closes everything once it runs", "closed at the venue's own page"]
    {
        assert!(said.contains(part), "{part}: {said}");
    }
    let nowhere = Place { folder: tempfile::tempdir().unwrap() };
    nowhere.refuses(&["kill", "--reason", "x"], "NOT pulled");
    assert_eq!(nowhere.run(&["kill"]).status.code(), Some(2));
}
