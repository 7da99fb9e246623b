"""README's commands for a container, and what its file says besides, typed at a terminal with a real engine.

No registry is reached.
"""

import re
import shutil
import socket

import pytest
import requests

import readme
from conftest import needs
from engine import Engine
from harness import ACCOUNT, PATIENCE_S, ROOT, WALLET, WALLET_KEY, Venue, until
from machine import run
from terminal import BUILDING_S

CONTAINERFILE = (ROOT / "packaging" / "container" / "Containerfile").read_text()
BUILD, START = readme.commands(readme.blocks("Install it as a service")[-1])
USER = 65532


@pytest.fixture(scope="module")
def engine(tmp_path_factory):
    """An engine with the image, built by README's command."""
    needs("podman", "crun", "conmon", "unshare", "nsenter", "setpriv", "cargo", root=True)
    engine = Engine(tmp_path_factory.mktemp("containers") / "engine")
    try:
        folder = readme.checkout()
        (folder / "target").mkdir(exist_ok=True)
        volumes = engine.stand_in(re.search("(?m)^FROM (\\S+) AS build$", CONTAINERFILE).group(1))
        settings = engine.configured("build", [*volumes, f"{folder}/target:/source/target:rw"])
        engine.terminal(settings, folder).type(BUILD, patience_s=BUILDING_S)
        yield engine
    finally:
        engine.end()
        shutil.rmtree(engine.folder)


class Owner:
    """Somebody with the image; only the venue is another one."""

    def __init__(self, engine, network, folder):
        self.engine = engine
        with socket.create_server(("127.0.0.8", 0)) as unused:
            listen = f"127.0.0.8:{unused.getsockname()[1]}"
        self.settings = engine.configured("run", variables=[f"SVC_GUARD_LISTEN={listen}"])
        self.venue = Venue(folder / "venue.log", network)
        self.run("podman", "volume", "create", "guard")
        self.home = engine.folder / "volumes" / "guard" / "_data"
        # Where another venue stands is nothing that README tells.
        (self.home / "guard.toml").write_text(f'[venue]\nurl = "{self.venue.url}"\n')
        run(["chown", "-R", f"{USER}:{USER}", self.home])
        (folder / "wallet.key").write_text(WALLET_KEY)
        self.terminal = engine.terminal(self.settings, folder)

    def run(self, *command, check=True):
        return self.engine.run(self.settings, *command, check=check)

    def status(self, start):
        """Starts the guard, waits until the engine finds it in good health, and asks it for its status."""
        self.terminal.start(start)
        url = self.terminal.see(r"listening on (http://\S+)")
        until("good health", lambda: self.run("podman", "healthcheck", "run", "guard", check=False).returncode == 0)
        return requests.get(url + "/guard/status", timeout=PATIENCE_S).json()

    def stop(self):
        self.run("podman", "stop", "guard")
        self.terminal.wait()

    def end(self):
        self.terminal.end()
        self.run("podman", "rm", "--force", "--ignore", "--volumes", "guard", check=False)
        self.run("podman", "volume", "rm", "--force", "guard", check=False)
        self.venue.end()


@pytest.fixture
def owner(engine, tmp_path):
    made = []

    def make(network):
        made.append(Owner(engine, network, tmp_path))
        return made[0]

    yield make
    for one in made:
        one.end()


def of_mode_600(file):
    found = file.stat()
    return (found.st_uid, found.st_mode & 0o777) == (USER, 0o600)


def test_it_sets_itself_up_for_paper(owner):
    owner = owner("mainnet")
    assert owner.run("podman", "image", "inspect", "--format", "{{.User}}", "svc-guard").stdout == f"{USER}:{USER}\n"
    status = owner.status(START)
    assert (status["mode"], status["account"]) == ("paper", ACCOUNT)
    assert of_mode_600(owner.home / "client-key")
    owner.stop()


def on_testnet(command, *more):
    """README's command as the file says that it is for the test network."""
    assert "-e SVC_GUARD_NETWORK=testnet" in CONTAINERFILE
    own = re.sub(r"-e \S+ -e \S+ svc-guard", " ".join(["-e SVC_GUARD_NETWORK=testnet", *more, "svc-guard"]), command)
    assert own != command
    return own


INIT = f"init --non-interactive --network testnet --rules {readme.RULES_CODE} --account {ACCOUNT}"


def test_testnet_with_the_key_on_standard_input(owner):
    owner = owner("testnet")
    assert "podman run -i" in CONTAINERFILE
    set_up = START.replace("podman run", "podman run -i --rm").split(" -e ")[0]
    owner.terminal.type(f"{set_up} svc-guard {INIT} --key-stdin < wallet.key")
    assert of_mode_600(owner.home / "api-wallet-key")
    status = owner.status(on_testnet(START))
    assert (status["mode"], status["api_wallet"]) == ("testnet", WALLET)
    owner.stop()


def test_testnet_with_a_key_that_the_engine_mounts(owner):
    owner = owner("testnet")
    assert "-e SVC_GUARD_KEY_FILE=/run/secrets/wallet" in CONTAINERFILE
    owner.terminal.type("podman secret create wallet wallet.key")
    set_up = START.replace("podman run", "podman run --rm").split(" -e ")[0]
    owner.terminal.type(f"{set_up} svc-guard {INIT} --no-key")
    mounted = on_testnet(START, "-e SVC_GUARD_KEY_FILE=/run/secrets/wallet", "--secret wallet")
    status = owner.status(mounted)
    assert (status["mode"], status["api_wallet"]) == ("testnet", WALLET)
    assert not (owner.home / "api-wallet-key").exists()
    owner.stop()
    owner.run("podman", "secret", "rm", "wallet")
