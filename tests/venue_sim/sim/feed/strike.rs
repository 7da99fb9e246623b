//! The control operation `feed`: what a test does to the sockets.

use super::super::venue::Venue;
use super::kinds::Kind;
use super::line::Leaves;
use super::troubles::{About, Trouble, read};
use serde_json::{Value, json};

/// Frames that are no feed's and can be lost or late all the same.
const CHANNELS: [&str; 4] = ["pong", "post", "error", "subscriptionResponse"];

/// Does one operation; the result says how many sockets or subscriptions it struck.
pub(crate) fn strike(venue: &mut Venue, op: &Value) -> Result<Value, String> {
    let name = op.get("kind").and_then(Value::as_str).unwrap_or_default();
    let feeds = &mut venue.feeds;
    if name == "heal" {
        feeds.troubles.heal();
        return Ok(Value::Null);
    }
    let about = about(op)?;
    let (trouble, times) = read(op)?;
    let ids: Vec<u64> = feeds.open.iter().filter(|(_, open)| open.carries(&about)).map(|(&id, _)| id).collect();
    let mut struck = ids.len();
    let open = &mut feeds.open;
    match trouble {
        Trouble::Drop => ids.iter().for_each(|&id| feeds.close(id, "dropped")),
        Trouble::Rotate => ids.iter().for_each(|&id| feeds.close(id, "Expired")),
        Trouble::HalfOpen => ids.iter().filter_map(|id| open.get(id)).for_each(|open| open.line.silence()),
        Trouble::Garbage(item) => {
            for (_, connection) in open.iter_mut().filter(|(id, _)| ids.contains(id)) {
                connection.overrun |= !connection.line.push("garbage", item.clone(), Leaves::Now);
            }
        }
        Trouble::Dead { until_socket } => {
            struck = 0;
            for connection in open.values_mut() {
                let dying = connection.held.iter_mut();
                for held in dying.filter(|held| about.matches(held.of.kind.name, held.of.text("coin"))) {
                    held.dead = true;
                    struck = struck.saturating_add(1);
                }
                if until_socket {
                    connection.dead.push(about.clone());
                }
            }
        }
        going_on => {
            feeds.troubles.begin(name, going_on, about, times)?;
            return Ok(Value::Null);
        }
    }
    Ok(json!(struck))
}

/// What the operation is about.
fn about(op: &Value) -> Result<About, String> {
    let text = |key: &str| match op.get(key).filter(|value| !value.is_null()) {
        None => Ok(None),
        Some(value) => value.as_str().map(|text| Some(text.to_owned())).ok_or_else(|| format!("`{key}`: a string")),
    };
    let (on, coin) = (text("on")?, text("coin")?);
    match on.as_deref() {
        Some(name) if Kind::named(name).is_none() && !CHANNELS.contains(&name) => Err(format!("no feed `{name}`")),
        _ => Ok(About { on, coin }),
    }
}
