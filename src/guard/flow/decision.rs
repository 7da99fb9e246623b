//! Decisions: what was judged is recorded, answered, and sent or answered on paper.

use crate::base::address::{Address, Cloid};
use crate::base::text::short;
use crate::guard::code::Code;
use crate::guard::config::Mode;
use crate::guard::effects::{Answer, Command, Decided, Effects, Read, Urgency};
use crate::guard::flow::dispatch::name_orders;
use crate::guard::flow::paper_reply::PaperDecision;
use crate::guard::flow::step_context::Step;
use crate::guard::flow::{dispatch, paper_reply, untold};
use crate::guard::input::{Request, RequestBody, Via};
use crate::guard::judge::guard_order::GUARDS_OWN;
use crate::guard::judge::plan::Plan;
use crate::guard::judge::request;
use crate::guard::judge::veto::Veto;
use crate::guard::reply;
use crate::guard::reply::{Verdict, left_out};
use crate::guard::state::guard::Guard;
use crate::guard::state::intent::{FORWARD_LIFE_MS, Intent, PendingReply, Planned, Role};
use crate::guard::state::merged_reply::MergedReply;
use crate::record::events::Decision;
use crate::record::reply_summary::Summary;
use crate::venue::action::Action;
use crate::venue::envelope::Envelope;
use crate::venue::json::Node;
use crate::venue::signing::Terms;
use std::borrow::Cow;

/// Judges a request and carries the decision out.
pub(crate) fn decide(step: &mut Step<'_>, request: Request) {
    let Request { id, via, body } = request;
    let mut head = Head { id, via, client: None, signed_as: None, nonce: None, http_status: 200 };
    match body {
        RequestBody::Signed { envelope, client, signed_as } => {
            head.client = Some(client);
            head.signed_as = Some(signed_as.name());
            head.nonce = Some(envelope.terms.nonce);
            let result = request::judge(step.guard, &envelope, client, signed_as, step.now_ms);
            if matches!(&result, Err(veto) if veto.code == Code::MarketUnknown) {
                step.effects.immediate.push(Command::Read(Read::Universe));
            }
            let action = envelope.action.type_name().to_owned();
            match result {
                Ok(plan) => accept(step, &head, &envelope, plan),
                Err(veto) => refuse(step, &head, &action, &envelope.received, &veto),
            }
        }
        RequestBody::Unsigned { received, text } => {
            let action = type_of(Some(&received));
            let veto = Veto::new(Code::BadSignature, text);
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
    let figures = veto.figures.as_ref();
    let seq = step.record(Decision {
        action: action.into(),
        verdict: Verdict::Veto.name().into(),
        code: veto.code.as_str().into(),
        text: (&veto.text).into(),
        limit: figures.map(|figures| Cow::Borrowed(&figures.limit[..])),
        actual: figures.map(|figures| Cow::Borrowed(&figures.actual[..])),
        request: untold::kept(request, action),
        ..head.event()
    });
    note(&mut step.effects, Decided { request: head.id, verdict: Verdict::Veto, code: veto.code, is_exit: false });
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
    let chosen: Vec<Cloid> = envelope.action.orders().filter_map(|order| order.cloid).collect();
    chosen.into_iter().for_each(|cloid| step.guard.client_cloids.insert(cloid));
    step.guard.throttle.note(
        std::mem::take(&mut plan.entries),
        step.guard.config.rules.duplicate_window_ms(),
        step.now_ms,
    );

    let is_live = step.guard.config.mode != Mode::Paper;
    let urgency = plan.urgency();
    let (changes, stops) = (std::mem::take(&mut plan.changes), std::mem::take(&mut plan.stops));
    let merge = plan.kept.take().map(|kept| MergedReply::new(left_out(&envelope.action, GUARDS_OWN), kept));
    let actions = plan_actions(step.guard, plan, &envelope.action, envelope.terms.expires_after_ms, step.now_ms);
    let of_role = |wanted: fn(Role) -> bool| -> Vec<Cow<'_, Node>> {
        let planned = actions.iter().filter(|planned| wanted(planned.role));
        planned.map(|planned| Cow::Borrowed(&planned.node)).collect()
    };
    let seq = step.record(Decision {
        action: envelope.action.type_name().into(),
        verdict: verdict.name().into(),
        code: code.as_str().into(),
        text: (&text).into(),
        changes: Cow::Borrowed(&changes),
        request: Cow::Borrowed(&envelope.received),
        pre: of_role(|role| role == Role::Pre),
        forward: of_role(|role| role == Role::Forward).pop(),
        post: of_role(|role| matches!(role, Role::Post(_))),
        nonces: if is_live { actions.iter().map(|planned| planned.terms.nonce).collect() } else { Vec::new() },
        ..head.event()
    });
    note(&mut step.effects, Decided { request: head.id, verdict, code, is_exit: urgency == Urgency::Exit });
    let summary = summary(step.guard, seq, verdict, code, text, &changes);
    if is_live {
        let waiting = Some(PendingReply { request: head.id, orders: envelope.action.batch_len(), summary, merge });
        dispatch::dispatch(step, seq, Intent::new(actions, waiting, urgency).for_client(head.client), &stops);
    } else {
        let body = paper_reply::answer(
            step.guard,
            &PaperDecision { seq, asked: &envelope.action, actions: &actions, stops: &stops, summary: &summary },
            step.now_ms,
        );
        step.effects.after_commit.push(Command::Answer(Answer { request: head.id, http_status: 200, body }));
    }
}

/// The actions of a plan in the order they are sent, named and numbered. Paper mode uses no nonces up.
fn plan_actions(guard: &mut Guard, plan: Plan, asked: &Action, expires_ms: Option<u64>, now_ms: u64) -> Vec<Planned> {
    let seq = guard.seq.saturating_add(1);
    // By the venue's time, so that no entry lands late. Where the clocks disagree an exit gets the longer life: one
    // that the venue takes for expired would leave its client in the market.
    let from_ms = if plan.is_entry { guard.clock.best_ms() } else { guard.clock.latest_ms() };
    let life = expires_ms.unwrap_or(u64::MAX).min(from_ms.saturating_add(FORWARD_LIFE_MS));
    let own_from = asked.batch_len();
    let mut place = 0;
    let mut actions = Vec::new();
    for (role, mut action) in roles(plan) {
        name_orders(&mut action, if role == Role::Forward { own_from } else { 0 }, seq, &mut place);
        let Some(node) = action.to_node() else { continue };
        let nonce = if guard.config.mode == Mode::Paper { 0 } else { guard.next_nonce(now_ms) };
        let expires_after_ms = (role == Role::Forward).then_some(life);
        let terms = Terms { nonce, vault: guard.acts_for.flatten(), expires_after_ms };
        actions.push(Planned { role, action, node, terms });
    }
    actions
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
    http_status: u16,
}

impl Head {
    /// The decision event with what is known of the request's head.
    fn event(&self) -> Decision<'static> {
        Decision {
            via: self.via.name().into(),
            client: self.client,
            signed_as: self.signed_as.map(Into::into),
            nonce: self.nonce,
            ..Decision::default()
        }
    }
}

fn type_of(received: Option<&Node>) -> String {
    let name = received.and_then(|node| node.get("type")).and_then(Node::as_str);
    name.map_or_else(|| "unknown".to_owned(), short)
}

fn roles(plan: Plan) -> Vec<(Role, Action)> {
    let pre = plan.pre.into_iter().map(|action| (Role::Pre, action));
    let forward = plan.forward.into_iter().map(|action| (Role::Forward, action));
    let post = plan.post.into_iter().map(|post| (Role::Post(post.after_place), post.action));
    pre.chain(forward).chain(post).collect()
}
