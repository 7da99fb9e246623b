//! A line of an agent's program: a request is read alike by both of its readers, and an error is one short line that gives
//! the id back.

use super::*;

const WORDS: &[&str] = &[
    "\"jsonrpc\":\"2.0\"",
    "\"id\":1",
    "\"id\":null",
    "\"id\":\"x\"",
    "\"id\":1.5",
    "\"method\":\"tools/call\"",
    "\"method\":\"ping\"",
    "\"params\":{",
    "\"arguments\":{",
    "\"name\":\"place_order\"",
    "\"result\":{}",
    "\"error\":{}",
    "null",
    "[]",
    "{}",
    ",",
    "\\n",
    "\u{2028}",
    "\\u0000",
];

fn check(input: &[u8]) -> String {
    match read(input) {
        Incoming::Request(request) => {
            let arguments = request.arguments.as_deref().map(|text| serde_json::from_str::<Value>(text).unwrap());
            assert_eq!(
                arguments.as_ref().filter(|value| !value.is_null()),
                request.params.get("arguments").filter(|value| !value.is_null())
            );
            let Request { id, method, params, .. } = &request;
            let printed = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string();
            match read(printed.as_bytes()) {
                Incoming::Request(again) => {
                    assert_eq!((&again.id, &again.method), (id, method));
                    assert!(again.params.keys().eq(params.keys()));
                }
                other => panic!("{other:?} of {printed}"),
            }
            assert_eq!(serde_json::from_str::<Value>(&result(id, &json!({}))).unwrap()["id"], *id);
            format!("request with {} and {}", request.params.len().min(3), arguments.is_some())
        }
        Incoming::Ignored => "ignored".to_owned(),
        Incoming::Bad(line) => {
            assert!(!line.contains('\n') && line.len() <= input.len() + 400, "{} bytes to {}", line.len(), input.len());
            let told: Value = serde_json::from_str(&line).unwrap();
            let given: Option<Value> = serde_json::from_slice(input).ok();
            let id = given.as_ref().and_then(|given| given.get("id")).unwrap_or(&Value::Null);
            assert!(told["id"].is_null() || told["id"] == *id, "{line}");
            let code = told["error"]["code"].as_i64().unwrap();
            assert!([PARSE_ERROR, INVALID_REQUEST, INVALID_PARAMS].contains(&code), "{line}");
            told["error"]["message"].as_str().unwrap().split('`').next().unwrap_or_default().to_owned()
        }
    }
}

#[test]
fn mcp_line() {
    crate::fuzz::run("mcp_line", WORDS, check);
}
