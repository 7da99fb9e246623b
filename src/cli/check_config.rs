//! `check-config`: validates the config and prints its rules; reads no key, and connects to nothing but where it may ask
//! the venue what the account is worth.

use super::configured::configured;
use super::notify;
use super::output::print;
use super::refusal::Refusal;
use super::{equity, explain, reached, waiting};
use crate::base::amount::{cents, to_wire};
use crate::home::{Home, HomeError, base_url};

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Ask the venue for the account's equity and its markets, and say what each rule comes to in USDC
    #[arg(long)]
    explain: bool,
}

/// How many are served, and how one is made where there is none.
fn clients(count: usize) -> String {
    match count {
        0 => "0, so nobody is served: `svc-guard client add --out FILE` makes one".to_owned(),
        count => count.to_string(),
    }
}

pub(super) fn run(args: &Args, home: &Home) -> Result<(), Refusal> {
    let config = configured(home)?;
    // Anyone may look at it, and `run` would refuse this home.
    if let Err(error @ HomeError::Exposed(..)) = home.require_own() {
        return Err(Refusal::Home(error));
    }
    let base_url = match base_url(config.listen) {
        None => format!("not known before: {}", reached::CHOSEN),
        Some(url) => format!("{url}, without https: the bot reaches the guard on its own machine"),
    };
    let mut out = format!(
        "{} is valid\nmode     {}\naccount  {} on {}\nvenue    {}\nlisten   {}\nbase URL {base_url}\nip share {} ({} weight a minute)\nclients  {}\nrules    {}\n",
        home.config_file().display(),
        config.mode,
        config.account,
        config.account_network,
        config.venue_url(),
        config.listen,
        config.ip_share,
        config.ip_share.budget_per_minute(),
        clients(config.auth.clients.len()),
        config.rules.to_code(),
    );
    let asked = args
        .explain
        .then(|| waiting::with_progress(&format!("the venue at {}", config.venue_url()), || equity::now(&config)));
    let cap = config.equity_cap.map_or_else(|| "none".to_owned(), |cap| format!("{} USDC", to_wire(cap)));
    out.push_str(&format!("  {:<18}{cap}\n", "equity cap"));
    let worth = asked.as_ref().and_then(|asked| asked.as_ref().ok()).map(|measured| measured.equity);
    for rule in config.rules.describe() {
        let mark = if rule.looser { "  (looser than the default)" } else { "" };
        let usdc = worth.and_then(|equity| explain::priced(&config, rule.key, equity));
        let usdc = usdc.map_or_else(String::new, |usdc| format!("  = {usdc}"));
        out.push_str(&format!("  {:<18}{}{usdc}{mark}\n", rule.key, rule.words));
    }
    match (asked, worth) {
        (Some(Err(refusal)), _) => out.push_str(&format!("Not priced in USDC: {refusal}\n")),
        (_, Some(equity)) => {
            let base = explain::base(&config, equity);
            let of = if base == equity {
                String::new()
            } else {
                format!(", taken of {} USDC, the equity cap", to_wire(base))
            };
            out.push_str(&format!("In USDC at the account's equity now, {} USDC{of}\n", cents(equity)));
        }
        _ => {}
    }
    if args.explain {
        let warnings =
            waiting::with_progress(&format!("the venue at {}", config.venue_url()), || explain::warnings(&config));
        warnings.iter().for_each(|warning| out.push_str(&format!("{warning}\n")));
    }
    let file = notify::file(None, home);
    if file.exists() {
        let told = notify::check(&file, home)?;
        let targets: Vec<String> =
            told.target.iter().map(|target| format!("{} ({})", target.name, target.form.name())).collect();
        out.push_str(&format!("{} is valid\ntells    {}\n", file.display(), targets.join(", ")));
    }
    print(&out)
}
