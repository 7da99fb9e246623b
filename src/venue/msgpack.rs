//! MessagePack in the form the venue hashes: maps in field order, the shortest form of every integer.

use super::json::Node;

/// Appends the MessagePack form of `node` to `out`.
pub(super) fn write(out: &mut Vec<u8>, node: &Node) {
    // Writing into a Vec has no error.
    let _ = match node {
        Node::Null => rmp::encode::write_nil(out).map_err(drop),
        Node::Bool(value) => rmp::encode::write_bool(out, *value).map_err(drop),
        Node::Int(number) => write_int(out, *number),
        Node::Str(text) => rmp::encode::write_str(out, text).map_err(drop),
        Node::Arr(items) => {
            let written = rmp::encode::write_array_len(out, length(items.len())).map(drop).map_err(drop);
            items.iter().for_each(|item| write(out, item));
            written
        }
        Node::Obj(members) => {
            let written = rmp::encode::write_map_len(out, length(members.len())).map(drop).map_err(drop);
            for (key, value) in members {
                let _ = rmp::encode::write_str(out, key);
                write(out, value);
            }
            written
        }
    };
}

fn write_int(out: &mut Vec<u8>, number: i128) -> Result<(), ()> {
    match (u64::try_from(number), i64::try_from(number)) {
        (Ok(number), _) => rmp::encode::write_uint(out, number).map(drop).map_err(drop),
        (_, Ok(number)) => rmp::encode::write_sint(out, number).map(drop).map_err(drop),
        _ => Err(()),
    }
}

/// A request body is at most 256 KiB, so a length always fits.
fn length(len: usize) -> u32 {
    u32::try_from(len).unwrap_or(u32::MAX)
}
