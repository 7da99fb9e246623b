//! Events as lines of the log: the text of each kind, and its level.

use serde::Deserialize;
use serde_json::Value;

use super::level::Level;

/// The fields of events that appear in lines.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Event {
    seq: u64,
    kind: String,
    verdict: String,
    code: String,
    text: String,
    client: Option<String>,
    decision: u64,
    intent: u64,
    index: u64,
    of: u64,
    ok: bool,
    reply: Value,
    outcome: String,
    state: String,
    discrepancies: Vec<String>,
    journal_error: Option<String>,
    reason: String,
    coins: Vec<String>,
    actions: Vec<serde::de::IgnoredAny>,
    problems: Vec<Problem>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Problem {
    coin: Option<String>,
    text: String,
}

/// Formats events; a risk state that is as it was has no line.
#[derive(Default)]
pub(super) struct EventFormatter {
    /// The line of the last risk event.
    last_risk: Option<String>,
}

impl EventFormatter {
    /// The line for an event given as JSON.
    pub(super) fn format(&mut self, text: &str) -> Option<(Level, String)> {
        let event: Event = serde_json::from_str(text).ok()?;
        let Event { seq, .. } = event;
        let line = match event.kind.as_str() {
            "decision" => return Some(event.decided()),
            "sent" => return Some(event.sent()),
            "risk" => return self.risk(&event),
            "intent" => (Level::Detail, format!("event {seq}: one more action for event {}", event.of)),
            "done" => (Level::Detail, format!("event {}: done", event.intent)),
            "recovered" => event.recovered(),
            "flatten" => {
                let closes = format!("closing everything, {} actions: {}", event.actions.len(), event.reason);
                (Level::Warning, event.with_problems(closes))
            }
            "protect" => event.protected(),
            "kill" => (Level::Warning, format!("the kill switch is pulled: {}", event.reason)),
            "error" => (Level::Error, event.text),
            "stopped" => (Level::Info, format!("stopped: {}", event.reason)),
            _ => return None,
        };
        Some(line)
    }

    fn risk(&mut self, event: &Event) -> Option<(Level, String)> {
        let mut line = format!("risk state: {}", event.state);
        for discrepancy in &event.discrepancies {
            line.push_str(&format!("; {discrepancy}"));
        }
        if let Some(error) = &event.journal_error {
            line.push_str(&format!("; journal: {error}"));
        }
        let quiet = event.state == "active" && event.discrepancies.is_empty() && event.journal_error.is_none();
        let is_new = self.last_risk.as_ref() != Some(&line);
        self.last_risk = Some(line.clone());
        is_new.then_some((if quiet { Level::Info } else { Level::Warning }, line))
    }
}

impl Event {
    fn decided(&self) -> (Level, String) {
        let level = if self.verdict == "allow" { Level::Detail } else { Level::Info };
        let client = self.client.as_deref().unwrap_or("nobody known");
        (level, format!("event {}: {} ({}) for {client}: {}", self.seq, self.verdict, self.code, self.text))
    }

    fn sent(&self) -> (Level, String) {
        let (index, decision) = (self.index, self.decision);
        if self.ok {
            (Level::Detail, format!("event {decision}: the venue took action {index}"))
        } else {
            (Level::Warning, format!("event {decision}: action {index} failed at the venue: {}", self.reply))
        }
    }

    fn recovered(&self) -> (Level, String) {
        let level = if self.outcome == "unknown" { Level::Warning } else { Level::Info };
        (
            level,
            format!("event {}: what became of action {}: {}", self.intent, self.index, self.outcome.replace('_', " ")),
        )
    }

    fn protected(&self) -> (Level, String) {
        let level = if self.problems.is_empty() { Level::Info } else { Level::Warning };
        let stops =
            format!("covering {} with the guard's own stop, {} actions", self.coins.join(", "), self.actions.len());
        (level, self.with_problems(stops))
    }

    fn with_problems(&self, mut line: String) -> String {
        for Problem { coin, text } in &self.problems {
            line.push_str(&format!("; {}: {text}", coin.as_deref().unwrap_or("account")));
        }
        line
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_event_that_matters_has_a_line_and_its_level() {
        let mut formatter = EventFormatter::default();
        let mut line = |event: Value| formatter.format(&event.to_string());
        let veto =
            json!({"seq": 7, "kind": "decision", "verdict": "veto", "code": "killed", "text": "no", "client": "0x1"});
        assert_eq!(line(veto), Some((Level::Info, "event 7: veto (killed) for 0x1: no".to_owned())));
        let allow =
            json!({"seq": 8, "kind": "decision", "verdict": "allow", "code": "allowed", "text": "yes", "client": null});
        assert_eq!(line(allow), Some((Level::Detail, "event 8: allow (allowed) for nobody known: yes".to_owned())));
        let failed = json!({"kind": "sent", "decision": 7, "index": 1, "ok": false, "reply": {"error": "cut"}});
        let failure = "event 7: action 1 failed at the venue: {\"error\":\"cut\"}";
        assert_eq!(line(failed), Some((Level::Warning, failure.to_owned())));
        let flatten = json!({"kind": "flatten", "reason": "kill", "actions": [{}, {}], "problems": [{"coin": "X", "text": "dust"}]});
        assert_eq!(line(flatten), Some((Level::Warning, "closing everything, 2 actions: kill; X: dust".to_owned())));
        assert_eq!(line(json!({"kind": "error", "text": "away"})), Some((Level::Error, "away".to_owned())));
        assert_eq!(line(json!({"kind": "started"})), None);
    }

    #[test]
    fn a_risk_state_has_a_line_when_it_changes() {
        let mut formatter = EventFormatter::default();
        let risk = |state: &str| json!({"kind": "risk", "state": state, "equity": "1"}).to_string();
        assert_eq!(formatter.format(&risk("active")).unwrap().0, Level::Info);
        assert_eq!(formatter.format(&risk("active")), None);
        assert_eq!(formatter.format(&risk("stopped")), Some((Level::Warning, "risk state: stopped".to_owned())));
        assert_eq!(formatter.format(&risk("active")).unwrap().1, "risk state: active");
    }
}
