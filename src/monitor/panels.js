// What the status says, panel by panel. Everything is brought up to date in place.

import { byId, keep, make, put, set, terms } from "./dom.js";
import { clip, figure, isNegative, ratio, rulesOf, short, span, stamp, time, usd, words } from "./text.js";

function tile(id, tone, value, note, title = null) {
  const box = byId(id);
  set(box, { class: tone });
  put(box.querySelector(".value"), value);
  put(box.querySelector(".note"), note);
  set(box, { title });
}

const MODES = { paper: "nothing is sent", testnet: "test network", mainnet: "real money" };

export function head({ mode, account }) {
  put(byId("mode"), clip(mode, 20).toUpperCase());
  set(byId("mode"), { class: `mode ${MODES[mode] ? mode : ""}`, title: MODES[mode] });
  put(byId("account"), short(account));
  set(byId("account"), { title: `Account ${clip(account)}` });
}

const STATES = { active: ["● Active", "ok"], halted_for_day: ["■ Halted for the day", "bad"], stopped: ["■ Stopped", "bad"] };

export function tiles(status, problems) {
  const { risk, killed, venue, alerts } = status;
  tile("t-kill", killed === null ? "ok" : "bad", killed === null ? "● Not pulled" : "■ PULLED", clip(killed ?? "", 200));
  const [state, tone] = STATES[risk.state] ?? [words(risk.state), "bad"];
  tile("t-risk", tone, state, risk.since_ms > 0 ? `since ${time(risk.since_ms, status.at_ms)} UTC` : "");
  const ages = `account ${span(venue.account_age_ms)}, prices ${span(venue.prices_age_ms)} old`;
  const isWell = problems.length === 0;
  tile("t-health", isWell ? "ok" : "bad", isWell ? "● Healthy" : "▲ Unwell", isWell ? ages : clip(problems.join("; ")));
  tile("t-equity", "idle", usd(status.equity), `peak ${usd(risk.peak_equity)}`, status.equity);
  const near = (code) => (alerts.some((alert) => alert.code === code) ? "warn" : "idle");
  tile("t-day", near("daily_loss_near"), usd(risk.day_pnl, true), `stop at −${usd(risk.daily_loss_limit)}`, risk.day_pnl);
  tile("t-down", near("drawdown_near"), usd(risk.drawdown), `halt at ${usd(risk.drawdown_limit)}`, risk.drawdown);
  const isStale = alerts.some(({ code }) => code === "account_stale" || code === "price_stale");
  set(document.body, { "data-stale": isStale ? "" : null });
}

/** While the guard is lost nobody can say how it is. */
export const unknown = () => tile("t-health", "bad", "■ Not known", "the guard does not answer");

/** What a person must know before anything else, with the way out. */
export function notices({ killed, kill_file: file, risk }) {
  const list = [];
  if (killed !== null) {
    list.push(["kill", `■ Kill switch pulled: ${clip(killed, 200)}. Nothing is opened and everything is closed, until a person removes ${clip(file, 200)} and restarts the guard.`]);
  }
  const figures = risk.details ? ` Equity ${usd(risk.details.equity)}, limit ${usd(risk.details.limit)} (${clip(risk.details.limit_pct, 10)}%).` : "";
  if (risk.state === "halted_for_day") {
    list.push(["risk", `■ Daily loss stop: nothing is opened until the next UTC day.${figures}`]);
  } else if (risk.state !== "active") {
    list.push(["risk", `■ Drawdown halt: nothing is opened until a person has looked and run svc-guard journal-resume.${figures}`]);
  }
  keep(byId("notices"), list, ([key]) => key, () => make("p", { class: "banner bad" }), (line, [, text]) => put(line, text));
}

export function alerts({ alerts: list, at_ms: nowMs }) {
  // Two alerts may share a code; together with its place among them each keeps its row.
  const counted = list.map((alert, place) => ({ ...alert, key: `${alert.code} ${list.slice(0, place).filter((one) => one.code === alert.code).length}` }));
  keep(byId("alerts"), counted, (alert) => alert.key,
    () => make("li", {}, make("b", {}), " ", make("span", {}), " ", make("span", { class: "quiet num" })),
    ({ children: [code, text, since] }, alert) => {
      put(code, `▲ ${words(alert.code)}`);
      put(text, clip(alert.text));
      put(since, alert.since_ms === null ? "" : `since ${time(alert.since_ms, nowMs)}`);
    });
  set(byId("no-alerts"), { hidden: list.length > 0 ? "" : null });
  put(byId("n-alerts"), list.length > 0 ? String(list.length) : "");
}

const RULES = {
  daily_loss: "Daily loss", drawdown: "Drawdown", open_risk: "Loss if every stop is hit", loss_per_trade: "Loss if one market’s stop is hit",
  exposure: "Exposure of all markets", position: "Position in one market", leverage: "Leverage setting", open_orders: "Open entries",
  orders_per_minute: "Entries in the last minute",
};
const UNITS = { usdc: usd, times: (text) => `${figure(text)}×`, orders: figure };

export function headroom({ headroom: rows }) {
  const create = () => make("li", {}, make("p", {}, make("span", { class: "rule" }), make("span", { class: "use num" })),
    make("div", { role: "meter", "aria-valuemin": 0, "aria-valuemax": 100 }, make("div")));
  keep(byId("headroom"), rows, ({ rule }) => rule, create, (row, { rule, unit, coin, used, limit }) => {
    const [line, bar] = row.children;
    const name = (RULES[rule] ?? words(rule)) + (coin ? `, ${clip(coin, 20)}` : "");
    const text = UNITS[unit] ?? ((amount) => clip(amount ?? "–", 40));
    const [part, whole] = [ratio(used), ratio(limit)];
    const share = part === null || whole === null ? null : whole > 0 ? Math.min(100, (100 * part) / whole) : part > 0 ? 100 : 0;
    // A setting at its limit is nothing that fills up; over it, it is.
    const isCalm = unit === "times" && part <= whole;
    const level = share === null ? "unknown" : isCalm ? "" : share >= 100 ? "full" : share >= 60 ? "near" : "";
    const word = { unknown: "not known", full: "■ reached", near: "▲ near" }[level];
    put(line.children[0], name);
    put(line.children[1], `${text(used)} of ${text(limit)}${word ? ` · ${word}` : ""}`);
    set(row, { class: level });
    set(bar, { "aria-label": name, "aria-valuenow": share === null ? 0 : Math.floor(share), "aria-valuetext": line.children[1].textContent });
    bar.firstElementChild.style.width = `${share ?? 0}%`;
  });
}

/** Rules that look at one order alone: how each value reads. */
const PER_ORDER = {
  markets: ["Markets", (list) => (list === "all" ? "all" : [list].flat().join(", "))],
  collar: ["Price from the mid", (percent) => `${percent}% at most`],
  stop: ["Stop attached at", (percent) => `${percent}%`],
  max_stop: ["Widest stop", (percent) => `${percent}%`],
  order_value: ["One order’s value", (amount) => (amount === null ? "no limit" : `${usd(amount)} USDC`)],
  duplicate_window: ["The same entry again", (seconds) => (seconds === "0" ? "allowed" : `after ${seconds} s`)],
};

export function rules({ rules: code }) {
  const known = rulesOf(code);
  const pairs = Object.entries(PER_ORDER).map(([key, [name, show]]) => [name, known && key in known ? clip(show(known[key]), 400) : "–"]);
  terms(byId("rules"), pairs);
}

/** Fills a table of columns `[name, class, cell]`. The roles stay where a phone's style takes it apart. */
function table(id, columns, groups, key) {
  const whole = byId(id);
  if (!whole.tHead) {
    const heads = columns.map(([name, kind]) => make("th", { scope: "col", role: "columnheader", class: kind }, name));
    whole.createTHead().append(make("tr", { role: "row" }, ...heads));
    set(whole, { role: "table" });
    set(whole.tHead, { role: "rowgroup" });
  }
  const width = columns.length;
  const body = () => make("tbody", { role: "rowgroup" });
  const line = () => make("tr", { role: "row" }, ...columns.map(([name, kind], place) => make(place ? "td" : "th",
    place ? { role: "cell", class: kind, "data-name": name } : { role: "rowheader", scope: "row" })));
  keep(whole, groups, ({ name }) => name, body, (part, { name, rows }) => {
    const head = name === "" ? [] : [{ head: `${name} (${rows.length})` }];
    keep(part, [...head, ...rows], (row) => row.head ? " head" : key(row),
      (row) => row.head ? make("tr", { role: "row", class: "group" }, make("th", { scope: "rowgroup", colspan: width, role: "rowheader" })) : line(),
      (tr, row) => {
        if (row.head) return put(tr.firstElementChild, row.head);
        for (const [place, [, , cell]] of columns.entries()) {
          const [text, title, tone] = [cell(row)].flat();
          put(tr.children[place], text);
          set(tr.children[place], { title, "data-tone": tone });
        }
      });
  });
  const count = groups.reduce((sum, { rows }) => sum + rows.length, 0);
  put(byId(`n-${id}`), count > 0 ? String(count) : "");
  set(byId(`no-${id}`), { hidden: count > 0 ? "" : null });
  set(whole.parentElement, { hidden: count > 0 ? null : "" });
}

function cover({ size, covered_size: covered }) {
  if (covered === size) return ["● full", "Stops cover the whole position", "ok"];
  if (covered === "0") return ["▲ none", "No stop covers this position", "bad"];
  return [`◐ ${figure(covered)} of ${figure(size)}`, "Stops cover a part of this position", "warn"];
}

const money = (text, signed = false) => [usd(text, signed), text];
const POSITIONS = [
  ["Market", "", ({ coin }) => clip(coin, 40)],
  ["Side", "", ({ side }) => (side === "long" ? "▲ long" : "▼ short")],
  ["Size", "num", ({ size }) => figure(size)],
  ["Cover", "", cover],
  ["Stop", "num", ({ stop_px: px }) => figure(px)],
  ["Entry", "num", ({ entry_px: px }) => figure(px)],
  ["Mark", "num", ({ mark_px: px }) => figure(px)],
  ["Value", "num", ({ value }) => money(value)],
  ["Result", "num", ({ unrealized_pnl: pnl }) => [...money(pnl, true), isNegative(pnl) ? "bad" : "ok"]],
  ["Risk", "num", ({ risk }) => money(risk)],
  ["Liquidation", "num", ({ liquidation_px: px }) => figure(px)],
  ["Leverage", "num", ({ leverage, margin_mode: mode }) => `${clip(leverage, 10)}× ${clip(mode, 20)}`],
];

export const positions = ({ positions: rows }) =>
  table("positions", POSITIONS, [{ name: "", rows }], ({ coin }) => coin);

const ORDERS = [
  ["Market", "", ({ coin }) => clip(coin, 40)],
  ["Side", "", ({ side }) => (side === "buy" ? "▲ buy" : "▼ sell")],
  ["Size", "num", ({ size }) => figure(size)],
  ["Price", "num", ({ px }) => figure(px)],
  ["Trigger", "num", ({ trigger_px: px }) => figure(px)],
  ["Type", "", ({ order_type: type, reduce_only: reduces }) => words(type) + (reduces ? ", reduce-only" : "")],
  ["Id", "num", ({ oid, cloid }) => (cloid === null ? `#${clip(oid, 30)}` : [short(clip(cloid, 80)), `${clip(cloid)}, venue’s number ${clip(oid, 30)}`])],
];
const OWNERS = [["bot", "Bot"], ["guard", "Guard"], ["other", "Others"]];

export function orders({ open_orders: all }) {
  const groups = OWNERS.map(([owner, name]) => ({ name, rows: all.filter((order) => order.owner === owner) }));
  table("orders", ORDERS, groups.filter(({ rows }) => rows.length > 0), ({ oid }) => oid);
}

/** What the venue’s stops leave to lose. */
export function away({ if_away: left }) {
  const told = ({ loss, without_stop: bare }) => `${usd(loss)} lost at stops${bare === "0" ? "" : `, ▲ ${usd(bare)} without`}`;
  const part = (key) => [key, `${left[key].count} worth ${usd(left[key].value)}, ${told(left[key])}`];
  terms(byId("away"), left ? [["at most", told(left)], ...["positions", "entries", "unattended"].map(part)] : [["at most", "–"]]);
}

export function facts({ version, venue, api_wallet: wallet, api_wallet_valid_until: until, risk, last_event: last }) {
  terms(byId("facts"), [
    ["Version", clip(version, 40)],
    ["Venue", clip(venue.url, 200)],
    ["Requests to it", `${venue.weight_used} of ${venue.weight_per_minute} a minute`],
    ...(venue.feed ? [["Feed", venue.feed.proved ? "live" : "lost"]] : []),
    ["API wallet", wallet === null ? "none" : short(wallet), wallet],
    ["approved until", until === null ? "–" : stamp(until).slice(0, 10)],
    ["Day", clip(risk.day ?? "–", 20)],
    ["Last event", last ? `#${last.seq}` : "–"],
    ["Times", "UTC"],
  ]);
}
