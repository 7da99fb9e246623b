"""A port that answers in a guard's place, for answers that a real one gives only in bad moments."""

import contextlib
import http.server
import json
import threading

import pytest

from harness import ACCOUNT, PATIENCE_S

STATUS = {"schema": 1, "mode": "mainnet", "account": ACCOUNT, "account_network": "mainnet", "killed": None}
UNIVERSE = {"universe": [{"name": coin, "szDecimals": 4, "maxLeverage": 25} for coin in ("ETH", "BTC")]}


class Asked(list):
    """The paths that were asked for, with their queries, and what was posted to them."""

    def __init__(self):
        super().__init__()
        self.bodies = []

    def posted(self, path):
        return [body for where, body in self.bodies if where == path]


@contextlib.contextmanager
def guard_that_says(status, answers=None):
    """Answers every question with one status, or as said for its path, with a code and a body: with nothing at all where the
    code is none. In place of both, or of the body, there may be a function of the path, or of what was posted."""
    asked, over = Asked(), threading.Event()

    class Handler(http.server.BaseHTTPRequestHandler):
        def answer(self, question):
            found = (answers or {}).get(self.path.split("?")[0], (200, status))
            code, said = found(question) if callable(found) else found
            if code is None:
                over.wait(2 * PATIENCE_S)
                return
            body = json.dumps(said(question) if callable(said) else said).encode()
            self.send_response(code)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_GET(self):
            asked.append(self.path)
            self.answer(self.path)

        def do_POST(self):
            asked.append(self.path)
            body = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)))
            asked.bodies.append((self.path, body))
            self.answer(body)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", asked
    finally:
        over.set()
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.fixture
def key(tmp_path):
    """Obviously no real key."""
    path = tmp_path / "agent.key"
    path.write_text("0x" + "12" * 32 + "\n")
    path.chmod(0o600)
    return path
