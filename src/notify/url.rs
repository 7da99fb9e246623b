//! The URLs that may be called: those that nobody on the way can read.

use crate::base::origin::Origin;

/// A URL that nobody on the way can read: https, or this machine. Gives its origin, which may be shown.
pub(super) fn private_url(url: &str) -> Result<Origin, String> {
    let wrong = || "must be an https:// URL, or an http:// one on loopback".to_owned();
    let rest = url.split_once("://").map(|(_, rest)| rest).ok_or_else(wrong)?;
    let end = url.len() - rest.len() + rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let authority = rest.get(..rest.find(['/', '?', '#']).unwrap_or(rest.len())).unwrap_or_default();
    if authority.contains('@') {
        let way = "a secret of its own stands in token, as { file = \"...\" } or { credential = \"...\" }";
        return Err(format!("must not hold user:password before an @: it would stand in the open; {way}"));
    }
    let origin = Origin::parse(url.get(..end).unwrap_or_default()).map_err(|_| wrong())?;
    let is_plain = url.bytes().all(|byte| byte.is_ascii_graphic());
    if origin.is_private() && is_plain { Ok(origin) } else { Err(wrong()) }
}
