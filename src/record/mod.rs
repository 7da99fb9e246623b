//! The schema of what is written and read back: events, risk records, the status, and the answers about them.
//!
//! Each shape stands here once, as one type that both writes and reads it. Nothing here decides anything: no rule, no
//! core, no journal and no thread may enter.

mod alert;
pub mod amounts;
pub mod book_record;
pub mod decision_view;
pub mod equity_page;
pub mod error_body;
pub mod event;
pub mod event_page;
pub mod events;
pub mod kill_answer;
pub mod lack;
mod lenient;
pub mod minute_record;
pub mod money;
pub mod reply_summary;
pub mod risk_record;
pub mod status;
pub mod text;

#[cfg(test)]
mod tests;
