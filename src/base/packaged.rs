//! The homes of the installed services, and the units that run them.

use std::path::Path;

/// The home of the installed service.
pub const SERVICE_HOME: &str = "/var/lib/svc-guard";

/// The unit that runs a home: the installed service's, or that of a further guard.
#[must_use]
pub fn unit_of(home: &Path) -> Option<String> {
    let rest = home.strip_prefix(SERVICE_HOME).ok()?;
    let mut parts = rest.iter();
    match (parts.next(), parts.next(), parts.next()) {
        (None, _, _) => Some("svc-guard".to_owned()),
        (Some(folder), Some(name), None) if folder == "guards" => Some(format!("svc-guard@{}", name.to_str()?)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_homes_of_the_package_have_units_and_no_other_one_has() {
        for (home, unit) in [
            ("/var/lib/svc-guard", Some("svc-guard")),
            ("/var/lib/svc-guard/guards/eth", Some("svc-guard@eth")),
            ("/var/lib/svc-guard/guards", None),
            ("/var/lib/svc-guard/guards/eth/journals", None),
            ("/var/lib/svc-guard/other/eth", None),
            ("/var/lib/svc-guard-2", None),
            ("/home/me/guards/eth", None),
        ] {
            assert_eq!(unit_of(Path::new(home)).as_deref(), unit, "{home}");
        }
    }
}
