//! The modes that a guard runs in, and the networks of the venue that they belong to.

use super::named_enum::named_enum;

named_enum! {
    /// What the service does with what it allows.
    Mode {
        /// Records what it would send.
        Paper = "paper",
        /// Sends to the venue's test network.
        Testnet = "testnet",
        /// Sends to the venue.
        Mainnet = "mainnet",
    }
}

named_enum! {
    /// A network of the venue.
    Network {
        /// Test money.
        Testnet = "testnet",
        /// Real money.
        Mainnet = "mainnet",
    }
}

impl Mode {
    /// The network whose account is read unless the config says otherwise.
    #[must_use]
    pub fn default_network(self) -> Network {
        match self {
            Self::Testnet => Network::Testnet,
            Self::Paper | Self::Mainnet => Network::Mainnet,
        }
    }
}
