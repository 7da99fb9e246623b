//! An address as a person gives it: checked by its checksum where it has one.

use crate::base::address::Address;

/// Reads an address: `0x` and 40 hex digits.
///
/// # Errors
/// What is expected there.
pub fn parse_address(text: &str) -> Result<Address, String> {
    let address: Address = text.parse().map_err(|_| not_an_address(text))?;
    if address.fits_case(text) {
        return Ok(address);
    }
    Err("must be an address as a wallet shows it: its capital letters are a checksum (EIP-55) and do not fit, so a \
         character is wrong; copy it anew, or give it in small letters where it has no checksum"
        .to_owned())
}

/// What is wrong with a text that is no address. A key that was given instead is not repeated.
fn not_an_address(text: &str) -> String {
    let digits = text.strip_prefix("0x").unwrap_or(text);
    let is_hex = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    match (is_hex, digits.len()) {
        (true, 64) => "must be an address: 0x and 40 hex digits; 64 are a key, which belongs on standard input \
                       (--key-stdin) only"
            .to_owned(),
        (true, 40) => "must be an address: 0x and 40 hex digits; put 0x before it".to_owned(),
        (true, found) => format!("must be an address: 0x and 40 hex digits; it has {found}"),
        _ if text.trim() != text => "must be an address: 0x and 40 hex digits, without the blanks around it".to_owned(),
        _ => "must be an address: 0x and 40 hex digits".to_owned(),
    }
}
