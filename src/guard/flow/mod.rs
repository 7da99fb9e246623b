//! Flows: what an input sets in motion. Each works on one `Step`: the state, the effects and the time.
//!
//! Arrows go downward: supervision uses protect, flatten and risk; these use the guard's own actions; those dispatch.

pub(crate) mod acts_for;
pub(crate) mod book;
pub(crate) mod close_order;
pub(crate) mod closing;
pub(crate) mod cover;
pub(crate) mod decision;
pub(crate) mod discrepancies;
pub(crate) mod dispatch;
pub(crate) mod feed;
pub(crate) mod filled_away;
pub(crate) mod flatten;
pub(crate) mod fresh_marks;
pub(crate) mod guard_actions;
pub(crate) mod held_position;
pub(crate) mod hindrances;
pub(crate) mod kill_switch;
pub(crate) mod leverage_setting;
pub(crate) mod make_room;
pub(crate) mod over_limit;
pub(crate) mod paper_reply;
pub(crate) mod planning;
pub(crate) mod protect;
pub(crate) mod read_progress;
pub(crate) mod regroup;
pub(crate) mod replies;
pub(crate) mod requests;
pub(crate) mod resend_reducing;
pub(crate) mod resend_without_builder_fee;
pub(crate) mod risk;
pub(crate) mod risk_event;
pub(crate) mod send_result;
pub(crate) mod settlement;
pub(crate) mod shutdown;
pub(crate) mod signer;
pub(crate) mod step_context;
pub(crate) mod supervise;
pub(crate) mod uncovering;
pub(crate) mod untold;
