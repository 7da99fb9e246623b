//! `market_unknown`: the venue's list of perps has the asset.

use crate::guard::code::Code;
use crate::guard::judge::veto::Veto;
use crate::guard::state::guard::Guard;
use crate::venue::market::Market;

/// The market of an asset id.
pub(crate) fn find(guard: &Guard, asset: u32) -> Result<&Market, Veto> {
    guard.view.market(asset).ok_or_else(|| {
        let text = format!("the venue lists no asset {asset}; ids differ between networks, read them from meta");
        Veto::new(Code::MarketUnknown, text)
    })
}
