//! Decisions: what was judged is recorded, answered, and sent or pretended.

use super::book::StopAt;
use super::builder::Merge;
use super::code::Code;
use super::effect::{Answer, Decided, Deed, Effects, Keys, Read, Urgency};
use super::held_back::left_out;
use super::input::{Request, RequestBody, Via};
use super::intent::{Intent, Planned, Role, Waiting};
use super::judge::{self, Plan, Veto};
use super::pending::{ToldBy, Whose, derived_cloid};
use super::reply::{self, Summary, Verdict};
use super::state::Guard;
use super::{Mode, event};
use crate::base::address::Address;
use crate::base::address::Cloid;
use crate::base::text::short;
use crate::venue::action::{Action, Target};
use crate::venue::envelope::Envelope;
use crate::venue::json::Node;
use crate::venue::order::Order;
use crate::venue::signing::Terms;

/// What is forwarded is refused by the venue after this: nothing lands late.
pub(super) const FORWARD_LIFE_MS: u64 = 15_000;

impl Guard {
    /// Judges a request and carries the decision out.
    pub(super) fn judge_and_decide(&mut self, effects: &mut Effects, request: Request, now_ms: u64) {
        let Request { id, via, body } = request;
        let mut head = Head { id, via, client: None, signed_as: None, nonce: None, http_status: 200 };
        match body {
            RequestBody::Signed { envelope, client, signed_as } => {
                head.client = Some(client);
                head.signed_as = Some(signed_as.name());
                head.nonce = Some(envelope.terms.nonce);
                let result = judge::judge(self, &envelope, client, signed_as, now_ms);
                if matches!(&result, Err(veto) if veto.code == Code::MarketUnknown) {
                    effects.at_once.push(Deed::Read(Read::Universe));
                }
                let action = envelope.action.type_name().to_owned();
                match result {
                    Ok(plan) => self.pass(effects, &head, &envelope, plan, now_ms),
                    Err(veto) => self.veto(effects, &head, &action, &envelope.received, &veto, now_ms),
                }
            }
            RequestBody::Unsigned { received, text } => {
                let action = type_of(Some(&received));
                let veto = Veto::new(Code::BadSignature, text);
                self.veto(effects, &head, &action, &received, &veto, now_ms);
            }
            RequestBody::Malformed { received, unparsed, text, http_status } => {
                head.http_status = http_status;
                let action = type_of(received.as_ref());
                let request = received.unwrap_or_else(|| serde_json::json!({ "unparsed": unparsed }));
                let veto = Veto::new(Code::Malformed, text);
                self.veto(effects, &head, &action, &request, &veto, now_ms);
            }
        }
    }

    fn veto(&mut self, effects: &mut Effects, head: &Head, action: &str, request: &Node, veto: &Veto, now_ms: u64) {
        let body = event::Decision {
            via: head.via.name(),
            client: head.client,
            signed_as: head.signed_as,
            nonce: head.nonce,
            action,
            verdict: Verdict::Veto.name(),
            code: veto.code.as_str(),
            text: &veto.text,
            changes: &[],
            limit: veto.figures.as_ref().map(|figures| figures.limit.as_str()),
            actual: veto.figures.as_ref().map(|figures| figures.actual.as_str()),
            request,
            pre: Vec::new(),
            forward: None,
            post: Vec::new(),
            nonces: Vec::new(),
        };
        let keys = Keys { nonce: head.nonce, cloids: cloids_in([request].into_iter()), ..Keys::default() };
        let seq = self.record(effects, now_ms, "decision", &body, keys);
        note(effects, Decided { request: head.id, verdict: Verdict::Veto, code: veto.code });
        let mut summary = self.summary(seq, Verdict::Veto, veto.code, veto.text.clone(), &[]);
        if let Some(figures) = &veto.figures {
            (summary.limit, summary.actual) = (Some(figures.limit.clone()), Some(figures.actual.clone()));
        }
        let body = reply::veto(veto.code, head.http_status, &summary);
        effects.after_disk.push(Deed::Answer(Answer { request: head.id, http_status: head.http_status, body }));
    }

    fn summary(&self, seq: u64, verdict: Verdict, code: Code, text: String, changes: &[String]) -> Summary {
        Summary {
            seq,
            verdict: verdict.name(),
            code: code.as_str(),
            text,
            changes: changes.to_vec(),
            limit: None,
            actual: None,
            paper: self.config.mode == Mode::Paper,
        }
    }

    /// Records a request that passed and has it sent, or pretends to in paper mode.
    fn pass(&mut self, effects: &mut Effects, head: &Head, envelope: &Envelope, mut plan: Plan, now_ms: u64) {
        let (code, text) = plan.reason();
        let verdict = if plan.changes.is_empty() { Verdict::Allow } else { Verdict::Resize };
        let chosen: Vec<Cloid> = envelope.action.orders().filter_map(|order| order.cloid).collect();
        chosen.into_iter().for_each(|cloid| self.client_cloids.insert(cloid));
        self.throttle.note(std::mem::take(&mut plan.entries), self.config.rules.duplicate_window_ms(), now_ms);

        let is_live = self.config.mode != Mode::Paper;
        let urgency = if plan.is_entry { Urgency::Entry } else { Urgency::Exit };
        let (changes, stops) = (std::mem::take(&mut plan.changes), std::mem::take(&mut plan.stops));
        let merge = plan.kept.take().map(|kept| Merge::new(left_out(&envelope.action, judge::GUARDS_OWN), kept));
        let actions = self.planned(plan, &envelope.action, envelope.terms.expires_after_ms, now_ms);
        let of_role = |wanted: fn(Role) -> bool| -> Vec<&Node> {
            actions.iter().filter(|planned| wanted(planned.role)).map(|planned| &planned.node).collect()
        };
        let body = event::Decision {
            via: head.via.name(),
            client: head.client,
            signed_as: head.signed_as,
            nonce: head.nonce,
            action: envelope.action.type_name(),
            verdict: verdict.name(),
            code: code.as_str(),
            text: &text,
            changes: &changes,
            limit: None,
            actual: None,
            request: &envelope.received,
            pre: of_role(|role| role == Role::Pre),
            forward: of_role(|role| role == Role::Forward).pop(),
            post: of_role(|role| matches!(role, Role::Post(_))),
            nonces: if is_live { actions.iter().map(|planned| planned.terms.nonce).collect() } else { Vec::new() },
        };
        let named = std::iter::once(&envelope.received).chain(actions.iter().map(|planned| &planned.node));
        let keys = Keys { nonce: head.nonce, cloids: cloids_in(named), ..Keys::default() };
        let seq = self.record(effects, now_ms, "decision", &body, keys);
        note(effects, Decided { request: head.id, verdict, code });
        let summary = self.summary(seq, verdict, code, text, &changes);
        if is_live {
            let waiting = Some(Waiting { request: head.id, orders: envelope.action.batch_len(), summary, merge });
            self.launch(effects, seq, Intent::new(actions, waiting, urgency), &stops, now_ms);
        } else {
            let body = self.pretend(seq, &envelope.action, &actions, &stops, &summary, now_ms);
            effects.after_disk.push(Deed::Answer(Answer { request: head.id, http_status: 200, body }));
        }
    }

    /// The actions of a plan in the order they are sent, named and numbered. Paper mode uses no nonces up.
    fn planned(&mut self, plan: Plan, asked: &Action, expires_ms: Option<u64>, now_ms: u64) -> Vec<Planned> {
        let seq = self.seq.saturating_add(1);
        // By the venue's time, so that no entry lands late. Where the clocks disagree an exit gets the longer life: one
        // that the venue takes for expired would leave its client in the market.
        let from_ms = if plan.is_entry { self.clock.best_ms() } else { self.clock.latest_ms() };
        let life = expires_ms.unwrap_or(u64::MAX).min(from_ms.saturating_add(FORWARD_LIFE_MS));
        let own_from = asked.batch_len();
        let mut place = 0;
        let mut actions = Vec::new();
        for (role, mut action) in roles(plan) {
            name_orders(&mut action, if role == Role::Forward { own_from } else { 0 }, seq, &mut place);
            let Some(node) = action.to_node() else { continue };
            let nonce = if self.config.mode == Mode::Paper { 0 } else { self.next_nonce(now_ms) };
            let expires_after_ms = (role == Role::Forward).then_some(life);
            let terms = Terms { nonce, vault: self.acts_for.flatten(), expires_after_ms };
            actions.push(Planned { role, action, node, terms });
        }
        actions
    }

    /// Reserves what the actions could fill and has the first one sent once the decision is on disk.
    pub(super) fn launch(
        &mut self,
        effects: &mut Effects,
        seq: u64,
        intent: Intent,
        stops: &[Option<StopAt>],
        now_ms: u64,
    ) {
        for (index, planned) in intent.actions.iter().enumerate() {
            self.watch.in_flight.reserve(seq, index, &planned.action);
            for (place, order) in planned.action.orders().enumerate() {
                let stop = if planned.role == Role::Forward { stops.get(place).copied().flatten() } else { None };
                self.pending.reserve((seq, index, place), order, stop, ToldBy::CloidSince(now_ms, Vec::new()));
            }
            for (place, target) in cancelled_by(&planned.action) {
                self.pending.cancel(seq, index, place, target);
            }
        }
        effects.after_disk.extend(intent.send(seq, 0));
        self.intents.insert(seq, intent);
    }
}

/// Says of the event recorded last how its request was decided.
fn note(effects: &mut Effects, decided: Decided) {
    if let Some(record) = effects.records.last_mut() {
        record.decided = Some(decided);
    }
}

/// What a cancel or modify takes away, with its place in the action.
fn cancelled_by(action: &Action) -> Vec<(usize, Target)> {
    let targets: Vec<Target> = match action {
        Action::Modify { modify, .. } => vec![modify.target],
        Action::BatchModify { modifies, .. } => modifies.iter().map(|modify| modify.target).collect(),
        Action::Cancel { cancels, .. } => cancels.iter().map(|cancel| Target::Oid(cancel.oid)).collect(),
        Action::CancelByCloid { cancels, .. } => cancels.iter().map(|cancel| Target::Cloid(cancel.cloid)).collect(),
        _ => Vec::new(),
    };
    targets.into_iter().enumerate().collect()
}

/// What is told of a request's head.
struct Head {
    id: u64,
    via: Via,
    client: Option<Address>,
    signed_as: Option<&'static str>,
    nonce: Option<u64>,
    http_status: u16,
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

/// Every text in the shape of a client order id: what a decision is found by.
fn cloids_in<'a>(nodes: impl Iterator<Item = &'a Node>) -> Vec<Cloid> {
    fn collect(node: &Node, found: &mut Vec<Cloid>) {
        match node {
            Node::String(text) => found.extend(text.parse::<Cloid>().ok()),
            Node::Array(items) => items.iter().for_each(|item| collect(item, found)),
            Node::Object(members) => members.values().for_each(|member| collect(member, found)),
            _ => {}
        }
    }
    let mut found = Vec::new();
    nodes.for_each(|node| collect(node, &mut found));
    found.sort_unstable();
    found.dedup();
    found
}

/// Gives every order without a client order id one by which it is found again; those at `own_from` and after are the
/// guard's own.
pub(super) fn name_orders(action: &mut Action, own_from: usize, seq: u64, place: &mut u16) {
    let mut name = |(index, order): (usize, &mut Order)| {
        let whose = if index >= own_from { Whose::Guard } else { Whose::Client };
        order.cloid.get_or_insert_with(|| derived_cloid(whose, seq, *place));
        *place = place.saturating_add(1);
    };
    match action {
        Action::Order(action) => action.orders.iter_mut().enumerate().for_each(name),
        Action::Modify { modify, .. } => name((0, &mut modify.order)),
        Action::BatchModify { modifies, .. } => {
            modifies.iter_mut().map(|modify| &mut modify.order).enumerate().for_each(name);
        }
        _ => {}
    }
}
