//! The body of a request: an action, its nonce and its signature.

use super::action::Action;
use super::address::{Address, decode_array};
use super::json::{Node, ObjBuilder};
use super::order::{Fields, ShapeError};
use super::recovery::{RecoveryError, Signature};
use super::signing::{Source, Terms, agent_digest, connection_id};
use super::user_signed;

/// A request as posted to `/exchange`, parsed but not judged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Envelope {
    /// The action in the order received.
    pub received: Node,
    /// The action, typed.
    pub action: Action,
    /// Nonce, vault and expiry.
    pub terms: Terms,
    /// The signature over them.
    pub signature: Signature,
}

impl Envelope {
    /// Reads a body.
    ///
    /// # Errors
    /// With the action as received, where the body holds one, and what is wrong.
    pub fn parse(body: &[u8]) -> Result<Self, (Option<Node>, ShapeError)> {
        let node =
            Node::parse(body).map_err(|error| (None, ShapeError(format!("not JSON the venue reads: {error}"))))?;
        Self::from_node(&node).map_err(|error| (node.get("action").cloned(), error))
    }

    fn from_node(node: &Node) -> Result<Self, ShapeError> {
        const KEYS: [&str; 5] = ["action", "nonce", "signature", "vaultAddress", "expiresAfter"];
        let fields = Fields::of(node, "request", &KEYS)?;
        let received = fields.required("action")?;
        let vault = match fields.optional("vaultAddress") {
            None => None,
            Some(_) => Some(
                Address::parse_lenient(fields.str("vaultAddress")?)
                    .map_err(|error| ShapeError(format!("request.vaultAddress: {error}")))?,
            ),
        };
        let expires_after_ms = match fields.optional("expiresAfter") {
            None => None,
            Some(_) => Some(fields.u64("expiresAfter")?),
        };
        Ok(Self {
            action: Action::parse(received)?,
            terms: Terms { nonce: fields.u64("nonce")?, vault, expires_after_ms },
            signature: parse_signature(fields.required("signature")?)?,
            received: received.clone(),
        })
    }

    /// The client that signed this, and the network it signed for, if `is_client` knows the signer.
    ///
    /// The canonical form is tried first, under the network in `first` and then the other; then the order in which
    /// the keys were received, for clients that sign what they post; then the fields of a user-signed action.
    ///
    /// # Errors
    /// When the signature is not one that a key can make.
    pub fn signer(
        &self,
        first: Source,
        is_client: impl Fn(&Address) -> bool,
    ) -> Result<Option<(Address, Source)>, RecoveryError> {
        let second = match first {
            Source::Mainnet => Source::Testnet,
            Source::Testnet => Source::Mainnet,
        };
        let canonical = self.action.to_node();
        let received = (canonical.as_ref() != Some(&self.received)).then_some(&self.received);
        for form in [canonical.as_ref(), received].into_iter().flatten() {
            let id = connection_id(form, &self.terms);
            for source in [first, second] {
                let address = self.signature.recover(&agent_digest(&id, source))?;
                if is_client(&address) {
                    return Ok(Some((address, source)));
                }
            }
        }
        let Some(digest) = user_signed::digest(&self.received) else { return Ok(None) };
        let address = self.signature.recover(&digest)?;
        let chain = self.received.get("hyperliquidChain").and_then(Node::as_str);
        let source = if chain == Some("Mainnet") { Source::Mainnet } else { Source::Testnet };
        Ok(is_client(&address).then_some((address, source)))
    }
}

/// The body that posts a signed action.
#[must_use]
pub fn body(action: Node, terms: &Terms, signature: &Signature) -> Node {
    ObjBuilder::default()
        .with("action", action)
        .with("nonce", terms.nonce)
        .with("signature", signature.to_node())
        .with_opt("vaultAddress", terms.vault.map(|vault| vault.to_string()))
        .with_opt("expiresAfter", terms.expires_after_ms)
        .build()
}

fn parse_signature(node: &Node) -> Result<Signature, ShapeError> {
    const PLACE: &str = "request.signature";
    let fields = Fields::of(node, PLACE, &["r", "s", "v"])?;
    let part = |key: &str| {
        let digits = fields.str(key)?.strip_prefix("0x").unwrap_or_default();
        // Some clients print the number without its leading zeros.
        let padded = format!("{digits:0>64}");
        let bytes = if digits.is_empty() { None } else { decode_array(&padded).ok() };
        bytes.ok_or_else(|| ShapeError(format!("{PLACE}.{key}: expected 0x and at most 64 hex digits")))
    };
    let v = fields.u64("v")?;
    // A `v` beyond a byte is as wrong as any other that is not 27 or 28: the recovery names it.
    Ok(Signature { r: part("r")?, s: part("s")?, v: u8::try_from(v).unwrap_or(u8::MAX) })
}
