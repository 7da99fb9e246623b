//! An id that is good for one trade is its client's: another that derives it, from what everybody may read, takes neither
//! the trade nor the answer about it.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use serde_json::{Value, json};
use svc_guard::base::keccak::keccak256_of;
use svc_guard::base::key::SecretKey;

use crate::clients::{another, code, filled, send_as};
use crate::signing::{ETH, place};
use crate::stand::{Mode, Stand, command};
use crate::watched::{WIDE, covered, held, hold};

/// The id under which the agent of this client trades by a name.
fn id_of(client: &SecretKey, name: &str) -> String {
    let hash = keccak256_of(&[b"svc-guard mcp client_id", &client.address().0, name.as_bytes()]);
    let bytes = [b"svconc".as_slice(), &hash[..10]].concat();
    format!("0x{}", bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>())
}

fn exit(px: &str, size: &str, id: &str) -> Value {
    place(&json!({"a": ETH, "b": false, "p": px, "s": size, "r": true, "t": {"limit": {"tif": "Ioc"}}, "c": id}))
}

fn two_that_hold() -> (Stand, SecretKey) {
    let mut stand = Stand::set_up(Mode::Testnet, WIDE);
    let second = another(&stand);
    hold(&stand, "ETH", "0.5");
    stand.start();
    covered(&stand, "ETH", "0.5");
    (stand, second)
}

#[test]
fn an_id_that_another_took_still_closes() {
    let (stand, second) = two_that_hold();
    let id = id_of(&second, "close-eth-1");
    let reply = stand.send(&exit("2400", "0.005", &id));
    assert_eq!(filled(&reply), Some("0.005"), "{reply}");
    let reply = send_as(&stand, &second, &exit("2400", "0.495", &id));
    assert_eq!(held(&stand, "ETH"), None, "{reply}");
    assert_eq!(code(&stand.send(&exit("2400", "0.005", &id))), "duplicate_order");
}

/// An agent's server, asked line by line.
struct Agent {
    server: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Agent {
    fn of(stand: &Stand, key_file: &str) -> Self {
        let url = format!("http://{}", stand.address());
        let args = ["mcp", "--key-file", key_file, "--guard-url", &url, "--network", "testnet"];
        let log = File::options().create(true).append(true).open(stand.log_file()).unwrap();
        let mut server = command(&stand.home(), &args);
        let mut server = server.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(log).spawn().unwrap();
        let (input, output) = (server.stdin.take().unwrap(), BufReader::new(server.stdout.take().unwrap()));
        let mut agent = Self { server, input, output };
        let hello =
            json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}});
        agent.ask("initialize", &hello);
        writeln!(agent.input, "{}", json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).unwrap();
        agent
    }

    fn ask(&mut self, method: &str, params: &Value) -> Value {
        writeln!(self.input, "{}", json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})).unwrap();
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        self.server.kill().unwrap();
        self.server.wait().unwrap();
    }
}

#[test]
fn an_agent_is_told_of_its_own_trades_alone() {
    let (stand, second) = two_that_hold();
    stand.send(&exit("2400", "0.005", &id_of(&second, "close-eth-1")));
    let mut agent = Agent::of(&stand, stand.home().join("second").to_str().unwrap());
    let close = json!({"name": "close_position", "arguments": {"coin": "ETH", "client_id": "close-eth-1"}});
    let told = agent.ask("tools/call", &close);
    assert_eq!(held(&stand, "ETH"), None, "{told}");
    let told = agent.ask("tools/call", &close);
    assert!(told.to_string().contains("was used before"), "{told}");
}
