//! The bounds that the manual tells of: what each client, and all of them, can take, are the figures of the source.

use crate::tree::Breaches;

/// A row and its column, and the text of the source that the figure stands behind.
const FIGURES: [(&str, usize, &str, &str); 17] = [
    ("connections on which a client signed", 1, "src/service/server/gate/limits.rs", "            signed: "),
    ("connections that have said nothing", 1, "src/service/server/gate/limits.rs", "            silent: "),
    ("questions that wait for an answer", 1, "src/service/server/gate/limits.rs", "            asking: "),
    ("requests that wait to be judged", 1, "src/service/inbox_places.rs", "const SIGNED: usize = "),
    ("actions that wait to be sent", 1, "src/service/venue_io/send_queue.rs", "const QUEUE: usize = "),
    ("the guard's own actions that wait", 1, "src/service/venue_io/send_queue.rs", "const QUEUE: usize = "),
    ("actions at the venue", 1, "src/service/venue_io/send_queue.rs", "const LEAST_SENDERS: usize = "),
    ("reduce-only orders that rest", 1, "src/guard/judge/limits/open_exits_limit.rs", "const OF_ACCOUNT: usize = "),
    ("reduce-only orders that rest", 2, "src/guard/judge/limits/open_exits_limit.rs", "const OF_CLIENT: usize = "),
    ("requests that wait for a setting or a mark", 1, "src/guard/flow/requests.rs", "const MAX_PARKED: usize = "),
    ("weight a minute, of ", 0, "src/base/ip_share.rs", "const IP_BUDGET: u32 = "),
    ("allowance of the account below ", 0, "src/guard/state/allowance.rs", "const SHARED_BELOW: u64 = "),
    ("allowance below 500", 0, "src/guard/state/allowance.rs", "const KEPT: u64 = "),
    ("allowance below 200", 0, "src/guard/state/allowance.rs", "const KEPT_FOR_GUARD: u64 = "),
    ("subscriptions", 1, "src/relay/limits.rs", "const SUBSCRIPTIONS: u32 = "),
    ("accounts other than the guarded one", 1, "src/relay/limits.rs", "const STRANGERS: u32 = "),
    ("new sockets to the venue a minute", 1, "src/relay/limits.rs", "const CONNECTIONS: u32 = "),
];

/// The first number of a text, by its digits.
fn first_number(text: &str) -> Option<String> {
    let from = text.find(|letter: char| letter.is_ascii_digit())?;
    let digits = text.get(from..)?.chars().take_while(|letter| letter.is_ascii_digit() || *letter == '_');
    Some(digits.filter(char::is_ascii_digit).collect())
}

/// Figures of the manual's tables that are not those of the source, and those that stand in no row or nowhere in the source.
pub(crate) fn unlike_the_source(manual: &str, sources: &[(String, String)]) -> Breaches {
    let rows: Vec<Vec<&str>> = manual.lines().map(|line| line.split('\t').collect()).collect();
    let mut breaches = Breaches::new();
    for (row, column, file, before) in FIGURES {
        let source = sources
            .iter()
            .find(|(path, _)| path == file)
            .and_then(|(_, text)| text.split_once(before))
            .and_then(|(_, rest)| first_number(rest));
        let told = rows.iter().find(|cells| cells.len() > 1 && cells[0].starts_with(row));
        let told = told.and_then(|cells| cells.get(column).copied()).and_then(first_number);
        if source.is_none() || told != source {
            breaches.insert(format!("{row} ({column})"), format!("the manual says {told:?}, {file} {source:?}"));
        }
    }
    breaches
}
