//! A kill as it was typed, for the commands that are proposed in its place: on another home it has the same reason, and waits as long.

use std::path::Path;

use crate::base::shell::word;

/// What was typed beside the home.
#[derive(Debug, Default, Clone)]
pub(super) struct Typed {
    /// The reason; none where another one is to stand there.
    pub(super) reason: Option<String>,
    /// For how long it waits, where it does.
    pub(super) wait: Option<u16>,
}

impl Typed {
    /// The command that kills the guard of a home.
    pub(super) fn command(&self, home: &Path) -> String {
        format!("svc-guard --home {} {}", word(home), self.words())
    }

    /// The same without its home.
    pub(super) fn words(&self) -> String {
        let reason = self.reason.as_ref().map_or_else(|| "TEXT".to_owned(), word);
        let wait = self.wait.map_or_else(String::new, |seconds| format!(" --wait {seconds}"));
        format!("kill --reason {reason}{wait}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_typed_stands_in_the_command() {
        let home = Path::new("/my home");
        let typed = Typed { reason: Some("it's wrong".to_owned()), wait: Some(7) };
        assert_eq!(typed.command(home), "svc-guard --home '/my home' kill --reason 'it'\\''s wrong' --wait 7");
        assert_eq!(Typed::default().command(home), "svc-guard --home '/my home' kill --reason TEXT");
    }
}
