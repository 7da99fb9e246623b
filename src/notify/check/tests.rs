//! Configs that can stand, and what is said of those that cannot.

use super::*;

fn problems(text: &str) -> String {
    Config::parse(text).unwrap_err().join("\n")
}

#[test]
fn every_form_has_its_keys_and_no_other() {
    let good = "
        utc_offset = '+02:00'
        summary = '07:00'
        heartbeat = 'https://beat.example/abc'
        [[target]]
        name = 'hook'
        form = 'json'
        url = 'http://127.0.0.1:9/x?y=1'
        token = { file = '/etc/token' }
        [[target]]
        name = 'phone'
        form = 'ntfy'
        url = 'https://ntfy.example'
        topic = 'guard'
        quiet = '22:00-07:00'
        cooldown = { default = '10m', kill = '0s' }
        [[target]]
        name = 'mail'
        form = 'smtp'
        server = 'mail.example:465'
        from = 'guard@mail.example'
        to = ['me@mail.example']
        user = 'guard'
        password = { credential = 'mail' }
    ";
    assert_eq!(Config::parse(good).unwrap().target.len(), 3);
    let said = problems("[[target]]\nname = 'a'\nform = 'ntfy'\nchat = '7'\n[[target]]\nname = 'a'\nform = 'command'");
    for why in ["ntfy needs url", "ntfy needs topic", "chat is no key of ntfy", "command needs run", "two targets"] {
        assert!(said.contains(why), "{why}: {said}");
    }
}

#[test]
fn no_secret_stands_in_the_file_and_none_is_repeated() {
    let slack = "[[target]]\nname = 'a'\nform = 'slack'\nurl = 'https://hooks.example/T0/B0/hunter22'";
    assert!(problems(slack).contains("url is a secret"));
    assert!(!problems(slack).contains("hunter22"));
    let bot = "[[target]]\nname = 'a'\nform = 'telegram'\nchat = '7'\ntoken = '12:hunter22'";
    assert!(problems(bot).contains("token is a secret") && !problems(bot).contains("hunter22"));
    let typo = problems("[[target]]\nname = 'a'\nform = 'json'\ntokn = 'hunter22'");
    assert!(typo.contains("tokn") && typo.contains("line") && !typo.contains("hunter22"), "{typo}");
}

#[test]
fn only_what_nobody_can_read_on_the_way_is_called() {
    for url in [
        "https://x.example",
        "https://x.example/a?b=c",
        "http://127.0.0.1:80/a",
        "http://[::1]:8/x",
        "http://localhost/",
    ] {
        assert!(private_url(url).is_ok(), "{url}");
    }
    for url in [
        "http://x.example/a",
        "x.example",
        "https://",
        "https://u:p@x.example/",
        "ftp://x",
        "https://x/ a",
        "https://x/\n",
    ] {
        assert!(private_url(url).is_err(), "{url}");
    }
    assert!(problems("heartbeat = 'http://x.example/a'").contains("heartbeat must be"));
    assert!(problems("").contains("nobody would be told"));
}

#[test]
fn what_cannot_be_read_is_said_all_at_once() {
    let said = problems(
        "utc_offset = '2'\nsummary = '7'\n[[target]]\nname = 'a b'\nform = 'command'\nrun = ['x']\nquiet = 'night'\ncooldown = { kill = 'long' }",
    );
    assert_eq!(said.lines().count(), 5, "{said}");
}
