//! A refusal: its code, its text, and the figures that it comes down to.

use crate::guard::code::Code;

/// A refusal of a whole request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Veto {
    pub(crate) code: Code,
    /// Names the limit, the actual value and the way out.
    pub(crate) text: String,
    /// The limit and the actual value once more, for programs, where the refusal comes down to two such.
    pub(crate) figures: Option<LimitAndActual>,
}

/// A limit and the value that met it, each as it would stand in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LimitAndActual {
    pub(crate) limit: String,
    pub(crate) actual: String,
}

impl Veto {
    pub(crate) fn new(code: Code, text: impl Into<String>) -> Self {
        Self { code, text: text.into(), figures: None }
    }

    /// The same with its limit and the actual value.
    pub(crate) fn with(self, limit: &impl ToString, actual: &impl ToString) -> Self {
        Self { figures: Some(LimitAndActual { limit: limit.to_string(), actual: actual.to_string() }), ..self }
    }
}
