//! How a message reaches each kind of target: one file a form. Each makes the request that the service documents; the way
//! out, and how an answer is taken, are the same for all.

pub(super) mod answer;
mod bounded;
pub(super) mod command;
pub(super) mod discord;
pub(super) mod http;
pub(super) mod json;
pub(super) mod ntfy;
mod owed;
mod session;
pub(super) mod slack;
pub(super) mod smtp;
pub(super) mod telegram;

use std::sync::atomic::AtomicBool;

use super::config::{Form, Target};
use super::message::Message;
use super::secrets::{SecretError, Secrets};
use answer::Answer;
use http::{Post, Way};

/// Tells one target.
pub(super) enum Teller {
    /// By a POST.
    Http(Way, Box<dyn Fn(&Message) -> Post + Send>),
    /// By mail.
    Smtp(smtp::Mail),
    /// By a program.
    Command(Vec<String>),
}

impl Teller {
    /// The way to a target. What it takes in secrets is read now, and remembered so that no text shows it.
    pub(super) fn of(target: &Target, secrets: &mut Secrets) -> Result<Self, SecretError> {
        let url = secrets.url(target.url.as_ref())?;
        let token = secrets.optional(target.token.as_ref())?;
        let (topic, chat) = (target.topic.clone().unwrap_or_default(), target.chat.clone().unwrap_or_default());
        let http = |url: &str, post: Box<dyn Fn(&Message) -> Post + Send>| Self::Http(Way::to(url), post);
        Ok(match target.form {
            Form::Json => http(&url.clone(), Box::new(move |message| json::post(message, &url, token.as_deref()))),
            Form::Ntfy => {
                http(&url.clone(), Box::new(move |message| ntfy::post(message, &url, &topic, token.as_deref())))
            }
            Form::Slack => http(&url.clone(), Box::new(move |message| slack::post(message, &url))),
            Form::Discord => http(&url.clone(), Box::new(move |message| discord::post(message, &url))),
            Form::Telegram => {
                let url = if url.is_empty() { telegram::SERVER.to_owned() } else { url };
                let token = token.unwrap_or_default();
                http(&url.clone(), Box::new(move |message| telegram::post(message, &url, &token, &chat)))
            }
            Form::Smtp => {
                let password = secrets.optional(target.password.as_ref())?;
                Self::Smtp(smtp::Mail::of(target, password)?)
            }
            Form::Command => Self::Command(target.run.clone()),
        })
    }

    /// Tries once. A program that runs when the end comes is ended with it.
    pub(super) fn tell(&self, message: &Message, is_closing: &AtomicBool) -> Answer {
        match self {
            Self::Http(way, post) => way.send(&post(message)),
            Self::Smtp(mail) => mail.send(message),
            Self::Command(words) => command::run(words, message, is_closing),
        }
    }
}

#[cfg(test)]
mod tests;
