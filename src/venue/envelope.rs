//! The body of a request: an action, its nonce and its signature.

use super::action::Action;
use super::json::{Node, ObjBuilder};
use super::order::{Fields, ShapeError};
use super::signing::{Source, Terms, agent_digest, connection_id, signature_node};
use super::{unjudged, user_signed};
use crate::base::address::Address;
use crate::base::hex::decode_array;
use crate::base::signature::{RecoveryError, Signature};

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
        for (form, terms) in self.signed_forms() {
            let id = connection_id(&form, &terms);
            for source in [first, second] {
                let address = self.signature.recover(&agent_digest(&id, source))?;
                if is_client(&address) {
                    return Ok(Some((address, source)));
                }
            }
        }
        for (digest, source) in user_signed::digests(&self.received, &self.terms) {
            let address = self.signature.recover(&digest)?;
            if is_client(&address) {
                return Ok(Some((address, source)));
            }
        }
        Ok(None)
    }

    /// What the signer may have hashed, the likeliest first.
    fn signed_forms(&self) -> Vec<(Node, Terms)> {
        let received = (self.received.clone(), self.terms);
        let Some(canonical) = self.action.to_node() else {
            let mut forms = vec![received];
            let ordered = unjudged::in_signing_order(&self.received);
            if ordered != self.received {
                forms.push((ordered, self.terms));
            }
            // The Python SDK posts its vault with actions that it signs without.
            if self.terms.vault.is_some() {
                let terms = Terms { vault: None, ..self.terms };
                forms.extend(forms.clone().into_iter().map(|(form, _)| (form, terms)));
            }
            return forms;
        };
        let is_other = canonical != self.received;
        let mut forms = vec![(canonical, self.terms)];
        forms.extend(is_other.then_some(received));
        forms
    }
}

/// The body that posts a signed action.
#[must_use]
pub fn body(action: Node, terms: &Terms, signature: &Signature) -> Node {
    ObjBuilder::default()
        .with("action", action)
        .with("nonce", terms.nonce)
        .with("signature", signature_node(signature))
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
    // Some wallets give the bare parity. A `v` beyond a byte is as wrong as any other: the recovery names it.
    let v = match fields.u64("v")? {
        parity @ 0..=1 => parity.saturating_add(27),
        v => v,
    };
    Ok(Signature { r: part("r")?, s: part("s")?, v: u8::try_from(v).unwrap_or(u8::MAX) })
}
