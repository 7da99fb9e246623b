//! The risk state: what the halts are measured by. Knows no order and no send.

pub(crate) mod cash_balance;
pub(crate) mod cash_history;
pub(crate) mod emptied;
pub(crate) mod equity_history;
pub(crate) mod equity_peaks;
pub(crate) mod first_reading;
pub(crate) mod hidden_loss;
pub(crate) mod marks;
pub(crate) mod modes;
pub(crate) mod risk_state;
pub(crate) mod settled_reading;
pub(crate) mod told_flows;
pub(crate) mod transfers;
pub(crate) mod unconfirmed_loss;
pub(crate) mod unproven_flows;
