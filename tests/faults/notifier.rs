//! Notifier and guard are killed at each step between an event and the word of it: whatever was wanted arrives at least once and in
//! order. And what the daily summary tells of a day is what the venue's own record of it says.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::Path;

use nix::sys::signal::Signal;
use rust_decimal::Decimal;
use serde_json::{Value, json};
use svc_guard::base::clock::now_ms;
use svc_guard::faults::{SCRIPT, Step};

use crate::hook::Hook;
use crate::http::Connection;
use crate::notifier_process::{Notifier, start_on};
use crate::script::{Fault, hits, play};
use crate::signing::{BTC, ETH, closing, limit, place, signed};
use crate::stand::{Mode, Stand, until};

const RULES: &str = "orders_per_minute = 1200\nduplicate_window = \"0\"\n";
const DAY_MS: u64 = 86_400_000;
/// The notifier's steps.
const STEPS: [Step; 6] =
    [Step::NotifyLooked, Step::NotifyFiled, Step::NotifyTell, Step::NotifyTold, Step::NotifyKeep, Step::NotifyKept];
/// The guard's steps from a decision to its answer.
const DECIDED: [Step; 8] = [
    Step::Request,
    Step::Decide,
    Step::RedoWrite,
    Step::EventsWrite,
    Step::EventsSync,
    Step::Release,
    Step::Answer,
    Step::Aside,
];
/// Requests of one case: some before the death, and some after it.
const REQUESTS: usize = 6;

/// A request that is refused with words that name its number.
fn refused(stand: &Stand, number: usize) -> Value {
    let order = place(&limit(BTC, true, &format!("59800.{}123", number + 10), "0.01"));
    signed(&stand.client, &order)
}

/// The number in a text that names its price.
fn number(text: &str) -> Option<usize> {
    let digits = text.split_once("59800.")?.1.get(..2)?;
    digits.parse::<usize>().ok()?.checked_sub(10)
}

/// The numbers as the target heard them first.
fn heard(hook: &Hook) -> Vec<usize> {
    let mut first = Vec::new();
    for sent in hook.sent() {
        let told = sent.json()["happened"].as_str().and_then(number);
        first.extend(told.filter(|number| !first.contains(number)));
    }
    first
}

/// The numbers on the guard's record.
fn decided(stand: &Stand) -> Vec<usize> {
    // A write that failed is repeated in the next file.
    let events: BTreeMap<u64, Value> =
        stand.on_disk().into_iter().map(|event| (event["seq"].as_u64().unwrap(), event)).collect();
    let decided = events.values().filter(|event| event["kind"] == "decision");
    decided.filter_map(|event| number(event["text"].as_str()?)).collect()
}

fn script(state: &Path, script: &Value) {
    std::fs::write(state.join("faults.new"), script.to_string()).unwrap();
    std::fs::rename(state.join("faults.new"), state.join(SCRIPT)).unwrap();
}

fn notifier(hook: &Hook) -> Notifier {
    Notifier::telling(&hook.url(), "kinds = [\"decision\"]\ncooldown = { default = \"0s\" }\n")
}

#[test]
fn every_event_arrives_in_order_whatever_step_the_notifier_dies_at() {
    assert_eq!(STEPS.as_slice(), Step::ALL.split_at(Step::ALL.len() - STEPS.len()).1, "a step that is not tried");
    let stand = Stand::up(Mode::Paper, RULES);
    let guard = format!("http://{}", stand.address());
    for (step, skip) in STEPS.into_iter().flat_map(|step| [0, 1, 3].map(|skip| (step, skip))) {
        let hook = Hook::new();
        let mut notifier = notifier(&hook);
        notifier.start(&stand);
        let mut fault = Fault::Abort.at(step, 1);
        fault["skip"] = json!(skip);
        script(&notifier.path("state"), &json!({"faults": [fault]}));
        // The switchboard says so just before.
        let hit = format!("abort at {}", step.name());
        for number in 0..REQUESTS {
            assert_eq!(stand.post("/exchange", &refused(&stand, number)).json()["guard"]["code"], "price_invalid");
            let is_dead = || number <= REQUESTS / 2 && notifier.log().contains(&hit);
            // Each comes to its step by itself, until one of them does not get beyond it.
            until("the next one or the death", || (is_dead() || heard(&hook).contains(&number)).then_some(()));
            if number == REQUESTS / 2 {
                until("the death", || is_dead().then_some(()));
                notifier.kill();
                std::fs::remove_file(notifier.path("state").join(SCRIPT)).unwrap();
                notifier.start_at(&stand.home(), &guard);
            }
        }
        let wanted: Vec<usize> = (0..REQUESTS).collect();
        until("all of them", || (heard(&hook).len() == REQUESTS).then_some(()));
        assert_eq!(heard(&hook), wanted, "{step:?}, {skip} passed");
        assert_eq!(notifier.stop(), Some(0));
    }
}

/// Asks for something; a guard that dies of it gives no answer.
fn ask(address: SocketAddr, body: &Value) {
    let asked = Connection::try_open(address).map(|mut connection| connection.post("/exchange", &body.to_string()));
    drop(asked);
}

/// How a notifier lives through the guard's death. None of them hears of the last requests while the guard lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Looks {
    /// It looks while the guard is gone, and may read its journal: the last words are told at once.
    AtTheJournal,
    /// It looks while the guard is gone, and has nothing but the next life to hear them from.
    InVain,
    /// It does not look before the next life.
    Later,
}

/// A notifier that hears of refused requests, and how it looks.
struct Reader {
    looks: Looks,
    hook: Hook,
    notifier: Notifier,
    /// A home without a journal.
    _home: tempfile::TempDir,
}

impl Reader {
    fn beside(stand: &Stand, looks: Looks) -> Self {
        let (hook, home) = (Hook::new(), tempfile::tempdir().unwrap());
        let mut notifier = notifier(&hook);
        match looks {
            Looks::AtTheJournal => notifier.start(stand),
            Looks::InVain | Looks::Later => notifier.start_in(home.path(), stand),
        }
        let each = json!({"step": Step::NotifyLooked.name(), "do": "delay", "ms": 0, "times": 1_000});
        script(&notifier.path("state"), &json!({"faults": [each]}));
        Self { looks, hook, notifier, _home: home }
    }

    /// How often it looked since it was last told to say so.
    fn looked(&self) -> usize {
        let name = format!(" at {} ", Step::NotifyLooked.name());
        self.notifier.log().lines().filter(|line| line.contains(&name)).count()
    }

    /// Goes on while the guard is gone, as it does.
    fn while_it_is_gone(&self, stand: &Stand, step: Step) {
        if self.looks == Looks::Later {
            return;
        }
        let before = self.looked();
        self.notifier.signal(Signal::SIGCONT);
        // The first of them may have begun before it was stopped.
        until("looks at nobody", || (self.looked() >= before + 2).then_some(()));
        if self.looks == Looks::AtTheJournal {
            let last = decided(stand);
            until("the last words", || last.iter().all(|number| heard(&self.hook).contains(number)).then_some(()));
            assert!(last.len() >= REQUESTS / 2, "{step:?}: {last:?}");
        }
    }
}

#[test]
fn every_event_arrives_in_order_whatever_step_the_guard_dies_at() {
    for step in DECIDED {
        let mut stand = Stand::up(Mode::Paper, RULES);
        let address = stand.address();
        let readers = [Looks::AtTheJournal, Looks::InVain, Looks::Later].map(|looks| Reader::beside(&stand, looks));
        for number in 0..REQUESTS {
            if number == REQUESTS / 2 - 1 {
                for reader in &readers {
                    until("what was before", || heard(&reader.hook).contains(&(number - 1)).then_some(()));
                    reader.notifier.signal(Signal::SIGSTOP);
                }
            }
            if number == REQUESTS / 2 {
                play(&stand, &[Fault::Abort.at(step, 1)]);
            }
            ask(address, &refused(&stand, number));
            if number == REQUESTS / 2 {
                until("the death", || {
                    ask(address, &json!({}));
                    stand.has_ended()
                });
                assert!(hits(&stand, step) > 0, "{step:?}");
                play(&stand, &[]);
                readers.iter().for_each(|reader| reader.while_it_is_gone(&stand, step));
                start_on(&mut stand, address.port());
                readers.iter().for_each(|reader| reader.notifier.signal(Signal::SIGCONT));
            }
        }
        let wanted = decided(&stand);
        assert!(wanted.len() >= REQUESTS - 1, "{step:?}: one may be lost with its client unanswered: {wanted:?}");
        for mut reader in readers {
            until("the last of them", || heard(&reader.hook).contains(&(REQUESTS - 1)).then_some(()));
            assert_eq!(heard(&reader.hook), wanted, "{step:?} {:?}", reader.looks);
            assert_eq!(reader.notifier.stop(), Some(0));
        }
    }
}

/// The sum of one member of the venue's rows.
fn sum(rows: &Value, member: impl Fn(&Value) -> String) -> Decimal {
    rows.as_array().unwrap().iter().map(|row| member(row).parse::<Decimal>().unwrap()).sum()
}

/// The amount behind a name in a text of figures.
fn figure(text: &str, name: &str) -> Decimal {
    let part = text.split(&format!("{name} ")).nth(1).unwrap_or_else(|| panic!("no {name} in {text}"));
    let amount: String = part.chars().take_while(|letter| letter.is_ascii_digit() || "-.".contains(*letter)).collect();
    amount.trim_end_matches('.').parse().unwrap()
}

#[test]
fn the_summary_of_a_day_is_the_venues_own_record_of_it() {
    let mut stand = Stand::set_up(Mode::Testnet, "duplicate_window = \"0\"\n");
    stand.venue.setting("weight_limit", Value::Null).unwrap();
    stand.start();
    let hook = Hook::new();
    let config =
        format!("summary = \"00:00\"\n[[target]]\nname = \"hook\"\nform = \"json\"\nurl = \"{}\"\n", hook.url());
    let mut notifier = Notifier::set_up(&config);
    notifier.start(&stand);
    until("an open book", || stand.events_of("balance").pop());
    let taking = |asset, px: &str, size: &str| {
        place(&json!({"a": asset, "b": true, "p": px, "s": size, "r": false, "t": {"limit": {"tif": "Ioc"}}}))
    };
    stand.send(&taking(ETH, "2510", "0.1"));
    stand.venue.price("ETH", "2480").unwrap();
    until("the price", || (stand.status()["positions"][0]["mark_px"] == "2480").then_some(()));
    stand.send(&closing(ETH, "2470", "0.04"));
    stand.venue.control(&json!({"op": "funding", "rate": "0.0001"})).unwrap();
    assert_eq!(stand.post("/exchange", &refused(&stand, 0)).json()["guard"]["code"], "price_invalid");
    let truth = until("the venue's rows on record", || {
        let truth = stand.venue.truth();
        let rows = |name: &str| truth[name].as_array().unwrap().len();
        let kept = |kind: &str| stand.events_of(kind).len();
        let is_whole = rows("fills") >= 2 && kept("fill") == rows("fills") && kept("funding") == rows("funding");
        is_whole.then_some(truth)
    });
    // It is noon of the day after that of the fills.
    let day = truth["fills"][0]["time"].as_u64().unwrap() / DAY_MS;
    let ahead_ms = ((day + 1) * DAY_MS + DAY_MS / 2).saturating_sub(now_ms());
    script(&notifier.path("state"), &json!({"clock_ms": ahead_ms}));
    let told = hook.hears("summary");
    let name = svc_guard::base::day::day_of(day * DAY_MS);
    let text = told["happened"].as_str().unwrap().split_once(&format!("{name} (UTC): ")).unwrap().1;
    let fills = &truth["fills"];
    let of = |name: &'static str| move |row: &Value| row[name].as_str().unwrap().to_owned();
    let (gross, fees) = (sum(fills, of("closedPnl")), sum(fills, of("fee")));
    let funding = sum(&truth["funding"], |row| row["delta"]["usdc"].as_str().unwrap().to_owned());
    let volume = fills.as_array().unwrap().iter().map(|fill| {
        fill["px"].as_str().unwrap().parse::<Decimal>().unwrap()
            * fill["sz"].as_str().unwrap().parse::<Decimal>().unwrap()
    });
    assert!(fees > Decimal::ZERO && gross != Decimal::ZERO && funding != Decimal::ZERO, "{truth}");
    for (name, amount) in [
        ("net", gross - fees + funding),
        ("fees", fees),
        ("funding", funding),
        ("volume", volume.sum()),
        ("fills", fills.as_array().unwrap().len().into()),
        ("stops fired", Decimal::ZERO),
        ("halts", Decimal::ZERO),
        ("decisions vetoed", Decimal::ONE),
    ] {
        assert_eq!(figure(text, name), amount, "{name}: {text}");
    }
    assert_eq!(notifier.stop(), Some(0));
}
