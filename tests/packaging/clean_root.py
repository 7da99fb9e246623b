"""A clean Debian root: the essential packages and what a server has besides, as the machine's own package database knows them.

Nothing is downloaded: each package's files are copied, and a database that knows these packages only is written, so that
dpkg works in it as on a machine that was just installed. Taking them from the network takes minutes instead.
"""

import pathlib
import re
import subprocess

DPKG = pathlib.Path("/var/lib/dpkg")
# What a root that runs nothing does without; the copy is much smaller then.
LEFT_OUT = re.compile(r"/usr/share/(doc|man|info|locale|zoneinfo|i18n|bash-completion|lintian|mime|zsh|fish)/.|/usr/lib/udev/hwdb\.d/.")


# A package whose files and settings are in place. Where a machine's last installation was cut off, the C library's tools have
# a trigger to run yet, and are no less there for it: the new root runs it.
IN_PLACE = re.compile(r"\S+ ok (installed|triggers-pending|triggers-awaited)")


def stanzas(status):
    """A package database's text, by name: what is installed."""
    known = {}
    for text in status.split("\n\n"):
        fields = dict(re.findall(r"(?m)^([A-Za-z-]+): *(.*)$", text))
        if IN_PLACE.fullmatch(fields.get("Status", "")):
            known[fields["Package"]] = (fields, text)
    return known


def closure(known, wanted):
    """These packages and all that they need, the first alternative that is installed or provided by one that is."""
    stand_for = {name: name for name in known}
    for name, (fields, _) in known.items():
        for provided in re.findall(r"[^\s,()]+(?= *(?:\([^)]*\))? *(?:,|$))", fields.get("Provides", "")):
            stand_for.setdefault(provided, name)
    found, to_do = set(), list(wanted)
    while to_do:
        name = to_do.pop()
        if name in found:
            continue
        found.add(name)
        fields = known[name][0]
        for needed in ", ".join(filter(None, (fields.get("Pre-Depends"), fields.get("Depends")))).split(","):
            names = [re.split(r"[ (:]", alternative.strip())[0] for alternative in needed.split("|")]
            to_do += [stand_for[name] for name in names if name in stand_for][:1]
    return found


def info_files(name):
    named = re.compile(re.escape(name) + r"(:[a-z0-9-]+)?\.[a-z0-9]+")
    return [path for path in (DPKG / "info").iterdir() if named.fullmatch(path.name)]


def assemble(root):
    """Makes the root in a new folder."""
    known = stanzas((DPKG / "status").read_text())
    essential = [name for name, (fields, _) in known.items() if fields.get("Essential") == "yes"]
    names = closure(known, [*essential, *(name for name in ("apt", "dbus", "sudo", "systemd") if name in known)])
    root.mkdir(parents=True)
    for link in ("bin", "sbin", "lib", "lib32", "lib64", "libx32"):
        if pathlib.Path("/", link).is_symlink():
            (root / "usr" / link).mkdir(parents=True, exist_ok=True)
            (root / link).symlink_to(f"usr/{link}")
    for folder in ("dev", "proc", "sys", "tmp", "run", "root", "etc", "var/lib/dpkg/info", "var/lib/dpkg/updates", "var/log"):
        (root / folder).mkdir(parents=True, exist_ok=True)

    files, infos = set(), []
    for name in names:
        infos += info_files(name)
    for info in infos:
        if info.suffix == ".list":
            files |= {line for line in info.read_text().splitlines() if line != "/." and not LEFT_OUT.match(line)}
    # What the packages' scripts made: links, and who may do what.
    made = [path for folder in ("/etc/alternatives", "/etc/pam.d") for path in pathlib.Path(folder).iterdir()]
    files |= {str(path) for path in made} | {"/usr/bin/awk", "/etc/alternatives"}
    present = sorted(path for path in files if pathlib.Path(path).is_symlink() or pathlib.Path(path).exists())
    copy = ["tar", "-C", "/", "--no-recursion", "--ignore-failed-read", "-cf", "-", "--null", "-T", "-"]
    unpack = ["tar", "-C", str(root), "--keep-directory-symlink", "-xpf", "-"]
    with subprocess.Popen(copy, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as packing:
        with subprocess.Popen(unpack, stdin=packing.stdout) as unpacking:
            packing.stdin.write("\0".join(path[1:] for path in present).encode())
            packing.stdin.close()
            packing.stdout.close()
            assert unpacking.wait() == 0
    for info in infos:
        (root / "var/lib/dpkg/info" / info.name).write_bytes(info.read_bytes())
        (root / "var/lib/dpkg/info" / info.name).chmod(info.stat().st_mode & 0o7777)
    (root / "var/lib/dpkg/status").write_text("\n\n".join(known[name][1] for name in sorted(names)) + "\n\n")
    (root / "var/lib/dpkg/available").write_text("")
    masters = pathlib.Path("/usr/share/base-passwd")
    (root / "etc/passwd").write_text((masters / "passwd.master").read_text().replace(":*:", ":x:"))
    (root / "etc/group").write_text((masters / "group.master").read_text().replace(":*:", ":x:"))
    (root / "etc/machine-id").write_text("")
    subprocess.run(["ldconfig", "-r", str(root)], check=True)
