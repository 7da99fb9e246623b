//! `pull_kill_switch`: sent without any check first, and written as the kill file where the guard does not answer.

use std::path::Path;

use serde::Deserialize;

use super::tool::{SETTING, Tool, read};
use crate::base::kill_file::MAX_REASON_LEN;
use crate::base::shell::for_home;
use crate::base::text::visible;
use crate::mcp::answer::Answer;
use crate::mcp::context::Context;
use crate::mcp::guard_client::GuardCallError;
use crate::mcp::outcome::{Kind, Outcome, Retry};
use crate::mcp::schema;
use crate::mcp::send::signed;
use crate::record::kill_answer::KillAnswer;
use crate::venue::action::Action;
use crate::venue::signing::{Source, Terms};

/// The name of the tool that is always served at once.
pub(in crate::mcp) const KILL_NAME: &str = "pull_kill_switch";

pub(super) const KILL: Tool = Tool {
    name: KILL_NAME,
    title: "Pull the kill switch",
    description: "Stops all trading at once: the guard opens nothing any more, cancels open orders and closes EVERY position. Only a \
                  person can release it; no tool here can. Pull it when something is badly wrong.",
    hints: SETTING,
    input: || schema::object(1, &[("reason", schema::reason("Why, for the people who will look into it."))]),
    run: kill,
};

fn kill(context: &Context, args: Option<&str>) -> Result<Answer, Outcome> {
    let reason = read(args, &["reason"])?.required_reason()?;
    let action = Action::GuardKill { reason: reason.clone() };
    let terms = Terms { nonce: context.nonce(), vault: None, expires_after_ms: None };
    // The guard takes it signed for either network.
    let body = signed(context, &action, &terms, Source::Mainnet)?;
    let answer = context.guard.kill(&body).and_then(|answer| {
        let reason_given = KillAnswer::deserialize(answer).ok().and_then(|answer| answer.killed);
        reason_given.ok_or_else(|| GuardCallError::NoAnswer("its answer names no kill; is that the guard?".to_owned()))
    });
    match answer {
        Ok(reason_given) => {
            let text = "The kill switch is pulled: the guard opens nothing any more and closes everything. Only a person can \
                        release it. Tell your user now.";
            Ok(pulled(text.to_owned(), &reason_given).into())
        }
        Err(error) => by_file(context, &reason, &error),
    }
}

fn by_file(context: &Context, reason: &str, error: &GuardCallError) -> Result<Answer, Outcome> {
    let tried = context.kill_file.as_ref().map(|(file, is_sure)| (file, *is_sure, file.pull(reason)));
    match tried {
        Some((file, is_sure, Ok(_))) => {
            if !is_sure && !context.has_seen_guard() {
                let why = format!(
                    "and the kill file that was written is {}, in a folder that looks like no home of a guard",
                    file.path().display()
                );
                return Err(not_pulled(context, true, error, &why));
            }
            if let Some(own) = context.watched_kill_file().filter(|own| Path::new(own) != file.path()) {
                let (named, own) = (file.path().display(), visible(&own, 200));
                let why =
                    format!("and the kill file that was written is {named}, while the guard named {own} as its own");
                return Err(not_pulled(context, true, error, &why));
            }
            // Its name alone kills where a guard looks for it; what else stands there is no sign that one does.
            if !file.is_regular() {
                let why = format!(
                    "and {} is no regular file, so that it is not known what a guard makes of it",
                    file.path().display()
                );
                return Err(not_pulled(context, true, error, &why));
            }
            let text = format!(
                "The kill switch is pulled through the kill file, for {error}. A guard that runs sees it within a second and \
                 closes everything; one that is down starts killed. Only a person can release it. Tell your user now."
            );
            Ok(pulled(text, &file.reason()).into())
        }
        Some((_, _, Err(failed))) => {
            let failed = visible(&failed.to_string(), 100);
            Err(not_pulled(
                context,
                error.may_have_acted(),
                error,
                &format!("and the kill file cannot be written ({failed})"),
            ))
        }
        None => Err(not_pulled(context, error.may_have_acted(), error, "and no --kill-file was given")),
    }
}

fn pulled(text: String, reason: &str) -> Outcome {
    Outcome { kill: Some(Some(visible(reason, MAX_REASON_LEN))), ..Outcome::new(Kind::Accepted, Retry::Never, text) }
}

fn not_pulled(context: &Context, may_be: bool, error: &GuardCallError, why: &str) -> Outcome {
    let home = context.home();
    let last = for_home("Tell your user to run `svc-guard kill --reason ...` at once, and try again.", &home, "");
    if may_be {
        let text = format!("The kill switch MAY be pulled: {error}, {why}. {last} Pulling it twice does no harm.");
        return Outcome::new(Kind::Unknown, Retry::Later, text);
    }
    Outcome::new(Kind::Unavailable, Retry::Later, format!("The kill switch is NOT pulled: {error}, {why}. {last}"))
}
