//! A file or folder that the system does not let this user use: by its owner, and the way out of it.

use std::path::Path;
use std::{fs, io};

use std::os::unix::fs::MetadataExt;

use nix::unistd::{Uid, User};

use super::shell::word;

/// A refusal of the system to this user, with who may do it.
#[must_use]
pub fn denied(path: &Path, error: &io::Error) -> String {
    format!("{error} to {}{}", user_name(Uid::effective().as_raw()), nearest_owner(path))
}

/// The owner of the nearest place on a path that can be looked at, and how to act as that user, where it is another one. What
/// another one put into a folder of this user's is this user's to be.
fn nearest_owner(path: &Path) -> String {
    let whole = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let (me, owner) = (Uid::effective().as_raw(), |place: &Path| Some(fs::symlink_metadata(place).ok()?.uid()));
    let found = whole.ancestors().find_map(|place| Some((place, owner(place)?)));
    match found {
        Some((place, uid)) if uid != me && place.parent().and_then(owner) == Some(me) => {
            let (user, me, shown) = (user_name(uid), user_name(me), word(place));
            // It takes a number as it is.
            let plain = me.trim_matches(['\'', '#']);
            format!("; {} belongs to {user}: `sudo chown {plain} {shown}` gives it to {me}", place.display())
        }
        Some((place, uid)) if uid != me => {
            let user = user_name(uid);
            format!("; {} belongs to {user}: `sudo -u {user}` before the command runs it as that user", place.display())
        }
        _ => "; name another place, or change its mode by chmod".to_owned(),
    }
}

/// A user by name, or by number as `sudo` takes it where there is no name.
pub fn user_name(uid: u32) -> String {
    let known = User::from_uid(Uid::from_raw(uid)).ok().flatten();
    known.map_or_else(|| format!("'#{uid}'"), |user| user.name)
}
