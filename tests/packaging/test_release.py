"""What is handed out: whole, and the same when it is built again."""

import json
import subprocess
import tarfile

from conftest import needs
from harness import GUARD, ROOT


def built(folder, name):
    """A release of the program that the other tests use, packed quickly."""
    quickly = ["env", "DPKG_DEB_COMPRESSOR_LEVEL=1"]
    command = [*quickly, ROOT / "packaging" / "release", "--binary", GUARD, "--out", folder / name]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == str(folder / name)
    return {path.name: path.read_bytes() for path in (folder / name).iterdir()}


def test_a_release_is_whole_and_made_twice_the_same(tmp_path):
    needs("dpkg-deb", "dpkg-shlibdeps", "dpkg-parsechangelog", "strip", "cargo", "rustc", "sha256sum")
    first, second = built(tmp_path, "one"), built(tmp_path, "two")
    assert sorted(first) == sorted(second)
    assert [name for name in first if first[name] != second[name]] == []
    kinds = sorted(name.rpartition(".")[2] for name in first)
    assert kinds == ["SHA256SUMS", "deb", "gz", "json"]
    subprocess.run(["sha256sum", "--check", "--strict", "SHA256SUMS"], cwd=tmp_path / "one", check=True, capture_output=True)
    again = subprocess.run([ROOT / "packaging" / "release", "--binary", GUARD, "--out", tmp_path / "one"], capture_output=True, text=True)
    assert again.returncode == 2 and "is not empty" in again.stderr

    (tarball,) = (tmp_path / "one").glob("*.tar.gz")
    with tarfile.open(tarball) as tar:
        names = {name.partition("/")[2] for name in tar.getnames()}
        assert all(member.uid == 0 and member.gid == 0 for member in tar.getmembers())
        tar.extractall(tmp_path / "unpacked", filter="data")
    pages = {f"man/{path.name}" for path in (ROOT / "man").iterdir()}
    assert {"svc-guard", "README.md", "LICENSE", "completions/svc-guard.fish", "systemd/start", "examples/rules.toml"} | pages <= names
    (program,) = (tmp_path / "unpacked").glob("*/svc-guard")
    assert subprocess.run([program, "--version"], capture_output=True, text=True).stdout == "svc-guard 0.1.0\n"

    (told,) = (json.loads(text) for name, text in first.items() if name.endswith(".json"))
    listed = {component["name"] for component in told["components"]}
    assert {"rustls", "k256", "clap", "serde_json"} <= listed and not {"proptest", "tempfile", "svc-guard"} & listed
    assert all(component["licenses"] for component in told["components"])
    assert told["metadata"]["component"]["name"] == "svc-guard"
