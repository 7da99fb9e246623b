//! Actions that an account's own key signs over their fields (transfers, approvals).
//!
//! Source: the `*_SIGN_TYPES` of the official Python SDK (`hyperliquid/utils/signing.py`), to which
//! <https://hyperliquid.gitbook.io/hyperliquid-docs/for-developers/api/signing> refers, and for types that it lacks the methods of the SDK
//! `@nktkas/hyperliquid`.
//!
//! The guard never forwards one. They are recovered only so that the refusal names the client that sent it: some
//! libraries send an approval by themselves before every order.

use serde_json::Value;

use super::signing::{Source, Terms, connection_id, domain_separator, typed_data_digest, word};
use crate::base::address::Address;
use crate::base::hex::decode_array;
use crate::base::keccak::{keccak256, keccak256_of};

const DOMAIN: &str = "HyperliquidSignTransaction";

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

/// What an action of this kind may have been signed over, each with the network that it then names. Empty for any
/// other action, and for one whose fields cannot be read.
#[must_use]
pub fn digests(action: &Value, terms: &Terms) -> Vec<([u8; 32], Source)> {
    if action.get("type").and_then(Value::as_str) == Some("multiSig") {
        // The Python SDK posts its vault with those that it signs without one, too.
        let bare = terms.vault.is_some().then_some(Terms { vault: None, ..*terms });
        let mut digests = Vec::new();
        for terms in [Some(*terms), bare].into_iter().flatten() {
            for source in [Source::Mainnet, Source::Testnet] {
                digests.extend(multi_sig(action, &terms, source).map(|digest| (digest, source)));
            }
        }
        return digests;
    }
    let chain = action.get("hyperliquidChain").and_then(Value::as_str);
    let source = if chain == Some("Mainnet") { Source::Mainnet } else { Source::Testnet };
    digest(action).map(|digest| (digest, source)).into_iter().collect()
}

/// The digest that the outer signer of a multi-sig action signs: it covers the hash of the action without its type. The
/// network is in no field, so each one is tried.
fn multi_sig(action: &Value, terms: &Terms, source: Source) -> Option<[u8; 32]> {
    let mut inner = action.as_object()?.clone();
    inner.shift_remove("type");
    let chain = match source {
        Source::Mainnet => "Mainnet",
        Source::Testnet => "Testnet",
    };
    let type_hash = keccak256(
        b"HyperliquidTransaction:SendMultiSig(string hyperliquidChain,bytes32 multiSigActionHash,uint64 nonce)",
    );
    let inner = connection_id(&inner, terms);
    let message = keccak256_of(&[&type_hash, &keccak256(chain.as_bytes()), &inner, &word(terms.nonce)]);
    Some(typed_data_digest(&domain_separator(DOMAIN, chain_id(action)?), &message))
}

fn chain_id(action: &Value) -> Option<u64> {
    u64::from_str_radix(action.get("signatureChainId")?.as_str()?.strip_prefix("0x")?, 16).ok()
}

/// The digest a user-signed action was signed over, if `action` is one whose fields can be read.
#[must_use]
pub fn digest(action: &Value) -> Option<[u8; 32]> {
    let (name, fields) = layout(action.get("type")?.as_str()?)?;
    let mut type_text = format!("HyperliquidTransaction:{name}(string hyperliquidChain");
    let mut data = vec![keccak256(action.get("hyperliquidChain")?.as_str()?.as_bytes())];
    for field in fields {
        type_text.push_str(&format!(",{} {}", field.kind.name(), field.name));
        data.push(encode(field, action.get(field.name))?);
    }
    type_text.push(')');
    let message = keccak256_of(&[&keccak256(type_text.as_bytes()), data.concat().as_slice()]);
    Some(typed_data_digest(&domain_separator(DOMAIN, chain_id(action)?), &message))
}

fn encode(field: &Field, value: Option<&Value>) -> Option<[u8; 32]> {
    match (field.kind, value) {
        // An agent without a name is signed as "" and then left out of the body (Python SDK) or null in it (Rust SDK).
        (Kind::Text, None | Some(Value::Null)) if field.name == "agentName" => Some(keccak256(b"")),
        (Kind::Text, Some(Value::String(text))) => Some(keccak256(text.as_bytes())),
        (Kind::Uint64 | Kind::Uint32, Some(node)) => node.as_u64().map(word),
        (Kind::Flag, Some(Value::Bool(flag))) => Some(word(u64::from(*flag))),
        (Kind::Address, Some(Value::String(text))) => {
            let address = Address::parse_lenient(text).ok()?;
            let mut word = [0; 32];
            word.get_mut(12..)?.copy_from_slice(&address.0);
            Some(word)
        }
        (Kind::Bytes, Some(Value::String(text))) => {
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
