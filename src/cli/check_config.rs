//! `check-config`: validates the config and prints its rules; reads no key and connects to nothing.

use super::configured::configured;
use super::notify;
use super::output::print;
use super::refusal::Refusal;
use crate::home::Home;

pub(super) fn run(home: &Home) -> Result<(), Refusal> {
    let config = configured(home)?;
    let mut out = format!(
        "{} is valid\nmode     {}\naccount  {} on {}\nlisten   {}\nip share {} ({} weight a minute)\nclients  {}\nrules    {}\n",
        home.config_file().display(),
        config.mode,
        config.account,
        config.account_network,
        config.listen,
        config.ip_share,
        config.ip_share.budget_per_minute(),
        config.auth.clients.len(),
        config.rules.to_code(),
    );
    for rule in config.rules.describe() {
        let mark = if rule.looser { "  (looser than the default)" } else { "" };
        out.push_str(&format!("  {:<18}{}{mark}\n", rule.key, rule.words));
    }
    let file = notify::file(None, home);
    if file.exists() {
        let told = notify::read(&file, home)?;
        let targets: Vec<String> =
            told.target.iter().map(|target| format!("{} ({})", target.name, target.form.name())).collect();
        out.push_str(&format!("{} is valid\ntells    {}\n", file.display(), targets.join(", ")));
    }
    print(&out)
}
