//! Where the guard of the notifier's home answers, which may be elsewhere with each of its starts. A thread of its own looks: where
//! the home's disk hangs, the guard is asked all the same.

use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::guard_look::guard_url;
use crate::base::sync::lock;

/// Says where that guard answers now, where it is known.
pub type Where = Box<dyn Fn() -> Option<String> + Send>;

/// Between two looks.
const EVERY: Duration = Duration::from_secs(3);

/// The address as it was found last.
pub(super) struct Followed(Arc<Mutex<Option<String>>>);

impl Followed {
    /// Begins to look.
    pub(super) fn start(answers: Where) -> io::Result<Self> {
        let found = Arc::default();
        let ours = Arc::clone(&found);
        std::thread::Builder::new().name("follow".to_owned()).spawn(move || {
            loop {
                std::thread::sleep(EVERY);
                let seen = answers().and_then(|url| guard_url(&url));
                *lock(&ours) = seen;
            }
        })?;
        Ok(Self(found))
    }

    /// Another address than this one, if it answers there by now.
    pub(super) fn another_than(&self, url: &str) -> Option<String> {
        lock(&self.0).take().filter(|found| found != url)
    }
}
