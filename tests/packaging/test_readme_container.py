"""README's commands for a container, typed at a terminal with a real engine; no registry is reached."""

import re
import shutil
import socket

import pytest
import requests

import readme
from conftest import needs
from engine import Engine
from harness import ACCOUNT, PATIENCE_S, ROOT, Venue, until
from machine import run
from terminal import BUILDING_S

CONTAINERFILE = (ROOT / "packaging" / "container" / "Containerfile").read_text()
USER = 65532


@pytest.fixture
def engine(tmp_path):
    needs("podman", "crun", "conmon", "unshare", "nsenter", "setpriv", "cargo", root=True)
    engine = Engine(tmp_path / "engine")
    yield engine
    engine.end()
    shutil.rmtree(engine.folder)


def test_the_image_is_built_and_run(engine, tmp_path):
    build, start = readme.commands(readme.blocks("Install it as a service")[-1])
    folder = readme.checkout()
    (folder / "target").mkdir(exist_ok=True)
    volumes = engine.stand_in(re.search("(?m)^FROM (\\S+) AS build$", CONTAINERFILE).group(1))
    settings = engine.configured("build", [*volumes, f"{folder}/target:/source/target:rw"])
    engine.terminal(settings, folder).type(build, patience_s=BUILDING_S)

    with socket.create_server(("127.0.0.8", 0)) as unused:
        listen = f"127.0.0.8:{unused.getsockname()[1]}"
    settings = engine.configured("run", variables=[f"SVC_GUARD_LISTEN={listen}"])
    venue = Venue(tmp_path / "venue.log", "mainnet")
    try:
        # Where another venue stands is nothing that README tells.
        place = engine.run(settings, "podman", "volume", "create", "guard") and engine.folder / "volumes" / "guard" / "_data"
        (place / "guard.toml").write_text(f'[venue]\nurl = "{venue.url}"\n')
        run(["chown", "-R", f"{USER}:{USER}", place])
        terminal = engine.terminal(settings)
        terminal.start(start)
        url = terminal.see(r"listening on (http://\S+)")

        def health():
            return engine.run(settings, "podman", "healthcheck", "run", "guard", check=False)

        until("good health", lambda: health().returncode == 0)
        status = requests.get(url + "/guard/status", timeout=PATIENCE_S).json()
        assert (status["mode"], status["account"]) == ("paper", ACCOUNT)
        assert (place / "client-key").stat().st_uid == USER
        assert (place / "client-key").stat().st_mode & 0o777 == 0o600
        engine.run(settings, "podman", "stop", "guard")
        terminal.wait()
        size = engine.run(settings, "podman", "image", "inspect", "--format", "{{.Size}} {{.User}}", "svc-guard").stdout
        assert size.split()[1] == f"{USER}:{USER}", size
    finally:
        venue.end()
