"""What is handed out: whole, and the same when it is built again."""

import json
import os
import subprocess
import tarfile

import pytest

import readme
from conftest import needs
from harness import GUARD, ROOT

# Packed quickly: what is tried here is not how small it is.
QUICKLY = {"DPKG_DEB_COMPRESSOR_LEVEL": "1"}


def built(folder, name):
    """A release of the program that the other tests use."""
    return released(ROOT, folder / name, "--binary", GUARD)


def released(source, out, *more, **variables):
    command = [source / "packaging" / "release", *more, "--out", out]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **QUICKLY, **variables})
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == str(out)
    return {path.name: path.read_bytes() for path in out.iterdir()}


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


@pytest.mark.skipif("SVC_GUARD_BUILD_TWICE" not in os.environ, reason="two builds from nothing; SVC_GUARD_BUILD_TWICE=1 asks for them")
def test_two_builds_in_two_places_are_the_same(tmp_path):
    """Nothing of where it was built stands in what is handed out: neither the source's folder nor the target's."""
    needs("dpkg-deb", "dpkg-shlibdeps", "dpkg-parsechangelog", "strip", "cargo", "rustc", "sha256sum")
    found = []
    for source, target in [("one", "built"), ("a-longer-name/checkout", "somewhere/else")]:
        (tmp_path / source).parent.mkdir(exist_ok=True)
        readme.copy_source(tmp_path / source)
        variables = {**readme.QUICK_RELEASE, "CARGO_TARGET_DIR": str(tmp_path / target)}
        found.append(released(tmp_path / source, tmp_path / f"out{len(found)}", **variables))
    first, second = found
    assert sorted(first) == sorted(second)
    assert [name for name in first if first[name] != second[name]] == []
    (program,) = (tmp_path / "built" / "handed-out-build").glob("*/release/svc-guard")
    assert str(tmp_path).encode() not in program.read_bytes()
