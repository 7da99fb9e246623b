//! `wrong_account`: the vault that a request names.

use serde_json::json;

use crate::guard::tests::fixture::*;

#[test]
fn only_the_guarded_account_may_be_named() {
    for (vault, code) in [(ACCOUNT, "allowed"), (CLIENT, "wrong_account")] {
        let request = with(body(&noop(), NOW), "/vaultAddress", json!(vault));
        let decided = Decided::of(Desk::live().post_body(request));
        assert_eq!(decided.code(), code);
        let says = [vault.to_string(), ACCOUNT.to_string(), "leave it out".to_owned()];
        assert!(code == "allowed" || says.iter().all(|part| decided.text().contains(part)), "{}", decided.text());
    }
}
