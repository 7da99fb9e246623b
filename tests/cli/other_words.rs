//! Words of other programs, and of other commands of this one: each is told what is typed instead.

use crate::place::*;

fn told(place: &Place, line: &str, what: &[&str]) {
    let before = place.listing();
    let output = place.run(&line.split(' ').collect::<Vec<_>>());
    refused(&output, "");
    assert!(place.listing() == before, "{line} left something behind");
    let said = text(&output.stderr);
    for what in what {
        let what = what.replace("svc-guard ", &format!("svc-guard --home {} ", place.home().display()));
        assert!(said.contains(&what), "{line}: {what:?} is not in {said}");
    }
}

#[test]
fn the_key_of_a_set_up_is_given_on_standard_input() {
    let place = Place::empty();
    let set_up = format!("init --non-interactive --account {ACCOUNT} --rules @/dev/null --network testnet");
    let command = format!("`svc-guard {set_up} --key-stdin < wallet.key`");
    for line in [
        format!("{set_up} --key-stdin wallet.key"),
        format!("{set_up} --key-file wallet.key"),
        format!("{set_up} --key-file=wallet.key"),
    ] {
        told(&place, &line, &[&command]);
    }
    told(&place, "init --key-file F", &["\"--key-file\"", "--key-stdin < F`", "asked for and not shown"]);
    told(&place, "init --key-stdin", &["--non-interactive"]);
    for line in ["init -y", "init --yes"] {
        told(&place, line, &["`svc-guard init --non-interactive --account 0x... --rules @/dev/null`"]);
    }
    let testnet = Place::empty();
    succeeded(&testnet.run(&init(&["--network", "testnet", "--no-key"])));
    told(
        &testnet,
        "key replace --key-stdin --store file",
        &["`svc-guard key replace --key-stdin < FILE`", "--no-store"],
    );
}

#[test]
fn mainnet_is_confirmed_by_the_environment() {
    let confirm = format!("SVC_MAINNET_CONFIRM={ACCOUNT} svc-guard");
    let place = Place::empty();
    for (line, rest) in [
        (format!("run --network mainnet --confirm-mainnet {ACCOUNT}"), "run --network mainnet --key-stdin < FILE`"),
        (format!("run --confirm-mainnet={ACCOUNT} --quiet"), "run --network mainnet --quiet --key-stdin < FILE`"),
        (
            format!("journal-init --mode mainnet --confirm-mainnet {ACCOUNT} --note x"),
            "journal-init --mode mainnet --note x`",
        ),
    ] {
        told(&place, &line, &["by the environment", &format!("`{confirm} {rest}")]);
    }
    let venue = venue(AGENT);
    let place = Place::with(&venue);
    let more = ["--network", "mainnet", "--no-key", "--equity-cap", "100", "--confirm-mainnet", ACCOUNT];
    succeeded(&place.run(&init(&more)));
    for (line, rest) in [
        (format!("run --confirm-mainnet {ACCOUNT}"), "run --network mainnet --key-stdin < FILE`"),
        (
            format!("run --network mainnet --key-stdin --confirm-mainnet {ACCOUNT} --quiet"),
            "run --network mainnet --quiet --key-stdin < FILE`",
        ),
        (format!("journal-resume --confirm-mainnet {ACCOUNT} --note x"), "journal-resume --mode mainnet --note x`"),
        (
            "run --network mainnet --port 8000 --key-stdin".to_owned(),
            "run --network mainnet --key-stdin --listen 127.0.0.1:8000 < FILE`",
        ),
    ] {
        told(&place, &line, &[&format!("`{confirm} {rest}")]);
    }
    // A home of another mode has nothing to confirm.
    let paper = Place::paper();
    told(&paper, &format!("run --confirm-mainnet {ACCOUNT}"), &["set up for paper", "`svc-guard run`"]);
    told(&paper, &format!("journal-init --note x --confirm-mainnet {ACCOUNT}"), &["set up for paper; leave it out"]);
}

#[test]
fn a_word_for_what_there_is_names_it() {
    let place = Place::paper();
    for (line, what) in [
        ("monitor", &["there is no `monitor`", "the page at http://127.0.0.1:8547/"][..]),
        ("ui", &["the page at http://127.0.0.1:8547/"]),
        ("page", &["the page at http://127.0.0.1:8547/"]),
        ("show", &["`svc-guard check-config`", "the page at http://127.0.0.1:8547/"]),
        ("rules", &["there is no `rules`", "`svc-guard config get rules`"]),
        ("rules export", &["there is no `rules export`", "`svc-guard config get rules`"]),
        ("config unset equity_cap", &["`svc-guard config set equity_cap none`"]),
        ("config check", &["`svc-guard check-config`"]),
        ("client ls", &["`clients` under [auth] in "]),
        ("mcp --url http://127.0.0.1:1", &["`svc-guard mcp --guard-url http://127.0.0.1:1`"]),
        ("check-config --network paper", &["`svc-guard check-config`"]),
        ("run --ip-share 3", &["`svc-guard run --ip-share 1/3`"]),
        ("run --ip-share 40", &["`svc-guard run --ip-share 1/8`"]),
        ("notify --test", &["`svc-guard notify test`"]),
        ("notify --test --file x", &["`svc-guard notify test --file x`"]),
    ] {
        told(&place, line, what);
    }
    // A home that is not there has no file to look into.
    let place = Place { folder: tempfile::tempdir().unwrap() };
    told(&place, "client list", &["there is no `client list`", "guard.toml does not exist", "`svc-guard init`"]);
}

const TARGETS: &str = "[[target]]\nname = 'night'\nform = 'command'\nrun = ['true']\n";

#[test]
fn a_target_behind_a_test_is_told_which_there_are() {
    let place = Place::paper();
    std::fs::write(place.home().join("notify.toml"), TARGETS).unwrap();
    let each = "`svc-guard notify test` sends one message to each target";
    told(&place, "notify test phone", &["there is no target \"phone\"", "the targets are \"night\"", each]);
    told(&place, "notify test night", &["\"night\" alone is not tested", each]);
}

/// Each with what was given, and where it stands.
#[test]
fn what_is_wrong_with_a_target_names_what_was_given() {
    let place = Place::paper();
    let file = place.home().join("notify.toml");
    let refused_for = |target: &str, what: &[&str]| {
        std::fs::write(&file, format!("[[target]]\nname = 'phone'\n{target}\n")).unwrap();
        told(&place, "notify test", what);
    };
    refused_for("form = 'webhook'\nurl = 'https://127.0.0.1:9/'", &["not \"webhook\": it is \"json\"", "(line 3)"]);
    refused_for("form = 'Slack'", &["not \"Slack\": it is \"slack\""]);
    refused_for("form = 'pigeon'", &["\"json\", \"ntfy\"", "not \"pigeon\""]);
    refused_for("form = 'json'\nurl = 'http://example.com/hook'", &["not \"http://example.com\"", "(line 4)"]);
    refused_for("form = 'json'\nurl = 'example.com/hook'", &["not \"example.com\""]);
    refused_for(
        "form = 'ntfy'\nurl = 'https://127.0.0.1:9/guard'\ntopic = 'my guard'",
        &["topic must be 1 to 64 letters, digits, - or _, not \"my guard\"", "not \"https://127.0.0.1:9/guard\""],
    );
    refused_for(
        "form = 'ntfy'\nurl = { credential = 'notify_ntfy' }\ntopic = 'guard'",
        &[
            "notify.toml: target \"phone\": there is no credential \"notify_ntfy\"",
            "{ file = \"/whole/path\" }",
            "(line 4)",
        ],
    );
    // What may be a secret is not repeated.
    std::fs::write(&file, "[[target]]\nname = 'a'\nform = 'json'\nurl = 'http://example.com/T0/hunter22'\n").unwrap();
    assert!(!text(&place.run(&["notify", "test"]).stderr).contains("hunter22"));
}

#[test]
fn what_stands_behind_config_or_a_test_is_known_without_it() {
    let place = Place::paper();
    for (line, proposed) in [
        ("set rules", "config set rules stop=1.5"),
        ("set stop 3", "config set rules stop=3"),
        ("config set rules.stop 3", "config set rules stop=3"),
        ("get rules", "config get rules"),
        ("equity-cap 5000", "config set equity_cap 5000"),
        ("listen", "config get listen"),
        ("mode", "config get mode"),
        ("notify tset", "notify test"),
        ("notify --file x.toml test", "notify test --file x.toml"),
        ("unhalt", "journal-resume --mode paper --note TEXT"),
        ("report --mode paper --from 2026-13-01", "report --mode paper --from 2026-01-31"),
        (
            "report --mode paper --by market --from 2026-11-30 --to 2026-11-01",
            "report --mode paper --from 2026-11-01 --to 2026-11-30 --by market",
        ),
    ] {
        told(&place, line, &[&format!("`svc-guard {proposed}`")]);
    }
    // One that cannot be read is of no use with another @ before it.
    told(
        &place,
        "config set rules @",
        &["`svc-guard config set rules @my-rules.toml`, and @/dev/null is every default"],
    );
    let code = text(&place.run(&["config", "get", "rules"]).stdout);
    succeeded(&place.run(&["config", "set", "rules", &format!("\"{}\"", code.trim())]));
}
