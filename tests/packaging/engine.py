"""A container engine whose images, containers, volumes and mounts are in one folder and one mount namespace of its own.

It reaches no registry: the image that ours is built in is a stand-in that holds nothing, with this machine's toolchain
mounted into it.
"""

import json
import os
import pathlib
import resource
import subprocess

import readme
from harness import until
from machine import run
from terminal import Terminal

# An engine's own state is in /run, and of the control groups it knows the newer kind alone.
HOLD = """
set -e
mount --make-rprivate /
mount -t tmpfs run /run
mount -t cgroup2 cgroup /sys/fs/cgroup
touch "$0"
exec sleep infinity
"""


def limit(kind, most):
    """Without the right to raise limits, a container's are at most our own."""
    hard = resource.getrlimit(kind)[1]
    return most if hard == resource.RLIM_INFINITY else min(hard, most)


class Engine:
    """podman, in the namespace of a process that does nothing."""

    def __init__(self, folder):
        self.folder = folder
        folder.mkdir()
        (folder / "storage.conf").write_text(
            f'[storage]\ndriver = "vfs"\ngraphroot = "{folder}/images"\nrunroot = "{folder}/state"\n'
        )
        hold = ["setpriv", "--pdeathsig", "KILL", "unshare", "--mount", "sh", "-c", HOLD, folder / "held"]
        self.holder = subprocess.Popen([str(part) for part in hold])
        self.terminals = []
        try:
            until("the namespace", lambda: (folder / "held").exists() or self.holder.poll() is not None)
            assert self.holder.poll() is None, "no mount namespace for the engine"
        except BaseException:
            self.end()
            raise

    def configured(self, name, volumes=(), variables=()):
        """The engine's settings in a file; what is mounted and set in every container is what README does not name."""
        ulimits = [f"nofile={limit(resource.RLIMIT_NOFILE, 20000)}", f"nproc={limit(resource.RLIMIT_NPROC, 32768)}"]
        settings = {
            "cgroups": "disabled",
            "default_ulimits": [f"{one}:{one.split('=')[1]}" for one in ulimits],
            "volumes": list(volumes),
            "env": list(variables),
        }
        lines = [f"{key} = {json.dumps(value)}" for key, value in settings.items()]
        engine = [f"tmp_dir = {json.dumps(str(self.folder / 'tmp'))}", f"volume_path = {json.dumps(str(self.folder / 'volumes'))}"]
        file = self.folder / f"{name}.conf"
        file.write_text("\n".join(["[containers]", *lines, "[engine]", *engine, ""]))
        return {
            "HOME": str(self.folder),
            "PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin",
            "CONTAINERS_CONF": str(file),
            "CONTAINERS_STORAGE_CONF": str(self.folder / "storage.conf"),
            "BUILDAH_ISOLATION": "chroot",
        }

    def inside(self, folder="/"):
        return ["nsenter", "-t", self.holder.pid, "--mount", f"--wd={folder}"]

    def run(self, settings, *command, check=True):
        given = [f"{name}={value}" for name, value in settings.items()]
        return run([*self.inside(), "env", "-i", *given, *command], check)

    def terminal(self, settings, folder="/"):
        terminal = Terminal(settings, folder, self.inside(folder))
        self.terminals.append(terminal)
        return terminal

    def stand_in(self, name):
        """Imports the image that builds ours. Returns what its containers need mounted."""
        rust = pathlib.Path(run(["rustc", "--print", "sysroot"]).stdout.strip())
        root = self.folder / "stand-in"
        for place in ("usr", "etc", "tmp", "root"):
            (root / place).mkdir(parents=True)
        for link in ("bin", "sbin", "lib", "lib64"):
            if pathlib.Path("/", link).is_symlink():
                (root / link).symlink_to(f"usr/{link}")
        archive = self.folder / "stand-in.tar"
        run(["tar", "-C", root, "-cf", archive, "."])
        cargo = readme.TOOLCHAIN["CARGO_HOME"]
        variables = {"PATH": f"{rust}/bin:/usr/bin:/bin", "HOME": "/root", "CARGO_HOME": cargo, **readme.QUICK_RELEASE}
        changes = [part for name, value in variables.items() for part in ("--change", f"ENV {name}={value}")]
        self.run(self.configured("import"), "podman", "import", *changes, archive, name)
        mounted = {"/usr": "ro", "/etc": "ro", str(rust): "ro", cargo: "rw"}
        apart = {place: how for place, how in mounted.items() if place == "/usr" or not place.startswith("/usr/")}
        return [f"{place}:{place}:{how}" for place, how in apart.items()]

    def end(self):
        for terminal in self.terminals:
            terminal.end()
        self.holder.kill()
        self.holder.wait()
