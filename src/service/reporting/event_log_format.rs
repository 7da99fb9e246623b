//! Events as lines of the log: the text of each kind, and its level.

use serde_json::Value;

use super::level::Level;
use crate::record::event::{Event, Kind};
use crate::record::events::{Decision, Flat, Flatten, Problem, Protect, Recovered, Risk, Sent};

/// Formats events; a risk state that is as it was has no line.
#[derive(Default)]
pub(super) struct EventFormatter {
    /// The line of the last risk event.
    last_risk: Option<String>,
    /// Whether the kill switch is pulled: only an end of the service releases it.
    is_killed: bool,
}

impl EventFormatter {
    /// The line for an event given as JSON.
    pub(super) fn format(&mut self, text: &str) -> Option<(Level, String)> {
        let Event { seq, kind, .. } = Event::parse(text)?;
        let line = match kind {
            Kind::Decision(decision) => decided(seq, &decision),
            Kind::Sent(sent) => sent_line(&sent),
            Kind::Risk(risk) => return self.risk(&risk),
            Kind::Intent(intent) => (Level::Detail, format!("event {seq}: one more action for event {}", intent.of)),
            Kind::Done(done) => (Level::Detail, format!("event {}: done", done.intent)),
            Kind::Recovered(recovered) => recovered_line(&recovered),
            Kind::Flatten(flatten) => flattened(&flatten),
            Kind::Flat(flat) => {
                let Flat { positions, orders, flatten, .. } = flat;
                (Level::Warning, format!("event {seq}: flat: {positions} positions, {orders} orders (event {flatten})"))
            }
            Kind::Protect(protect) => protected(&protect),
            Kind::Kill(kill) => {
                self.is_killed = true;
                (Level::Warning, format!("the kill switch is pulled: {}", kill.reason))
            }
            Kind::Error(trouble) => (Level::Error, trouble.text.into_owned()),
            Kind::Stopped(stopped) => (Level::Info, format!("stopped: {}", stopped.reason)),
            Kind::Fill(_) | Kind::Funding(_) | Kind::Transfer(_) | Kind::Balance(_) => return None,
            Kind::Started(_) | Kind::Other(_) => return None,
        };
        Some(line)
    }

    fn risk(&mut self, risk: &Risk) -> Option<(Level, String)> {
        let mut line = format!("risk state: {}", risk.state);
        if self.is_killed {
            line.push_str(", and the kill switch is pulled");
        }
        if risk.state == "stopped" {
            line.push_str(", until `svc-guard journal-resume` clears it while the service is stopped");
        }
        for discrepancy in &risk.discrepancies {
            line.push_str(&format!("; {discrepancy}"));
        }
        if let Some(error) = &risk.journal_error {
            line.push_str(&format!("; journal: {error}"));
        }
        let quiet = risk.state == "active" && risk.discrepancies.is_empty() && risk.journal_error.is_none();
        let news = self.last_risk.as_ref() != Some(&line);
        self.last_risk = Some(line.clone());
        news.then_some((if quiet { Level::Info } else { Level::Warning }, line))
    }
}

fn decided(seq: u64, decision: &Decision<'_>) -> (Level, String) {
    let Decision { verdict, code, text, client, coins, .. } = decision;
    let level = if verdict == "allow" { Level::Detail } else { Level::Info };
    let client = client.map_or_else(|| "nobody known".to_owned(), |client| client.to_string());
    let place = if coins.is_empty() { String::new() } else { format!(" in {}", coins.join(", ")) };
    (level, format!("event {seq}: {verdict} ({code}) for {client}{place}: {text}"))
}

fn sent_line(sent: &Sent<'_>) -> (Level, String) {
    let Sent { decision, index, ok, reply, .. } = sent;
    if *ok {
        (Level::Detail, format!("event {decision}: the venue took action {index}"))
    } else {
        (Level::Warning, format!("event {decision}: action {index} failed at the venue: {}", refusal(reply)))
    }
}

/// What a reply says of a failure, in its own words; all of it where it has none.
fn refusal(reply: &Value) -> String {
    let statuses = reply.pointer("/response/data/statuses").and_then(Value::as_array);
    let of_each = statuses.into_iter().flatten().filter_map(|status| status.get("error")?.as_str());
    let of_all = [reply.get("response"), reply.get("error")].into_iter().flatten().filter_map(Value::as_str);
    let mut texts: Vec<&str> = of_each.chain(of_all).collect();
    texts.dedup();
    if texts.is_empty() { reply.to_string() } else { texts.join("; ") }
}

fn recovered_line(recovered: &Recovered<'_>) -> (Level, String) {
    let Recovered { intent, index, outcome, .. } = recovered;
    let level = if outcome == "unknown" { Level::Warning } else { Level::Info };
    (level, format!("event {intent}: what became of action {index}: {}", outcome.replace('_', " ")))
}

fn flattened(flatten: &Flatten<'_>) -> (Level, String) {
    let closes = format!("closing everything, {}: {}", actions(flatten.actions.len()), flatten.reason);
    (Level::Warning, with_problems(closes, &flatten.problems))
}

fn protected(protect: &Protect<'_>) -> (Level, String) {
    let level = if protect.problems.is_empty() { Level::Info } else { Level::Warning };
    let (coins, actions) = (protect.coins.join(", "), actions(protect.actions.len()));
    let stops = format!("covering {coins} with the guard's own stop, {actions}");
    (level, with_problems(stops, &protect.problems))
}

fn with_problems(mut line: String, problems: &[Problem]) -> String {
    for Problem { coin, text } in problems {
        let coin = if coin.is_empty() { "account" } else { coin };
        line.push_str(&format!("; {coin}: {text}"));
    }
    line
}

fn actions(count: usize) -> String {
    format!("{count} action{}", if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const CLIENT: &str = "0x1111111111111111111111111111111111111111";

    #[test]
    fn an_event_that_matters_has_a_line_and_its_level() {
        let mut formatter = EventFormatter::default();
        let mut line = |event: Value| formatter.format(&event.to_string());
        let veto =
            json!({"seq": 7, "kind": "decision", "verdict": "veto", "code": "killed", "text": "no", "client": CLIENT});
        assert_eq!(
            line(veto),
            Some((Level::Info, "event 7: veto (killed) for 0x1111111111111111111111111111111111111111: no".to_owned()))
        );
        let allow =
            json!({"seq": 8, "kind": "decision", "verdict": "allow", "code": "allowed", "text": "yes", "client": null});
        assert_eq!(line(allow), Some((Level::Detail, "event 8: allow (allowed) for nobody known: yes".to_owned())));
        let failed = json!({"kind": "sent", "decision": 7, "index": 1, "ok": false, "reply": {"error": "cut"}});
        assert_eq!(line(failed), Some((Level::Warning, "event 7: action 1 failed at the venue: cut".to_owned())));
        let refused =
            [json!("resting"), json!({"error": "too small"}), json!({"error": "too small"}), json!({"error": "no"})];
        for (reply, words) in [
            (json!({"status": "ok", "response": {"type": "order", "data": {"statuses": refused}}}), "too small; no"),
            (json!({"status": "err", "response": "nobody"}), "nobody"),
            (json!({"status": "odd"}), "{\"status\":\"odd\"}"),
        ] {
            let failed = json!({"kind": "sent", "decision": 7, "index": 1, "ok": false, "reply": reply});
            let told = format!("event 7: action 1 failed at the venue: {words}");
            assert_eq!(line(failed), Some((Level::Warning, told)));
        }
        let cancel = json!({"seq": 8, "kind": "decision", "verdict": "allow", "code": "reduces", "text": "yes", "coins": ["BTC", "ETH"]});
        assert_eq!(
            line(cancel),
            Some((Level::Detail, "event 8: allow (reduces) for nobody known in BTC, ETH: yes".to_owned()))
        );
        let flatten = json!({"kind": "flatten", "reason": "kill", "actions": [{}, {}], "problems": [{"coin": "X", "text": "dust"}]});
        assert_eq!(line(flatten), Some((Level::Warning, "closing everything, 2 actions: kill; X: dust".to_owned())));
        let flatten = json!({"kind": "flatten", "reason": "kill", "actions": [{}], "problems": []});
        assert_eq!(line(flatten), Some((Level::Warning, "closing everything, 1 action: kill".to_owned())));
        let flat = json!({"seq": 9, "kind": "flat", "flatten": 7, "checked_ms": 1, "positions": 0, "orders": 0, "equity": "1"});
        let all = "event 9: flat: 0 positions, 0 orders (event 7)";
        assert_eq!(line(flat), Some((Level::Warning, all.to_owned())));
        assert_eq!(line(json!({"kind": "error", "text": "away"})), Some((Level::Error, "away".to_owned())));
        assert_eq!(line(json!({"kind": "started"})), None);
    }

    #[test]
    fn a_risk_state_has_a_line_when_it_changes() {
        let mut formatter = EventFormatter::default();
        let risk = |state: &str| json!({"kind": "risk", "state": state, "equity": "1"}).to_string();
        assert_eq!(formatter.format(&risk("active")).unwrap().0, Level::Info);
        assert_eq!(formatter.format(&risk("active")), None);
        assert_eq!(
            formatter.format(&risk("stopped")),
            Some((
                Level::Warning,
                "risk state: stopped, until `svc-guard journal-resume` clears it while the service is stopped"
                    .to_owned()
            ))
        );
        assert_eq!(formatter.format(&risk("active")).unwrap().1, "risk state: active");
    }

    #[test]
    fn no_line_says_active_alone_behind_a_kill() {
        let mut formatter = EventFormatter::default();
        let mut line = |event: Value| formatter.format(&event.to_string()).unwrap().1;
        assert_eq!(line(json!({"kind": "kill", "reason": "enough"})), "the kill switch is pulled: enough");
        let active = json!({"kind": "risk", "state": "active", "equity": "1"});
        assert_eq!(line(active), "risk state: active, and the kill switch is pulled");
    }
}
