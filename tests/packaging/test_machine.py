"""The guard under systemd: the package on a machine that boots, with the simulated venue on its loopback."""

import json

from guarded import HOME, PORT, UNIT, no_key_lies_open
from harness import ACCOUNT, WALLET, WALLET_KEY, until


def test_one_guard_from_its_package_to_its_purge(guarded, newer_package):
    machine = guarded.machine
    assert machine.run("systemctl", "is-enabled", UNIT, check=False).stdout == "disabled\n"
    assert guarded.state() == ("inactive", "dead")
    machine.run("systemctl", "enable", "--now", UNIT)
    assert guarded.state() == ("inactive", "dead"), "nothing starts before a set-up"
    guarded.venue("testnet")
    guarded.init("--account-network", "testnet")

    guarded.start(UNIT)
    guarded.runs()
    until("good health", lambda: guarded.guard("health", check=False).returncode == 0)
    assert f"listening on http://127.0.0.1:{PORT}" in machine.show(UNIT, "StatusText")[0]
    assert "paper for account" in machine.journal(UNIT)

    # Anyone pulls the switch, and only a person's hand releases it.
    machine.run("setpriv", "--reuid", "nobody", "--clear-groups", "svc-guard", "--home", HOME, "kill", "--reason", "too wild")
    until("the kill", lambda: guarded.status()["killed"] == "too wild")
    machine.run("rm", f"{HOME}/kill")
    machine.run("systemctl", "restart", UNIT)
    assert guarded.status()["killed"] is None

    # A crash, and a decision loop that stands still, are started again.
    machine.run("install", "-D", "/dev/stdin", f"/run/systemd/system/{UNIT}.d/quick.conf", stdin="[Service]\nWatchdogSec=2s\n")
    machine.run("systemctl", "daemon-reload")
    machine.run("systemctl", "restart", UNIT)
    for signal in ("KILL", "STOP"):
        before = guarded.runs()
        machine.run("sh", "-c", f"kill -{signal} {before}")
        until(f"a new life after SIG{signal}", lambda before=before: guarded.runs() not in ("0", before))
    assert machine.show(UNIT, "NRestarts") == ("2",)

    # A newer package takes over what runs, and leaves alone what does not.
    before = guarded.runs()
    guarded.install(newer_package)
    assert guarded.runs() != before
    machine.run("systemctl", "stop", UNIT)
    guarded.install(newer_package)
    assert guarded.state() == ("inactive", "dead")

    # A refusal is not tried again.
    config = machine.run("cat", f"{HOME}/guard.toml").stdout
    machine.run("tee", f"{HOME}/guard.toml", stdin="wild = 1\n" + config)
    assert machine.run("systemctl", "start", UNIT, check=False).returncode != 0
    assert machine.show(UNIT, "SubState", "ExecMainStatus", "NRestarts") == ("failed", "2", "0"), machine.journal(UNIT)
    machine.run("tee", f"{HOME}/guard.toml", stdin=config)
    guarded.start(UNIT)
    guarded.runs()

    machine.run("dpkg", "--remove", "svc-guard")
    assert machine.run("pidof", "svc-guard", check=False).stdout == ""
    machine.run("test", "-e", f"{HOME}/guard.toml")
    machine.run("dpkg", "--purge", "svc-guard")
    left = machine.run("find", HOME, "-type", "f").stdout.split()
    assert left and all(file.startswith(f"{HOME}/journals/") for file in left), left
    assert machine.run("find", "/etc/systemd/system", "-name", "*svc-guard*").stdout == ""


def sealed(guarded, home):
    """The key sealed for the host, as a person who is root does it: it is in no file at any time."""
    place = f"{home}/api-wallet-key.cred"
    guarded.machine.run("systemd-creds", "encrypt", "--with-key=host", "--name=api-wallet-key", "-", place, stdin=WALLET_KEY)
    opened = guarded.machine.run("systemd-creds", "decrypt", "--name=api-wallet-key", place, "-").stdout
    assert guarded.guard("key", "check", "--key-stdin", home=home, stdin=opened).stdout.startswith(WALLET)


def test_testnet_beside_another_guard_with_a_sealed_key(guarded):
    machine = guarded.machine
    guarded.venue("testnet")
    # One with its key in a file, one with its key sealed; each has its own address and half of the budget.
    guarded.init("--network", "testnet", "--key-stdin", "--key-store", "file", "--ip-share", "1/2", stdin=WALLET_KEY)
    home, unit, port = f"{HOME}/guards/two", "svc-guard@two.service", 8548
    guarded.init("--network", "testnet", "--no-key", "--listen", f"127.0.0.1:{port}", "--ip-share", "1/2", home=home)
    sealed(guarded, home)
    guarded.start(UNIT, unit)
    for name, at in ((UNIT, PORT), (unit, port)):
        guarded.runs(name)
        status = guarded.status(at)
        assert (status["mode"], status["api_wallet"], status["venue"]["weight_per_minute"]) == ("testnet", WALLET, 600)
    # Neither sees the other's home.
    for name, hidden in ((UNIT, home), (unit, f"{HOME}/api-wallet-key")):
        seen = machine.run("nsenter", "-t", guarded.runs(name), "-m", "test", "-r", hidden, check=False)
        inside = machine.run("nsenter", "-t", guarded.runs(name), "-m", "ls", "-A", hidden, check=False).stdout
        assert seen.returncode != 0 or inside == "", name


def test_mainnet_takes_a_persons_word_at_every_boot(guarded):
    machine = guarded.machine
    guarded.venue("mainnet")
    guarded.init("--network", "mainnet", "--confirm-mainnet", ACCOUNT, "--equity-cap", "10000", "--no-key")
    sealed(guarded, HOME)
    confirm = f"SVC_MAINNET_CONFIRM={ACCOUNT}"
    guarded.guard("journal-init", "--mode", "mainnet", "--note", "begin", variables=[confirm])
    assert machine.run("systemctl", "start", UNIT, check=False).returncode != 0
    assert machine.show(UNIT, "SubState", "ExecMainStatus", "NRestarts") == ("failed", "2", "0")
    assert confirm in machine.journal(UNIT)

    machine.run("tee", "/run/svc-guard/confirm", stdin=confirm + "\n")
    guarded.start(UNIT)
    before = guarded.runs()
    assert json.dumps(guarded.status()).count('"mainnet"') >= 1
    machine.run("sh", "-c", f"kill -KILL {before}")
    until("a new life after a crash", lambda: guarded.runs() not in ("0", before))
    no_key_lies_open(machine)
    assert WALLET_KEY[2:] not in machine.journal(UNIT)
