//! Decisions: what was judged is recorded, answered, and sent or answered on paper.

use crate::base::address::{Address, Cloid};
use crate::guard::code::Code;
use crate::guard::config::Mode;
use crate::guard::effects::{Answer, Command, Decided, Effects, Read, Urgency};
use crate::guard::flow::paper_reply::PaperDecision;
use crate::guard::flow::step_context::Step;
use crate::guard::flow::{dispatch, paper_reply, planning, untold};
use crate::guard::input::{Request, RequestBody, Via};
use crate::guard::judge::cancel;
use crate::guard::judge::head::nonces;
use crate::guard::judge::plan::Plan;
use crate::guard::judge::request;
use crate::guard::judge::veto::Veto;
use crate::guard::kept_request::{KEPT_BYTES, KEPT_OF_MANY_BYTES, kept, type_of};
use crate::guard::reply;
use crate::guard::reply::Verdict;
use crate::guard::state::guard::Guard;
use crate::guard::state::intent::{Intent, Role};
use crate::guard::state::pending_reply::PendingReply;
use crate::record::events::Decision;
use crate::record::reply_summary::Summary;
use crate::venue::action::Action;
use crate::venue::envelope::Envelope;
use crate::venue::json::Node;
use crate::venue::signing::Source;
use serde_json::json;
use std::borrow::Cow;
use std::collections::BTreeSet;

/// Most markets that a decision names: one of more than these is a rare one, and its request has them all.
const MOST_COINS: usize = 20;

/// Judges a request and carries the decision out.
pub(crate) fn decide(step: &mut Step<'_>, request: Request) {
    decide_as(step, request, |guard, envelope, (client, signed_as), now_ms| {
        request::judge(guard, envelope, client, signed_as, now_ms)
    });
}

/// Refuses a request that has waited, whatever else speaks against it. Its nonce is used up as by any refusal.
pub(crate) fn refuse_waiting(step: &mut Step<'_>, request: Request, veto: Veto) {
    decide_as(step, request, |guard, envelope, (client, _), now_ms| {
        nonces::burn(guard, client, envelope.terms.nonce, now_ms)?;
        Err(veto)
    });
}

fn decide_as(
    step: &mut Step<'_>,
    request: Request,
    judge: impl FnOnce(&mut Guard, &Envelope, (Address, Source), u64) -> Result<Plan, Veto>,
) {
    let Request { id, via, body } = request;
    let mut head = Head { id, via, client: None, signed_as: None, nonce: None, coins: Vec::new(), http_status: 200 };
    match body {
        RequestBody::Signed { envelope, client, signed_as } => {
            head.client = Some(client);
            head.signed_as = Some(signed_as.name());
            head.nonce = Some(envelope.terms.nonce);
            let assets = envelope.action.assets();
            head.coins = assets.into_iter().take(MOST_COINS).map(|asset| step.guard.view.coin(asset)).collect();
            let result = judge(step.guard, &envelope, (client, signed_as), step.now_ms);
            if matches!(&result, Err(veto) if veto.code == Code::MarketUnknown) {
                step.effects.immediate.push(Command::Read(Read::Universe));
            }
            if matches!(&result, Err(veto) if veto.code == Code::NothingToReduce) {
                // A position made elsewhere shows with the next read.
                step.effects.immediate.push(Command::Read(Read::Account));
            }
            let action = envelope.action.type_name().to_owned();
            match result {
                Ok(plan) => accept(step, &head, &envelope, plan),
                Err(veto) => refuse(step, &head, &action, &envelope.received, &veto),
            }
        }
        RequestBody::Unsigned { received, text } => {
            let action = type_of(Some(&received));
            let veto = Veto::new(Code::BadSignature, step.guard.config.typed(&text));
            refuse(step, &head, &action, &received, &veto);
        }
        RequestBody::Malformed { received, unparsed, text, http_status } => {
            head.http_status = http_status;
            let action = type_of(received.as_ref());
            let request = received.unwrap_or_else(|| serde_json::json!({ "unparsed": unparsed }));
            let veto = Veto::new(Code::Malformed, text);
            refuse(step, &head, &action, &request, &veto);
        }
    }
}

fn refuse(step: &mut Step<'_>, head: &Head, action: &str, request: &Node, veto: &Veto) {
    if step.guard.is_disk_full {
        return untold::refuse(step, head.id, head.http_status, veto);
    }
    let client = head.client.filter(|client| step.guard.config.clients.contains(client));
    let is_one_of_many = client.is_some_and(|client| step.guard.untold.is_one_of_many(client, step.now_ms));
    let most = if is_one_of_many { KEPT_OF_MANY_BYTES } else { KEPT_BYTES };
    let figures = veto.figures.as_ref();
    let seq = step.record(Decision {
        action: action.into(),
        verdict: Verdict::Veto.name().into(),
        code: veto.code.as_str().into(),
        text: (&veto.text).into(),
        limit: figures.map(|figures| Cow::Borrowed(&figures.limit[..])),
        actual: figures.map(|figures| Cow::Borrowed(&figures.actual[..])),
        request: kept(request, action, most),
        ..head.event()
    });
    note(&mut step.effects, head.decided(Verdict::Veto, veto.code, false));
    let mut summary = summary(step.guard, seq, Verdict::Veto, veto.code, veto.text.clone(), &[]);
    if let Some(figures) = &veto.figures {
        (summary.limit, summary.actual) = (Some(figures.limit.clone()), Some(figures.actual.clone()));
    }
    let body = reply::veto(veto.code, head.http_status, &summary);
    step.effects.after_commit.push(Command::Answer(Answer { request: head.id, http_status: head.http_status, body }));
}

fn summary(guard: &Guard, seq: u64, verdict: Verdict, code: Code, text: String, changes: &[String]) -> Summary {
    Summary {
        seq,
        verdict: verdict.name().into(),
        code: code.as_str().into(),
        text,
        changes: changes.to_vec(),
        limit: None,
        actual: None,
        paper: guard.config.mode == Mode::Paper,
    }
}

/// Records a request that passed and has it sent, or pretends to in paper mode.
fn accept(step: &mut Step<'_>, head: &Head, envelope: &Envelope, mut plan: Plan) {
    let (code, text) = plan.reason();
    let verdict = if plan.changes.is_empty() { Verdict::Allow } else { Verdict::Resize };
    remember_cloids(step.guard, head.client, &envelope.action, &plan);
    step.guard.throttle.note_groups(plan.groups.len(), step.now_ms);
    if let Some(client) = head.client {
        step.guard.throttle.note_unknown(client, plan.unknown_cancels, step.now_ms);
    }
    step.guard.throttle.note(
        std::mem::take(&mut plan.entries),
        step.guard.config.rules.duplicate_window_ms(),
        step.now_ms,
    );

    let is_live = step.guard.config.mode != Mode::Paper;
    let urgency = plan.urgency();
    if let (Some(client), Urgency::Neutral) = (head.client, urgency) {
        step.guard.throttle.note_neutral(client, step.now_ms);
    }
    let (changes, stops) = (std::mem::take(&mut plan.changes), std::mem::take(&mut plan.stops));
    let left_out = std::mem::take(&mut plan.left_out);
    let in_two = std::mem::take(&mut plan.in_two);
    let actions =
        planning::plan_actions(step.guard, plan, &envelope.action, envelope.terms.expires_after_ms, step.now_ms);
    let first = actions.iter().position(|planned| planned.role == Role::Forward).unwrap_or_default();
    let nodes = |from: usize, to: usize| -> Vec<Cow<'_, Node>> {
        let planned = actions.iter().take(to).skip(from);
        planned.map(|planned| Cow::Borrowed(&planned.node)).collect()
    };
    let seq = step.record(Decision {
        action: envelope.action.type_name().into(),
        verdict: verdict.name().into(),
        code: code.as_str().into(),
        text: (&text).into(),
        changes: Cow::Borrowed(&changes),
        request: Cow::Borrowed(&envelope.received),
        pre: nodes(0, first),
        forward: nodes(first, first.saturating_add(1)).pop(),
        post: nodes(first.saturating_add(1), usize::MAX),
        nonces: if is_live { actions.iter().map(|planned| planned.terms.nonce).collect() } else { Vec::new() },
        parts: planning::parts(&actions),
        ..head.event()
    });
    note(&mut step.effects, head.decided(verdict, code, urgency != Urgency::Entry));
    let summary = summary(step.guard, seq, verdict, code, text, &changes);
    let mut reply = PendingReply::new(&envelope.action, summary, &in_two);
    left_out.iter().for_each(|(place, why)| reply.put(*place, json!({"error": why})));
    if is_live {
        step.guard.replies.insert(head.id, reply);
        let mut intent = Intent::new(actions, Some(head.id), urgency).for_client(head.client);
        intent.held = cancel::held(step.guard, &envelope.action);
        dispatch::dispatch(step, seq, intent, &stops);
    } else {
        if let Some(client) = head.client {
            actions.iter().for_each(|planned| step.guard.note_orders_of(client, &planned.action));
        }
        let decision = PaperDecision { seq, asked: &envelope.action, actions: &actions, stops: &stops };
        let body = paper_reply::answer(step.guard, &decision, reply, step.now_ms);
        step.effects.after_commit.push(Command::Answer(Answer { request: head.id, http_status: 200, body }));
    }
}

/// Remembers the client order ids that the client chose for what is sent, and takes back what a cancel names that still
/// waits for its turn.
fn remember_cloids(guard: &mut Guard, client: Option<Address>, asked: &Action, plan: &Plan) {
    let is_sent = |place: usize| !plan.left_out.iter().any(|(left_out, _)| *left_out == place);
    for (_, order) in asked.orders().enumerate().filter(|(place, _)| is_sent(*place)) {
        order.cloid.iter().for_each(|cloid| guard.client_cloids.insert(*cloid, client));
    }
    if let Action::CancelByCloid { cancels, .. } = asked {
        let named: BTreeSet<Cloid> = cancels.iter().map(|cancel| cancel.cloid).collect();
        guard.intents.values_mut().for_each(|intent| intent.cancel(&named));
    }
}

/// Says of the event recorded last how its request was decided.
fn note(effects: &mut Effects, decided: Decided) {
    if let Some(record) = effects.records.last_mut() {
        record.decided = Some(decided);
    }
}

/// Request metadata copied into the decision event.
struct Head {
    id: u64,
    via: Via,
    client: Option<Address>,
    signed_as: Option<&'static str>,
    nonce: Option<u64>,
    /// The markets that it is about.
    coins: Vec<String>,
    http_status: u16,
}

impl Head {
    fn decided(&self, verdict: Verdict, code: Code, is_exit: bool) -> Decided {
        Decided { request: self.id, verdict, code, is_exit, client: self.client }
    }

    /// The decision event with what is known of the request's head.
    fn event(&self) -> Decision<'static> {
        Decision {
            via: self.via.name().into(),
            client: self.client,
            signed_as: self.signed_as.map(Into::into),
            nonce: self.nonce,
            coins: self.coins.clone(),
            ..Decision::default()
        }
    }
}
