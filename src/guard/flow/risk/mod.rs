//! The risk state at work: reads become figures, figures halts, and each change a record.

pub(crate) mod account;
pub(crate) mod halt;
pub(crate) mod ledger;
pub(crate) mod mode;
pub(crate) mod records;
pub(crate) mod witness;
