//! A guard that is started again and again within a minute: what is bare is covered by each life, also when the lives before
//! it have spent the minute's weight.

use crate::stand::{Mode, Stand};
use crate::watched::{WIDE, covered, hold};

#[test]
fn each_of_several_quick_starts_covers_what_it_finds() {
    for share in ["1", "1/8"] {
        let mut stand = Stand::set_up(Mode::Testnet, WIDE);
        for (coin, szi) in [("ETH", "0.4"), ("BTC", "0.02"), ("SOL", "-4"), ("ETH", "0.6")] {
            // Opened while nobody watches.
            hold(&stand, coin, szi);
            let args = [&stand.run_args()[..], &["--ip-share", share]].concat();
            stand.launch_as(stand.run_command(&args));
            covered(&stand, coin, szi);
            stand.kill();
        }
        covered(&stand, "BTC", "0.02");
        covered(&stand, "SOL", "-4");
    }
}
