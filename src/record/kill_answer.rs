//! The answer of `POST /guard/kill`.

use serde::{Deserialize, Serialize};

/// The kill switch as it stands after the request.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct KillAnswer {
    /// Why it is pulled: the first reason given.
    pub killed: Option<String>,
}
