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


def test_the_notifier_beside_its_guard(guarded):
    machine = guarded.machine
    unit, place = "svc-guard-notify.service", "/var/lib/svc-guard-notify"
    guarded.venue("testnet")
    guarded.init("--network", "testnet", "--key-stdin", "--key-store", "file", stdin=WALLET_KEY)
    guarded.start(UNIT)
    guarded.runs()
    assert machine.run("systemctl", "is-enabled", unit, check=False).stdout == "disabled\n"
    machine.run("systemctl", "start", unit)
    assert guarded.state(unit) == ("inactive", "dead"), "nothing starts before somebody says whom to tell"
    config = f"""
        heartbeat = {{ credential = "notify_beat" }}
        [[target]]
        name = "file"
        form = "command"
        run = ["/bin/sh", "-c", "cat >> {place}/told"]
    """
    machine.run("install", "-m", "600", "/dev/stdin", "/etc/svc-guard-notify/beat", stdin="http://127.0.0.1:1/hunter22\n")
    machine.run("install", "-m", "644", "/dev/stdin", f"{HOME}/notify.toml", stdin=config)
    guarded.start(unit)
    runs = guarded.runs(unit)
    assert machine.run("stat", "--format=%U", f"/proc/{runs}").stdout.strip() == "svc-guard-notify"
    for hidden in (f"{HOME}/api-wallet-key", f"{HOME}/run/gate", f"{HOME}/bot.key"):
        as_it = ["nsenter", "-t", runs, "-m", "setpriv", "--reuid", "svc-guard-notify", "--regid", "svc-guard-notify", "--clear-groups"]
        assert machine.run(*as_it, "cat", hidden, check=False).returncode != 0, hidden
    until("its place", lambda: machine.run("test", "-e", f"{place}/state.json", check=False).returncode == 0)

    def told(code):
        lines = machine.run("cat", f"{place}/told", check=False).stdout.splitlines()
        return [message for message in map(json.loads, lines) if message["code"] == code]

    guarded.guard("kill", "--reason", "too wild")
    [kill] = until("word of the kill", lambda: told("kill"))
    assert f"sudo rm {HOME}/kill and then sudo systemctl restart svc-guard" in kill["todo"], kill
    until("word that it is flat", lambda: told("flat"))
    # What was told and is not in the state yet is told again.
    until("its place", lambda: machine.run("test", f"{place}/state.json", "-nt", f"{place}/told", check=False).returncode == 0)
    machine.run("sh", "-c", f"kill -KILL {runs}")
    until("its next life", lambda: guarded.runs(unit) not in ("0", runs))
    machine.run("systemctl", "stop", UNIT)
    until("word of the end", lambda: told("service_stopped"))
    assert len(told("kill")) == 1, "its place was kept"
    # The journal files lines by their priority, and shows none of it.
    warnings = machine.run("journalctl", "--unit", UNIT, "--priority", "warning", "--output", "cat").stdout
    assert "svc-guard: warning: the kill switch is pulled: too wild" in warnings and "<4>" not in warnings, warnings
    assert "listening on" not in warnings and "listening on" in machine.journal(UNIT)
    assert "hunter22" not in machine.journal(unit), machine.journal(unit)
