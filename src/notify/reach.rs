//! Whether what a `notify.toml` names on this machine is there: secret files and programs. What this user may not look at is
//! left to the notifier's own start, which says it too.

use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use super::config::{Config, Place, Target};
use super::forms::command::SEARCH_PATH;
use super::secrets::{SecretError, Secrets};
use crate::base::files::{FileError, Why};

impl Config {
    /// All that is missing, or that others can read.
    #[must_use]
    pub fn out_of_reach(&self, in_container: bool) -> Vec<String> {
        let mut problems: Vec<String> = Vec::new();
        problems.extend(url(self.heartbeat.as_ref(), in_container).map(|why| format!("heartbeat: {why}")));
        for target in &self.target {
            let secrets = [&target.token, &target.password].into_iter().filter_map(Option::as_ref);
            let secrets =
                secrets.filter_map(|place| wrong(Secrets::new(None, in_container).optional(Some(place)).err()));
            let own = url(target.url.as_ref(), in_container).into_iter().chain(secrets).chain(program(target));
            problems.extend(own.map(|why| format!("target {:?}: {why}", target.name)));
        }
        problems
    }
}

fn url(place: Option<&Place>, in_container: bool) -> Option<String> {
    wrong(Secrets::new(None, in_container).url(place).err())
}

/// What is wrong with a secret, as far as it can be seen from here: credentials are there in their unit alone, and a file may
/// belong to the notifier's own user.
fn wrong(error: Option<SecretError>) -> Option<String> {
    match error? {
        SecretError::NoCredential(_) | SecretError::File(FileError { why: Why::Owner(_) | Why::Io(..), .. }) => None,
        error => Some(error.to_string()),
    }
}

/// What is wrong with a target's program.
fn program(target: &Target) -> Option<String> {
    let name = target.run.first()?;
    let is_there = |path: &Path| match path.metadata() {
        Ok(file) => file.is_file() && file.permissions().mode() & 0o111 != 0,
        Err(error) => error.kind() == ErrorKind::PermissionDenied,
    };
    let found = if name.contains('/') {
        Path::new(name).is_absolute() && is_there(Path::new(name))
    } else {
        SEARCH_PATH.split(':').any(|folder| is_there(&Path::new(folder).join(name)))
    };
    (!found)
        .then(|| format!("run: {name:?} is no program of this machine: name its whole path, or one of {SEARCH_PATH}"))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn what_is_not_there_or_is_open_to_others_is_said_of_all_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, mode: u32| {
            let path = folder.path().join(name);
            fs::write(&path, "https://x.example/abc").unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            path.display().to_string()
        };
        let (good, open, missing) =
            (file("good", 0o600), file("open", 0o644), folder.path().join("missing").display().to_string());
        let text = format!(
            "heartbeat = {{ file = '{missing}' }}
            [[target]]\nname = 'a'\nform = 'slack'\nurl = {{ file = '{open}' }}
            [[target]]\nname = 'b'\nform = 'slack'\nurl = {{ file = '{good}' }}
            [[target]]\nname = 'c'\nform = 'command'\nrun = ['/nowhere/at/all']
            [[target]]\nname = 'd'\nform = 'command'\nrun = ['sh', '-c', 'x']
            [[target]]\nname = 'e'\nform = 'command'\nrun = ['no-such-program-here']
            [[target]]\nname = 'f'\nform = 'command'\nrun = ['{good}']
            [[target]]\nname = 'g'\nform = 'telegram'\nchat = '1'\ntoken = {{ credential = 'bot' }}"
        );
        let config = Config::parse(&text, &[]).unwrap();
        let said = config.out_of_reach(false).join("\n");
        assert_eq!(said.lines().count(), 5, "{said}");
        for name in ["heartbeat: ", "\"a\": ", "\"c\": ", "\"e\": ", "\"f\": "] {
            assert!(said.contains(name), "{name} in {said}");
        }
        assert!(!said.contains("x.example"), "{said}");
        assert_eq!(config.out_of_reach(true).len(), 4, "in a container others may be able to read it");
    }
}
