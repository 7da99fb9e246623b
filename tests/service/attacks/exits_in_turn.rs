//! While the venue takes hardly a request any more, clients have the few places of exits in turn.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use serde_json::Value;
use svc_guard::base::key::SecretKey;

use crate::clients::{another, code, filled, leave_requests, requests_used, send_as};
use crate::signing::{ETH, closing, signed};
use crate::stand::{Mode, Stand, until};
use crate::watched::{Ends, WIDE, covered, held, hold};

/// A position that is covered, two clients, and fewer requests left than are kept for the guard.
fn with_few_requests() -> (Stand, SecretKey) {
    let mut stand = Stand::set_up(Mode::Testnet, WIDE);
    let second = another(&stand);
    hold(&stand, "ETH", "0.5");
    leave_requests(&stand, 190);
    // So few are ill health.
    stand.launch();
    covered(&stand, "ETH", "0.5");
    let is_low = |alert: &Value| alert["text"].as_str().is_some_and(|text| text.contains("under the 200"));
    let known = || stand.status()["alerts"].as_array().unwrap().iter().any(is_low);
    until("the allowance to be read", || known().then_some(()));
    (stand, second)
}

#[test]
fn who_had_no_place_for_longest_goes_first() {
    let (stand, second) = with_few_requests();
    let (over, places) = (AtomicBool::new(false), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut connection = stand.connect();
            while !over.load(Ordering::SeqCst) {
                // At a price that nobody pays, and that somebody might.
                let body = signed(&stand.client, &closing(ETH, "2512", "0.01")).to_string();
                match connection.post("/exchange", &body) {
                    Ok(reply) if reply.json()["guard"]["verdict"] != "veto" => {
                        places.fetch_add(1, Ordering::SeqCst);
                    }
                    Ok(_) => {}
                    Err(_) => connection = stand.connect(),
                }
                std::thread::sleep(std::time::Duration::from_millis(10));
            }
        });
        let _ends = Ends(&over);
        until("the greedy one's first place", || (places.load(Ordering::SeqCst) > 0).then_some(()));
        let mut asked = 0;
        until("the other's exit", || {
            let before = places.load(Ordering::SeqCst);
            let reply = send_as(&stand, &second, &closing(ETH, "2400", "0.5"));
            asked += 1;
            assert!(asked == 1 || before <= 2, "{before} places went to the one client meanwhile: {reply}");
            filled(&reply).map(|_| ())
        });
    });
    assert_eq!(held(&stand, "ETH"), None);
}

#[test]
fn what_nobody_pays_takes_no_place_before_what_fills() {
    let (stand, second) = with_few_requests();
    let used = requests_used(&stand);
    let reply = send_as(&stand, &stand.client, &closing(ETH, "3000", "0.01"));
    assert_eq!(code(&reply), "venue_budget", "{reply}");
    assert_eq!(requests_used(&stand), used);
    let reply = send_as(&stand, &second, &closing(ETH, "2400", "0.5"));
    assert!(filled(&reply).is_some(), "{reply}");
    assert_eq!(held(&stand, "ETH"), None);
}
