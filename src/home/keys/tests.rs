//! Key files: every way one can be wrong, and what is never repeated.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;

use super::*;

/// Obviously no real key.
const FAKE: &str = "0x0123456789012345678901234567890123456789012345678901234567890123";

fn file(text: &str, mode: u32) -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("key");
    fs::write(&path, text).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    (dir, path)
}

fn why(result: Result<KeyReading, KeyFileError>) -> Why {
    match result {
        Err(KeyFileError::File(error)) => error.why,
        other => panic!("expected a refused file, got {other:?}"),
    }
}

#[test]
fn an_owner_only_file_is_read() {
    for text in [FAKE.to_owned(), format!("{FAKE}\n"), format!(" {FAKE}\r\n")] {
        let (_dir, path) = file(&text, 0o600);
        let reading = read_key_file(&path, false).unwrap();
        assert_eq!(reading.key.address().to_string(), "0x14791697260e4c9a71f18484c9f997b308e59325");
        assert_eq!(reading.warning, None);
    }
    let (_dir, path) = file(FAKE, 0o400);
    assert!(read_key_file(&path, false).is_ok());
}

#[test]
fn a_file_open_to_others_is_refused_except_reading_in_a_container() {
    for mode in [0o640, 0o604, 0o644, 0o610, 0o601] {
        let (_dir, path) = file(FAKE, mode);
        assert!(matches!(why(read_key_file(&path, false)), Why::Readable(found) if found == mode));
        let warning = read_key_file(&path, true).unwrap().warning.unwrap();
        assert!(warning.contains(&format!("{mode:04o}")), "{warning}");
    }
    for mode in [0o620, 0o602, 0o666] {
        let (_dir, path) = file(FAKE, mode);
        for container in [false, true] {
            assert!(matches!(why(read_key_file(&path, container)), Why::Writable(found) if found == mode));
        }
    }
}

#[test]
fn what_is_no_regular_file_is_refused() {
    let (dir, path) = file(FAKE, 0o600);
    let link = dir.path().join("link");
    symlink(&path, &link).unwrap();
    assert!(matches!(why(read_key_file(&link, false)), Why::Link));
    assert!(matches!(why(read_key_file(dir.path(), false)), Why::NotAFile));
    let pipe = dir.path().join("pipe");
    nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRUSR).unwrap();
    assert!(matches!(why(read_key_file(&pipe, false)), Why::NotAFile));
    assert!(matches!(why(read_key_file(&dir.path().join("none"), false)), Why::Missing));
}

#[test]
fn another_owners_file_is_refused() {
    // Only root can give a file away; without root there is nothing to give.
    if !Uid::effective().is_root() {
        return;
    }
    let (_dir, path) = file(FAKE, 0o600);
    nix::unistd::chown(&path, Some(Uid::from_raw(12_345)), None).unwrap();
    assert!(matches!(why(read_key_file(&path, true)), Why::Owner(12_345)));
}

#[test]
fn what_is_no_key_is_refused_without_a_word_of_it() {
    let long = format!("{FAKE}{}", " ".repeat(MAX_KEY_TEXT));
    let two = format!("{FAKE}\n{FAKE}\n");
    for text in ["", "\n", "0x", "0x0123", &FAKE[..65], &format!("{FAKE}4"), &two, &long, "0xzz", &"0".repeat(64)] {
        let error = read_key(text.as_bytes(), "standard input").unwrap_err();
        assert!(matches!(error, KeyFileError::NotAKey(..)), "{text}");
        assert!(!format!("{error} {error:?}").contains("0123"), "{error}");
    }
    assert!(read_key(&[0xff_u8; 66][..], "standard input").is_err());
    assert!(read_key(std::io::repeat(b'0'), "standard input").is_err(), "an endless stream ends");
}

#[test]
fn a_key_is_written_once_for_its_owner_only() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("key");
    let key = generate_key().unwrap();
    write_key_file(&path, &key, Replace::No).unwrap();
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o7777, 0o600);
    assert_eq!(read_key_file(&path, false).unwrap().key.address(), key.address());
    let before = fs::read(&path).unwrap();
    assert!(matches!(write_key_file(&path, &generate_key().unwrap(), Replace::No).unwrap_err().why, Why::Exists));
    assert_eq!(fs::read(&path).unwrap(), before);
    let dangling = dir.path().join("dangling");
    symlink("nowhere", &dangling).unwrap();
    assert!(matches!(write_key_file(&dangling, &key, Replace::No).unwrap_err().why, Why::Exists));
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2, "no temporary file is left");
    assert!(write_key_file(&dir.path().join("none/key"), &key, Replace::No).is_err());
}

#[test]
fn fresh_keys_differ() {
    assert_ne!(generate_key().unwrap().address(), generate_key().unwrap().address());
}
