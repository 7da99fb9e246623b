//! From a line to its answer: given at once, or by a tool call that a worker runs. Pure but for the calls.

use serde_json::{Value, json};

use super::answer::Answer;
use super::context::Context;
use super::outcome;
use super::protocol_version::{ProtocolVersion, discovered, initialized};
use super::texts::INSTRUCTIONS;
use super::tools::{KILL_NAME, Tool, served};
use super::wire::{self, INTERNAL_ERROR, INVALID_PARAMS, Incoming, METHOD_NOT_FOUND, Request, RpcError};
use crate::base::text::visible;

/// The next step for a line.
pub(super) enum Step {
    /// Nothing.
    Nothing,
    /// Answer with this line.
    Reply(String),
    /// Run a tool.
    Call(Call),
}

/// A tool call.
pub(super) struct Call {
    id: Value,
    version: ProtocolVersion,
    tool: &'static Tool,
    arguments: Option<String>,
}

/// Reads a line.
pub(super) fn step(line: &[u8], read_only: bool) -> Step {
    let request = match wire::read(line) {
        Incoming::Ignored => return Step::Nothing,
        Incoming::Bad(reply) => return Step::Reply(reply),
        Incoming::Request(request) => request,
    };
    let id = request.id.clone();
    route(request, read_only).unwrap_or_else(|error| Step::Reply(wire::error(Some(&id), &error)))
}

/// The step for a request.
fn route(request: Request, read_only: bool) -> Result<Step, RpcError> {
    let Request { id, method, params, arguments } = request;
    let version = ProtocolVersion::of(&method, &params)?;
    let reply = |result: Value| Ok(Step::Reply(wire::result(&id, &result)));
    match (method.as_str(), version) {
        ("initialize", _) => reply(initialized(&params, INSTRUCTIONS)),
        ("server/discover", ProtocolVersion::Stateless) => reply(version.cacheable(discovered(INSTRUCTIONS))),
        ("ping", ProtocolVersion::Handshake) => reply(json!({})),
        ("tools/list", _) => {
            // All tools are on one page, so no cursor was ever given out.
            if params.get("cursor").is_some_and(|cursor| !cursor.is_null()) {
                return Err(RpcError::new(INVALID_PARAMS, "`cursor` is none that this server gave"));
            }
            let tools: Vec<Value> = served(read_only).map(Tool::listed).collect();
            reply(version.cacheable(json!({ "tools": tools })))
        }
        ("tools/call", _) => {
            let name = params.get("name").and_then(Value::as_str);
            let name = name.ok_or_else(|| RpcError::new(INVALID_PARAMS, "`name` must be a string"))?;
            let tool = served(read_only).find(|tool| tool.name == name).ok_or_else(|| {
                RpcError::new(INVALID_PARAMS, format!("there is no tool named {}", visible(name, 64)))
            })?;
            if params.get("arguments").is_some_and(|arguments| !arguments.is_object() && !arguments.is_null()) {
                return Err(RpcError::new(INVALID_PARAMS, "`arguments` must be an object"));
            }
            Ok(Step::Call(Call { id, version, tool, arguments }))
        }
        _ => Err(RpcError::new(METHOD_NOT_FOUND, format!("there is no method {}", visible(&method, 64)))),
    }
}

impl Call {
    /// Whether this call pulls the kill switch, and so must not wait for room.
    pub(super) fn is_kill(&self) -> bool {
        self.tool.name == KILL_NAME
    }

    /// Runs the tool and gives the line to answer with.
    pub(super) fn run(self, context: &Context) -> String {
        let arguments = self.arguments.as_deref();
        let run = std::panic::AssertUnwindSafe(|| (self.tool.run)(context, arguments));
        match std::panic::catch_unwind(run) {
            Ok(done) => self.reply(&done.unwrap_or_else(Answer::from)),
            Err(_) => wire::error(Some(&self.id), &RpcError::new(INTERNAL_ERROR, "a fault of this server's own")),
        }
    }

    /// The line for a call that there is no room for.
    pub(super) fn refused(&self) -> String {
        let text = "Nothing was done: too many calls are under way. Wait for their answers, then call again.";
        self.reply(&outcome::Outcome::new(outcome::Kind::Unavailable, outcome::Retry::Later, text).into())
    }

    fn reply(&self, answer: &Answer) -> String {
        wire::result(&self.id, &self.version.complete(answer.to_result()))
    }
}
