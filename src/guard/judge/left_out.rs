//! The orders of a mixed request that are left out of it, and how the client and the owner are told.

use super::veto::Veto;

/// The refusals of a request's orders, by place.
pub(crate) type Refused = Vec<Option<Veto>>;

/// Says what was left out and why, once a reason; gives the status of each order that was.
pub(crate) fn tell(changes: &mut Vec<String>, refused: &Refused) -> Vec<(usize, String)> {
    let mut reasons: Vec<(&Veto, Vec<String>)> = Vec::new();
    let mut statuses = Vec::new();
    for (place, veto) in refused.iter().enumerate().filter_map(|(place, veto)| Some((place, veto.as_ref()?))) {
        statuses.push((place, format!("svc-guard veto ({}): {}", veto.code, veto.text)));
        let number = place.saturating_add(1).to_string();
        match reasons.iter_mut().find(|(other, _)| *other == veto) {
            Some((_, numbers)) => numbers.push(number),
            None => reasons.push((veto, vec![number])),
        }
    }
    let total = refused.len();
    changes.extend(reasons.into_iter().map(|(veto, numbers)| {
        format!("order {} of {total} left out ({}): {}", numbers.join(", "), veto.code, veto.text)
    }));
    statuses
}
