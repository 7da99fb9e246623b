"""A clean root at work: commands in it without a service manager, or systemd booted in it, in namespaces of its own."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys

from harness import PATIENCE_S, until

HERE = pathlib.Path(__file__).resolve().parent
NAMESPACES = ["--mount", "--pid", "--fork", "--kill-child=SIGKILL", "--net", "--uts", "--ipc"]


def run(command, check=True, stdin=""):
    """Runs a program to its end, which must be a good one unless that is asked about."""
    done = subprocess.run([str(part) for part in command], input=stdin, capture_output=True, text=True, timeout=4 * PATIENCE_S)
    assert not check or done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
    return done


class Root:
    """A clean root in which no service manager runs."""

    def __init__(self, folder):
        self.folder = folder

    def run(self, *command, check=True, stdin=""):
        return run(["unshare", *NAMESPACES, HERE / "enter", self.folder, *command], check, stdin)

    def path(self, absolute):
        return self.folder / absolute.lstrip("/")

    def bring(self, file, absolute):
        place = self.path(absolute)
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, place)
        return absolute


def unified_cgroups():
    """Where the machine's control groups of the kind that systemd wants are mounted."""
    for line in pathlib.Path("/proc/mounts").read_text().splitlines():
        _, place, kind, *_ = line.split()
        if kind == "cgroup2":
            return pathlib.Path(place)
    return None


class Machine(Root):
    """The same with systemd as its first process. `why_not` says what keeps it from booting on this machine."""

    def __init__(self, folder):
        super().__init__(folder)
        self.group = unified_cgroups() / f"svc-guard-test-{os.getpid()}-{folder.name}"
        self.group.mkdir()
        into_group = ["sh", "-c", 'echo $$ >"$0/cgroup.procs" && exec "$@"', self.group]
        command = ["setpriv", "--pdeathsig", "KILL", *into_group, "unshare", *NAMESPACES, "--cgroup", HERE / "boot", folder]
        self.log = folder.with_suffix(".boot")
        with open(self.log, "wb") as log:
            self.unshare = subprocess.Popen([str(part) for part in command], stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self.first = None

    def boot(self):
        """Waits until it is up; says why it is not."""
        children = pathlib.Path(f"/proc/{self.unshare.pid}/task/{self.unshare.pid}/children")

        def up():
            if self.unshare.poll() is not None:
                return f"it ended: {self.log.read_text()}"
            first = children.read_text().split()
            if not first or pathlib.Path(f"/proc/{first[0]}/comm").read_text() != "systemd\n":
                return None
            self.first = first[0]
            state = self.run("systemctl", "is-system-running", check=False).stdout.strip()
            return state if state in ("running", "degraded") else None

        try:
            state = until("systemd to boot", up)
        except (AssertionError, OSError) as error:
            return str(error)
        return None if state in ("running", "degraded") else state

    def inside(self):
        """What brings a command into it."""
        return ["nsenter", "-t", self.first, "-m", "-p", "-n", "-u", "-i", "-C", "-r", "-w"]

    def run(self, *command, check=True, stdin=""):
        return run([*self.inside(), "env", "-i", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", *command], check, stdin)

    def path(self, absolute):
        return pathlib.Path(f"/proc/{self.first}/root") / absolute.lstrip("/")

    def show(self, unit, *names):
        """A unit's properties."""
        lines = self.run("systemctl", "show", unit, *(f"--property={name}" for name in names)).stdout.splitlines()
        found = dict(line.split("=", 1) for line in lines)
        return tuple(found[name] for name in names)

    def journal(self, unit):
        return self.run("journalctl", "--no-pager", "--unit", unit, "--output=cat").stdout

    def get(self, port, path):
        """A GET on the machine's own loopback, which is not ours."""
        ask = (
            "import sys, urllib.request as u\n"
            "print(u.build_opener(u.ProxyHandler({})).open(sys.argv[1], timeout=60).read().decode())"
        )
        inside = ["nsenter", "-t", self.first, "-n", sys.executable, "-c", ask]
        done = run([*inside, f"http://127.0.0.1:{port}{path}"], check=False)
        return json.loads(done.stdout) if done.returncode == 0 else None

    def end(self):
        if self.unshare.poll() is None:
            self.unshare.send_signal(signal.SIGKILL)
        self.unshare.wait()

        def gone():
            for group in sorted(self.group.rglob("*"), reverse=True):
                if group.is_dir():
                    group.rmdir()
            self.group.rmdir()
            return True

        def tried():
            try:
                return gone()
            except OSError:
                return False

        until("its processes to be gone", tried)
