//! Actions on their way to the venue and back, and what a trouble makes of each.

use serde_json::{Value, json};

use super::super::simulation::exchange::refusal;
use super::super::simulation::world::action_of;
use super::trouble::{How, On};
use super::world::World;
use crate::guard::effects::SendAction;
use crate::guard::{Input, SendOutcome};
use crate::venue::action::Action;

/// A send that nobody answers is given up after so long.
const TIME_OUT_MS: u64 = 10_000;
const SLOW_MS: u64 = 2_500;
/// Refusals of a request as a whole that say nothing of its orders.
const WHOLE: [&str; 6] = [
    "Invalid nonce: nonce too low",
    "Action already expired",
    "Too many cumulative requests sent (10001 > 10000)",
    "Must deposit before performing actions. User: 0x0000000000000000000000000000000000000001",
    "Unable to recover signer.",
    "User or API Wallet 0x0000000000000000000000000000000000000001 does not exist.",
];

fn kind(action: &Action) -> Option<On> {
    match action {
        Action::Order(_) | Action::Modify { .. } | Action::BatchModify { .. } => Some(On::Place),
        Action::Cancel { .. } | Action::CancelByCloid { .. } => Some(On::Cancel),
        Action::TwapCancel { .. } => Some(On::EndTwap),
        Action::Noop => Some(On::Burn),
        Action::UpdateLeverage { .. } => Some(On::SetLeverage),
        _ => None,
    }
}

impl World {
    pub(super) fn serve(&mut self) {
        let now = self.now;
        let (ready, posts): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.posts).into_iter().partition(|(at, _)| *at <= now);
        self.posts = posts;
        for (_, send) in ready {
            let action = action_of(&send);
            let on = kind(&action);
            let trouble = on.and_then(|on| self.trouble(on));
            let late = self.dice.roll(100);
            let (late, outcome) = match trouble {
                None => (late, SendOutcome::Answered(self.venue_takes(&send, &action))),
                Some(How::Slow) => (SLOW_MS, SendOutcome::Answered(self.venue_takes(&send, &action))),
                Some(How::Hung) => (TIME_OUT_MS, self.lost(&send, &action, "timed out")),
                Some(How::Gateway) => (late, self.lost(&send, &action, "HTTP 502")),
                Some(How::Failing) => (late, SendOutcome::NotSent("HTTP 429".into())),
                Some(How::Forbidden) => (late, SendOutcome::Answered(refusal("HTTP 403: <html>"))),
                Some(How::OtherText) => {
                    self.venue_takes(&send, &action);
                    (late, SendOutcome::Answered(json!("<html>")))
                }
                Some(How::ByOrder) => (late, self.refused(&send, items(&action))),
                Some(How::OneStatus) => (late, self.refused(&send, 1)),
                Some(_) => (late, SendOutcome::Answered(refusal(self.dice.pick(&WHOLE)))),
            };
            self.checks.note(now, || format!("{} -> {outcome:?} after {late} ms", send.action));
            self.checks.served(on, trouble.is_some(), now + late, &outcome);
            let (intent, index) = (send.intent, send.index);
            self.mail.push((now + late, Input::Sent { intent, index, outcome }));
        }
    }

    fn venue_takes(&mut self, send: &SendAction, action: &Action) -> Value {
        if let Action::TwapCancel { twap_id, .. } = action {
            self.twaps.retain(|twap| twap.id != *twap_id);
            return json!({"status": "ok", "response": {"type": "twapCancel", "data": {"status": "success"}}});
        }
        self.venue.take(send, &mut self.dice)
    }

    /// Done or not: nobody tells.
    fn lost(&mut self, send: &SendAction, action: &Action, text: &str) -> SendOutcome {
        if self.dice.one_in(2) {
            self.venue_takes(send, action);
        }
        SendOutcome::NoAnswer(text.into())
    }

    /// Refused by a text of no known kind; the nonce is used up.
    fn refused(&mut self, send: &SendAction, statuses: usize) -> SendOutcome {
        self.venue.nonces.insert(send.terms.nonce);
        let statuses = vec![json!({"error": "Something went wrong."}); statuses.max(1)];
        SendOutcome::Answered(json!({"status": "ok", "response": {"type": "order", "data": {"statuses": statuses}}}))
    }
}

fn items(action: &Action) -> usize {
    match action {
        Action::Cancel { cancels, .. } => cancels.len(),
        Action::CancelByCloid { cancels, .. } => cancels.len(),
        _ => action.orders().count(),
    }
}
