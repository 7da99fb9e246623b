//! `journal_error`: a journal that cannot be written and entries.

use crate::guard::Input;
use crate::guard::tests::fixture::*;

fn entry() -> serde_json::Value {
    buy(ETH, "2000", "0.1")
}

#[test]
fn entries_are_refused_until_the_journal_works() {
    let mut desk = Desk::live();
    desk.step(Input::Journal(Some("no space left".into())));
    desk.order(entry()).vetoed("journal_error").says(&["no space left"]);
    desk.step(Input::Journal(None));
    desk.order(entry()).resized();
}
