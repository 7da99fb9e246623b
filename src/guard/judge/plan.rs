//! A plan: the actions sent for a request that passed, and how the guard altered it.

use crate::guard::code::Code;
use crate::guard::effects::Urgency;
use crate::guard::state::entry_leg::StopAt;
use crate::record::minute_record::EntryNote;
use crate::venue::action::Action;

/// The actions sent for a request that passed, and what its decision says of them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Plan {
    /// Sent first; a failure stops the rest.
    pub(crate) pre: Vec<Action>,
    /// What only reduces of a mixed request: it goes before everything else.
    pub(crate) at_once: Option<Part>,
    pub(crate) forward: Option<Action>,
    /// The places of the request that `forward` holds, where some were left out of it.
    pub(crate) kept: Option<Vec<usize>>,
    /// Entries that go after `forward`, each with its stop.
    pub(crate) groups: Vec<Part>,
    /// The orders that go out as two, by their place: the part that closes is in `at_once`.
    pub(crate) in_two: Vec<usize>,
    /// The orders that are not sent, by their place, and the status of each.
    pub(crate) left_out: Vec<(usize, String)>,
    /// Sent last, each under its condition.
    pub(crate) post: Vec<Post>,
    /// Each alteration, in words.
    pub(crate) changes: Vec<String>,
    /// Where each order of the request is stopped out, for the exposure it reserves.
    pub(crate) stops: Vec<Option<StopAt>>,
    /// Cancels of ids that no known order has, for the throttles.
    pub(crate) unknown_cancels: usize,
    /// Entries, for the throttles.
    pub(crate) entries: Vec<EntryNote>,
    /// Whether any part of it can open or enlarge a position.
    pub(crate) is_entry: bool,
    /// Whether it passed because it can only reduce.
    pub(crate) reduces: bool,
}

/// A part of a request that goes out as an action of its own.
#[derive(Debug, Clone)]
pub(crate) struct Part {
    pub(crate) action: Action,
    /// The orders of the request that it holds, its first ones, by their place in the request.
    pub(crate) places: Vec<usize>,
}

/// An action that follows the request, and on which condition.
#[derive(Debug, Clone)]
pub(crate) struct Post {
    pub(crate) action: Action,
    /// Sent only if an order at one of these places of the request was accepted.
    pub(crate) after_places: Vec<usize>,
}

impl Plan {
    /// A plan for what opens nothing, sent as it is.
    pub(crate) fn unchanged(forward: Action) -> Self {
        Self { forward: Some(forward), ..Self::default() }
    }

    /// A plan for what can only reduce, sent as it is.
    pub(crate) fn reducing(forward: Action) -> Self {
        Self { reduces: true, ..Self::unchanged(forward) }
    }

    /// The actions that hold the orders of the request, each with how many of its orders, its first ones, are the client's.
    pub(crate) fn clients_parts(&self) -> impl Iterator<Item = (&Action, usize)> {
        let kept = self.kept.as_ref().map_or(usize::MAX, Vec::len);
        let forward = self.forward.iter().map(move |action| (action, kept));
        let others = self.at_once.iter().chain(&self.groups).map(|part| (&part.action, part.places.len()));
        forward.chain(others)
    }

    /// Who waits for it.
    pub(crate) fn urgency(&self) -> Urgency {
        match &self.forward {
            _ if self.is_entry => Urgency::Entry,
            Some(action) if action.is_neutral() => Urgency::Neutral,
            _ => Urgency::Exit,
        }
    }

    /// The code and text of this plan.
    pub(crate) fn reason(&self) -> (Code, String) {
        if !self.changes.is_empty() {
            (Code::Resized, self.changes.join("; "))
        } else if self.reduces {
            (Code::Reduces, "can only reduce risk; forwarded as it came".to_owned())
        } else {
            (Code::Allowed, "within every rule; forwarded as it came".to_owned())
        }
    }
}
