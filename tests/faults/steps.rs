//! Every step that the program names, each kind of fault at it, in the middle of each kind of action.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use serde_json::Value;
use svc_guard::faults::Step;

use crate::acts::Act;
use crate::script::{Fault, hits, play};
use crate::stand::{Mode, Stand, run_with, until};
use crate::truth::{self, Ends};

/// Services that run beside one another: most of their time they wait.
const AT_ONCE: usize = 12;
/// Reads come faster than a real venue would have them, so that a test need not wait for them.
const WATCH: &str = "prices_ms = 400\naccount_ms = 200\nopen_orders_ms = 600\n";
const PATIENCE: Duration = Duration::from_secs(60);
/// A fault that has not hit anything by then will not, whatever the act.
const IN_VAIN: Duration = Duration::from_millis(2_500);

/// One fault in one act.
#[derive(Clone, Copy, Debug)]
struct Case {
    step: Step,
    fault: Fault,
    act: Act,
}

/// The guard's own steps: those behind them are the notifier's.
fn steps() -> &'static [Step] {
    let own = Step::ALL.partition_point(|step| *step <= Step::WeightKept);
    &Step::ALL[..own]
}

/// Every step can end the program or fail; those of the venue's calls can also be held up.
fn faults_of(step: Step) -> &'static [Fault] {
    if (Step::SendTaken..=Step::AskWritten).contains(&step) {
        &[Fault::Abort, Fault::Fail, Fault::Delay]
    } else {
        &[Fault::Abort, Fault::Fail]
    }
}

impl Case {
    fn all() -> Vec<Case> {
        let acts = |step, fault| Act::ALL.map(|act| Case { step, fault, act });
        let faults = |step: &Step| faults_of(*step).iter().flat_map(|fault| acts(*step, *fault)).collect::<Vec<_>>();
        steps().iter().flat_map(faults).collect()
    }

    /// The faults that bring the program to the step and hit it there.
    fn script(self) -> Vec<Value> {
        // A new file is begun where writing to the old one failed.
        let before = match self.step {
            Step::EventsCreate | Step::EventsFolderSync => Some(Step::EventsSync),
            Step::RiskCreate | Step::RiskFolderSync => Some(Step::RiskSync),
            _ => None,
        };
        let before = before.map(|before| Fault::Fail.at(before, 1));
        // A journal's write is tried three times in a row before it counts as failed.
        let times = if self.fault == Fault::Fail && self.step < Step::Release { 4 } else { 1 };
        before.into_iter().chain([self.fault.at(self.step, times)]).collect()
    }

    /// Whether the program ends over it.
    fn is_fatal(self) -> bool {
        self.fault == Fault::Abort || self.fault == Fault::Fail && Step::Decide <= self.step
    }

    fn play(self) -> (bool, Ends) {
        let mut stand = Stand::set_up_watching(Mode::Testnet, "", WATCH);
        stand.venue.setting("weight_limit", Value::Null).unwrap();
        stand.start();
        let body = self.act.prepare(&stand);
        play(&stand, &self.script());
        self.act.begin(&stand, body.as_ref());
        let begun = Instant::now();
        until("the fault or the act's end", || {
            let ended = stand.has_ended().is_some();
            let is_over = begun.elapsed() > IN_VAIN || hits(&stand, self.step) > 0;
            (ended || is_over).then_some(())
        });
        if hits(&stand, self.step) == 0 {
            restart_into(&mut stand, self);
        }
        let has_hit = hits(&stand, self.step) > 0;
        if has_hit && self.is_fatal() && stand.is_running() {
            until("the end", || stand.has_ended());
        }
        recover(&mut stand, self);
        let ends = self.settle(&mut stand);
        (has_hit, ends)
    }

    /// Waits until every action has its end and the account is as it must be, and holds the journal to the truth.
    fn settle(self, stand: &mut Stand) -> Ends {
        let begun = Instant::now();
        while let Some(missing) = self.missing(stand) {
            if begun.elapsed() > PATIENCE {
                let events: Vec<String> = stand.events().iter().map(Value::to_string).collect();
                panic!("{self:?}: {missing}\n{}\n{}", events.join("\n"), stand.log());
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        assert_eq!(stand.stop(Signal::SIGTERM), Some(0), "{self:?}: {}", stand.log());
        let truth = stand.venue.truth();
        let shown = run_with(&stand.home(), &["journal-show", "--mode", "testnet"], "");
        assert_eq!(shown.status.code(), Some(0), "{self:?}");
        // The next start verifies every line, and tells all of them.
        stand.forget_spent_weight();
        stand.launch();
        let mut events = stand.events();
        assert_eq!(events[0]["seq"], 1, "{self:?}: the whole journal is in memory");
        let end = events.iter().rposition(|event| event["kind"] == "stopped").unwrap();
        events.truncate(end + 1);
        truth::hold_fills(&events, &truth);
        truth::hold(&events, &truth)
    }

    /// What is still to come.
    fn missing(self, stand: &Stand) -> Option<String> {
        let (events, truth) = (stand.events(), stand.venue.truth());
        let open = truth::open_ends(&events);
        if !open.is_empty() {
            return Some(format!("no end of {open:?}"));
        }
        let is_done = self.was_lost(&events) || self.act.is_done(&truth);
        truth::bare(&truth).or_else(|| (!is_done).then(|| format!("not done: {}", truth["orders"])))
    }

    /// Whether the fault took the client's request away before it was decided on.
    fn was_lost(self, events: &[Value]) -> bool {
        self.act == Act::Kill && !events.iter().any(|event| event["kind"] == "kill")
    }
}

/// Steps of a stop and of a start are met by a stop and a start.
fn restart_into(stand: &mut Stand, case: Case) {
    play(stand, &case.script());
    if stand.is_running() && stand.has_ended().is_none() {
        stand.stop(Signal::SIGTERM);
    }
    if case.step == Step::ReserveCreate {
        // What is whole is kept: a full disk took it, say.
        std::fs::remove_file(stand.journal().join("reserve")).unwrap();
    }
    if hits(stand, case.step) == 0 {
        // With an abort, it does not come up.
        let _ended = stand.try_launch();
    }
}

/// Takes the fault away, and starts the program again if it has ended.
fn recover(stand: &mut Stand, case: Case) {
    let may_live = case.fault != Fault::Abort;
    if may_live && stand.is_running() {
        // A disk that fails for a moment; then it works again.
        std::thread::sleep(Duration::from_millis(300));
    }
    play(stand, &[]);
    if !stand.is_running() || stand.has_ended().is_some() {
        // Its watch is as quick as can be: a life before it leaves little of the minute's weight.
        stand.forget_spent_weight();
        stand.launch();
    }
}

#[test]
fn nothing_is_lost_or_doubled_at_any_step() {
    let (cases, next) = (Case::all(), AtomicUsize::new(0));
    let only = std::env::var("FAULT_CASE").unwrap_or_default();
    let cases: Vec<Case> = cases.into_iter().filter(|case| format!("{case:?}").contains(&only)).collect();
    let outcomes = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::SeqCst)) {
                    let played = std::panic::catch_unwind(|| case.play()).map_err(|_| ());
                    outcomes.lock().unwrap().push((*case, played));
                }
            });
        }
    });
    let outcomes = outcomes.into_inner().unwrap();
    let (mut ends, mut hit, mut missed) = (Ends::new(), BTreeSet::new(), BTreeMap::<_, usize>::new());
    for (case, played) in &outcomes {
        let Ok((has_hit, told)) = played else { continue };
        told.iter().for_each(|(end, count)| *ends.entry(end.clone()).or_default() += count);
        if *has_hit {
            hit.insert((case.step, case.fault));
        } else {
            *missed.entry(case.step).or_default() += 1;
        }
    }
    let failed: Vec<&Case> = outcomes.iter().filter(|(_, played)| played.is_err()).map(|(case, _)| case).collect();
    println!(
        "{} cases at {} steps; actions ended: {ends:?}; the fault met nothing in: {missed:?}",
        outcomes.len(),
        steps().len()
    );
    assert!(failed.is_empty(), "{} of {} went wrong: {failed:#?}", failed.len(), outcomes.len());
    if only.is_empty() {
        for step in steps() {
            for fault in faults_of(*step) {
                assert!(hit.contains(&(*step, *fault)), "{fault:?} never hit anything at {step:?}");
            }
        }
    }
}
