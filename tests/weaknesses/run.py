"""Plants weaknesses one at a time and sees that the adversary of the core's tests finds each.

    python3 tests/weaknesses/run.py             all of them
    python3 tests/weaknesses/run.py NAME...     these

Each weakness of table.toml is a replacement in a source file, or a few, under a condition. All are made in a copy of the tree,
which is built once; the environment says which of them is on. The adversary plays its games with it up to the first that breaks a
promise, and one must. What no game of it has come upon names a test of the core instead, which is red with it. A weakness that is
not noticed ends this with 1, and so does a game that breaks a promise with none of them on. That each old text still stands where it did is held by tests/tidy.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
TEST = "adversary::no_client_breaks_the_promises"
SWITCH = """//! Which weakness is on.

use std::sync::LazyLock;

static ON: LazyLock<Option<String>> = LazyLock::new(|| std::env::var("WEAKNESS").ok());

pub(crate) fn is_on(name: &str) -> bool {
    ON.as_deref() == Some(name)
}
"""


def copy_of_tree(to):
    """The files that git knows, as they are now."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT, check=True, capture_output=True
    )
    for name in filter(None, listed.stdout.decode().split("\0")):
        if (ROOT / name).is_file():
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, to / name)


def plant(table, tree):
    """Makes all replacements."""
    for weakness in table:
        path = tree / weakness["file"]
        text = path.read_text()
        if text.count(weakness["old"]) != 1:
            raise SystemExit(f"{weakness['name']}: its old text does not stand once in {weakness['file']}")
        new = weakness["new"].replace("PLANTED", f'crate::weakness::is_on("{weakness["name"]}")')
        path.write_text(text.replace(weakness["old"], new))
    (tree / "src/weakness.rs").write_text(SWITCH)
    library = tree / "src/lib.rs"
    library.write_text(library.read_text() + "\npub(crate) mod weakness;\n")


def build(tree):
    """The library's tests as a program."""
    target = os.environ.get("CARGO_TARGET_DIR", ROOT / "target")
    told = subprocess.run(
        ["cargo", "test", "--locked", "--lib", "--no-run", "--message-format=json", "--target-dir", str(target)],
        cwd=tree,
        stdout=subprocess.PIPE,
        text=True,
    )
    programs = [line["executable"] for line in map(json.loads, told.stdout.splitlines()) if line.get("executable")]
    if told.returncode != 0 or not programs:
        raise SystemExit("it does not build")
    return programs[-1]


def play(program, name):
    """Plays the games; whether all was well, and what was told."""
    env = os.environ | {"WEAKNESS": name}
    run = subprocess.run([program, TEST], cwd=ROOT, env=env, capture_output=True, text=True)
    if " 0 passed; 0 failed" in run.stdout:
        raise SystemExit(f"there is no test {TEST}")
    broken = re.findall(r"^\+\d+: BROKEN (.{,160})", run.stdout, re.MULTILINE)
    seed = re.findall(r"^seed (\d+): ", run.stdout, re.MULTILINE)
    if run.returncode == 0 or not broken or not seed:
        return run.returncode == 0, run.stdout[-300:]
    return False, f"game {int(seed[0]) + 1}: {broken[0]}"


def try_test(program, name, test):
    """Runs one test of the core; whether all was well, and what was told."""
    env = os.environ | {"WEAKNESS": name}
    run = subprocess.run([program, "--exact", test], cwd=ROOT, env=env, capture_output=True, text=True)
    if "0 passed; 0 failed" in run.stdout:
        raise SystemExit(f"there is no test {test}")
    return run.returncode == 0, test


def main(arguments):
    table = tomllib.loads((HERE / "table.toml").read_text())["weakness"]
    unknown = set(arguments) - {weakness["name"] for weakness in table}
    if unknown:
        raise SystemExit(f"no weakness {', '.join(sorted(unknown))}")
    with tempfile.TemporaryDirectory(prefix="weaknesses-") as place:
        tree = pathlib.Path(place)
        copy_of_tree(tree)
        plant(table, tree)
        program = build(tree)
    is_well, told = play(program, "")
    if not is_well:
        raise SystemExit(f"without a weakness: {told}")
    chosen = [name for name in dict.fromkeys(weakness["name"] for weakness in table) if not arguments or name in arguments]
    tests = {weakness["name"]: weakness["test"] for weakness in table if "test" in weakness}
    for name, test in tests.items():
        if not try_test(program, "", test)[0]:
            raise SystemExit(f"without a weakness: {test} is red")
    unnoticed = 0
    for name in chosen:
        is_well, told = try_test(program, name, tests[name]) if name in tests else play(program, name)
        unnoticed += is_well
        print(f"{name}: {'NOT NOTICED' if is_well else told}", flush=True)
    by_test = sum(name in tests for name in chosen)
    print(f"{len(chosen) - unnoticed} of {len(chosen)} weaknesses noticed, {by_test} of them looked for by a test")
    return 1 if unnoticed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
