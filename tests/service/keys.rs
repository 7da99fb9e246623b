//! No key of anybody stands anywhere but in its own file: not in the log, the events, the journals, the answers, the
//! arguments or the environment.

use std::fs;
use std::path::PathBuf;

use nix::sys::signal::Signal;
use serde_json::json;

use crate::signing::{resting, signed};
use crate::stand::{ACCOUNT, Mode, Stand, WALLET_KEY, run_with, until};

/// Every file below the home but the key's own.
fn files(stand: &Stand) -> Vec<PathBuf> {
    let mut found = vec![stand.log_file()];
    let mut folders = vec![stand.home()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            if entry.file_type().unwrap().is_dir() {
                folders.push(entry.path());
            } else if entry.file_type().unwrap().is_file() && entry.file_name() != "api-wallet-key" {
                found.push(entry.path());
            }
        }
    }
    found
}

/// A key as it would be recognised: half of its digits in a row are too many, in either case, and its bytes as they are.
fn marks(key: &str) -> Vec<Vec<u8>> {
    let digits = key.trim_start_matches("0x");
    let bytes: Vec<u8> =
        (0..32).map(|place| u8::from_str_radix(&digits[2 * place..2 * place + 2], 16).unwrap()).collect();
    let half = &digits[..32];
    vec![half.to_lowercase().into_bytes(), half.to_uppercase().into_bytes(), bytes[..16].to_vec()]
}

fn holds(content: &[u8], mark: &[u8]) -> bool {
    content.windows(mark.len()).any(|window| window == mark)
}

#[test]
fn keys_stand_in_their_own_files_only() {
    let mut stand = Stand::up(Mode::Testnet, "");
    let client_key = stand.client.reveal().to_string();
    // Everything that is written about keys: trades, refusals, errors of the venue, a restart, a refused start.
    stand.send(&resting());
    let mut forged = signed(&stand.client, &resting());
    forged["signature"]["v"] = json!(29);
    stand.post("/exchange", &forged);
    let mut leaky = signed(&stand.client, &resting());
    leaky["signature"]["v"] = json!(30);
    stand.post("/guard/kill", &leaky);
    stand.venue.fault("exchange", "drop_before", 1).unwrap();
    stand.send(&json!({"type": "noop"}));
    until("the noop's end", || (stand.events_of("done").len() >= 2).then_some(()));
    run_with(&stand.home(), &stand.run_args(), "");

    let process = PathBuf::from(format!("/proc/{}", stand.pid()));
    let mut contents: Vec<(String, Vec<u8>)> =
        ["cmdline", "environ"].iter().map(|name| ((*name).to_owned(), fs::read(process.join(name)).unwrap())).collect();
    for target in ["/guard/events", "/guard/status", "/healthz", "/guard/decision?nonce=1"] {
        contents.push((target.to_owned(), stand.get(target).body.into_bytes()));
    }
    let asked = stand.post("/info", &json!({"type": "extraAgents", "user": ACCOUNT}));
    contents.push(("/info".to_owned(), asked.body.into_bytes()));
    assert_eq!(stand.stop(Signal::SIGTERM), Some(0));
    stand.start();
    assert_eq!(stand.stop(Signal::SIGTERM), Some(0));
    for args in [["config", "get", "rules"].as_slice(), &["check-config"], &["journal-show", "--mode", "testnet"]] {
        let done = run_with(&stand.home(), args, "");
        contents.push((format!("{args:?}"), [done.stdout, done.stderr].concat()));
    }
    contents.extend(files(&stand).into_iter().map(|path| (path.display().to_string(), fs::read(path).unwrap())));
    assert!(contents.len() > 15, "{}", contents.len());

    for (whose, key) in [("the API wallet's", WALLET_KEY), ("the client's", client_key.as_str())] {
        for mark in marks(key) {
            for (place, content) in &contents {
                assert!(!holds(content, &mark), "{whose} key stands in {place}");
            }
        }
    }
    // The search finds what is there.
    let own = fs::read(stand.home().join("api-wallet-key")).unwrap();
    assert!(holds(&own, &marks(WALLET_KEY)[0]));
}
