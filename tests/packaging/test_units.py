"""The units, the script that starts the guard, and the examples, held to what the machine's own tools say of them."""

import os
import re
import subprocess

import pytest

from conftest import needs
from harness import GUARD, ROOT, environment
from machine import run

UNITS = ROOT / "packaging" / "systemd"
EXAMPLES = ROOT / "packaging" / "examples"
GUARDS = ["svc-guard.service", "svc-guard@.service"]
NOTIFIERS = ["svc-guard-notify.service", "svc-guard-notify@.service"]
NAMES = GUARDS + NOTIFIERS
MOST_EXPOSED = 1.2


@pytest.mark.parametrize("name", NAMES)
def test_a_unit_exposes_little(name):
    needs("systemd-analyze")
    said = run(["systemd-analyze", "security", "--offline=yes", "--no-pager", UNITS / name])
    assert said.stderr == "", said.stderr
    score = re.search(r"Overall exposure level for \S+: ([0-9.]+)", said.stdout)
    assert float(score.group(1)) <= MOST_EXPOSED, said.stdout


@pytest.mark.parametrize("name", NAMES)
def test_a_unit_verifies_without_a_word(name, root, package):
    root.bring(package, "/tmp/guard.deb")
    root.run("dpkg", "--install", "/tmp/guard.deb")
    verify = ["systemd-analyze", f"--root={root.folder}", "--man=no", "verify"]
    said = run([*verify, name.replace("@", "@one")], check=False)
    assert (said.returncode, said.stdout, said.stderr) == (0, "", "")


def test_the_two_units_differ_by_their_home_only():
    one, several = ((UNITS / name).read_text() for name in GUARDS)
    several = several.replace("/guards/%i", "").replace("@%i", "").replace("Guard %i", "Guard")
    settings = [[line for line in text.splitlines() if line and not line.startswith("#")] for text in (one, several)]
    view = {
        "InaccessiblePaths=-/var/lib/svc-guard/guards",
        "TemporaryFileSystem=/var/lib/svc-guard:ro",
        "BindPaths=/var/lib/svc-guard",
    }
    assert set(settings[0]) ^ set(settings[1]) == view


def test_the_two_units_of_the_notifier_differ_by_their_guard_only():
    one, several = ((UNITS / name).read_text() for name in NOTIFIERS)
    several = several.replace("/guards/%i", "").replace("@%i", "").replace("guard %i", "guard")
    settings = [{line for line in text.splitlines() if line and not line.startswith("#")} for text in (one, several)]
    view = {"TemporaryFileSystem=/var/lib/svc-guard:ro", "BindReadOnlyPaths=/var/lib/svc-guard"}
    differ = settings[0] ^ settings[1]
    hidden = {line for line in differ if line.startswith("InaccessiblePaths=")}
    assert differ - hidden == view
    assert {path for line in hidden for path in line.split("=")[1].split()} == {
        f"-/var/lib/svc-guard/{name}" for name in ("api-wallet-key", "api-wallet-key.cred", "client-key", "run", "guards")
    }


@pytest.mark.parametrize("name", NOTIFIERS)
def test_a_notifier_is_another_user_and_is_given_no_key(name):
    text = (UNITS / name).read_text()
    assert "User=svc-guard-notify\n" in text and "api-wallet-key:" not in text and "ReadWritePaths" not in text


MODES = {"paper": "run --network paper", "testnet": "run --network testnet", "mainnet": "run --network mainnet"}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("credential", ["key", "none", None])
def test_the_guard_is_started_in_the_configs_mode_with_the_key_on_standard_input(mode, credential, tmp_path):
    """With a stand-in that says how it was started."""
    stand_in = tmp_path / "svc-guard"
    stand_in.write_text(f'#!/bin/sh\ncase $1 in config) echo {mode};; *) echo "$@"; cat;; esac\n')
    stand_in.chmod(0o755)
    variables = {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
    if credential:
        (tmp_path / "api-wallet-key").write_text(credential)
        variables["CREDENTIALS_DIRECTORY"] = str(tmp_path)
    done = subprocess.run([UNITS / "start"], env=variables, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    given = credential == "key" and mode != "paper"
    assert done.stdout == MODES[mode] + (" --key-stdin\nkey" if given else "\n")


def test_a_config_that_names_no_mode_is_not_tried_again(tmp_path):
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "svc-guard").symlink_to(GUARD)
    path = f"{tmp_path / 'bin'}:{os.environ['PATH']}"
    for text in ('[venue]\nurl = "http://127.0.0.1:9"\n', 'mode = "wild"\n'):
        (tmp_path / "guard.toml").write_text(text)
        env = environment(PATH=path, SVC_GUARD_HOME=str(tmp_path))
        done = subprocess.run([UNITS / "start"], env=env, capture_output=True, text=True)
        assert done.returncode == 2 and done.stderr.startswith("svc-guard: "), done


@pytest.mark.parametrize("example", sorted(path.name for path in EXAMPLES.glob("guard-*.toml")))
def test_an_example_config_is_one(example, tmp_path):
    # Its owner must be this user, whoever holds the sources.
    config = tmp_path / example
    config.write_bytes((EXAMPLES / example).read_bytes())
    done = run([GUARD, "--home", tmp_path, "--config", config, "check-config"])
    assert example.split("-")[1].split(".")[0] in done.stdout, done.stdout


def test_the_example_of_targets_is_one_with_every_target_uncommented(tmp_path):
    (tmp_path / "guard.toml").write_bytes((EXAMPLES / "guard-paper.toml").read_bytes())
    text = (EXAMPLES / "notify.toml").read_text()
    keys = re.sub(r"(?m)^#(?=\[\[|\w+ = )", "", text)
    # A program that is not there could never tell anything.
    bell = tmp_path / "ring"
    bell.write_text("#!/bin/sh\n")
    bell.chmod(0o755)
    assert "/usr/local/bin/ring" in keys
    keys = keys.replace("/usr/local/bin/ring", str(bell))
    for wanted, told in ((text, "phone (ntfy)"), (keys, "phone (ntfy), telegram (telegram), team (slack), mail (smtp), bell (command)")):
        (tmp_path / "notify.toml").write_text(wanted)
        assert f"tells    {told}\n" in run([GUARD, "--home", tmp_path, "check-config"]).stdout


@pytest.mark.parametrize("example", sorted(path.name for path in EXAMPLES.glob("rules*.toml")))
def test_example_rules_are_rules(example, tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    (home / "guard.toml").write_text('[venue]\nurl = "http://127.0.0.1:9"\n')
    account = "0x1111111111111111111111111111111111111111"
    arguments = ["--account", account, "--rules", f"@{EXAMPLES / example}", "--client-key-out", tmp_path / "key"]
    run([GUARD, "--home", home, "init", "--non-interactive", *arguments])
    code = run([GUARD, "--home", home, "config", "get", "rules"]).stdout.strip()
    configs = {path.name: path.read_text() for path in EXAMPLES.glob("guard-*.toml")}
    same = {"rules.toml": ["guard-paper.toml"], "rules-careful.toml": ["guard-testnet.toml", "guard-mainnet.toml"]}
    for name in same[example]:
        assert f'rules = "{code}"' in configs[name], name
