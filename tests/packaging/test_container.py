"""The container's whole root, laid out as its image would be, with the program running in it as the image's user."""

import os
import re
import shutil
import socket
import subprocess
import threading

import pytest
import requests

from conftest import needs
from harness import ACCOUNT, GUARD, PATIENCE_S, ROOT, Program, Venue, environment, until
from machine import run

CONTAINER = ROOT / "packaging" / "container"
USER = 65532


@pytest.fixture
def bare(tmp_path):
    needs("chroot", "unshare", "setpriv", "ldd", "strip", root=True)
    folder = tmp_path / "image"
    run([CONTAINER / "bare-root", GUARD, folder])
    yield folder
    shutil.rmtree(folder)


def test_the_root_holds_the_program_and_its_libraries_only(bare):
    files = {str(path.relative_to(bare)) for path in bare.rglob("*") if path.is_file()}
    libraries = {file for file in files if re.search(r"\.so(\.\d+)*$", file)}
    assert files - libraries == {"usr/bin/svc-guard", "etc/passwd", "etc/group", "etc/nsswitch.conf"}
    assert all(re.search(r"/(ld-linux-|lib(c|m|gcc_s)\.)", "/" + file) for file in libraries), libraries


# What an engine does before it starts the image's program: its root is read-only but for the volume, its user a number.
ENGINE = """
set -e
mount --make-rprivate /
mount --bind "$0" "$0"
mount --bind "$0.volume" "$0/var/lib/svc-guard"
mount --rbind /proc "$0/proc"
mount -t tmpfs dev "$0/dev"
for device in null urandom; do touch "$0/dev/$device"; mount --bind "/dev/$device" "$0/dev/$device"; done
mount -o remount,bind,ro "$0"
exec chroot --userspec=65532:65532 --groups= "$0" /usr/bin/svc-guard "$@"
"""


def contained(root, *arguments):
    return ["unshare", "--mount", "sh", "-c", ENGINE, root, *arguments]


def test_it_runs_on_paper_and_is_healthy(bare, tmp_path):
    volume = tmp_path / "image.volume"
    volume.mkdir()
    with socket.create_server(("127.0.0.8", 0)) as unused:
        listen = f"127.0.0.8:{unused.getsockname()[1]}"
    venue = Venue(tmp_path / "venue.log", "mainnet")
    guard = None
    try:
        (volume / "guard.toml").write_text(f'[venue]\nurl = "{venue.url}"\n')
        for path in (volume, volume / "guard.toml"):
            os.chown(path, USER, USER)
        rules = re.search('(?m)^rules = "(.*)"', (ROOT / "packaging/examples/guard-paper.toml").read_text()).group(1)
        settings = re.search("(?m)^ENV (.*)$", (CONTAINER / "Containerfile").read_text()).group(1).split()
        # The engine's part needs our own tools; the image's program looks for none.
        image = {**dict(setting.split("=") for setting in settings), "SVC_GUARD_LISTEN": listen, "PATH": os.environ["PATH"]}
        given = {**image, "SVC_GUARD_RULES": rules, "SVC_GUARD_ACCOUNT": ACCOUNT}
        guard = Program(contained(bare, "run"), tmp_path / "guard.log", r"listening on (http://\S+)", given)

        def health():
            return subprocess.run(contained(bare, "health"), env=image, capture_output=True, text=True)

        until("good health", lambda: health().returncode == 0)
        status = requests.get(guard.url + "/guard/status", timeout=PATIENCE_S).json()
        assert (status["mode"], status["account"]) == ("paper", ACCOUNT)
        assert (volume / "client-key").stat().st_uid == USER
        assert (volume / "client-key").stat().st_mode & 0o777 == 0o600
        assert guard.stop() == 0, guard.said()
        assert health().returncode == 1
    finally:
        for program in (guard, venue):
            if program:
                program.end()


def test_the_notifier_runs_beside_it_without_the_guards_volume(bare, tmp_path):
    volume = tmp_path / "image.volume"
    volume.mkdir()
    os.chown(volume, USER, USER)
    # As an engine mounts them: the config of root and readable by all, and the secret as the manual has it mounted.
    hook = bare / "run" / "secrets" / "hook"
    hook.parent.mkdir(parents=True)
    with socket.create_server(("127.0.0.8", 0)) as listener:
        host, port = listener.getsockname()
        hook.write_text(f"http://{host}:{port}/hunter22\n")
        hook.chmod(0o400)
        os.chown(hook, USER, USER)
        target = '[[target]]\nname = "team"\nform = "slack"\nurl = { file = "/run/secrets/hook" }\n'
        (bare / "etc" / "notify.toml").write_text(target)
        settings = re.search("(?m)^ENV (.*)$", (CONTAINER / "Containerfile").read_text()).group(1).split()
        image = {**dict(setting.split("=") for setting in settings), "PATH": os.environ["PATH"]}
        own = ["--file", "/etc/notify.toml"]

        def take():
            connection, _ = listener.accept()
            heads.append(connection.recv(65536).decode())
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")

        heads = []
        listener.settimeout(PATIENCE_S)
        taking = threading.Thread(target=take, daemon=True)
        taking.start()
        said = subprocess.run(contained(bare, "notify", "test", *own), env=image, capture_output=True, text=True)
        taking.join(PATIENCE_S)
        assert (said.returncode, said.stdout) == (0, "team (slack): took it\n"), said
        assert heads[0].startswith("POST /hunter22 HTTP/1.1"), heads
    running = contained(bare, "notify", *own, "--guard-url", "http://127.0.0.1:1")
    notifier = Program(running, tmp_path / "notify.log", r"of the guard at (http://\S+)", image)
    try:
        state = volume / "notify" / "state.json"
        until("its state", state.exists)
        assert (state.stat().st_mode & 0o777, state.stat().st_uid) == (0o600, USER)
        assert notifier.stop() == 0, notifier.said()
        assert "hunter22" not in notifier.said()
    finally:
        notifier.end()


def test_the_containerfile_builds_and_runs_what_is_tried_here():
    text = (CONTAINER / "Containerfile").read_text()
    assert re.findall("(?m)^FROM (\\S+)", text)[-1] == "scratch"
    assert "packaging/container/bare-root target/release/svc-guard /image" in text
    assert f"\nUSER {USER}:{USER}\n" in text
    assert 'CMD ["/usr/bin/svc-guard", "health"]' in text
    assert "SVC_GUARD_CONTAINER=1" in text
    oldest = re.search('(?m)^rust-version = "(.*)"', (ROOT / "Cargo.toml").read_text()).group(1)
    assert f"rust:{oldest}-" in text
