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
    let mut standard_output = place.command(&["client", "add", "--out", "-"]);
    refused(&ended(standard_output.current_dir(place.path("."))), "--out FILE: - is no file here");
    place.refuses(&init(&["--force", "--client-key-out", "-"]), "--client-key-out FILE: - is no file here");
    assert_eq!(place.run(&["client", "add"]).status.code(), Some(2));
    let empty = Place::empty();
    empty.refuses(&["client", "add", "--out", empty.path("key").to_str().unwrap()], "holds no set-up");
}

/// A key file named `kill` would pull the switch, and one named as the config would be lost with the set-up.
#[test]
fn no_key_file_takes_a_name_that_the_home_uses() {
    let place = Place::paper();
    let aside = place.path("aside");
    std::os::unix::fs::symlink(place.home(), &aside).unwrap();
    let taken = [
        "kill",
        "KILL",
        "kill.ready",
        "guard.toml",
        "notify.toml",
        "api-wallet-key",
        "api-wallet-key.cred",
        "api-wallet-key.old-1",
        "run/x",
        "journals/../journals/x",
        "notify",
        ".kill.0123456789abcdef",
    ];
    for name in taken {
        for folder in [place.home(), aside.clone(), place.home().join("run/..")] {
            let out = folder.join(name);
            let out = out.to_str().unwrap();
            place.refuses(&["client", "add", "--out", out], "is a name that the home uses itself");
            place.refuses(&init(&["--force", "--client-key-out", out]), "is a name that the home uses itself");
        }
    }
    let mut relative = place.command(&["client", "add", "--out", "kill"]);
    refused(&ended(relative.current_dir(place.home())), "name a file outside of the home, or another one in it");
    // The config may have another name.
    let other = place.home().join("my.toml");
    fs::copy(place.home().join("guard.toml"), &other).unwrap();
    fs::remove_file(place.home().join("guard.toml")).unwrap();
    let other = other.to_str().unwrap();
    place.refuses(&["--config", other, "client", "add", "--out", other], "is a name that the home uses itself");
    let own = place.home().join("second.key");
    succeeded(&place.run(&["--config", other, "client", "add", "--out", own.to_str().unwrap()]));
    assert!(own.exists());
}

/// Where there is no home yet, a set-up makes one, and what it makes then is refused all the same and taken back.
#[test]
fn a_new_homes_names_are_kept_for_it_too() {
    let folder = tempfile::tempdir().unwrap();
    let place = Place { folder };
    for (name, why) in [
        ("guard.toml", "is a name that the home uses itself"),
        ("kill", "is a name that the home uses itself"),
        ("run/x", "is a name that the home uses itself"),
        ("api-wallet-key", "is a name that the home uses itself"),
        ("../home/kill", "is named as a kill file is"),
    ] {
        let out = place.home().join(name);
        place.refuses(&init(&["--client-key-out", out.to_str().unwrap()]), why);
    }
    let out = place.home().join("bot.key");
    succeeded(&place.run(&init(&["--client-key-out", out.to_str().unwrap()])));
    assert!(out.exists() && place.config().contains("clients"));
}
