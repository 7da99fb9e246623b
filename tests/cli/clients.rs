//! `pair` and `client add`.

use std::fs;

use svc_guard::base::key::SecretKey;
use svc_guard::home::Pairing;

use crate::place::*;

#[test]
fn pair_shows_a_key_and_lists_its_address() {
    let place = Place::paper();
    place.write_config(&format!("# my own words\n{}", place.config()));
    let out = succeeded(&place.run(&["pair"]));
    let key = SecretKey::parse(&labelled(&out, "client key (shown once)")).unwrap();
    assert_eq!(Pairing::from_code(&labelled(&out, "pairing code")).unwrap().client, key.address());
    let config = place.config();
    assert!(config.contains(&key.address().to_string()) && config.starts_with("# my own words\n"), "{config}");
    assert_eq!(mode(&place.home().join("guard.toml")), 0o644);
    Place::empty().refuses(&["pair"], "holds no set-up");
}

#[test]
fn client_add_writes_a_key_and_never_shows_it() {
    let place = Place::paper();
    let file = place.path("second");
    let out = succeeded(&place.run(&["client", "add", "--out", file.to_str().unwrap()]));
    let written = fs::read_to_string(&file).unwrap();
    let key = SecretKey::parse(&written).unwrap();
    assert_eq!(mode(&file), 0o600);
    assert_eq!(labelled(&out, "client address"), key.address().to_string());
    assert!(!out.contains(written.trim()) && place.config().contains(&key.address().to_string()));
    place.refuses(&["client", "add", "--out", file.to_str().unwrap()], "exists already");
    place.refuses(&["client", "add", "--out", "/nonexistent-folder/key"], "/nonexistent-folder/key");
    assert_eq!(place.run(&["client", "add"]).status.code(), Some(2));
    let empty = Place::empty();
    empty.refuses(&["client", "add", "--out", empty.path("key").to_str().unwrap()], "holds no set-up");
}
