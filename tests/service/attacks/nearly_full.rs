//! A disk that is nearly full, and has room for all that is to be written yet: whoever watches the guard hears of it in time.

use serde_json::json;

use crate::full_disk::Disk;
use crate::stand::{Mode, Stand, until};
use crate::watched::{WIDE, hold_covered};

fn is_low(stand: &Stand) -> bool {
    stand.status()["alerts"].as_array().unwrap().iter().any(|alert| alert["code"] == "disk_low")
}

#[test]
fn a_disk_that_is_nearly_full_is_told_of_before_it_is() {
    let mut disk = None;
    let mut stand = Stand::set_up_on(Mode::Testnet, WIDE, |home| disk = Disk::sized(home, 64));
    let Some(disk) = disk else {
        eprintln!("skipped: mounting a small disk takes a privileged user");
        return;
    };
    stand.start();
    assert!(!is_low(&stand), "{}", stand.status());
    // A twentieth of it is 3,277 KiB.
    disk.fill_to(2_500);
    until("the alert", || is_low(&stand).then_some(()));
    let health = stand.get("/healthz");
    assert_eq!(health.status, 503, "{health:?}");
    // Nothing else is the matter: orders are judged, positions covered.
    hold_covered(&stand, "ETH", "0.4");
    let reply = stand.send(&json!({"type": "noop"}));
    assert_eq!(reply["guard"]["verdict"], "allow", "{reply}");
    disk.free();
    until("the alert to be gone", || (!is_low(&stand)).then_some(()));
    assert_eq!(stand.get("/healthz").status, 200);
}
