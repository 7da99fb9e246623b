//! `market_unknown`: an asset id that the venue does not list.

use crate::guard::Read;
use crate::guard::tests::fixture::*;

#[test]
fn an_unknown_market_is_refused_and_the_list_read_again() {
    let decided = Desk::live().order(buy(UNLISTED, "1", "100"));
    decided.vetoed("market_unknown").says(&["6"]);
    assert_eq!(reads(&decided.effects), [&Read::Universe]);
    assert!(reads(&Desk::live().order(buy(OLD, "1", "100")).effects).is_empty());
}
