"""The rules and the dashboard for Prometheus and Grafana, held to Prometheus itself and to the figures of the real guard."""

import json
import re
import shutil
import subprocess
import time

import pytest
import requests

from conftest import needs
from harness import PATIENCE_S, ROOT, Guard, Venue, until

EXAMPLES = ROOT / "packaging" / "examples"
RULES = EXAMPLES / "prometheus-rules.yml"
DASHBOARD = json.loads((EXAMPLES / "grafana-dashboard.json").read_text())


def promtool(*arguments, folder=EXAMPLES):
    needs("promtool")
    return subprocess.run(["promtool", *map(str, arguments)], cwd=folder, capture_output=True, text=True)


def test_the_rules_and_their_tests_pass():
    for arguments in (["check", "rules", RULES.name], ["test", "rules", "prometheus-rules-test.yml"]):
        done = promtool(*arguments)
        assert done.returncode == 0, done.stdout + done.stderr


def rules():
    """Each rule: its name, and its lines from there on."""
    first, *parts = RULES.read_text().split("      - alert: ")
    assert len(parts) >= 14, first
    return [(part.split("\n")[0], part) for part in parts]


def expression(rule):
    return re.search(r"^        expr: (.*)$", rule, re.M).group(1)


def fails(folder, text):
    (folder / RULES.name).write_text(text)
    shutil.copy(EXAMPLES / "prometheus-rules-test.yml", folder)
    return promtool("test", "rules", "prometheus-rules-test.yml", folder=folder).returncode == 1


@pytest.mark.parametrize("right, wrong", [
    ("== 1 or on", "== 2 or on"), ("0.8 * svc_guard_daily", "0.9 * svc_guard_daily"),
    ('state!="active"} == 1\n        labels', 'state!="active"} == 2\n        labels'),
    ("loop_up == 0\n        for: 15s", "loop_up == 0\n        for: 60s"),
    ("healthy == 0\n        for: 30s", "healthy == 0\n        for: 0s"),
    ("svc_guard_alerts > 0\n        for: 1m", "svc_guard_alerts > 0\n        for: 10s"),
    ("svc_guard_alerts > 0", "svc_guard_alerts == 1"), ("failing == 1 or svc_guard_journal_degraded", "failing == 1 and svc_guard_journal_degraded"),
    ("0.8 * svc_guard_drawdown", "0.9 * svc_guard_drawdown"), ("svc_guard_drawdown_usdc > ", "svc_guard_drawdown_usdc >= "),
    ('{read="account"} > 30', '{read="account"} > 60'), ('{read="account"} > 30', "> 30"), ("0.95 *", "0.94 *"), ("0.95 *", "0.99 *"),
    ("[15m]) > 2", "[15m]) > 1"), ("[15m]) > 2", "[15m]) > 3"), ("[15m]) > 2", "[1h]) > 2"),
    ('process_start_time_seconds{job="svc-guard"}', "process_start_time_seconds")])
def test_a_rule_that_is_wrong_fails_its_test(right, wrong, tmp_path):
    text = RULES.read_text()
    assert right in text
    assert fails(tmp_path, text.replace(right, wrong))


@pytest.mark.parametrize("name, rule", rules(), ids=[name for name, _ in rules()])
def test_each_rule_is_seen_to_fire(name, rule, tmp_path):
    silent = rule.replace(expression(rule), f"({expression(rule)}) and vector(0) > 1", 1)
    assert silent != rule and fails(tmp_path, RULES.read_text().replace(rule, silent)), name


def test_the_scrape_example_is_a_config(tmp_path):
    for name in ("prometheus-scrape.yml", RULES.name):
        shutil.copy(EXAMPLES / name, tmp_path)
    done = promtool("check", "config", "prometheus-scrape.yml", folder=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


def metrics():
    """Each metric that the rules look at, with the labels that they ask for."""
    found = set()
    for _, rule in rules():
        names = re.findall(r"\b(?:up|(?:svc_guard|process)_\w+)(?:\{[^}]*\})?", expression(rule))
        assert names, rule
        found.update(names)
    return sorted(found)


def queries():
    for panel in DASHBOARD["panels"]:
        for target in panel["targets"]:
            yield panel["title"], target["expr"].replace("$instance", ".*").replace("$__rate_interval", "10s")


@pytest.fixture
def guard(tmp_path):
    """One that has decided, sent and refused something, and holds a position."""
    venue = Venue(tmp_path / "venue.log", "testnet")
    guard = Guard.set_up(tmp_path, venue, "testnet")
    yield venue, guard
    guard.end()
    venue.end()


def test_every_query_of_the_dashboard_and_every_metric_of_the_rules_is_a_guards(guard, tmp_path):
    needs("prometheus")
    venue, guard = guard
    venue.do("position", coin="ETH", szi="0.4", entry_px="2500")
    until("a covered position", lambda: any(row["stop_px"] for row in guard.status()["positions"]))
    target = guard.url.removeprefix("http://")
    scrape = (EXAMPLES / "prometheus-scrape.yml").read_text().replace("127.0.0.1:8547", target)
    scrape = scrape.replace("scrape_interval: 5s", "scrape_interval: 1s").replace("scrape_timeout: 4s", "scrape_timeout: 1s")
    (tmp_path / "prometheus.yml").write_text(scrape)
    shutil.copy(RULES, tmp_path)
    log = (tmp_path / "prometheus.log").open("w")
    command = ["prometheus", f"--config.file={tmp_path}/prometheus.yml", f"--storage.tsdb.path={tmp_path}/data",
               "--web.listen-address=127.0.0.1:0"]
    server = subprocess.Popen(command, stdout=log, stderr=log)
    try:
        address = until("Prometheus", lambda: re.search(r"Listening on\W+address=(\S+)", (tmp_path / "prometheus.log").read_text()))
        url = f"http://{address.group(1)}/api/v1"
        # It listens before it answers queries.
        until("Prometheus to be ready", lambda: requests.get(f"http://{address.group(1)}/-/ready", timeout=PATIENCE_S).ok)

        def ask(query):
            answer = requests.get(f"{url}/query", params={"query": query}, timeout=PATIENCE_S)
            assert answer.status_code == 200, (query, answer.text)
            return answer.json()["data"]["result"]

        def keep_busy():
            requests.post(guard.url + "/exchange", json={"action": {"type": "order"}}, timeout=PATIENCE_S)
            return ask("count_over_time(svc_guard_healthy[1m]) > 4")

        until("a few scrapes", keep_busy)
        unanswered = dict(queries())
        begun = time.monotonic()
        while unanswered and time.monotonic() - begun < PATIENCE_S:
            unanswered = {title: query for title, query in unanswered.items() if not ask(query)}
        assert unanswered == {}
        for title, query in queries():
            assert ask(query), (title, query)
        for metric in metrics():
            assert ask(metric), metric
    finally:
        server.terminate()
        server.wait()
        log.close()
