//! `health`: exits 0 when the service is healthy, 1 with the problem on standard error when it is not. A pulled kill switch
//! and a halt are no ill health: they count where `--trading` asks whether anything can be opened.
//!
//! Never 2: container health checks keep that number for themselves, so here even a bad setting is ill health.

use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use super::configured::{Left, configured, left};
use super::kill_elsewhere::{is_same, of_which};
use super::kill_told::{Of, kill_file_at, status_at};
use super::reached::USUAL;
use super::refusal::{Refusal, unsure};
use super::running_here::running;
use super::{environment, kill_disk, local_http, running_here, start, start_again};
use crate::base::origin::Origin;
use crate::base::shell::{place, word};
use crate::base::text::{printable, short};
use crate::home::{Home, local_url, parse_listen};
use crate::record::error_body::Health;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The service's listen address [default: the config's] [env: SVC_GUARD_LISTEN]
    #[arg(long, value_name = "L", value_parser = parse_listen, conflicts_with = "url")]
    listen: Option<SocketAddr>,
    /// The service's base URL, http://host:port
    #[arg(long, value_name = "URL")]
    url: Option<String>,
    /// Exits 1 for a pulled kill switch and for a halt too
    #[arg(long)]
    trading: bool,
}

/// What was asked for, in every command that is proposed in the place of what was typed.
#[derive(Debug, Clone, Copy)]
struct Asked {
    is_to_trade: bool,
}

impl Asked {
    fn words(self) -> &'static str {
        if self.is_to_trade { "health --trading" } else { "health" }
    }

    /// The same of another home's guard.
    fn of(self, home: &Path) -> String {
        format!("svc-guard --home {} {}", word(home), self.words())
    }
}

/// Time for the whole exchange.
const TIMEOUT: Duration = Duration::from_secs(5);

/// Most bytes read of an answer.
const MAX_BODY: u64 = 64 * 1024;

/// Most characters of a service's own words repeated: several problems fit, each with the command that mends it at its end.
const MAX_SHOWN: usize = 2000;

pub(super) fn run(args: Args, home: &Home, is_home_named: bool) -> Result<(), Refusal> {
    check(args, home, is_home_named).map_err(Refusal::Unhealthy)
}

fn check(args: Args, home: &Home, is_home_named: bool) -> Result<(), String> {
    let asked = Asked { is_to_trade: args.trading };
    let listen = environment::listen(args.listen).map_err(|refusal| refusal.to_string())?;
    let is_named = listen.is_some() || args.url.is_some();
    if let Some(other) = kill_disk::of_config(home).filter(|_| !is_named && !is_home_named) {
        let (told, doubt) = of_which(home, &other, |dir| asked.of(dir));
        return Err(format!("{told}; {}", unsure(&doubt)));
    }
    if let Some(told) = kill_disk::doubtful_config(home).filter(|_| !is_named && !is_home_named) {
        return Err(format!("{told}; {}", unsure(&format!("`{}` is for the default home", asked.of(home.dir())))));
    }
    // The default home's guard may be in health beside a config that nobody can read.
    if home.named_config().is_some() && !is_named && !is_home_named {
        configured(home).map_err(|refusal| refusal.to_string())?;
    }
    let base = &base_url(args, home, asked)?;
    let (status, body) = local_http::get(&format!("{base}/healthz"), TIMEOUT, MAX_BODY)
        .map_err(|error| format!("no answer from {base}: {error}; {}", way_out(home, is_named, asked)))?;
    if let Some(told) = told_of_another(base, home, asked).filter(|_| !is_named) {
        return Err(told);
    }
    let health: Option<Health<'_>> = serde_json::from_slice(&body).ok();
    match (status, health) {
        // Whatever else listens there may say 200 to anything.
        (200, Some(Health { ok: true, not_trading, .. })) => {
            line(&not_trading).filter(|_| asked.is_to_trade).map_or(Ok(()), Err)
        }
        (200, _) => Err(format!("{base}/healthz does not answer as a guard does: is that the guard?")),
        (503, health) => {
            let all = |health: Health<'_>| match asked.is_to_trade {
                true => [health.problems, health.not_trading].concat(),
                false => health.problems,
            };
            let told = health.and_then(|health| line(&all(health)));
            Err(told.unwrap_or_else(|| "the service is not healthy".to_owned()))
        }
        (status, _) => Err(format!("{base}/healthz answered with status {status}: is that the guard?")),
    }
}

/// What is done where nobody answers: one that runs is not started beside itself.
fn way_out(home: &Home, is_named: bool, asked: Asked) -> String {
    // Who may not see whether one runs is told of both.
    let watched = running_here::is_watched(home);
    let runs = if watched == Some(true) { "a guard runs on this home" } else { "a guard may run on this home" };
    let again = || start_again::again(home, &configured(home).ok()?).map(|again| again.way);
    let elsewhere = || "end it in its container and start it again there".to_owned();
    let again = again().or_else(|| (watched == Some(true)).then(elsewhere));
    match again.filter(|_| !is_named && watched != Some(false)) {
        Some(again) => format!("{runs}; where it hangs, {again}"),
        None => format!(
            "`{}` starts the service where it is down, --listen L or --url URL names another address{}",
            start(home),
            if is_named { String::new() } else { kill_disk::beside(home, asked.words()) }
        ),
    }
}

fn start(home: &Home) -> String {
    configured(home).map_or_else(|_| "svc-guard run --network MODE".to_owned(), |config| start::command(home, &config))
}

/// What is to be said where another home's guard answers: none runs on this one, or the one that does is not the one that left word
/// of itself there.
fn told_of_another(base: &str, home: &Home, asked: Asked) -> Option<String> {
    let of = Of::home(home);
    let other = of.another(base, &status_at(base)?)?;
    if of.watched() == Some(false) {
        return Some(of_another(base, &other, home, asked));
    }
    Some(format!(
        "no answer from this home's guard: what answers at {base} is the guard of {}; {}",
        place(other.parent().unwrap_or(Path::new("/"))),
        way_out(home, false, asked)
    ))
}

fn of_another(base: &str, kill_file: &Path, home: &Home, asked: Asked) -> String {
    let other = kill_file.parent().unwrap_or(Path::new("/"));
    let own = if configured(home).is_ok() {
        format!(
            "`{}` starts this home's, which needs a listen address of its own (`svc-guard config set listen 127.0.0.1:PORT`)",
            start(home)
        )
    } else {
        "`svc-guard init` sets this home up".to_owned()
    };
    format!(
        "no guard runs on this home: what answers at {base} is the guard of {}; `{}` asks for that one's, and {own}",
        place(other),
        asked.of(other),
    )
}

/// Where the service may be: where it was said to be, or where the one that runs on this home left word that it listens,
/// and where its config says.
fn base_url(args: Args, home: &Home, asked: Asked) -> Result<String, String> {
    if let Some(url) = args.url {
        return plain(&url, asked).map(|url| url.as_str().to_owned());
    }
    if let Some(listen) = environment::listen(args.listen).map_err(|refusal| refusal.to_string())? {
        return Ok(local_url(listen));
    }
    // It answers nowhere else: what answers at the config's address while that one hangs is another home's.
    if let Some(listen) = running(home) {
        return Ok(local_url(listen));
    }
    // Who may not see whether one runs may ask it all the same.
    let is_hidden = running_here::is_watched(home).is_none();
    if let Some(left) = left(home).filter(|left| is_hidden && is_life_at(left)) {
        return Ok(local_url(left.address));
    }
    match configured(home) {
        Ok(config) => Ok(local_url(config.listen)),
        Err(refusal) => without_config(home, &refusal.to_string(), asked),
    }
}

/// Whether the guard that left this word answers where it says.
fn is_life_at(left: &Left) -> bool {
    let told = status_at(&local_url(left.address)).map(|status| status.life);
    left.life.is_some() && told == left.life
}

/// The guard at the usual address, where it is this home's: a folder that was moved or removed beside it says so nowhere else.
fn without_config(home: &Home, why: &str, asked: Asked) -> Result<String, String> {
    let usual = local_url(USUAL);
    let told = || running_here::told(home).unwrap_or_else(|| why.to_owned());
    if running_here::is_running(home) {
        return kill_file_at(&usual)
            .filter(|file| is_same(file, home.kill_file().path()))
            .map_or_else(|| Err(told()), |_| Ok(usual));
    }
    let Some(file) = kill_file_at(&usual) else { return Err(why.to_owned()) };
    if is_same(&file, home.kill_file().path()) { Ok(usual) } else { Err(of_another(&usual, &file, home, asked)) }
}

/// The URL that was named; a guard answers on its own machine, where nothing is encrypted.
fn plain(url: &str, asked: Asked) -> Result<Origin, String> {
    let read = Origin::parse(url).ok().filter(|url| !url.is_encrypted());
    let likely = || {
        let bare = url.split_once("://").map_or(url, |(_, bare)| bare).split('/').next().unwrap_or_default();
        Origin::parse(&format!("http://{bare}")).map_or_else(|_| "http://HOST:PORT".to_owned(), |url| url.to_string())
    };
    let no_https = if url.starts_with("https:") { ", for a guard speaks no https" } else { "" };
    read.ok_or_else(|| {
        format!(
            "--url {:?} must be http://host:port{no_https}: `svc-guard {} --url {}`",
            short(url),
            asked.words(),
            word(likely())
        )
    })
}

/// What keeps the service from something, in one line; `None` where nothing does.
fn line(told: &[String]) -> Option<String> {
    let shown = printable(&told.join("; "), MAX_SHOWN);
    (!shown.is_empty()).then_some(shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What mends a problem stands at its end, behind all that was tried.
    #[test]
    fn the_command_that_mends_it_is_not_cut_off() {
        let way = "run `svc-guard --home /h key replace --key-stdin < FILE`";
        let problem = |words: usize| format!("{}{way}", "the venue refuses it; ".repeat(words));
        let told = line(&[problem(50), problem(20)]).unwrap();
        assert!(told.matches(way).count() == 2 && told.ends_with(way), "{told}");
        assert_eq!(line(&[problem(500)]).unwrap().chars().count(), MAX_SHOWN);
        assert_eq!(line(&[]), None);
    }
}
