"""The guard on a machine that boots: the package, the simulated venue on its loopback, and who looks after it."""

from harness import ACCOUNT, ROOT, WALLET, WALLET_KEY, until

HOME = "/var/lib/svc-guard"
UNIT = "svc-guard.service"
VENUE_PORT = 9999
PORT = 8547


class Guarded:
    """A machine with the package and the venue, and the commands that its person gives."""

    def __init__(self, machine, package=None):
        self.machine = machine
        if package:
            self.install(package)
        machine.bring(ROOT / "packaging" / "examples" / "rules.toml", "/opt/rules.toml")

    def install(self, package):
        self.machine.bring(package, "/opt/guard.deb")
        self.machine.run("dpkg", "--install", "/opt/guard.deb")

    def venue(self, network):
        serve = ["/opt/venue_sim", "--listen", f"127.0.0.1:{VENUE_PORT}", "--account", ACCOUNT, "--agent", WALLET]
        self.machine.run("systemd-run", "--unit=venue", *serve, "--network", network)
        until("the venue", lambda: self.machine.get(VENUE_PORT, "/sim"))

    def guard(self, *arguments, home=HOME, check=True, stdin="", variables=()):
        """The program, run by a person as the guard's user."""
        user = ["setpriv", "--reuid", "svc-guard", "--regid", "svc-guard", "--init-groups"]
        return self.machine.run(*user, "env", *variables, "svc-guard", "--home", home, *arguments, check=check, stdin=stdin)

    def new_home(self, home=HOME):
        """A home that holds nothing but where the venue is, which counts as empty."""
        self.machine.run("install", "-d", "-o", "svc-guard", "-g", "svc-guard", "-m", "1733", home)
        config = f'[venue]\nurl = "http://127.0.0.1:{VENUE_PORT}"\n'
        self.machine.run("install", "-o", "svc-guard", "/dev/stdin", f"{home}/guard.toml", stdin=config)

    def init(self, *arguments, home=HOME, stdin=""):
        self.new_home(home)
        answers = ["--account", ACCOUNT, "--rules", "@/opt/rules.toml", "--client-key-out", f"{home}/bot.key"]
        self.guard("init", "--non-interactive", *answers, *arguments, home=home, stdin=stdin)

    def start(self, *units):
        """Starts them; what they said is told when they do not start."""
        done = self.machine.run("systemctl", "start", *units, check=False)
        assert done.returncode == 0, "\n".join(self.machine.journal(unit) for unit in units)

    def state(self, unit=UNIT):
        return self.machine.show(unit, "ActiveState", "SubState")

    def runs(self, unit=UNIT):
        until(f"{unit} to run", lambda: self.state(unit) == ("active", "running"))
        return self.machine.show(unit, "MainPID")[0]

    def status(self, port=PORT):
        return until("a status", lambda: self.machine.get(port, "/guard/status"))


def no_key_lies_open(machine):
    found = machine.run("grep", "-rlF", WALLET_KEY[2:], "/var", "/etc", "/root", "/home", "/opt", check=False).stdout
    assert found.split() in ([], ["/opt/venue_sim"]), found
