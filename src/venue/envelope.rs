//! The body of a request: an action, its nonce and its signature.
//! Source: <https://hyperliquid.gitbook.io/hyperliquid-docs/for-developers/api/exchange-endpoint>.

use std::iter::{once, once_with};

use serde::Serialize;
use serde_json::Value;

use super::action::Action;
use super::fields::{Fields, ShapeError};
use super::sdk_key_order::in_signing_order;
use super::signing::{Source, Terms, agent_digest, connection_id};
use super::{json, user_signed};
use crate::base::address::Address;
use crate::base::hex::decode_array;
use crate::base::signature::{RecoveryError, Signature};

/// A request as posted to `/exchange`, parsed but not judged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Envelope {
    /// The action in the order received.
    pub received: Value,
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
    pub fn parse(body: &[u8]) -> Result<Self, (Option<Value>, ShapeError)> {
        let mut request =
            json::parse(body).map_err(|error| (None, ShapeError(format!("not JSON the venue reads: {error}"))))?;
        let parts = Self::parts(&request);
        // Taken out, not copied: it is most of the body.
        let received = request.as_object_mut().and_then(|members| members.remove("action"));
        match parts {
            // Without an action there are no parts.
            Ok((action, terms, signature)) => {
                Ok(Self { received: received.unwrap_or_default(), action, terms, signature })
            }
            Err(error) => Err((received, error)),
        }
    }

    /// What a request holds besides the action as received.
    fn parts(request: &Value) -> Result<(Action, Terms, Signature), ShapeError> {
        const KEYS: [&str; 5] = ["action", "nonce", "signature", "vaultAddress", "expiresAfter"];
        let fields = Fields::of(request, "request", &KEYS)?;
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
        let action = Action::parse(received)?;
        let terms = Terms { nonce: fields.u64("nonce")?, vault, expires_after_ms };
        Ok((action, terms, parse_signature(fields.required("signature")?)?))
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
        mut is_client: impl FnMut(&Address) -> bool,
    ) -> Result<Option<(Address, Source)>, RecoveryError> {
        let second = match first {
            Source::Mainnet => Source::Testnet,
            Source::Testnet => Source::Mainnet,
        };
        for id in self.signed_ids() {
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

    /// The hashes that the signer may have signed, the likeliest first, each made when it is asked for.
    fn signed_ids(&self) -> Box<dyn Iterator<Item = [u8; 32]> + '_> {
        if !matches!(self.action, Action::Other { .. }) {
            let canonical = connection_id(&self.action, &self.terms);
            let received = once_with(|| connection_id(&self.received, &self.terms));
            return Box::new(once(canonical).chain(received.filter(move |received| *received != canonical)));
        }
        let ordered = in_signing_order(&self.received);
        // The official Python SDK posts its vault with actions that it signs without (observed).
        let bare = self.terms.vault.is_some().then_some(Terms { vault: None, ..self.terms });
        let mut ids = Vec::new();
        for terms in once(self.terms).chain(bare) {
            for form in [&self.received, &ordered] {
                let id = connection_id(form, &terms);
                if !ids.contains(&id) {
                    ids.push(id);
                }
            }
        }
        Box::new(ids.into_iter())
    }
}

/// The body that posts a signed action, as JSON text.
#[must_use]
pub fn body(action: &impl Serialize, terms: &Terms, signature: &Signature) -> String {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Body<'a, A> {
        action: &'a A,
        nonce: u64,
        signature: &'a Signature,
        #[serde(skip_serializing_if = "Option::is_none")]
        vault_address: Option<Address>,
        #[serde(skip_serializing_if = "Option::is_none")]
        expires_after: Option<u64>,
    }
    let Terms { nonce, vault: vault_address, expires_after_ms: expires_after } = *terms;
    let body = Body { action, nonce, signature, vault_address, expires_after };
    // All keys are texts and all values plain, for which the writer has no error.
    serde_json::to_string(&body).unwrap_or_default()
}

fn parse_signature(node: &Value) -> Result<Signature, ShapeError> {
    const PLACE: &str = "request.signature";
    let fields = Fields::of(node, PLACE, &["r", "s", "v"])?;
    let part = |key: &str| {
        let digits = fields.str(key)?.strip_prefix("0x").unwrap_or_default();
        // The official SDKs print the number without its leading zeros (observed).
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

#[cfg(test)]
#[path = "../../tests/fuzz/envelope.rs"]
mod fuzz;
