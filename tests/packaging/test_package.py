"""The package: what is in it, what Debian's own checker says of it, and its life in a clean root without a service manager."""

import re

from conftest import needs
from harness import ACCOUNT, ROOT, WALLET_KEY
from machine import run

HOME = "/var/lib/svc-guard"
AS_GUARD = ["setpriv", "--reuid", "svc-guard", "--regid", "svc-guard", "--init-groups", "svc-guard", "--home"]
TOKENS = "/etc/svc-guard-notify"
PLACE = "/var/lib/svc-guard-notify"
KEYS = ("api-wallet-key", "api-wallet-key.cred", "client-key", "bot.key", "api-wallet-key.1")


def test_it_holds_what_a_package_should(package):
    listed = run(["dpkg-deb", "--contents", package]).stdout
    files = {line.split()[5][1:]: line.split()[0] for line in listed.splitlines()}
    assert all(line.split()[1] == "root/root" for line in listed.splitlines())
    for file in [
        "/usr/bin/svc-guard",
        "/usr/libexec/svc-guard/start",
        "/lib/systemd/system/svc-guard.service",
        "/lib/systemd/system/svc-guard@.service",
        "/lib/systemd/system/svc-guard-notify.service",
        "/lib/systemd/system/svc-guard-notify@.service",
        "/usr/lib/sysusers.d/svc-guard.conf",
        "/usr/lib/tmpfiles.d/svc-guard.conf",
        "/usr/share/bash-completion/completions/svc-guard",
        "/usr/share/zsh/vendor-completions/_svc-guard",
        "/usr/share/fish/vendor_completions.d/svc-guard.fish",
        *(f"/usr/share/doc/svc-guard/{name}" for name in ("copyright", "changelog.gz", "changelog.Debian.gz", "libraries.gz")),
        *(f"/usr/share/doc/svc-guard/examples/{path.name}" for path in (ROOT / "packaging" / "examples").iterdir()),
        *(f"/usr/share/man/man{path.suffix[1:]}/{path.name}.gz" for path in (ROOT / "man").iterdir()),
    ]:
        assert file in files, file
    assert not [file for file in files if "confirm" in file], "no package ships a person's confirmation"
    assert not [file for file, mode in files.items() if mode[8] == "w" or "s" in mode[:9]]


def test_debians_own_checker_has_nothing_to_say(package):
    needs("lintian")
    said = run(["lintian", "--allow-root", "--fail-on", "error,warning", package], check=False)
    assert (said.returncode, said.stdout) == (0, ""), said.stdout + said.stderr


def installed(root, package):
    root.bring(package, "/tmp/guard.deb")
    return root.run("dpkg", "--install", "/tmp/guard.deb")


def links(root):
    """What would start something at boot."""
    return [path for path in root.path("/etc/systemd/system").rglob("*svc-guard*") if path.parent.name.endswith(".wants")]


def test_its_life_where_no_service_manager_runs(root, package, newer_package):
    said = installed(root, package)
    assert "warning" not in said.stderr, said.stderr
    assert root.run("svc-guard", "--version").stdout == "svc-guard 0.1.0\n"
    assert root.run("stat", "--format=%a %U %G", HOME).stdout == "1733 svc-guard svc-guard\n"
    assert root.run("stat", "--format=%a %U", "/run/svc-guard").stdout == "755 root\n"
    assert links(root) == []
    assert root.run("ls", "-A", HOME).stdout == "guards\n", "nothing is set up by the package"

    # Files of every kind that a life leaves behind; the set-up itself needs no venue here.
    rules = root.bring(ROOT / "packaging" / "examples" / "rules.toml", "/tmp/rules.toml")
    key_out = ["--client-key-out", f"{HOME}/bot.key"]
    root.run(*AS_GUARD, HOME, "init", "--non-interactive", "--network", "mainnet", "--confirm-mainnet", ACCOUNT, "--account",
             ACCOUNT, "--equity-cap", "1000", "--no-key", "--rules", f"@{rules}", *key_out)
    for folder in (HOME, f"{HOME}/guards/other"):
        root.run("install", "-d", "-o", "svc-guard", "-m", "1733", folder)
        for key in KEYS:
            root.run("install", "-o", "svc-guard", "-m", "600", "/dev/stdin", f"{folder}/{key}", stdin=WALLET_KEY)
        root.run("install", "-d", "-o", "svc-guard", f"{folder}/journals/mainnet-{ACCOUNT}")
        root.run("install", "-o", "svc-guard", "/dev/stdin", f"{folder}/journals/mainnet-{ACCOUNT}/risk.jsonl", stdin="{}\n")
    # The notifier's: tokens for root alone, and its place, which only it can enter.
    assert root.run("stat", "--format=%a %U", TOKENS).stdout == "700 root\n"
    root.run("install", "-m", "600", "/dev/stdin", f"{TOKENS}/bot", stdin=WALLET_KEY)
    root.run("install", "-d", "-o", "svc-guard-notify", "-m", "700", PLACE)
    root.run("install", "-o", "svc-guard-notify", "/dev/stdin", f"{PLACE}/state.json", stdin=WALLET_KEY)
    root.path("/run/svc-guard/confirm").write_text(f"SVC_MAINNET_CONFIRM={ACCOUNT}\n")
    before = root.run("find", HOME, "-printf", "%p %m %u %s\n").stdout

    installed(root, newer_package)
    assert root.run("find", HOME, "-printf", "%p %m %u %s\n").stdout == before, "an upgrade touches no home"
    assert links(root) == []
    root.run("dpkg", "--remove", "svc-guard")
    assert root.run("find", HOME, "-printf", "%p %m %u %s\n").stdout == before, "nor does a removal"
    assert not root.path("/usr/bin/svc-guard").exists()
    installed(root, package)
    assert root.run("find", HOME, "-printf", "%p %m %u %s\n").stdout == before, "nor does coming back"
    assert links(root) == []

    said = root.run("dpkg", "--purge", "svc-guard").stdout
    assert re.search(f"journals stay in {HOME}", said), said
    left = {f"{folder}/journals/mainnet-{ACCOUNT}/risk.jsonl" for folder in (HOME, f"{HOME}/guards/other")}
    assert set(root.run("find", HOME, "-type", "f").stdout.split()) == left
    assert not root.path("/run/svc-guard").exists()
    assert not root.path(TOKENS).exists() and not root.path(PLACE).exists()
    found = root.run("grep", "-rlF", WALLET_KEY[2:], "/var", "/etc", "/run", "/root", "/home", check=False).stdout
    assert found == "", found
    assert root.run("dpkg", "--audit").stdout == ""


def test_a_purge_follows_no_link(root, package):
    installed(root, package)
    root.run("mkdir", "-p", "/srv/elsewhere/inside")
    root.path("/srv/elsewhere/file").write_text("kept")
    root.run("ln", "-s", "/srv/elsewhere", f"{HOME}/link")
    root.run("ln", "-s", "/srv/elsewhere", f"{HOME}/guards/link")
    root.run("dpkg", "--purge", "svc-guard")
    assert root.path("/srv/elsewhere/file").read_text() == "kept"
    assert root.path("/srv/elsewhere/inside").is_dir()
