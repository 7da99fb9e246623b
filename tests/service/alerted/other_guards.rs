//! Guards that a test plays: pages that are cut, statuses that are older than their events, and another guard at the address.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use super::hook::Hook;
use super::notifier::Notifier;
use crate::stand::until;

/// The most that one page of events holds.
const PAGE_BYTES: usize = 1024 * 1024;

fn now_ms() -> u64 {
    u64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis()).unwrap()
}

/// What a guard answers with.
#[derive(Default)]
struct Said {
    account: String,
    killed: Option<String>,
    events: Vec<Value>,
    /// Whether it is not well.
    is_ill: bool,
    /// The first line of each request.
    asked: Vec<String>,
    /// Statuses that were asked for.
    looks: usize,
    /// What happens between the next status and the events that are asked for behind it.
    between: Option<(Value, String)>,
}

impl Said {
    fn event(&mut self, mut event: Value) {
        let seq = self.events.last().map_or(1, |last| last["seq"].as_u64().unwrap() + 1);
        let whole = event.as_object_mut().unwrap();
        whole.entry("seq").or_insert(json!(seq));
        whole.entry("at_ms").or_insert(json!(now_ms()));
        self.events.push(event);
    }

    fn answer(&mut self, path: &str) -> String {
        let number =
            |key: &str| path.split_once(key).map(|(_, rest)| rest.split('&').next().unwrap().parse::<u64>().unwrap());
        if path.starts_with("/healthz") {
            return "{}".to_owned();
        }
        if path.starts_with("/guard/status") {
            self.looks += 1;
            let status = json!({
                "schema": 1, "mode": "testnet", "account": self.account, "kill_file": "/home/me/g/kill", "at_ms": now_ms(),
                "risk": {"state": "active"}, "killed": self.killed, "positions": [], "open_orders": [], "alerts": [],
                "venue": {"account_age_ms": 100_000_000}, "last_event": self.events.last()
            });
            if let Some((event, reason)) = self.between.take() {
                self.event(event);
                self.killed = Some(reason);
            }
            return status.to_string();
        }
        let (since, limit) = (number("since=").unwrap(), number("limit=").unwrap());
        let mut room = PAGE_BYTES;
        let fits = |event: &&Value| {
            let length = event.to_string().len();
            let is_first = room == PAGE_BYTES;
            room = room.saturating_sub(length);
            is_first || room > 0
        };
        let behind = self.events.iter().filter(|event| event["seq"].as_u64().unwrap() > since);
        let page: Vec<&Value> = behind.take(usize::try_from(limit).unwrap()).take_while(fits).collect();
        let seq = |event: Option<&Value>| event.map(|event| event["seq"].clone());
        json!({"schema": 1, "oldest": seq(self.events.first()), "last": seq(self.events.last()), "events": page})
            .to_string()
    }
}

/// The guard.
struct Played {
    url: String,
    said: Arc<Mutex<Said>>,
}

impl Played {
    fn new(account: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let said = Arc::new(Mutex::new(Said { account: account.to_owned(), ..Said::default() }));
        said.lock().unwrap().event(json!({"kind": "started", "version": "1"}));
        let answers = Arc::clone(&said);
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let answers = Arc::clone(&answers);
                std::thread::spawn(move || serve(stream, &answers));
            }
        });
        Self { url, said }
    }

    fn change(&self, change: impl FnOnce(&mut Said)) {
        change(&mut self.said.lock().unwrap());
    }

    /// Waits until it was looked at so many times more.
    fn is_looked_at(&self, times: usize) {
        let before = self.said.lock().unwrap().looks;
        until("more looks", || (self.said.lock().unwrap().looks >= before + times).then_some(()));
    }
}

fn serve(stream: TcpStream, said: &Mutex<Said>) {
    let mut writer = stream.try_clone().unwrap();
    let mut lines = BufReader::new(stream).lines().map_while(Result::ok);
    while let Some(first) = lines.next() {
        if lines.by_ref().all(|line| !line.is_empty()) {
            return;
        }
        let mut said = said.lock().unwrap();
        let path = first.split(' ').nth(1).unwrap();
        let (status, body) = match said.is_ill && path == "/healthz" {
            true => ("503 X", json!({"ok": false, "problems": ["prices stale"]}).to_string()),
            false => ("200 OK", said.answer(path)),
        };
        said.asked.push(first);
        drop(said);
        let head =
            format!("HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n", body.len());
        if writer.write_all((head + &body).as_bytes()).is_err() {
            return;
        }
    }
}

const ONE: &str = "0x1111111111111111111111111111111111111111";
const OTHER: &str = "0x2222222222222222222222222222222222222222";

/// A notifier that has its place at a guard, and its target.
fn watched(guard: &Played) -> (Notifier, Hook) {
    let hook = Hook::new();
    let mut notifier = Notifier::telling(&hook.url(), "cooldown = { default = \"0s\" }\n");
    let home = notifier.path("");
    notifier.start_at(&home, &guard.url);
    until("its place", || notifier.state().contains("\"cursor\":1").then_some(()));
    (notifier, hook)
}

fn titles(hook: &Hook) -> Vec<String> {
    hook.sent().iter().map(|sent| sent.json()["title"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_status_of_before_an_event_does_not_end_what_that_began() {
    let guard = Played::new(ONE);
    let (_notifier, hook) = watched(&guard);
    guard.change(|said| said.between = Some((json!({"kind": "kill", "reason": "enough"}), "enough".to_owned())));
    hook.hears("kill");
    guard.is_looked_at(3);
    assert_eq!(titles(&hook), ["Kill switch pulled"]);
}

#[test]
fn a_page_that_is_cut_is_not_taken_for_the_last_one() {
    let guard = Played::new(ONE);
    let (_notifier, hook) = watched(&guard);
    guard.change(|said| {
        for _ in 0..4 {
            said.event(json!({"kind": "nonsense", "text": "x".repeat(700_000)}));
        }
        said.event(json!({"kind": "kill", "reason": "enough"}));
        said.killed = Some("enough".to_owned());
    });
    hook.hears("kill");
    guard.is_looked_at(3);
    assert_eq!(titles(&hook), ["Kill switch pulled"]);
}

/// Nothing goes back into the guard: it is asked what anybody may ask, and told nothing.
#[test]
fn a_guard_is_only_asked() {
    let guard = Played::new(ONE);
    let (_notifier, hook) = watched(&guard);
    guard.change(|said| said.event(json!({"kind": "kill", "reason": "enough"})));
    hook.hears("kill");
    guard.is_looked_at(3);
    let asked = guard.said.lock().unwrap().asked.clone();
    let reads = ["GET /guard/events?", "GET /guard/status ", "GET /guard/report?", "GET /healthz "];
    let others: Vec<&String> = asked.iter().filter(|line| !reads.iter().any(|read| line.starts_with(read))).collect();
    assert!(others.is_empty() && asked.len() > 6, "{asked:?}");
}

/// Whoever listens outside rings too where the guard answers and is not well.
#[test]
fn a_guard_that_is_not_well_has_no_heartbeat() {
    let guard = Played::new(ONE);
    let [hook, heart] = std::array::from_fn(|_| Hook::new());
    let mut notifier = Notifier::set_up(&format!(
        "heartbeat = \"{}\"\nheartbeat_every = \"1s\"\n[[target]]\nname = \"hook\"\nform = \"json\"\nurl = \"{}\"\n",
        heart.url(),
        hook.url()
    ));
    notifier.start_at(&notifier.path(""), &guard.url);
    let beats = || heart.sent().len();
    until("a beat", || (beats() > 0).then_some(()));
    guard.change(|said| said.is_ill = true);
    guard.is_looked_at(2);
    // A call that had begun may end.
    std::thread::sleep(Duration::from_millis(500));
    let before = beats();
    std::thread::sleep(Duration::from_millis(2_500));
    assert_eq!(beats(), before);
    guard.change(|said| said.is_ill = false);
    until("a beat again", || (beats() > before).then_some(()));
}

/// Another account's guard, whose journal goes further: what it did before is no news, and what lasted at the one before is not
/// told to be over.
#[test]
fn another_guards_past_is_no_news() {
    let guard = Played::new(ONE);
    let (_notifier, hook) = watched(&guard);
    guard.change(|said| {
        said.event(json!({"kind": "kill", "reason": "enough"}));
        said.killed = Some("enough".to_owned());
    });
    hook.hears("kill");
    guard.change(|said| {
        *said = Said { account: OTHER.to_owned(), looks: said.looks, ..Said::default() };
        for seq in 1..=60 {
            said.event(json!({"kind": "error", "text": "long ago", "at_ms": 1_000_000_000_000_u64 + seq}));
        }
    });
    let told = hook.hears("guard_changed");
    assert!(told["happened"].as_str().unwrap().contains("Kill switch pulled"), "{told}");
    guard.is_looked_at(3);
    guard.change(|said| said.event(json!({"kind": "error", "text": "now"})));
    assert_eq!(hook.hears("error")["happened"], "now");
    assert_eq!(titles(&hook), ["Kill switch pulled", "Another guard answers", "Something went wrong"]);
}

/// The same account's guard on another journal that goes further, such as one of a machine that stood by.
#[test]
fn another_journals_past_is_no_news() {
    let guard = Played::new(ONE);
    let (_notifier, hook) = watched(&guard);
    guard.change(|said| said.event(json!({"kind": "error", "text": "the last word here"})));
    hook.hears("error");
    guard.change(|said| {
        said.events.clear();
        for seq in 1..=60 {
            said.event(json!({"kind": "kill", "reason": "long ago", "at_ms": 1_000_000_000_000_u64 + seq}));
        }
        said.event(json!({"kind": "error", "text": "news"}));
    });
    hook.hears("journal_changed");
    until("what is news", || hook.sent().iter().any(|sent| sent.json()["happened"] == "news").then_some(()));
    guard.is_looked_at(3);
    let wanted = ["Something went wrong", "The guard's journal is another one", "Something went wrong"];
    assert_eq!(titles(&hook), wanted);
}
