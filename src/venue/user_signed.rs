//! Actions that an account's own key signs over their fields (transfers, approvals).
//!
//! The guard never forwards one. They are recovered only so that the refusal names the client that sent it: some
//! libraries send an approval by themselves before every order.

use super::address::{Address, decode_array};
use super::json::Node;
use super::signing::{domain_separator, typed_data_digest, word};
use super::{keccak256, keccak256_of};

/// One field of a signed struct.
struct Field {
    name: &'static str,
    kind: Kind,
}

#[derive(Clone, Copy)]
enum Kind {
    Text,
    Uint64,
    Uint32,
    Flag,
    Address,
    Bytes,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Kind::Text => "string",
            Kind::Uint64 => "uint64",
            Kind::Uint32 => "uint32",
            Kind::Flag => "bool",
            Kind::Address => "address",
            Kind::Bytes => "bytes",
        }
    }
}

macro_rules! fields {
    ($($name:literal $kind:ident),*) => { &[$(Field { name: $name, kind: Kind::$kind }),*] };
}

/// The action's struct name and its fields after `hyperliquidChain`, in signing order.
#[rustfmt::skip]
fn layout(action_type: &str) -> Option<(&'static str, &'static [Field])> {
    Some(match action_type {
        "usdSend" => ("UsdSend", fields!("destination" Text, "amount" Text, "time" Uint64)),
        "spotSend" => ("SpotSend", fields!("destination" Text, "token" Text, "amount" Text, "time" Uint64)),
        "withdraw3" => ("Withdraw", fields!("destination" Text, "amount" Text, "time" Uint64)),
        "usdClassTransfer" => ("UsdClassTransfer", fields!("amount" Text, "toPerp" Flag, "nonce" Uint64)),
        "sendAsset" => ("SendAsset", fields!("destination" Text, "sourceDex" Text, "destinationDex" Text, "token" Text,
            "amount" Text, "fromSubAccount" Text, "nonce" Uint64)),
        "sendToEvmWithData" => ("SendToEvmWithData", fields!("token" Text, "amount" Text, "sourceDex" Text,
            "destinationRecipient" Text, "addressEncoding" Text, "destinationChainId" Uint32, "gasLimit" Uint64,
            "data" Bytes, "nonce" Uint64)),
        "approveAgent" => ("ApproveAgent", fields!("agentAddress" Address, "agentName" Text, "nonce" Uint64)),
        "approveBuilderFee" => ("ApproveBuilderFee", fields!("maxFeeRate" Text, "builder" Address, "nonce" Uint64)),
        "cDeposit" => ("CDeposit", fields!("wei" Uint64, "nonce" Uint64)),
        "cWithdraw" => ("CWithdraw", fields!("wei" Uint64, "nonce" Uint64)),
        "tokenDelegate" => ("TokenDelegate",
            fields!("validator" Address, "wei" Uint64, "isUndelegate" Flag, "nonce" Uint64)),
        "userDexAbstraction" => ("UserDexAbstraction", fields!("user" Address, "enabled" Flag, "nonce" Uint64)),
        "userPortfolioMargin" => ("UserPortfolioMargin", fields!("user" Address, "enabled" Flag, "nonce" Uint64)),
        "userSetAbstraction" => ("UserSetAbstraction", fields!("user" Address, "abstraction" Text, "nonce" Uint64)),
        "convertToMultiSigUser" => ("ConvertToMultiSigUser", fields!("signers" Text, "nonce" Uint64)),
        "linkStakingUser" => ("LinkStakingUser", fields!("user" Address, "isFinalize" Flag, "nonce" Uint64)),
        "stakingLinkDisableTradingUser" => ("StakingLinkDisableTradingUser",
            fields!("tradingUser" Address, "nonce" Uint64)),
        _ => return None,
    })
}

/// The digest a user-signed action was signed over, if `action` is one whose fields can be read.
#[must_use]
pub fn digest(action: &Node) -> Option<[u8; 32]> {
    let (name, fields) = layout(action.get("type")?.as_str()?)?;
    let chain = action.get("signatureChainId")?.as_str()?.strip_prefix("0x")?;
    let chain_id = u64::from_str_radix(chain, 16).ok()?;

    let mut type_text = format!("HyperliquidTransaction:{name}(string hyperliquidChain");
    let mut data = vec![keccak256(action.get("hyperliquidChain")?.as_str()?.as_bytes())];
    for field in fields {
        type_text.push_str(&format!(",{} {}", field.kind.name(), field.name));
        data.push(encode(field, action.get(field.name))?);
    }
    type_text.push(')');
    let message = keccak256_of(&[&keccak256(type_text.as_bytes()), data.concat().as_slice()]);
    Some(typed_data_digest(&domain_separator("HyperliquidSignTransaction", chain_id), &message))
}

fn encode(field: &Field, value: Option<&Node>) -> Option<[u8; 32]> {
    match (field.kind, value) {
        // The Python SDK signs an agent without a name as "" and then leaves the key out of the body.
        (Kind::Text, None) if field.name == "agentName" => Some(keccak256(b"")),
        (Kind::Text, Some(Node::Str(text))) => Some(keccak256(text.as_bytes())),
        (Kind::Uint64 | Kind::Uint32, Some(node)) => node.as_u64().map(word),
        (Kind::Flag, Some(Node::Bool(flag))) => Some(word(u64::from(*flag))),
        (Kind::Address, Some(Node::Str(text))) => {
            let address = Address::parse_lenient(text).ok()?;
            let mut word = [0; 32];
            word.get_mut(12..)?.copy_from_slice(&address.0);
            Some(word)
        }
        (Kind::Bytes, Some(Node::Str(text))) => {
            let digits = text.strip_prefix("0x").unwrap_or(text);
            let bytes: Option<Vec<u8>> = digits
                .as_bytes()
                .chunks(2)
                .map(|pair| decode_array::<1>(std::str::from_utf8(pair).ok()?).ok().map(|[byte]| byte))
                .collect();
            Some(keccak256(&bytes?))
        }
        _ => None,
    }
}
