//! All other kinds of action: settings, what only costs, and what moves money or authority.

use serde_json::json;

use super::super::super::simulation::books::asset_of;
use super::World;

const THIEF: &str = "0x00000000000000000000000000000000000000ee";

impl World {
    pub(super) fn ask_setting(&mut self, coin: &'static str) {
        let asset = asset_of(coin);
        let action = match self.dice.roll(3) {
            0 => {
                let leverage = self.dice.pick(&[1, 5, 6, 25]);
                json!({"type": "updateLeverage", "asset": asset, "isCross": self.dice.one_in(2), "leverage": leverage})
            }
            1 => {
                let ntli = self.dice.pick(&[-1_000_000, 1_000_000, 9_000_000_000_i64]);
                json!({"type": "updateIsolatedMargin", "asset": asset, "isBuy": true, "ntli": ntli})
            }
            _ => json!({"type": "twapCancel", "a": asset, "t": 7}),
        };
        self.post(&action);
    }

    pub(super) fn ask_noops(&mut self) {
        for _ in 0..=self.dice.roll(3) {
            self.post(&json!({"type": "noop"}));
        }
    }

    /// What takes money out or gives authority away.
    pub(super) fn ask_forbidden(&mut self) {
        let action = match self.dice.roll(6) {
            0 => json!({"type": "usdSend", "destination": THIEF, "amount": "100", "time": 1}),
            1 => json!({"type": "withdraw3", "destination": THIEF, "amount": "100", "time": 1}),
            2 => json!({"type": "vaultTransfer", "vaultAddress": THIEF, "isDeposit": true, "usd": 100}),
            3 => json!({"type": "approveAgent", "agentAddress": THIEF, "agentName": "x", "nonce": 1}),
            4 => json!({"type": "approveBuilderFee", "builder": THIEF, "maxFeeRate": "1%", "nonce": 1}),
            _ => json!({"type": "subAccountTransfer", "subAccountUser": THIEF, "isDeposit": true, "usd": 100}),
        };
        self.post(&action);
    }
}
