"""README's commands for an installed service, typed at a terminal of a machine that boots, by its owner, who may use sudo."""

import os

import pytest

import readme
from conftest import needs
from guarded import HOME, PORT, UNIT, Guarded, no_key_lies_open
from harness import ACCOUNT, WALLET_KEY, until
from machine import run
from terminal import BUILDING_S, Secret, Terminal

BUILD, ALIAS, SERVICE, MAINNET, CONTAINER = readme.blocks("Install it as a service")
# What `init` asks for both networks.
ANSWERS = {
    r"Account \(0x\.\.\.\)": ACCOUNT,
    r"Enter to keep these \[keep\]": "",
    r"Listen address \[127\.0\.0\.1:8547\]": "",
    r"Share \[1\]": "",
    r"File for the client key \[show it\]": "",
    r"Set up now\? \[yes\]": "",
}


@pytest.fixture(scope="session")
def own_package():
    """The package as README has it built, in a checkout."""
    needs("dpkg-deb", "dpkg-shlibdeps", "dpkg-parsechangelog", "strip", "cargo", "bash")
    folder = readme.checkout()
    build, _ = readme.commands(BUILD)
    variables = {"HOME": "/nonexistent", "PATH": os.environ["PATH"], **readme.TOOLCHAIN, **readme.QUICK_RELEASE}
    terminal = Terminal({**variables, "DPKG_DEB_COMPRESSOR_LEVEL": "1"}, folder)
    try:
        terminal.type(build, patience_s=BUILDING_S)
    finally:
        terminal.end()
    [package] = (folder / "target" / "debian").glob("svc-guard_*.deb")
    return package


class Owner(Guarded):
    """A machine whose owner has a checkout with the package in their home, and sits at a terminal."""

    def __init__(self, machine, package):
        super().__init__(machine)
        machine.run("tee", "-a", "/etc/passwd", stdin="owner:*:1000:1000::/home/owner:/bin/bash\n")
        machine.run("tee", "-a", "/etc/group", stdin="owner:x:1000:\n")
        machine.run("install", "-m", "440", "/dev/stdin", "/etc/sudoers.d/owner", stdin="owner ALL=(ALL) NOPASSWD: ALL\n")
        machine.run("tee", "-a", "/etc/hosts", stdin=f"127.0.0.1 localhost {machine.run('uname', '-n').stdout}")
        machine.bring(package, f"/home/owner/svc-guard/target/debian/{package.name}")
        machine.run("chown", "-R", "owner:owner", "/home/owner")
        enter = [*machine.inside(), "setpriv", "--reuid", "owner", "--regid", "owner", "--init-groups"]
        variables = {"HOME": "/home/owner", "PATH": "/usr/local/bin:/usr/bin:/bin", "USER": "owner"}
        self.terminal = Terminal(variables, enter=enter)
        self.type("cd ~/svc-guard")
        [_, install], [alias] = readme.commands(BUILD), readme.commands(ALIAS)
        self.type(install)
        self.type(alias)
        # Where another venue stands is nothing that README tells.
        self.new_home()

    def type(self, command, answers=None, status=0):
        return self.terminal.type(command, answers, status)


@pytest.fixture
def owner(machine, own_package):
    needs("sudo", "apt", "dbus-daemon")
    owner = Owner(machine, own_package)
    yield owner
    owner.terminal.end()


def test_a_service_for_the_test_network(owner):
    owner.venue("testnet")
    start, status, kill = readme.commands(SERVICE)
    asked = {r"Mode \[paper\]": "testnet", r"Equity cap in USDC \[none\]": "", r"API wallet key \(Enter: none now\): ": Secret(WALLET_KEY)}
    said = owner.type(readme.spoken("guard init"), {**ANSWERS, **asked})
    assert WALLET_KEY[2:] not in said
    owner.type(start)
    owner.runs()
    assert owner.status()["mode"] == "testnet"
    assert "active (running)" in owner.type(status)
    owner.type(kill)
    until("the kill", lambda: owner.status()["killed"] == "as anyone on the machine may")
    assert "0x" in owner.type(readme.spoken("guard pair"))
    owner.type(f"sudo {readme.spoken('apt remove')} --yes svc-guard")
    assert owner.machine.run("pidof", "svc-guard", check=False).stdout == ""
    owner.machine.run("test", "-e", f"{HOME}/guard.toml")
    owner.type(f"sudo {readme.spoken('apt purge')} --yes svc-guard")
    left = owner.machine.run("find", HOME, "-type", "f").stdout.split()
    assert left and all(file.startswith(f"{HOME}/journals/") for file in left), left


def test_a_service_for_mainnet(owner):
    owner.venue("mainnet")
    init, seal, check, begin, confirm, start = readme.commands(MAINNET)
    owner.type(init, {**ANSWERS, r"Equity cap in USDC: ": "10000", r"Account once more": ACCOUNT})
    said = owner.type(seal, {r"API wallet key: ": Secret(WALLET_KEY)})
    owner.type(check)
    owner.type(begin)
    owner.type(confirm)
    owner.type(start)
    owner.runs()
    assert owner.status()["mode"] == "mainnet"
    # After a boot the confirmation is gone, and the guard stays down.
    owner.machine.run("systemctl", "stop", UNIT)
    owner.machine.run("rm", "/run/svc-guard/confirm")
    again = readme.spoken("sudo systemctl start svc-guard")
    owner.type(again, status=1)
    owner.type(confirm)
    owner.type(again)
    owner.runs()
    until("a healthy service", lambda: owner.machine.get(PORT, "/healthz"))
    # Another key, which its owner has sealed: its address is recorded, and it is stored nowhere else.
    owner.machine.run("tee", "/home/owner/again.key", stdin=WALLET_KEY)
    record = readme.spoken("guard key replace --key-stdin --no-store")
    assert "0x" in owner.type(f"{record} < /home/owner/again.key")
    owner.machine.run("rm", "/home/owner/again.key")
    no_key_lies_open(owner.machine)
    assert WALLET_KEY[2:] not in said + owner.machine.journal(UNIT)
