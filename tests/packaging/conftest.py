"""The package, built from the programs that the other tests use, and clean roots to try it in."""

import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "sdk"))

import clean_root  # noqa: E402
from guarded import Guarded  # noqa: E402
from harness import GUARD, ROOT, VENUE  # noqa: E402
from machine import NAMESPACES, Machine, Root, run, unified_cgroups  # noqa: E402


def needs(*tools, root=False):
    """Skips where a tool is missing, and says which."""
    missing = [tool for tool in tools if not shutil.which(tool, path=os.environ["PATH"] + ":/usr/sbin:/sbin")]
    if missing:
        pytest.skip(f"not installed here: {', '.join(missing)}")
    if root and os.geteuid() != 0:
        pytest.skip("only root can do this")


@pytest.fixture(scope="session")
def package(tmp_path_factory):
    """The package, built by its command."""
    needs("dpkg-deb", "dpkg-shlibdeps", "dpkg-parsechangelog", "strip", "cargo")
    out = tmp_path_factory.mktemp("packages")
    # What is packed for a test is not packed for long.
    quickly = ["env", "DPKG_DEB_COMPRESSOR_LEVEL=1"]
    done = run([*quickly, ROOT / "packaging" / "build-deb", "--binary", GUARD, "--out", out])
    return pathlib.Path(done.stdout.splitlines()[-1])


@pytest.fixture(scope="session")
def newer_package(package, tmp_path_factory):
    """The same with a higher version."""
    folder = tmp_path_factory.mktemp("newer") / "root"
    run(["dpkg-deb", "--raw-extract", package, folder])
    control = folder / "DEBIAN" / "control"
    control.write_text(re.sub("(?m)^Version: .*$", "Version: 0.1.0-99", control.read_text()))
    newer = folder.with_suffix(".deb")
    run(["dpkg-deb", "--root-owner-group", "-Zgzip", "-z1", "--build", folder, newer])
    return newer


@pytest.fixture(scope="session")
def assembled(tmp_path_factory):
    needs("unshare", "chroot", "dpkg-query", "tar", "systemd-analyze", root=True)
    tried = subprocess.run(["unshare", *NAMESPACES, "true"], capture_output=True, text=True)
    if tried.returncode != 0:
        pytest.skip(f"no namespaces here: {tried.stderr.strip()}")
    folder = tmp_path_factory.mktemp("clean") / "root"
    clean_root.assemble(folder)
    Root(folder).run("dpkg", "--configure", "--pending")
    return folder


@pytest.fixture
def root(assembled, tmp_path):
    """A clean root of one's own, without a service manager."""
    folder = tmp_path / "root"
    run(["cp", "-a", assembled, folder])
    yield Root(folder)
    shutil.rmtree(folder)


@pytest.fixture
def machine(assembled, tmp_path):
    """A clean root of one's own with systemd running in it, and the simulated venue's program."""
    needs("nsenter", "setpriv", "pivot_root")
    if not unified_cgroups():
        pytest.skip("systemd does not boot here: no unified control groups")
    folder = tmp_path / "machine"
    run(["cp", "-a", assembled, folder])
    Root(folder).bring(VENUE, "/opt/venue_sim")
    machine = Machine(folder)
    try:
        why_not = machine.boot()
        if why_not:
            pytest.skip(f"systemd does not boot here: {why_not}")
        yield machine
    finally:
        machine.end()
        shutil.rmtree(folder)


@pytest.fixture
def guarded(machine, package):
    return Guarded(machine, package)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Tests of one file go one after the other, and so do all that build README's checkout: there is one."""
    for item in items:
        name = item.path.name
        item.add_marker(pytest.mark.xdist_group("checkout" if name.startswith("test_readme") else name))
