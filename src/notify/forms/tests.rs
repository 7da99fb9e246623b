//! The requests that each service documents, with texts that try to be more than text.

use serde_json::json;

use super::*;
use crate::notify::notice::{Notice, Severity, Turn};
use crate::notify::watch::Guard;

const NASTY: &str = "<b>&amp;</b> <!channel> @everyone *bold* `code` [x](http://y) \"q\" \\";

fn message(happened: &str) -> Message {
    let notice = Notice::once("kill", "kill", Severity::Critical, "Kill switch pulled");
    let notice = notice.words(happened, "It closes.", "Look.").at(1_800_000_000_000);
    let guard = Guard {
        account: "0x1111111111111111111111111111111111111111".to_owned(),
        mode: "testnet".to_owned(),
        ..Guard::default()
    };
    Message::of(&notice, &guard, &["hunter22".to_owned()])
}

const SUBJECT: &str = "CRITICAL: Kill switch pulled [0x1111…1111 testnet]";

fn body(happened: &str) -> String {
    format!("{happened}\nThe guard: It closes.\nYou: Look.\n2027-01-15 08:00:00 UTC · 0x1111…1111 testnet")
}

#[test]
fn ntfy_is_published_to_as_json() {
    let post = ntfy::post(&message(NASTY), "https://ntfy.example", "guard", Some("tk_1"));
    assert_eq!(post.url, "https://ntfy.example");
    assert_eq!(post.headers, [("Authorization", "Bearer tk_1".to_owned())]);
    let wanted =
        json!({"topic": "guard", "title": SUBJECT, "message": body(NASTY), "priority": 5, "tags": ["rotating_light"]});
    assert_eq!(post.body, wanted);
    let long = ntfy::post(&message(&"é".repeat(3_000)), "https://ntfy.example", "guard", None);
    assert!(long.body["message"].as_str().unwrap().len() <= 4_000);
}

/// What is over goes where what it is the end of went, and is called good.
#[test]
fn good_news_is_not_called_critical() {
    let flat = Notice::once("status", "flat", Severity::Critical, "Flat");
    let over =
        Notice { turn: Turn::Over, ..Notice::once("kill", "kill", Severity::Critical, "Over: Kill switch pulled") };
    for (notice, title) in [(flat, "Flat"), (over, "Over: Kill switch pulled")] {
        let message = Message::of(&notice, &Guard::default(), &[]);
        assert_eq!((message.subject().as_str(), &message.json()["severity"]), (title, &json!("good")));
        let post = ntfy::post(&message, "https://ntfy.example", "guard", None);
        assert_eq!((&post.body["priority"], &post.body["tags"]), (&json!(3), &json!(["white_check_mark"])));
        assert_eq!(message.severity(), Severity::Critical, "quiet hours do not hold it back");
    }
}

#[test]
fn telegram_is_sent_html_that_is_none_of_the_text() {
    let post = telegram::post(&message(NASTY), "https://api.telegram.org/", "12:abc", "-100");
    assert_eq!(post.url, "https://api.telegram.org/bot12:abc/sendMessage");
    assert_eq!((&post.body["chat_id"], &post.body["parse_mode"]), (&json!("-100"), &json!("HTML")));
    let text = post.body["text"].as_str().unwrap();
    assert!(
        text.starts_with(&format!("<b>{SUBJECT}</b>\n&lt;b&gt;&amp;amp;&lt;/b&gt; &lt;!channel&gt; @\u{2060}everyone")),
        "{text}"
    );
    assert_eq!(text.matches('<').count(), 2);
    let long = telegram::post(&message(&"<".repeat(9_000)), "https://x.example", "t", "1");
    let shown = long.body["text"].as_str().unwrap().replace("&lt;", "<").chars().count();
    assert!(shown <= 4_096, "{shown}");
}

#[test]
fn slack_is_sent_text_that_mentions_nobody() {
    let post = slack::post(&message(NASTY), "https://hooks.example/x");
    let text = post.body["text"].as_str().unwrap();
    assert!(text.contains("&lt;!channel&gt;") && !text.contains('<') && !text.contains('>'), "{text}");
    assert_eq!(post.body["mrkdwn"], false);
}

#[test]
fn discord_is_sent_text_that_mentions_nobody_and_fits() {
    let post = discord::post(&message(NASTY), "https://d.example/api/webhooks/1/x");
    assert_eq!(post.url, "https://d.example/api/webhooks/1/x?wait=true");
    assert_eq!(post.body["allowed_mentions"], json!({"parse": []}));
    let text = post.body["content"].as_str().unwrap();
    assert!(text.contains(r"\*bold\* \`code\` \[x\](http\://y)") && text.contains(r"\@everyone"), "{text}");
    for long in ["*".repeat(5_000), "é*".repeat(2_000), "😀".repeat(2_000)] {
        let post = discord::post(&message(&long), "https://d.example/x?thread_id=1");
        assert!(post.body["content"].as_str().unwrap().encode_utf16().count() <= 2_000);
        assert_eq!(post.url, "https://d.example/x?thread_id=1&wait=true");
    }
}

#[test]
fn a_webhook_gets_every_part_under_its_name() {
    let post = json::post(&message(NASTY), "https://x.example/h", Some("t"));
    assert_eq!(post.headers, [("Authorization", "Bearer t".to_owned())]);
    let wanted = json!({
        "schema": 1, "id": 0, "at_ms": 1_800_000_000_000_u64, "kind": "kill", "code": "kill", "about": "", "severity": "critical",
        "turn": "once", "account": "0x1111111111111111111111111111111111111111", "mode": "testnet",
        "title": "Kill switch pulled", "happened": NASTY, "did": "It closes.", "todo": "Look."
    });
    assert_eq!(post.body, wanted);
}

#[test]
fn no_secret_is_in_any_message() {
    let key = format!("0x{}", "a1".repeat(32));
    let nasty = message(&format!("the token hunter22 and the key {key} are in a reason"));
    let posts = [
        ntfy::post(&nasty, "https://x.example", "t", None),
        telegram::post(&nasty, "https://x.example", "t", "1"),
        slack::post(&nasty, "https://x.example"),
        discord::post(&nasty, "https://x.example"),
        json::post(&nasty, "https://x.example", None),
    ];
    for post in posts {
        let text = post.body.to_string();
        assert!(!text.contains("hunter22") && !text.contains("a1a1a1a1") && text.contains("left out"), "{text}");
    }
}

/// A message of what strangers wrote, and of what the guard says of it.
fn strange(happened: &str, did: &str) -> Message {
    let notice = Notice::once("kill", "kill", Severity::Critical, "Kill switch pulled").about("E\nYou: x");
    let notice = notice.words(happened, did, "Run `sudo systemctl restart svc-guard@b`.").at(1_800_000_000_000);
    let guard = Guard { account: "0x1".to_owned(), mode: "test\nYou: net".to_owned(), ..Guard::default() };
    Message::of(&notice, &guard, &["hunter22".to_owned()])
}

/// The texts as each service is given them.
fn texts(message: &Message) -> Vec<(&'static str, String)> {
    let text = |post: Post, key: &str| post.body[key].as_str().unwrap().to_owned();
    vec![
        ("ntfy", text(ntfy::post(message, "https://x.example", "t", None), "message")),
        ("telegram", text(telegram::post(message, "https://x.example", "t", "1"), "text")),
        ("slack", text(slack::post(message, "https://x.example"), "text")),
        ("discord", text(discord::post(message, "https://x.example"), "content")),
        ("json", json::post(message, "https://x.example", None).body.to_string().replace("\\n", "\n")),
        ("smtp", message.lines().join("\n")),
    ]
}

/// A reason or an answer of the venue's cannot write a line that passes for one of the guard's.
#[test]
fn no_text_of_a_stranger_passes_for_a_line_of_the_guards() {
    for end in ["\n", "\r", "\r\n", "\u{2028}", "\u{85}", "\u{b}"] {
        let message =
            strange(&format!("so{end}You: send all to 0x2{end}The guard: is well"), &format!("It{end}You: pay"));
        for (form, text) in texts(&message) {
            let text = if form == "discord" { text.replace('\\', "") } else { text };
            let lines = text.split(['\n', '\r', '\u{2028}', '\u{2029}', '\u{85}', '\u{b}', '\u{c}']);
            let yours = lines.filter(|line| line.starts_with("You: ")).count();
            assert_eq!(yours, usize::from(form != "json"), "{form}: {text:?}");
        }
    }
    let hidden = strange("hunt\u{200b}er22 and hun\u{ad}ter\u{2060}22", &"x".repeat(1_995));
    for (form, text) in texts(&hidden) {
        assert!(!text.contains("hunter22"), "{form}: {text:?}");
    }
    let turned = strange("\u{202e}drawkcab\u{200b}\u{feff}\u{1b}[2J\u{0}", "It.");
    for (form, text) in texts(&turned) {
        assert!(!text.contains(['\u{202e}', '\u{200b}', '\u{feff}', '\u{1b}', '\u{0}']), "{form}: {text:?}");
    }
}

/// However much a stranger writes, the command and the time stay, and every service takes the text.
#[test]
fn what_a_person_has_to_do_is_not_cut_away() {
    for long in ["*", "&", "<!channel> ", "@everyone ", "é", "😀", "\u{1f1e6}", "`", "\\", "&amp;", "x"] {
        for (happened, did) in [(5_000, 5), (5, 5_000), (5_000, 5_000)] {
            let message = strange(&long.repeat(happened), &long.repeat(did));
            for (form, text) in texts(&message).into_iter().filter(|(form, _)| *form != "json") {
                let plain = text.replace('\\', "");
                assert!(plain.contains("Run `sudo systemctl restart svc-guard@b`."), "{form} {long}: {text}");
                assert!(plain.contains("2027-01-15 08:00:00 UTC") && plain.contains("The guard: "), "{form}: {text}");
                let shown = text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
                let fits = match form {
                    "ntfy" => text.len() <= 4_096,
                    "telegram" => shown.encode_utf16().count() <= 4_096,
                    "slack" => text.chars().count() <= 40_000,
                    "discord" => text.encode_utf16().count() <= 2_000,
                    _ => true,
                };
                assert!(fits, "{form} {long}: {}", text.len());
                // No escape is cut in two.
                if form == "telegram" || form == "slack" {
                    let rest = ["&amp;", "&lt;", "&gt;"].iter().fold(text.clone(), |text, one| text.replace(one, ""));
                    assert!(!rest.contains('&'), "{form} {long}: {rest}");
                }
                if form == "discord" {
                    let cut = text.find('…').map_or("", |at| &text[..at]);
                    let slashes = cut.bytes().rev().take_while(|byte| *byte == b'\\').count();
                    assert_eq!(slashes % 2, 0, "{long}: {text}");
                }
            }
        }
    }
}

/// Telegram makes a mention of any name behind an `@`; a command stays as it is typed.
#[test]
fn telegram_mentions_nobody_and_leaves_commands_alone() {
    let message = strange("@all (@all) ,@all\n@all _@_ x@y", "It.");
    let post = telegram::post(&message, "https://x.example", "t", "1");
    let text = post.body["text"].as_str().unwrap();
    let letters: Vec<char> = text.chars().collect();
    for (at, _) in letters.iter().enumerate().filter(|(_, letter)| **letter == '@') {
        let is_word = at > 0 && (letters[at - 1].is_alphanumeric() || letters[at - 1] == '_');
        assert!(is_word || letters[at + 1] == '\u{2060}', "{text:?}");
    }
    assert!(text.contains("restart svc-guard@b`") && text.contains("x@y"), "{text:?}");
}

/// Slack calls no address in the text for a preview, and makes no name a link.
#[test]
fn slack_calls_no_address_and_links_no_name() {
    let post = slack::post(
        &strange("<@U123> <#C1> <https://x.example|the guard> @here https://y.example", "It."),
        "https://x",
    );
    assert_eq!((&post.body["unfurl_links"], &post.body["unfurl_media"]), (&json!(false), &json!(false)));
    assert!(post.body.get("link_names").is_none() && post.body.get("parse").is_none());
    assert!(!post.body["text"].as_str().unwrap().contains(['<', '>']));
}
