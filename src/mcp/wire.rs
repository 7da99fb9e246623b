//! JSON-RPC, one object a line: what came in, and the lines that answer it. Pure.

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

/// The text is not JSON.
pub(super) const PARSE_ERROR: i64 = -32_700;
/// JSON, but no request.
pub(super) const INVALID_REQUEST: i64 = -32_600;
/// A method that this server does not have.
pub(super) const METHOD_NOT_FOUND: i64 = -32_601;
/// Parameters of the wrong shape, an unknown tool, a cursor.
pub(super) const INVALID_PARAMS: i64 = -32_602;
/// A fault of this server's own.
pub(super) const INTERNAL_ERROR: i64 = -32_603;
/// A protocol revision that this server does not speak.
pub(super) const UNSUPPORTED_VERSION: i64 = -32_022;

/// An error as JSON-RPC carries it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct RpcError {
    pub(super) code: i64,
    pub(super) message: String,
    pub(super) data: Option<Value>,
}

impl RpcError {
    pub(super) fn new(code: i64, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None }
    }
}

/// A request that wants an answer.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Request {
    /// A string or an integer, given back as it came.
    pub(super) id: Value,
    pub(super) method: String,
    pub(super) params: Map<String, Value>,
    /// The text of `params.arguments`, so that a number's digits are read as they were written.
    pub(super) arguments: Option<String>,
}

/// One line, read.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Incoming {
    Request(Request),
    /// A notification, or an answer to a question never asked: both are passed over.
    Ignored,
    /// The line to answer with.
    Bad(String),
}

/// Reads a line.
pub(super) fn read(line: &[u8]) -> Incoming {
    let value: Value = match serde_json::from_slice(line) {
        Ok(value) => value,
        Err(error) => return bad(None, PARSE_ERROR, format!("not JSON: {error}")),
    };
    let Value::Object(message) = value else {
        let what = if value.is_array() { "a batch is not taken; send one request a line" } else { "not an object" };
        return bad(None, INVALID_REQUEST, what);
    };
    let id = message.get("id").filter(|id| id.is_string() || id.is_i64() || id.is_u64()).cloned();
    if message.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return bad(id.as_ref(), INVALID_REQUEST, "`jsonrpc` must be \"2.0\"");
    }
    let method = match message.get("method") {
        Some(Value::String(method)) => method.clone(),
        None if message.contains_key("result") || message.contains_key("error") => return Incoming::Ignored,
        _ => return bad(id.as_ref(), INVALID_REQUEST, "`method` must be a string"),
    };
    if !message.contains_key("id") {
        return Incoming::Ignored;
    }
    let Some(id) = id else { return bad(None, INVALID_REQUEST, "`id` must be a string or an integer") };
    let params = match message.get("params") {
        None => Map::new(),
        Some(Value::Object(params)) => params.clone(),
        Some(_) => return bad(Some(&id), INVALID_PARAMS, "`params` must be an object"),
    };
    match arguments(line) {
        Ok(arguments) => Incoming::Request(Request { id, method, params, arguments }),
        Err(error) => bad(Some(&id), INVALID_PARAMS, format!("`params` cannot be read: {error}")),
    }
}

/// The text of `params.arguments`. A member that is there twice is refused: each reader would take another one.
fn arguments(line: &[u8]) -> Result<Option<String>, serde_json::Error> {
    #[derive(Deserialize)]
    struct Message<'a> {
        #[serde(borrow)]
        params: Option<Params<'a>>,
    }
    #[derive(Deserialize)]
    struct Params<'a> {
        #[serde(borrow)]
        arguments: Option<&'a RawValue>,
    }
    let message: Message<'_> = serde_json::from_slice(line)?;
    Ok(message.params.and_then(|params| params.arguments).map(|raw| raw.get().to_owned()))
}

/// The line of a result.
pub(super) fn result(id: &Value, result: &Value) -> String {
    json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string()
}

/// The line of an error. Where no id could be read it is null, as JSON-RPC has it; the protocol's own schema would have
/// it left out, but the official client takes an error only with an id.
pub(super) fn error(id: Option<&Value>, error: &RpcError) -> String {
    let mut body = json!({"code": error.code, "message": error.message});
    if let (Some(data), Some(body)) = (&error.data, body.as_object_mut()) {
        body.insert("data".to_owned(), data.clone());
    }
    json!({"jsonrpc": "2.0", "id": id, "error": body}).to_string()
}

fn bad(id: Option<&Value>, code: i64, message: impl Into<String>) -> Incoming {
    Incoming::Bad(error(id, &RpcError::new(code, message)))
}

#[cfg(test)]
#[path = "../../tests/fuzz/mcp_line.rs"]
mod fuzz;
