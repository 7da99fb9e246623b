"""Plants weaknesses one at a time and sees that the adversary of the core's tests finds each.

    python3 tests/weaknesses/run.py             all of them
    python3 tests/weaknesses/run.py NAME...     these
    python3 tests/weaknesses/run.py --check     only that every old text is still there, once

Each weakness of table.toml is one replacement in one source file. It is made in a copy of the tree, the adversary
plays its games there, and it must fail. One that it does not notice, or whose old text is gone, ends this with 1.
Every weakness is a build of the library's tests: minutes each.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import tomllib

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
TEST = "adversary::no_client_breaks_the_promises"


def planted(weakness, root):
    """The file of a weakness, its text, and the text with the weakness."""
    path = root / weakness["file"]
    text = path.read_text()
    count = text.count(weakness["old"])
    if count != 1:
        raise SystemExit(f"{weakness['name']}: the old text stands {count} times in {weakness['file']}")
    return path, text, text.replace(weakness["old"], weakness["new"])


def copy_of_tree(to):
    """The files that git knows, as they are now."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True)
    for name in filter(None, listed.stdout.decode().split("\0")):
        if (ROOT / name).is_file():
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, to / name)


def play(tree, target):
    """Plays the games; the last lines of what was told, and whether all was well."""
    env = os.environ | {
        "CARGO_TARGET_DIR": str(target),
        "CARGO_INCREMENTAL": "1",
        # A planted text may leave a name unused.
        "RUSTFLAGS": "--cap-lints=warn",
    }
    told = {"cwd": tree, "env": env, "capture_output": True, "text": True}
    build = subprocess.run(["cargo", "test", "--locked", "--lib", "--no-run"], **told)
    if build.returncode != 0:
        raise SystemExit(f"it does not build:\n{build.stderr[-3000:]}")
    run = subprocess.run(["cargo", "test", "--locked", "--lib", TEST], **told)
    if " 0 passed; 0 failed" in run.stdout:
        raise SystemExit(f"there is no test {TEST}")
    broken = [line for line in run.stdout.splitlines() if "BROKEN" in line]
    return run.returncode == 0, (broken or ["nothing"])[-1][:200]


def main(arguments):
    table = tomllib.loads((HERE / "table.toml").read_text())["weakness"]
    is_check = "--check" in arguments
    wanted = [name for name in arguments if not name.startswith("-")]
    unknown = set(wanted) - {weakness["name"] for weakness in table}
    if unknown:
        raise SystemExit(f"no weakness {', '.join(sorted(unknown))}")
    chosen = [weakness for weakness in table if not wanted or weakness["name"] in wanted]
    for weakness in chosen:
        planted(weakness, ROOT)
    if is_check:
        print(f"{len(chosen)} old texts stand where they stood")
        return 0
    unnoticed = []
    with tempfile.TemporaryDirectory(prefix="weaknesses-") as place:
        tree = pathlib.Path(place)
        copy_of_tree(tree)
        target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "weaknesses"
        for weakness in chosen:
            path, sound, weak = planted(weakness, tree)
            path.write_text(weak)
            is_well, told = play(tree, target)
            path.write_text(sound)
            print(f"{weakness['name']}: {'NOT NOTICED' if is_well else told}", flush=True)
            if is_well:
                unnoticed.append(weakness["name"])
    print(f"{len(chosen) - len(unnoticed)} of {len(chosen)} weaknesses noticed")
    return 1 if unnoticed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
