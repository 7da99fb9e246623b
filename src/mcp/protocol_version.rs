//! The two kinds of protocol revisions, recognised request by request: the stateless one is named in every request, the
//! older ones begin with a handshake, `initialize`. Pure.

use serde_json::{Map, Value, json};

use super::wire::{INVALID_PARAMS, RpcError, UNSUPPORTED_VERSION};
use crate::base::text::visible;

/// The stateless revision.
pub(super) const STATELESS: &str = "2026-07-28";
/// The revisions with a handshake, oldest first.
pub(super) const WITH_HANDSHAKE: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];
/// The revision offered to a client whose own is not known here.
const NEWEST_WITH_HANDSHAKE: &str = "2025-11-25";

const VERSION_KEY: &str = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES_KEY: &str = "io.modelcontextprotocol/clientCapabilities";
const SERVER_KEY: &str = "io.modelcontextprotocol/serverInfo";

/// How long a client may keep the list of tools: it does not change while the server lives.
const LIST_TTL_MS: u64 = 3_600_000;

/// The kind of revision that a request is made in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ProtocolVersion {
    /// One with a handshake.
    Handshake,
    /// Stateless.
    Stateless,
}

impl ProtocolVersion {
    /// The kind of a request's revision.
    ///
    /// # Errors
    /// When it names another revision than the stateless one, or lacks what that one asks for.
    pub(super) fn of(method: &str, params: &Map<String, Value>) -> Result<Self, RpcError> {
        if method == "initialize" {
            return Ok(Self::Handshake);
        }
        let meta = params.get("_meta");
        let member = |key: &str| meta.and_then(|meta| meta.get(key));
        let missing =
            |key: &str| RpcError::new(INVALID_PARAMS, format!("`_meta` lacks `{key}`, or it is of another type"));
        match (member(VERSION_KEY), member(CAPABILITIES_KEY)) {
            (None, None) if method != "server/discover" => Ok(Self::Handshake),
            (Some(Value::String(version)), _) if version != STATELESS => Err(unsupported(version)),
            (Some(Value::String(_)), Some(Value::Object(_))) => Ok(Self::Stateless),
            (Some(Value::String(_)), _) => Err(missing(CAPABILITIES_KEY)),
            _ => Err(missing(VERSION_KEY)),
        }
    }

    /// A result in this revision's form.
    pub(super) fn complete(self, mut result: Value) -> Value {
        if let (Self::Stateless, Some(result)) = (self, result.as_object_mut()) {
            result.insert("resultType".to_owned(), json!("complete"));
        }
        result
    }

    /// A result that may be cached, in this revision's form.
    pub(super) fn cacheable(self, mut result: Value) -> Value {
        if let (Self::Stateless, Some(result)) = (self, result.as_object_mut()) {
            result.insert("ttlMs".to_owned(), json!(LIST_TTL_MS));
            result.insert("cacheScope".to_owned(), json!("private"));
        }
        self.complete(result)
    }
}

fn unsupported(requested: &str) -> RpcError {
    let requested = visible(requested, 40);
    let data = json!({"supported": [STATELESS], "requested": requested});
    RpcError { data: Some(data), ..RpcError::new(UNSUPPORTED_VERSION, "unsupported protocol version") }
}

/// The answer to `initialize`.
pub(super) fn initialized(params: &Map<String, Value>, instructions: &str) -> Value {
    let asked = params.get("protocolVersion").and_then(Value::as_str);
    let version = asked.filter(|asked| WITH_HANDSHAKE.contains(asked)).unwrap_or(NEWEST_WITH_HANDSHAKE);
    json!({
        "protocolVersion": version,
        "capabilities": {"tools": {}},
        "serverInfo": server_info(),
        "instructions": instructions,
    })
}

/// The answer to `server/discover`.
pub(super) fn discovered(instructions: &str) -> Value {
    json!({
        "supportedVersions": [STATELESS],
        "capabilities": {"tools": {}},
        "instructions": instructions,
        "_meta": {SERVER_KEY: server_info()},
    })
}

fn server_info() -> Value {
    json!({"name": "svc-guard", "title": "svc-guard", "version": env!("CARGO_PKG_VERSION")})
}
