//! The tools: one table, and one file a family. A tool reads its arguments, calls the guard, and reports the result.

mod cancel;
mod close;
mod history;
mod idempotency;
mod kill;
mod leverage;
mod markets;
mod modify;
mod place;
mod report;
mod rules;
mod status_tools;
mod tool;

pub(super) use kill::KILL_NAME;
pub(super) use tool::Tool;

/// Every tool, in the order in which they are listed.
pub(super) const TOOLS: [Tool; 15] = [
    status_tools::STATUS,
    rules::RULES,
    history::DECISIONS,
    history::EVENTS,
    report::REPORT,
    report::FILLS,
    status_tools::POSITIONS,
    status_tools::ORDERS,
    markets::MARKETS,
    place::PLACE,
    modify::MODIFY,
    cancel::CANCEL,
    close::CLOSE,
    leverage::LEVERAGE,
    kill::KILL,
];

/// The tools of a server; one that only reads has none that writes, listed or not.
pub(super) fn served(read_only: bool) -> impl Iterator<Item = &'static Tool> {
    const ALL: &[Tool] = &TOOLS;
    ALL.iter().filter(move |tool| tool.hints.read_only || !read_only)
}
