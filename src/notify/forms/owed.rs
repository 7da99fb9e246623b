//! Recipients whom a mail server puts off while it takes the mail for others of the same target: these hear at once, and once, and
//! one full mailbox holds what comes next up for a few tries and no longer.

use std::collections::BTreeMap;
use std::sync::Mutex;

use lettre::Address;

use crate::base::sync::lock;

/// Times that a mail is tried again for who was put off; then it counts as told.
const MOST_TRIES: u32 = 5;
/// Mails that are remembered at most. Of one that is forgotten somebody hears again.
const MOST: usize = 32;

/// Who is owed a mail still, by its number, and how often that was put off.
#[derive(Debug, Default)]
pub(super) struct Owed(Mutex<BTreeMap<u64, (Vec<Address>, u32)>>);

impl Owed {
    /// Whom a mail is for now.
    pub(super) fn to(&self, id: u64, all: &[Address]) -> Vec<Address> {
        lock(&self.0).get(&id).map_or_else(|| all.to_vec(), |(owed, _)| owed.clone())
    }

    /// These were put off. Says whether the mail is tried again for them.
    pub(super) fn put_off(&self, id: u64, whom: Vec<Address>) -> bool {
        let mut all = lock(&self.0);
        let tries = all.get(&id).map_or(0, |(_, tries)| *tries).saturating_add(1);
        if whom.is_empty() || tries > MOST_TRIES {
            all.remove(&id);
            return false;
        }
        all.insert(id, (whom, tries));
        if all.len() > MOST {
            all.pop_first();
        }
        true
    }

    /// Whether others have had the mail already.
    pub(super) fn is_begun(&self, id: u64) -> bool {
        lock(&self.0).contains_key(&id)
    }
}
