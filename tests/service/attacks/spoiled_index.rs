//! An index that a disk or a hand spoiled: no decision is denied that the journal holds.

use std::fs;

use nix::sys::signal::Signal;
use serde_json::json;

use crate::signing::{fresh_nonce, signed_with};
use crate::stand::{Mode, Stand};
use svc_guard::venue::signing::Source;

#[test]
fn every_decision_is_found_whatever_byte_of_the_index_is_wrong() {
    let mut stand = Stand::up(Mode::Paper, "");
    let mut nonces = Vec::new();
    for _ in 0..40 {
        let nonce = fresh_nonce();
        let body = signed_with(&stand.client, &json!({"type": "noop"}), nonce, Source::Testnet);
        assert_eq!(stand.post("/exchange", &body).status, 200);
        nonces.push(nonce);
    }
    assert_eq!(stand.stop(Signal::SIGTERM), Some(0));
    let runs = fs::read_dir(stand.journal().join("index")).unwrap().map(|entry| entry.unwrap().path());
    let run = runs.into_iter().next().unwrap();
    let length = fs::read(&run).unwrap().len();
    for place in 0..12 {
        let mut bytes = fs::read(&run).unwrap();
        let at = (length - 1) * place / 11;
        let at = at % bytes.len();
        bytes[at] ^= 1 << (place % 8);
        fs::write(&run, bytes).unwrap();
        // It need not be well: so many starts in a minute are more than the budget of its address has reads for.
        stand.launch();
        for nonce in &nonces {
            let found = stand.get(&format!("/guard/decision?nonce={nonce}"));
            assert_eq!(found.status, 200, "byte {at}: {found:?}");
            assert_eq!(found.json()["decisions"].as_array().unwrap().len(), 1);
        }
        assert_eq!(stand.stop(Signal::SIGTERM), Some(0));
    }
}
