//! Where a process of this machine listens, as the system lists it: for a guard of whose address no file tells any more.

use std::fs;
use std::net::{IpAddr, SocketAddr};

/// The system's lists of sockets, each line with the number of its socket. They are of the network that this process sees.
const LISTS: [&str; 2] = ["/proc/self/net/tcp", "/proc/self/net/tcp6"];
/// The state of one that listens.
const LISTENS: &str = "0A";

/// Where that process listens; nothing where that is not shown to this user.
#[must_use]
pub fn listening(pid: u32) -> Vec<SocketAddr> {
    let open = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
    let links = open.filter_map(|file| fs::read_link(file.path()).ok()?.into_os_string().into_string().ok());
    let sockets: Vec<String> =
        links.filter_map(|link| Some(link.strip_prefix("socket:[")?.strip_suffix(']')?.to_owned())).collect();
    let lists = LISTS.iter().filter_map(|list| fs::read_to_string(list).ok());
    let found = lists.flat_map(|list| list.lines().filter_map(|line| socket(line, &sockets)).collect::<Vec<_>>());
    found.collect()
}

/// The address in a line such as `0: 0100007F:2163 00000000:0000 0A 00000000:00000000 00:00000000 00000000 1000 0 4711 ...`, if it is
/// of one of these sockets and listens.
fn socket(line: &str, sockets: &[String]) -> Option<SocketAddr> {
    let mut words = line.split_whitespace().skip(1);
    let address = words.next()?;
    words.nth(1).filter(|state| *state == LISTENS)?;
    let number = words.nth(5)?;
    sockets.iter().any(|known| known == number).then(|| read(address)).flatten()
}

/// An address as the lists have it: in hex, each four bytes of it in this machine's order.
fn read(address: &str) -> Option<SocketAddr> {
    let (host, port) = address.split_once(':')?;
    let four = |hex: &[u8]| Some(u32::from_str_radix(std::str::from_utf8(hex).ok()?, 16).ok()?.to_ne_bytes());
    let bytes = host.as_bytes().chunks(8).map(four).collect::<Option<Vec<_>>>()?.concat();
    let short = || <[u8; 4]>::try_from(bytes.as_slice()).map(IpAddr::from).ok();
    let long = || <[u8; 16]>::try_from(bytes.as_slice()).map(IpAddr::from).ok();
    Some(SocketAddr::new(short().or_else(long)?, u16::from_str_radix(port, 16).ok()?))
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn where_a_process_listens_is_found() {
        let held: Vec<TcpListener> =
            ["127.0.0.1:0", "[::1]:0"].iter().filter_map(|address| TcpListener::bind(address).ok()).collect();
        let found = listening(std::process::id());
        assert!(!held.is_empty());
        for listener in &held {
            assert!(found.contains(&listener.local_addr().unwrap()), "{found:?}");
        }
        let gone = held.iter().map(|listener| listener.local_addr().unwrap()).collect::<Vec<_>>();
        drop(held);
        assert!(listening(std::process::id()).iter().all(|address| !gone.contains(address)));
        assert_eq!(listening(u32::MAX), []);
    }

    #[test]
    fn a_line_of_another_state_or_socket_is_none() {
        let line = |state: &str, number: &str| {
            format!(
                "0: {:08X}:2163 00000000:0000 {state} 0:0 00:0 0 1000 0 {number} 1 x",
                u32::from_ne_bytes([127, 0, 0, 1])
            )
        };
        let own = ["4711".to_owned()];
        assert_eq!(socket(&line("0A", "4711"), &own), "127.0.0.1:8547".parse().ok());
        for other in [line("01", "4711"), line("0A", "4712"), String::new(), "sl local_address".to_owned()] {
            assert_eq!(socket(&other, &own), None, "{other}");
        }
    }
}
