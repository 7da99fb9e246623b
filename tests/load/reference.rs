//! The time of the work that no guard can do without, on this machine: one key recovery, one sync, one signature.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::time::Instant;

use svc_guard::base::keccak::keccak256;
use svc_guard::base::key::SecretKey;
use svc_guard::base::signature::Signature;

use crate::samples::{Nanos, Samples};

/// The reference times of one phase.
pub(crate) struct Reference {
    key: SecretKey,
    /// One that was signed before.
    signed: ([u8; 32], Signature),
    file: File,
    /// As long as a typical event.
    line: Vec<u8>,
    /// How often each was measured.
    number: u32,
    recovery: Samples,
    sync: Samples,
    signing: Samples,
}

impl Reference {
    /// `folder` is on the disk of the homes; `line` bytes are appended for a sync.
    pub(crate) fn new(folder: &Path, line: usize) -> Result<Self, String> {
        let key = SecretKey::from_bytes(&[0x11; 32]).map_err(|error| error.to_string())?;
        let path = folder.join("reference.jsonl");
        let file = OpenOptions::new().create(true).append(true).open(&path);
        let file = file.map_err(|error| format!("{}: {error}", path.display()))?;
        let (recovery, sync, signing) = Default::default();
        let digest = keccak256(b"signed before");
        let signed = (digest, key.sign(&digest).map_err(|error| error.to_string())?);
        Ok(Self { key, signed, file, line: vec![b'7'; line], number: 0, recovery, sync, signing })
    }

    /// Measures each once. Done between two requests, it sees the machine, its disk and its caches as they do.
    pub(crate) fn measure(&mut self) -> Result<(), String> {
        self.number = self.number.wrapping_add(1);
        let digest = keccak256(&self.number.to_be_bytes());
        let begun = Instant::now();
        let signature = self.key.sign(&digest).map_err(|error| error.to_string())?;
        self.signing.add(Nanos::of(begun.elapsed()));
        let begun = Instant::now();
        self.recover_from(&signature, &digest)?;
        self.recovery.add(Nanos::of(begun.elapsed()));
        let begun = Instant::now();
        self.append()?;
        self.sync.add(Nanos::of(begun.elapsed()));
        Ok(())
    }

    /// Recovers a signer.
    pub(crate) fn recover(&self) -> Result<(), String> {
        let (digest, signature) = &self.signed;
        self.recover_from(signature, digest)
    }

    fn recover_from(&self, signature: &Signature, digest: &[u8; 32]) -> Result<(), String> {
        let signer = signature.recover(digest).map_err(|error| error.to_string())?;
        let is_own = signer == self.key.address();
        is_own.then_some(()).ok_or_else(|| "a signature that names another signer".to_owned())
    }

    /// Appends an event and syncs it.
    pub(crate) fn append(&mut self) -> Result<(), String> {
        self.file.write_all(&self.line).and_then(|()| self.file.sync_data()).map_err(|error| error.to_string())
    }

    /// One recovery of a signer from a signature, p50.
    pub(crate) fn recovery(&self) -> Nanos {
        self.recovery.percentile(50)
    }

    /// One append of an event with its fdatasync, p50.
    pub(crate) fn sync(&self) -> Nanos {
        self.sync.percentile(50)
    }

    /// One signature, p50.
    pub(crate) fn signing(&self) -> Nanos {
        self.signing.percentile(50)
    }
}
