//! The places where a person gives rules, for the text that says how it is done.

/// Where rules are given, as a person types it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Flag,
    Variable,
    Set,
}

impl Place {
    /// Its name.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Flag => "--rules",
            Self::Variable => "SVC_GUARD_RULES",
            Self::Set => "config set rules",
        }
    }

    /// The same with this value.
    pub(super) fn with(self, value: &str) -> String {
        match self {
            Self::Flag => format!("--rules {value}"),
            Self::Variable => format!("SVC_GUARD_RULES={value}"),
            Self::Set => format!("`svc-guard config set rules {value}`"),
        }
    }
}
