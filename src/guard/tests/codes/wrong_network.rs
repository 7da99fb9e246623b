//! `wrong_network`: signed for the network that the owner requires.

use crate::guard::tests::fixture::*;
use crate::guard::{Config, Mode};
use crate::rules::Rules;
use crate::venue::signing::Source;

#[test]
fn either_network_is_taken_unless_one_is_required() {
    let mut desk = Desk::live();
    for (nonce, source) in [(NOW + 1, Source::Mainnet), (NOW + 2, Source::Testnet)] {
        let decided = Decided::of(desk.post_signed(body(&noop(), nonce), source));
        assert_eq!(decided.allowed().event["signed_as"], source.name());
    }
    let mut desk = Desk::of(Config { require_network: true, ..config(Mode::Testnet, Rules::default()) });
    Decided::of(desk.post_signed(body(&noop(), NOW + 1), Source::Testnet)).allowed();
    let decided = Decided::of(desk.post_signed(body(&noop(), NOW + 2), Source::Mainnet));
    decided.vetoed("wrong_network").says(&["mainnet", "testnet"]);
}
