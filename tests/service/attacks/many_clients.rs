//! More clients than a reserve has parts for: each has one exit a minute all the same.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::clients::{another, filled, send_as};
use crate::signing::{ETH, closing, signed};
use crate::stand::{Mode, Stand, until};
use crate::watched::{Ends, WIDE, covered, held, hold};

/// A service, not started, whose config names as many clients more.
fn with_clients(count: u32) -> Stand {
    let stand = Stand::set_up(Mode::Testnet, WIDE);
    let path = stand.home().join("guard.toml");
    let config = std::fs::read_to_string(&path).unwrap();
    let more: String = (1..=count).map(|n| format!("\"0x{n:040x}\",\n")).collect();
    assert_eq!(config.matches("clients = [").count(), 1, "{config}");
    std::fs::write(&path, config.replace("clients = [", &format!("clients = [{more}"))).unwrap();
    stand
}

#[test]
fn the_first_exit_after_a_start_goes_at_the_least_share() {
    let mut stand = with_clients(63);
    hold(&stand, "ETH", "0.5");
    let args = [&stand.run_args()[..], &["--ip-share", "1/8"]].concat();
    stand.launch_as(stand.run_command(&args));
    let reply = stand.send(&closing(ETH, "2400", "0.1"));
    assert_eq!(filled(&reply), Some("0.1"), "{reply}");
    assert_eq!(held(&stand, "ETH").as_deref(), Some("0.4"));
}

#[test]
fn one_that_exits_without_a_pause_keeps_no_other_in() {
    let mut stand = with_clients(126);
    let second = another(&stand);
    hold(&stand, "ETH", "0.5");
    stand.start();
    covered(&stand, "ETH", "0.5");
    let (over, denied) = (AtomicBool::new(false), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let mut connection = stand.connect();
                while !over.load(Ordering::SeqCst) {
                    // At a price that nobody pays.
                    let body = signed(&stand.client, &closing(ETH, "2600", "0.01")).to_string();
                    match connection.post("/exchange", &body) {
                        Ok(reply) => {
                            let is_denied = reply.json().to_string().contains("no room");
                            denied.fetch_add(usize::from(is_denied), Ordering::SeqCst);
                        }
                        Err(_) => connection = stand.connect(),
                    }
                }
            });
        }
        let _ends = Ends(&over);
        until("the weight to be used up", || (denied.load(Ordering::SeqCst) > 50).then_some(()));
        let reply = send_as(&stand, &second, &closing(ETH, "2400", "0.2"));
        assert_eq!(filled(&reply), Some("0.2"), "{reply}");
    });
    assert_eq!(held(&stand, "ETH").as_deref(), Some("0.3"));
}
