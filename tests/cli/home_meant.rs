//! A home or a config that was misspelt: no command that is proposed acts on another one.

use std::fs;

use crate::place::*;

/// What a line of words answers in a folder with two homes, `k1` and `k3`, where the default home is neither.
fn answered(place: &Place, line: &str) -> String {
    let words: Vec<&str> = line.split(' ').collect();
    let mut command = bare(&words);
    command.current_dir(place.folder.path()).env("HOME", place.path("nobody"));
    let done = ended(&mut command);
    let said = text(&done.stderr);
    assert_eq!(done.status.code(), Some(2), "{line}: {said}");
    said
}

fn two_homes() -> Place {
    let place = Place::paper();
    for name in ["k1", "k3"] {
        fs::create_dir_all(place.path(name).join("journals")).unwrap();
        fs::write(place.path(name).join("guard.toml"), place.config()).unwrap();
    }
    place
}

/// Each command in backticks of this program in a text.
fn proposed(said: &str) -> Vec<&str> {
    said.split('`').skip(1).step_by(2).filter(|part| part.contains("svc-guard ")).collect()
}

#[test]
fn a_misspelt_home_stands_in_every_command_that_is_proposed() {
    let place = two_homes();
    let before = place.listing();
    let home = place.path("k1").display().to_string();
    for line in [
        "-home k1 kill --reason x",
        "--hom k1 kill --reason x",
        "--Home k1 kill --reason x",
        "-H k1 kill --reason x",
        "-Home k1 kill --reason x",
        "-Hk1 kill --reason x",
        "--dir k1 kill --reason x",
        "\u{2014}home k1 kill --reason x",
        "k1 kill --reason x",
        "kill --reason x --dir=k1",
        "kill --reason x --hoem k1",
        "config set rules stop=1 --hom k1",
        "config set equity_cap 100 --dir k1",
        "config set stop 3 --dir k1",
        "key replace --key-stdin --hom k1",
        "client add --hom k1 --out c9.key",
        "run --testnet --hom k1",
        "unkill --hom k1",
        "report --since 2026-01-01 --mode paper --hom k1",
    ] {
        let said = answered(&place, line);
        let commands = proposed(&said);
        assert!(commands.iter().all(|command| command.contains(&format!("--home {home} "))), "{line}: {said}");
        assert!(said.contains(&home), "{line}: {said}");
        let is_kill = line.contains("kill --reason");
        assert_eq!(said.contains("kill switch is NOT pulled"), is_kill, "{line}: {said}");
        if is_kill {
            assert!(said.contains(&format!("`svc-guard --home {home} kill --reason x` pulls it")), "{line}: {said}");
        }
    }
    let said = answered(&place, "config set rules stop=1 --hom k1");
    assert!(said.contains(&format!("`svc-guard --home {home} config set rules stop=1` is meant")), "{said}");
    let said = answered(&place, "client add --hom k1 --out c9.key");
    assert!(said.contains(&format!("`svc-guard --home {home} client add --out c9.key` is meant")), "{said}");
    let said = answered(&place, "key replace --key-stdin --hom k1");
    assert!(said.contains(&format!("`svc-guard --home {home} key replace --key-stdin < FILE` is meant")), "{said}");
    let said = answered(&place, "unkill --hom k1");
    assert!(said.contains(&format!("`rm {home}/kill`")), "{said}");
    let said = answered(&place, "--home k1 --cofig a.toml kill --reason x");
    let both =
        format!("`svc-guard --home {home} --config {} kill --reason x` pulls it", place.path("a.toml").display());
    assert!(said.contains(&both), "{said}");
    assert!(place.listing() == before, "something was done");
}

#[test]
fn where_the_home_is_not_certain_no_command_is_proposed() {
    let place = two_homes();
    let before = place.listing();
    for line in [
        "kill --reason x --home",
        "--home kill --reason x",
        "kill k1 --reason x",
        "k7 kill --reason x",
        "kill --reason x -C k9",
        "kill --reason x -Ck9",
        "kill --reason x --where=k1",
        "kill --reason x --where k1",
        "--home k1 kill --home k3 --reason x",
        "--home k1 kill --hom k3 --reason x",
        "--config a kill --config b --reason x",
        "config set rules stop=1 k1",
        "config set rules stop=1 --hom",
        "--hom k1 --home k3 config set stop 2",
        "unkill k1",
    ] {
        let said = answered(&place, line);
        assert!(proposed(&said).is_empty() && !said.contains("`rm "), "{line}: {said}");
        assert!(said.contains("which home is meant is not certain") && said.contains("--home DIR"), "{line}: {said}");
        assert_eq!(
            said.contains("kill switch is NOT pulled"),
            line.contains("kill ") && !line.contains("unkill"),
            "{line}: {said}"
        );
    }
    assert!(place.listing() == before, "something was done");
}

/// Of which homes a file is the config cannot be found by one of its names.
#[test]
fn a_config_of_more_than_one_name_leaves_no_doubt_which_home_is_killed() {
    let (own, other) = (Place::paper(), Place::paper());
    let user = tempfile::tempdir().unwrap();
    let default = user.path().join(".svc-guard");
    std::os::unix::fs::symlink(own.home(), &default).unwrap();
    let account = format!("0x{}", "22".repeat(20));
    other.write_config(&other.config().replace(ACCOUNT, &account));
    let told = |config: &std::path::Path, args: &[&str]| {
        let mut typed = bare(&["--config", config.to_str().unwrap()]);
        let done = ended(typed.args(args).env("HOME", user.path()));
        (done.status.code(), text(&done.stderr))
    };
    // Another name for the config of a home.
    let link = |of: &Place, name: &str| {
        let link = user.path().join(name);
        std::fs::hard_link(of.home().join("guard.toml"), &link).unwrap();
        link
    };
    let others = link(&other, "desk.toml");
    let (code, said) = told(&others, &["kill", "--reason", "x", "--wait", "7"]);
    let kill = format!("`svc-guard --home {} kill --reason x --wait 7` is for the default home", default.display());
    assert!(code == Some(2) && said.contains("NOT pulled by this") && said.contains(&kill), "{said}");
    assert!(said.contains("desk.toml has 2 names") && said.contains("not certain"), "{said}");
    let (code, said) = told(&others, &["health", "--trading"]);
    let health = format!("`svc-guard --home {} health --trading` is for the default home", default.display());
    assert!(code == Some(1) && said.contains("desk.toml has 2 names") && said.contains(&health), "{said}");
    assert!(!own.home().join("kill").exists() && !other.home().join("kill").exists());
    // The home's own config is that whatever else it is called.
    let (code, said) = told(&link(&own, "own.toml"), &["kill", "--reason", "x"]);
    assert!(code == Some(1) && own.home().join("kill").exists(), "{said}");
}

/// It is pulled all the same: a guard of which the config is gone looks at it.
#[test]
fn a_kill_in_a_folder_that_is_no_home_says_so() {
    let place = Place::empty();
    std::fs::remove_file(place.home().join("guard.toml")).unwrap();
    let output = place.run(&["kill", "--reason", "x"]);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(
        said.contains("which may not be the home that is meant: there is no") && said.contains("guard.toml"),
        "{said}"
    );
    assert!(place.home().join("kill").exists());
    let set_up = Place::paper();
    assert!(!text(&set_up.run(&["kill", "--reason", "x"]).stderr).contains("may not be the home"));
}
