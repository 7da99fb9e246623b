//! `/exchange`: reading the body, recovering the signer, and every check before an action is done.

use super::actions::{self, Job};
use super::venue::{Identity, Venue};
use serde::de::IgnoredAny;
use serde_json::Value;
use svc_guard::base::address::Address;
use svc_guard::venue::action::Action;
use svc_guard::venue::envelope::Envelope;
use svc_guard::venue::signing::{Source, agent_digest, connection_id};
use svc_guard::venue::user_signed;

/// Requests an address may make besides one for each USDC it has traded.
const BASE_REQUESTS: u64 = 10_000;
/// Cancels may go on beyond the cap by this many, or to its double if that is less.
const EXTRA_CANCELS: u64 = 100_000;

/// A body the venue does not read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Unread {
    /// Not JSON: 400.
    Syntax,
    /// Not the venue's shape: 422.
    Shape,
}

/// A request whose body was read and whose signer was recovered, outside of any lock.
pub(crate) struct Request {
    pub(crate) envelope: Envelope,
    pub(crate) job: Asked,
    /// None when no address can be recovered.
    pub(crate) signer: Option<Address>,
}

/// What a request asks for.
pub(crate) enum Asked {
    Job(Job),
    /// An action over whose own fields the account's key signs.
    UserSigned,
}

/// How far a request got.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Verdict {
    /// Done; the reply says with what success.
    Applied,
    /// The signer acts for no account here.
    UnknownSigner,
    BadNonce,
    Expired,
    /// The account's own request allowance is used up.
    RateLimited,
    /// Refused by a fault that a test set.
    Told,
}

impl Verdict {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Applied => "applied",
            Self::UnknownSigner => "unknown_signer",
            Self::BadNonce => "bad_nonce",
            Self::Expired => "expired",
            Self::RateLimited => "rate_limited",
            Self::Told => "told",
        }
    }
}

/// Reads a body and recovers its signer from the canonical form of its action.
pub(crate) fn read(body: &[u8], network: Source) -> Result<Request, Unread> {
    let envelope = Envelope::parse(body).map_err(|_| {
        let syntax = serde_json::from_slice::<IgnoredAny>(body).is_err();
        if syntax { Unread::Syntax } else { Unread::Shape }
    })?;
    let (digest, job) = match user_signed::digest(&envelope.received) {
        Some(digest) => (digest, Asked::UserSigned),
        None => {
            let job = actions::job(&envelope.action, &envelope.received).ok_or(Unread::Shape)?;
            let canonical = envelope.action.to_node();
            let id = connection_id(canonical.as_ref().unwrap_or(&envelope.received), &envelope.terms);
            (agent_digest(&id, network), Asked::Job(job))
        }
    };
    let signer = envelope.signature.recover(&digest).ok();
    Ok(Request { envelope, job, signer })
}

/// A refusal that a fault put in a request's way.
#[derive(Clone, Copy)]
pub(crate) struct Told<'a> {
    pub(crate) text: &'a str,
    pub(crate) refuses: Refuses,
}

/// What a refusal is about.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refuses {
    /// The request as a whole.
    Request,
    /// Its batch, by one status.
    Batch,
    /// Each of its items, by a status of its own.
    Each,
}

/// Judges a request and does what it asks; how far it got, and the reply.
pub(crate) fn process(venue: &mut Venue, request: Request, told: Option<Told<'_>>) -> (Verdict, Value) {
    match admit(venue, &request) {
        Err((verdict, text)) => (verdict, actions::err(&text)),
        Ok(()) => match (told, request.job) {
            (Some(Told { text, refuses: Refuses::Request }), _) => (Verdict::Told, actions::err(text)),
            (Some(Told { text, refuses }), _) => {
                let is_one = refuses == Refuses::Batch;
                (Verdict::Told, actions::all_failed(&request.envelope.action, text, is_one))
            }
            (None, Asked::Job(job)) => (Verdict::Applied, actions::perform(&mut venue.engine, job)),
            // Only the account's own key gets here; what it signs is not modelled.
            (None, Asked::UserSigned) => (Verdict::Applied, actions::perform(&mut venue.engine, Job::Unmodelled)),
        },
    }
}

/// The checks before an action, in the venue's order. Only from the nonce on is the nonce used up.
fn admit(venue: &mut Venue, request: &Request) -> Result<(), (Verdict, String)> {
    let signer = request.signer.ok_or((Verdict::UnknownSigner, "Unable to recover signer.".to_owned()))?;
    let terms = &request.envelope.terms;
    act_for(venue, request, signer).map_err(|text| (Verdict::UnknownSigner, text))?;

    let now_ms = venue.engine.now_ms;
    let margin_ms = venue.engine.settings.nonce_margin_ms;
    let burnt = venue.nonces.burn(signer, terms.nonce, now_ms, margin_ms);
    burnt.map_err(|error| (Verdict::BadNonce, error.to_string()))?;

    let batch = u64::try_from(request.envelope.action.batch_len()).unwrap_or(u64::MAX);
    let expired = terms.expires_after_ms.is_some_and(|expires_after_ms| expires_after_ms < now_ms);
    let counted = if expired { batch.saturating_mul(5) } else { batch };
    count_request(venue, counted, &request.envelope.action).map_err(|text| (Verdict::RateLimited, text))?;
    if expired {
        return Err((Verdict::Expired, "Action already expired".to_owned()));
    }
    Ok(())
}

/// Whether the signer, with the vault it names, acts for the account; otherwise the venue's refusal.
fn act_for(venue: &Venue, request: &Request, signer: Address) -> Result<(), String> {
    let Identity { account, .. } = &venue.identity;
    let master = venue.master();
    if matches!(request.job, Asked::UserSigned) {
        let own = signer == *account && master.is_none();
        return if own { Ok(()) } else { Err(format!("Must deposit before performing actions. User: {signer}")) };
    }
    let owner = master.unwrap_or(*account);
    if signer != owner && !venue.is_agent(&signer) {
        return Err(format!("User or API Wallet {signer} does not exist."));
    }
    match (request.envelope.terms.vault, master) {
        (None, None) => Ok(()),
        (None, Some(master)) => Err(format!("Must deposit before performing actions. User: {master}")),
        (Some(vault), Some(_)) if vault == *account => Ok(()),
        (Some(vault), _) => Err(format!("Vault not registered: {vault}")),
    }
}

/// Counts a request against the account's own allowance.
fn count_request(venue: &mut Venue, n: u64, action: &Action) -> Result<(), String> {
    let cap = venue.requests_cap();
    let used = venue.requests_used().saturating_add(n);
    let is_cancel = matches!(action, Action::Cancel { .. } | Action::CancelByCloid { .. });
    let limit = if is_cancel { cap.saturating_add(EXTRA_CANCELS).min(cap.saturating_mul(2)) } else { cap };
    if used > limit {
        let volume = venue.engine.volume().round_dp(2);
        return Err(format!(
            "Too many cumulative requests sent ({used} > {cap}) for cumulative volume traded ${volume}. Place taker \
             orders to free up 1 request per USDC traded."
        ));
    }
    venue.engine.account.requests = venue.engine.account.requests.saturating_add(n);
    Ok(())
}

impl Venue {
    /// Requests the account may have made in all: one for each USDC traded, and the first ten thousand.
    pub(crate) fn requests_cap(&self) -> u64 {
        let traded = self.engine.volume().trunc();
        BASE_REQUESTS.saturating_add(u64::try_from(traded).unwrap_or(u64::MAX))
    }

    pub(crate) fn requests_used(&self) -> u64 {
        self.engine.settings.prior_requests.saturating_add(self.engine.account.requests)
    }
}
