"""What README tells a reader to type, taken from README itself; and a checkout to type it in."""

import os
import pathlib
import re
import shutil

from harness import ACCOUNT, ROOT, TARGET

README = (ROOT / "README.md").read_text()
RULES_CODE = re.search('(?m)^rules = "(.*)"', (ROOT / "packaging/examples/guard-paper.toml").read_text()).group(1)
# What stands in README for the reader's own.
THEIRS = {"0x<your account>": ACCOUNT, "sr1_<your rules>": RULES_CODE}
# A release in less than two minutes: what is tried here is the commands, not how fast the program is.
QUICK_RELEASE = {
    "CARGO_PROFILE_RELEASE_LTO": "off",
    "CARGO_PROFILE_RELEASE_CODEGEN_UNITS": "64",
    "CARGO_PROFILE_RELEASE_OPT_LEVEL": "0",
}
TOOLCHAIN = {
    "CARGO_HOME": os.environ.get("CARGO_HOME", str(pathlib.Path.home() / ".cargo")),
    "RUSTUP_HOME": os.environ.get("RUSTUP_HOME", str(pathlib.Path.home() / ".rustup")),
}


def all_blocks():
    """Every fenced block: the heading above it, its language, and what it says."""
    for part in re.split(r"^## ", README, flags=re.M)[1:]:
        heading = part.splitlines()[0]
        for indent, language, text in re.findall(r"^( *)```(\w*)\n(.*?)^ *```", part, flags=re.M | re.S):
            text = "".join(line.removeprefix(indent) for line in text.splitlines(keepends=True))
            for placeholder, own in THEIRS.items():
                text = text.replace(placeholder, own)
            yield heading, language, text


def blocks(heading, language="sh"):
    """All of a heading: who takes them apart by name fails when one is added."""
    return [text for where, what, text in all_blocks() if where == heading and what == language]


def commands(block):
    """A block's commands: a line that goes on in the next is one with it."""
    return [command.strip() for command in re.split(r"(?<![\\|])\n", block) if command.strip()]


def spans():
    """What stands between the lines as code, blanks made single."""
    prose = re.sub(r"^ *```.*?^ *```", "", README, flags=re.M | re.S)
    return {re.sub(r"\s+", " ", span) for span in re.findall(r"`([^`]+)`", prose)}


def spoken(command):
    """A command that README names between the lines."""
    assert command in spans(), f"README no longer says `{command}`"
    return command


def checkout():
    """A copy of the source, at one place so that what was built in it is there the next time."""
    folder = TARGET.resolve().parent / "checkout"
    copy_source(folder)
    return folder


def copy_source(folder):
    """The source in this folder, which keeps what was built in it."""
    folder.mkdir(exist_ok=True)
    for old in folder.iterdir():
        if old.is_dir() and not old.is_symlink():
            if old.name != "target":
                shutil.rmtree(old)
        else:
            old.unlink()
    for new in ROOT.iterdir():
        if new.name in ("target", ".git"):
            continue
        if new.is_dir():
            shutil.copytree(new, folder / new.name, ignore=shutil.ignore_patterns("__pycache__", ".pytest_cache"))
        else:
            shutil.copy2(new, folder / new.name)
