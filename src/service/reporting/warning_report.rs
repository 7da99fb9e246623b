//! Tells in the log of what a person should look at although the service is well: when it begins, once a day while it lasts,
//! and when it is over. What keeps the service from being well has a report of its own.

use super::level::Level;
use crate::guard::AlertCode;
use crate::record::status::Alert;

/// How often what lasts is told of again.
const AGAIN_MS: u64 = 86_400_000;
/// Over is what was not there for so long: what comes and goes at its limit fills no log.
const OVER_MS: u64 = 20_000;

/// An alert that was told of.
struct Told {
    code: String,
    name: String,
    told_ms: u64,
    seen_ms: u64,
}

/// What was told of and is not over.
#[derive(Default)]
pub(super) struct WarningReport {
    told: Vec<Told>,
}

impl WarningReport {
    /// The lines for what there is now.
    pub(super) fn lines(&mut self, now_ms: u64, alerts: &[Alert]) -> Vec<(Level, String)> {
        let mut lines = Vec::new();
        for (place, alert) in alerts.iter().enumerate() {
            let name = name(alerts, place, alert);
            let text = || (Level::Warning, format!("{name}: {}", alert.text));
            match self.told.iter_mut().find(|told| told.name == name) {
                Some(told) => {
                    told.seen_ms = now_ms;
                    if now_ms >= told.told_ms.saturating_add(AGAIN_MS) {
                        told.told_ms = now_ms;
                        lines.push(text());
                    }
                }
                None => {
                    lines.push(text());
                    let code = alert.code.to_string();
                    self.told.push(Told { code, name, told_ms: now_ms, seen_ms: now_ms });
                }
            }
        }
        self.told.retain(|told| {
            let is_over = now_ms >= told.seen_ms.saturating_add(OVER_MS);
            if is_over {
                lines.push((Level::Info, format!("{} is over{}", told.name, how(&told.code))));
            }
            !is_over
        });
        lines
    }
}

/// How it may be over, where that is not good news in any case.
fn how(code: &str) -> &'static str {
    let is_of_loss = [AlertCode::DailyLossNear, AlertCode::DrawdownNear].iter().any(|near| near.as_str() == code);
    if is_of_loss { ": the loss is no longer near its limit, or its halt has fired" } else { "" }
}

/// Its code and what it is about; where several are alike, with its number.
fn name(alerts: &[Alert], place: usize, alert: &Alert) -> String {
    let about = alert.about.as_ref().map_or_else(String::new, |about| format!(" ({about})"));
    let is_alike = |other: &&Alert| (&other.code, &other.about) == (&alert.code, &alert.about);
    let number = match alerts.iter().take(place).filter(is_alike).count() {
        0 => String::new(),
        before => format!(" #{}", before.saturating_add(1)),
    };
    format!("alert {}{about}{number}", alert.code)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn alert(code: &'static str, about: Option<&str>, text: &str) -> Alert {
        Alert { code: code.into(), about: about.map(str::to_owned), text: text.to_owned(), since_ms: Some(7) }
    }

    /// Its halt ends it as well.
    #[test]
    fn the_end_of_a_loss_near_its_limit_is_no_word_that_all_is_well() {
        let mut report = WarningReport::default();
        report.lines(0, &[alert("daily_loss_near", None, "near")]);
        let over = "alert daily_loss_near is over: the loss is no longer near its limit, or its halt has fired";
        assert_eq!(report.lines(OVER_MS, &[]), [(Level::Info, over.to_owned())]);
    }

    #[test]
    fn an_alert_is_told_of_when_it_begins_once_a_day_and_when_it_is_over() {
        let mut report = WarningReport::default();
        let wallet = |hours: u32| [alert("api_wallet_expiring", None, &format!("ends in {hours} hours"))];
        let told = |hours: u32| [(Level::Warning, format!("alert api_wallet_expiring: ends in {hours} hours"))];
        assert_eq!(report.lines(0, &[]), []);
        assert_eq!(report.lines(10, &wallet(71)), told(71));
        assert_eq!(report.lines(3_600_010, &wallet(70)), [], "another hour is no news");
        assert_eq!(report.lines(86_400_009, &wallet(48)), []);
        assert_eq!(report.lines(86_400_010, &wallet(47)), told(47));
        assert_eq!(report.lines(86_500_000, &wallet(47)), []);
        assert_eq!(report.lines(86_519_999, &[]), []);
        let over = (Level::Info, "alert api_wallet_expiring is over".to_owned());
        assert_eq!(report.lines(86_520_000, &[]), [over]);
        assert_eq!(report.lines(86_600_000, &[]), []);
    }

    #[test]
    fn what_comes_and_goes_is_told_of_once() {
        let mut report = WarningReport::default();
        let near = [alert("daily_loss_near", None, "near")];
        assert_eq!(report.lines(0, &near).len(), 1);
        for turn in 1..100 {
            assert_eq!(report.lines(turn * 10_000, if turn % 2 == 0 { &near } else { &[] }), []);
        }
    }

    #[test]
    fn two_of_one_code_are_two() {
        let mut report = WarningReport::default();
        let unknown = |coin: &'static str| alert("position_unknown", Some(coin), "in no market");
        let odd = alert("book_differs", None, "by 1");
        let told = report.lines(0, &[unknown("A"), unknown("B"), odd.clone(), odd]);
        assert_eq!(told.len(), 4);
        assert_eq!(told[3].1, "alert book_differs #2: by 1");
        let told: Vec<String> = report.lines(20_000, &[unknown("B")]).into_iter().map(|(_, line)| line).collect();
        let over = ["(A) is over", "book_differs is over", "book_differs #2 is over"];
        assert!(told.len() == 3 && over.iter().all(|end| told.iter().any(|line| line.ends_with(end))), "{told:?}");
    }
}
