"""A person's terminal: a shell that commands are typed into, and that they ask questions on."""

import time

import pexpect

from harness import PATIENCE_S

PROMPT = r"<left (\d+)> "
# Building everything from nothing on a small machine.
BUILDING_S = 20 * PATIENCE_S


class Secret(str):
    """An answer that nobody types before the terminal has stopped showing what is typed."""


class Terminal:
    """A shell on a pseudo-terminal. `enter` is what brings it to where the person sits."""

    def __init__(self, variables, folder=None, enter=()):
        shell = ["bash", "--noprofile", "--norc", "--noediting", "-i"]
        given = {"PS1": "<left $?> ", "PS2": "", "TERM": "dumb", "PAGER": "cat", "LC_ALL": "C.UTF-8", **variables}
        command = [*enter, "env", "-i", *(f"{name}={value}" for name, value in given.items()), *shell]
        self.child = pexpect.spawn(
            str(command[0]), [str(part) for part in command[1:]], cwd=folder, encoding="utf-8", dimensions=(50, 250)
        )
        self.child.delaybeforesend = None
        self.said = ""
        self._until(PROMPT)

    def _until(self, *patterns, patience_s=2 * PATIENCE_S):
        """Waits for one of these; what it said before that, and which it was."""
        try:
            which = self.child.expect(list(patterns), timeout=patience_s)
        except (pexpect.TIMEOUT, pexpect.EOF):
            raise AssertionError(f"waited for {patterns}, and the terminal shows:\n{self.said}{self.child.before}") from None
        self.said += self.child.before + self.child.after
        return which

    def type(self, command, answers=None, status=0, patience_s=2 * PATIENCE_S):
        """Types a command and, to each of its questions, the answer; returns what it said by its end."""
        left = dict(answers or {})
        self.start(command)
        while which := self._until(PROMPT, *left, patience_s=patience_s):
            answer = left.pop(list(left)[which - 1])
            if isinstance(answer, Secret):
                assert self.child.waitnoecho(2 * PATIENCE_S), f"{command} would show a secret"
                # Behind sudo is another terminal, whose echo goes off a moment after the question and cannot be seen from here.
                time.sleep(1)
            self.child.sendline(answer)
        assert (int(self.child.match.group(1)), left) == (status, {}), self.said
        return self.said

    def start(self, command):
        """Types a command that goes on running."""
        self.said = ""
        self.child.sendline(command)

    def see(self, pattern):
        """Waits for a line of the running command, and returns what the pattern's group found."""
        self._until(pattern)
        return self.child.match.group(1)

    def interrupt(self):
        """Ctrl-C, at which it ends well."""
        self.child.sendintr()
        self.wait()

    def wait(self):
        """Waits until the running command has ended well."""
        self._until(PROMPT)
        assert self.child.match.group(1) == "0", self.said

    def end(self):
        self.child.close(force=True)
