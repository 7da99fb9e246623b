//! The live feed in the status, in the metrics and among the alerts.

use crate::guard::alert_code::AlertCode;
use crate::guard::state::guard::Guard;
use crate::record::status::{Alert, FeedStatus};

/// A feed that does not prove itself is told of after so long.
const NOTICE_MS: u64 = 60_000;

/// The feed's part of the status; none where there is no feed.
pub(crate) fn status(guard: &Guard, now_ms: u64) -> Option<FeedStatus> {
    let feed = &guard.feed;
    let figures = &feed.figures;
    let doubt = feed.nonsense.as_ref().filter(|_| !feed.is_trusted(now_ms)).map(|(text, _)| text.clone());
    guard.config.feed.then(|| FeedStatus {
        stage: figures.stage.into(),
        proved: is_up(guard, now_ms),
        audited: feed.pace.steady,
        down_since_ms: feed.down_ms,
        lag_ms: figures.lag_ms,
        sockets: figures.sockets,
        frames: figures.frames,
        unusable: figures.unusable,
        missed: feed.missed,
        differences: feed.differences,
        ended: doubt.or_else(|| figures.ended.clone()),
    })
}

/// Whether the feed proves all that the guard goes by.
pub(crate) fn is_up(guard: &Guard, now_ms: u64) -> bool {
    guard.feed.is_whole() && guard.feed.is_trusted(now_ms)
}

/// The feed told what cannot be, or has not proved itself for a while.
pub(crate) fn feed_down(guard: &Guard, now_ms: u64) -> Option<Alert> {
    if !guard.config.feed {
        return None;
    }
    let feed = &guard.feed;
    let doubt = feed.nonsense.as_ref().filter(|_| !feed.is_trusted(now_ms));
    let silent_ms = feed.down_ms.filter(|since_ms| now_ms.saturating_sub(*since_ms) > NOTICE_MS);
    let (text, since_ms) = match (doubt, silent_ms) {
        (Some((text, at_ms)), _) => (text.clone(), *at_ms),
        (None, Some(since_ms)) => {
            let ended = feed.figures.ended.as_deref().map(|ended| format!(" ({ended})")).unwrap_or_default();
            (format!("the venue's live feed does not prove itself{ended}; everything is read as without it"), since_ms)
        }
        (None, None) => return None,
    };
    Some(Alert { code: AlertCode::FeedDown.as_str().into(), about: None, text, since_ms: Some(since_ms) })
}
