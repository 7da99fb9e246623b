//! Each form's request as its service documents it, and what `notify test` says of the answers.

use std::os::unix::fs::PermissionsExt;

use serde_json::json;

use super::hook::{Hook, Manner};
use super::notifier::Notifier;
use crate::stand::until;

fn said(notifier: &Notifier, code: i32) -> String {
    let done = notifier.test();
    let said = String::from_utf8(done.stdout).unwrap() + &String::from_utf8(done.stderr).unwrap();
    assert_eq!(done.status.code(), Some(code), "{said}");
    said
}

#[test]
fn each_service_is_sent_what_it_documents() {
    let [json, ntfy, telegram, slack, discord] = std::array::from_fn(|_| Hook::new());
    let notifier = Notifier::set_up("");
    let place = |name: &str, text: &str| format!("{{ file = {:?} }}", notifier.secret(name, text));
    notifier.config(&format!(
        "[[target]]\nname = 'json'\nform = 'json'\nurl = '{}'\ntoken = {}\n\
         [[target]]\nname = 'ntfy'\nform = 'ntfy'\nurl = 'http://{}'\ntopic = 'guard'\ntoken = {}\n\
         [[target]]\nname = 'telegram'\nform = 'telegram'\nurl = 'http://{}'\ntoken = {}\nchat = '-10042'\n\
         [[target]]\nname = 'slack'\nform = 'slack'\nurl = {}\n\
         [[target]]\nname = 'discord'\nform = 'discord'\nurl = {}\n\
         [[target]]\nname = 'program'\nform = 'command'\nrun = ['/bin/sh', '-c', 'grep -q notifier']\n",
        json.url(),
        place("t1", "json-token"),
        ntfy.address,
        place("t2", "tk_ntfy"),
        telegram.address,
        place("t3", "12:bot-token"),
        place("t4", &format!("http://{}/services/T0/B0/slack-path", slack.address)),
        place("t5", &format!("http://{}/api/webhooks/1/discord-path", discord.address)),
    ));
    let said = said(&notifier, 0);
    for name in
        ["json (json)", "ntfy (ntfy)", "telegram (telegram)", "slack (slack)", "discord (discord)", "program (command)"]
    {
        assert!(said.contains(&format!("{name}: took it\n")), "{said}");
    }
    let one = |hook: &Hook| {
        let sent = hook.sent();
        assert_eq!(sent.len(), 1, "{sent:?}");
        assert_eq!(sent[0].header("content-type"), Some("application/json"));
        sent[0].clone()
    };
    let sent = one(&json);
    assert_eq!(
        (sent.line.as_str(), sent.header("authorization")),
        ("POST /in/secret-path HTTP/1.1", Some("Bearer json-token"))
    );
    assert_eq!((&sent.json()["code"], &sent.json()["severity"]), (&json!("test"), &json!("info")));
    let sent = one(&ntfy);
    assert_eq!((sent.line.as_str(), sent.header("authorization")), ("POST / HTTP/1.1", Some("Bearer tk_ntfy")));
    assert_eq!(
        (&sent.json()["topic"], &sent.json()["title"], &sent.json()["priority"]),
        (&json!("guard"), &json!("Test message"), &json!(3))
    );
    let sent = one(&telegram);
    assert_eq!(sent.line, "POST /bot12:bot-token/sendMessage HTTP/1.1");
    assert_eq!((&sent.json()["chat_id"], &sent.json()["parse_mode"]), (&json!("-10042"), &json!("HTML")));
    assert!(sent.json()["text"].as_str().unwrap().starts_with("<b>Test message</b>\n"));
    let sent = one(&slack);
    assert_eq!(sent.line, "POST /services/T0/B0/slack-path HTTP/1.1");
    assert!(sent.json()["text"].as_str().unwrap().starts_with("Test message\n"));
    let sent = one(&discord);
    assert_eq!(sent.line, "POST /api/webhooks/1/discord-path?wait=true HTTP/1.1");
    assert_eq!(sent.json()["allowed_mentions"], json!({"parse": []}));
}

#[test]
fn a_test_says_what_each_answered_and_no_secret() {
    let [taken, refused, elsewhere] = std::array::from_fn(|_| Hook::new());
    refused.manner(Manner::Status(403));
    elsewhere.manner(Manner::Redirect);
    let notifier = Notifier::set_up("");
    let url = notifier.secret("url", &refused.url());
    notifier.config(&format!(
        "[[target]]\nname = 'a'\nform = 'json'\nurl = '{}'\n[[target]]\nname = 'b'\nform = 'slack'\nurl = {{ file = {url:?} }}\n\
         [[target]]\nname = 'c'\nform = 'json'\nurl = '{}'\n[[target]]\nname = 'd'\nform = 'json'\nurl = 'http://127.0.0.1:9/x'\n",
        taken.url(),
        elsewhere.url()
    ));
    let said = said(&notifier, 1);
    assert!(said.contains("a (json): took it"), "{said}");
    assert!(
        said.contains(&format!(
            "b (slack): did not: http://{} answered HTTP 403: 14 bytes, none of them in words that are repeated",
            refused.address
        )),
        "{said}"
    );
    assert!(said.contains("c (json): did not:") && said.contains("is not followed"), "{said}");
    assert!(said.contains("d (json): did not: http://127.0.0.1:9 could not be reached"), "{said}");
    assert!(said.contains("3 of the targets did not take it"), "{said}");
    assert!(!said.contains("secret-path"), "{said}");
    assert_eq!(elsewhere.sent().len(), 1, "no redirect is followed");
}

#[test]
fn a_config_that_cannot_be_used_is_refused_with_its_reason() {
    let notifier = Notifier::set_up("[[target]]\nname = 'a'\nform = 'json'\nurl = 'http://hooks.example/x'\n");
    assert!(said(&notifier, 2).contains("must be an https:// URL"));
    let readable = notifier.path("open");
    std::fs::write(&readable, "token").unwrap();
    // That others can read it is refused too, but in a container.
    std::fs::set_permissions(&readable, std::fs::Permissions::from_mode(0o622)).unwrap();
    notifier.config(&format!(
        "[[target]]\nname = 'a'\nform = 'json'\nurl = 'http://127.0.0.1:9/x'\ntoken = {{ file = {readable:?} }}\n"
    ));
    assert!(said(&notifier, 2).contains("so others can write"));
    notifier.config("[[target]]\nname = 'a'\nform = 'slack'\nurl = { credential = 'notify_slack' }\n");
    assert!(said(&notifier, 2).contains("there is no credential \"notify_slack\""));
    let missing = notifier.path("missing");
    notifier
        .config(&format!("[[target]]\nname = 'a'\nform = 'telegram'\nchat = '1'\ntoken = {{ file = {missing:?} }}\n"));
    assert!(said(&notifier, 2).contains(&format!("`install -m 600 /dev/stdin {}` makes it", missing.display())));
    let other = notifier.path("notify.toml");
    std::fs::remove_file(other).unwrap();
    assert!(said(&notifier, 2).contains("notify.toml does not exist"));
}

#[test]
fn only_a_guard_of_this_machine_is_looked_at() {
    let hook = Hook::new();
    for url in ["http://192.0.2.1:8547", "https://127.0.0.1:8547", "http://guard.example", "http://127.0.0.1:8547/x"] {
        let mut notifier = Notifier::telling(&hook.url(), "");
        notifier.start_at(&notifier.path(""), url);
        until("a refusal", || notifier.log().contains("must be http://HOST:PORT on loopback").then_some(()));
        assert_eq!(notifier.ended(), Some(2), "{url}");
    }
}
