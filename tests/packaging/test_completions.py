"""Completions as a person presses the key, in each shell that is there."""

import subprocess

import pytest

from conftest import needs
from harness import GUARD

# What is typed, and what must be offered.
TRIES = [
    ("svc-guard run --net", ["--network"]),
    ("svc-guard run --network ", ["paper", "testnet", "mainnet"]),
    ("svc-guard client ", ["add"]),
    ("svc-guard key ", ["check", "replace"]),
    ("svc-guard journal-", ["journal-init", "journal-resume", "journal-show"]),
    ("svc-guard --home /x kill --w", ["--wait"]),
    ("svc-guard config set rules ", ["collar=", "stop="]),
    ("svc-guard config set rules st", ["stop="]),
]

# What is typed, what must be offered, and what must not: a word that stands there already, a file of the folder at hand.
NO_MORE = [
    ("svc-guard config set ", ["listen", "rules"], ["a-file"]),
    ("svc-guard config set rules ", ["collar=", "stop="], ["a-file", "listen", "equity_cap"]),
    ("svc-guard --home /x config get rules ", [], ["a-file", "listen"]),
    ("svc-guard completions ", ["bash", "fish"], ["a-file"]),
]

BASH = r"""
source "$1/svc-guard"
read -r -a COMP_WORDS <<<"$2"
[[ $2 == *" " ]] && COMP_WORDS+=("")
COMP_CWORD=$((${#COMP_WORDS[@]} - 1)) COMP_LINE=$2 COMP_POINT=${#2}
function=$(complete -p svc-guard | sed 's/.*-F \([^ ]*\).*/\1/')
"$function" svc-guard "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
printf '%s\n' "${COMPREPLY[@]}"
"""

# A shell at a terminal of its own, in which the key is pressed; it is done once the last of the words is there.
ZSH = r"""
zmodload zsh/zpty
zpty -b shell zsh -f -i
out=
until_shown() {
    local tries=0 part
    while [[ $out != *"$1"* && $tries -lt 400 ]]; do
        if zpty -r -t shell part; then out+=$part; else sleep 0.05; tries=$((tries + 1)); fi
    done
}
zpty -w shell "PS1=; fpath=($1 \$fpath); autoload -Uz compinit; compinit -u -D; print READY-\$((1 + 1))"
until_shown READY-2
out=
zpty -w -n shell "$2"$'\t\t'
until_shown "$3"
print -r -- "$out"
zpty -d shell
"""


def script_of(shell, folder):
    name = {"bash": "svc-guard", "zsh": "_svc-guard", "fish": "svc-guard.fish"}[shell]
    script = subprocess.run([GUARD, "completions", shell], capture_output=True, check=True).stdout
    (folder / name).write_bytes(script)


def offered(shell, folder, line, last):
    if shell == "fish":
        command = ["fish", "--no-config", "-c", f"source {folder}/svc-guard.fish; complete -C '{line}'"]
    else:
        command = [shell, "-c", {"bash": BASH, "zsh": ZSH}[shell], shell, str(folder), line, last]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, cwd=folder, stdin=subprocess.DEVNULL)
    return done.stdout + done.stderr


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_key_is_pressed(shell, tmp_path):
    needs(shell)
    script_of(shell, tmp_path)
    for line, wanted in TRIES:
        words = offered(shell, tmp_path, line, wanted[-1])
        missing = [word for word in wanted if word not in words]
        assert not missing, f"{shell}: {line!r} does not offer {missing}: {words}"


@pytest.mark.parametrize("shell", ["bash", "fish"])
def test_a_word_is_offered_once_and_no_file_in_its_place(shell, tmp_path):
    needs(shell)
    script_of(shell, tmp_path)
    (tmp_path / "a-file").touch()
    for line, wanted, unwanted in NO_MORE:
        words = offered(shell, tmp_path, line, "").split()
        assert set(wanted) <= set(words), f"{shell}: {line!r} offers {words}"
        assert not set(unwanted) & set(words), f"{shell}: {line!r} offers {words}"
