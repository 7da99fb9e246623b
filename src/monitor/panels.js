// What the status says, panel by panel. Everything is brought up to date in place.

import { COMMAND, byId, keep, make, put, set, terms } from "./dom.js";
import { clip, figure, isNegative, like, many, minus, moment, percent, plus, ratio, rulesOf, short, span, stamp, time, toneOf, usd, words } from "./text.js";

/** Whether an alert has one of these codes. */
export const isTold = ({ alerts }, ...codes) => alerts.some(({ code }) => codes.includes(code));

/** Whether stops may cover less than they seem to: that takes what is held and what rests, each by a read of its own. */
const isUnread = (status) => isTold(status, "account_stale", "orders_stale");

/** What is held. Of a position in a market that the guard does not know, an alert alone tells: its row is a text, and nothing covers it. */
const heldBy = ({ positions, alerts }) => [...positions, ...alerts.filter(({ code }) => code === "position_unknown")
  .map(({ about }) => ({ head: `■ ${clip(about, 40)}: held in a market that the guard does not know`, tone: "bad", size: null }))];

function tile(id, tone, value, note, title = null) {
  const box = byId(id);
  set(box, { class: tone });
  put(box.querySelector(".value"), value);
  put(box.querySelector(".note"), note);
  set(box, { title });
}

const MODES = { paper: "nothing is sent", testnet: "test network", mainnet: "real money" };

export function head({ mode, account }) {
  put("mode", clip(mode, 20).toUpperCase());
  set("mode", { class: `mode ${MODES[mode] ? mode : ""}`, title: MODES[mode] });
  put("account", short(account));
  set("account", { title: `Account ${clip(account)}` });
}

const STATES = { active: ["● Active", "ok"], halted_for_day: ["■ Halted for the day", "bad"], stopped: ["■ Stopped", "bad"] };

/** The homes of the package's services: what acts on one is run as their user. */
const PACKAGED = /^\/var\/lib\/svc-guard(\/guards\/[^/]+)?$/;

const homeOf = ({ kill_file: file }) => clip(file, 200).replace(/\/kill$/, "");

/** A command of this guard's home, to be typed: with the account's address said again where mainnet asks a person for it. */
function command(status, words, isConfirmed = false) {
  const home = homeOf(status);
  const word = /^[\w@%+=:,./-]+$/.test(home) ? home : `'${home.replaceAll("'", "'\\''")}'`;
  const sudo = PACKAGED.test(home) ? "sudo -u svc-guard " : "";
  const confirmation = isConfirmed && status.mode === "mainnet" ? `SVC_MAINNET_CONFIRM=${clip(status.account, 60)} ` : "";
  return `${COMMAND}${sudo}${confirmation}svc-guard --home ${word} ${words}${COMMAND}`;
}

/** An image's home is the package's too, and nothing in the status tells which of them it is. */
const inContainer = (status) => homeOf(status) === "/var/lib/svc-guard" ? " (of a container: in one with its volume, without sudo)" : "";

export function tiles(status, problems) {
  const { risk, killed, venue } = status;
  const isEnded = killed !== null || risk.state !== "active";
  if (killed === null) tile("t-kill", isEnded ? "idle" : "ok", "● Not pulled", command(status, "kill --reason TEXT"));
  else tile("t-kill", "bad", "■ PULLED", clip(killed, 90));
  const [state, tone] = STATES[risk.state] ?? [words(risk.state), "bad"];
  // Green beside a pulled switch or a halt, or before the account was read, would say that all is in order.
  tile("t-risk", tone === "ok" && (isEnded || venue.account_age_ms === null) ? "idle" : tone, state, risk.since_ms > 0 ? `since ${time(risk.since_ms, status.at_ms)} UTC` : "");
  // The alerts have the commands as such.
  const [problem, ...more] = problems.map((text) => clip(text).replaceAll("\x60", ""));
  if (problem === undefined) tile("t-health", isEnded ? "idle" : "ok", "● Healthy", `account ${span(venue.account_age_ms)}, prices ${span(venue.prices_age_ms)} old`);
  // The alerts have the whole of it.
  else tile("t-health", "bad", "▲ Unwell", clip(problem, 90) + (more.length > 0 ? `, and ${more.length} more` : ""), clip([problem, ...more].join("; ")));
  tile("t-equity", "idle", usd(status.equity), `peak ${usd(risk.peak_equity)}`, status.equity);
  const limit = (text, amount) => (amount === null ? "not known yet" : `${text}${usd(amount)}`);
  const level = (code, used, most) => (ratio(used) >= (ratio(most) ?? Infinity) ? "bad" : isTold(status, code) ? "warn" : "idle");
  tile("t-day", level("daily_loss_near", minus("0", risk.day_pnl), risk.daily_loss_limit), usd(risk.day_pnl, true), limit("stop at −", risk.daily_loss_limit), risk.day_pnl);
  tile("t-down", level("drawdown_near", risk.drawdown, risk.drawdown_limit), usd(risk.drawdown), limit("halt at ", risk.drawdown_limit), risk.drawdown);
  // The account's own figures are as fresh as ever while the open orders alone are not read.
  const isOld = isTold(status, "account_stale", "price_stale");
  const isStale = isOld || isUnread(status);
  set(document.body, { "data-stale": isStale ? "" : null, "data-old": isOld ? "" : null });
}

/** While the guard is lost nobody can say how it is, and nothing counts down. */
export function unknown() {
  tile("t-health", "bad", "■ Not known", "the guard cannot be read");
  for (const list of ["positions", "orders", "alerts"]) put(`no-${list}`, "Not known");
  for (const { lastElementChild: counted } of byId("notices").children) put(counted, "(as last read)");
}

/** Whether everything is closed, as it was read last. */
function closed(status) {
  const { mode, open_orders: resting, venue, closing } = status;
  const { account_age_ms: heldAge, orders_age_ms: restingAge } = venue;
  const { flat, twaps, hindrances = [] } = closing ?? {};
  const held = heldBy(status);
  const left = `${many(held.length, "position")}, ${restingAge === null ? "orders not read" : many(resting.length, "order")}${twaps > 0 ? `, ${many(twaps, "TWAP order")}` : ""}`;
  if (heldAge === null) return ["What is held is not known: the account was never read.", ""];
  const age = `read ${span(Math.max(heldAge, restingAge))} ago`;
  if (mode === "paper") return [`On paper nothing is closed: ${left}.`, age];
  // Also where nothing is known to be left there may be a hindrance: it is told in any case.
  const hindered = hindrances.slice(0, 3).map((why) => ` ${clip(why, 300)}.`).join("");
  if (held.length + resting.length > 0 || twaps > 0 || hindered) return [`Closing: ${left}${restingAge === null ? "" : " left"}.${hindered}`, age];
  return flat ? [`Flat: ${left}.`, age] : [`Perhaps flat, when last read: ${left}${twaps === null ? ", TWAP orders not read" : ""}.`, age];
}

const DAY_MS = 86_400_000;

/** What a person must know before anything else, with the way out. What counts down is no news to who listens. */
export function notices(status) {
  const { killed, kill_file: file, risk, at_ms: nowMs, mode } = status;
  const list = [];
  const [state, age] = closed(status);
  if (killed !== null) {
    list.push(["kill", `■ Kill switch pulled: ${clip(killed, 200)}. Nothing is opened until a person removes ${clip(file, 200)} and restarts the guard.`]);
  }
  const { loss, drawdown, limit, limit_pct: percentage } = risk.details ?? {};
  const figures = limit === undefined ? "" : ` Loss ${usd(loss ?? drawdown)} when it stopped, limit ${usd(limit)} (${clip(percentage, 10)}%).`;
  if (risk.state === "halted_for_day") {
    // The day is the venue's: a clock that differs from its own cannot count to its end.
    const leftMs = isTold(status, "clock_off") ? NaN : Date.parse(`${risk.day}T00:00:00Z`) + DAY_MS - nowMs;
    const rest = leftMs > 0 ? [`${killed === null ? "entries" : "over"} in ${span(leftMs)}`] : [];
    list.push(["risk", `■ Daily loss stop: nothing is opened until the next UTC day.${figures}`, ...rest]);
  } else if (risk.state !== "active") {
    const way = command(status, `journal-resume --mode ${clip(mode, 20)} --note TEXT`, true) + inContainer(status);
    list.push(["risk", `■ Drawdown halt: nothing is opened until a person has looked, stopped the service, run ${way} and started it again.${figures}`]);
  }
  // Of two notices the first tells what is left to close.
  list[0]?.push(age);
  keep(byId("notices"), list, ([key]) => key,
    () => make("p", { class: "banner bad" }, make("span"), " ", make("span", { class: "num", "aria-hidden": "true" })),
    ({ children: [line, rest] }, notice) => {
      const [, text, ...counted] = notice;
      put(line, notice === list[0] ? `${text} ${state}` : text);
      put(rest, counted.some(Boolean) ? `(${counted.filter(Boolean).join(", ")})` : "");
    });
}

/** Alerts that the notifier calls critical. */
const SEVERE = new Set(["account_mode", "home_gone", "journal_error", "not_flat", "position_unknown", "role_unread", "signer_unknown", "twaps_unread", "uncovered", "unsettled"]);

export function alerts({ alerts: list, at_ms: nowMs }) {
  // Two alerts may share a code; together with its place among them each keeps its row.
  const counted = list.toSorted((one, other) => SEVERE.has(other.code) - SEVERE.has(one.code)).map((alert, place) => ({ ...alert, key: `${alert.code} ${list.slice(0, place).filter((one) => one.code === alert.code).length}` }));
  keep(byId("alerts"), counted, (alert) => alert.key,
    () => make("li", {}, make("b"), " ", make("span"), " ", make("span", { class: "quiet num" })),
    ({ children: [code, text, since] }, alert) => {
      put(code, `${SEVERE.has(alert.code) ? "■" : "▲"} ${words(alert.code)}`);
      set(code, { class: SEVERE.has(alert.code) ? "severe" : null });
      put(text, clip(alert.text).replaceAll("\x60", COMMAND));
      put(since, alert.since_ms === null ? "" : `since ${time(alert.since_ms, nowMs)}`);
    });
  put("no-alerts", "None");
  byId("no-alerts").hidden = list.length > 0;
  put("n-alerts", list.length > 0 ? String(list.length) : "");
}

const RULES = {
  daily_loss: "Daily loss", drawdown: "Drawdown", open_risk: "Loss if every stop is hit", loss_per_trade: "Loss if one market’s stop is hit",
  exposure: "Exposure of all markets", position: "Position in one market", leverage: "Leverage setting", open_orders: "Open entries",
  orders_per_minute: "Entries in the last minute",
};
const UNITS = { usdc: usd, times: (text) => `${figure(text)}×`, orders: figure };

/** The positions that a rule of losses at stops is about; of another rule none. */
const lostBy = ({ rule, coin }, held) => held.filter((one) => rule === "open_risk" || (rule === "loss_per_trade" && one.coin === coin));

/** What is lost from the entry, with what may be opened yet: the rest is profit given back. */
const fromEntry = (used, about) => minus(used, plus(about.map(({ unrealized_pnl: pnl }) => pnl).filter((pnl) => !isNegative(pnl))));

export function headroom(status) {
  const { headroom: rows } = status;
  const [held, isUnsure] = [heldBy(status), isUnread(status)];
  const create = () => make("li", {}, make("p", {}, make("span", { class: "rule" }), make("span", { class: "use num" })),
    make("div", { role: "meter", "aria-valuemin": 0, "aria-valuemax": 100 }, make("div")));
  keep(byId("headroom"), rows, ({ rule }) => rule, create, (row, entry) => {
    const { rule, unit, coin, used, limit } = entry;
    const [{ children: [title, use] }, bar] = row.children;
    const name = (RULES[rule] ?? words(rule)) + (coin ? `, ${clip(coin, 20)}` : "");
    const text = UNITS[unit] ?? ((amount) => clip(amount ?? "–", 40));
    const [part, whole] = [ratio(used), ratio(limit)];
    const share = part === null || whole === null ? null : whole > 0 ? Math.min(100, (100 * part) / whole) : part > 0 ? 100 : 0;
    // A setting at its limit is nothing that fills up; over it, it is.
    const about = lostBy(entry, held);
    const own = share >= 60 && about.length > 0 ? fromEntry(used, about) : null;
    const levelOf = (share) => unit === "times" && part <= whole ? "" : share >= 100 ? "full" : share >= 60 ? "near" : "";
    const level = levelOf(own === null ? share : (100 * ratio(own)) / whole);
    const isProfit = level !== levelOf(share);
    const word = (isProfit ? ` · ${usd(own)} from entry · the rest is profit` : "") + ({ full: " · ■ reached", near: " · ▲ near" }[level] ?? "");
    put(title, name);
    put(use, share !== null ? `${about.every((one) => isFull(one) && !isUnsure) ? "" : "≥ "}${text(used)} of ${text(limit)}${word}` : `not known${whole === null ? "" : `, limit ${text(limit)}`}`);
    set(row, { class: level });
    set(bar, { "aria-label": name, "aria-valuenow": Math.floor(share), "aria-valuetext": use.textContent });
    bar.firstElementChild.style.width = `${share ?? 0}%`;
  });
}

const inPercent = (percent) => `${percent}%`;
/** Rules that look at one order alone: how each value reads. */
const PER_ORDER = {
  markets: ["Markets", (list) => (list === "all" ? "all" : [list].flat().join(", "))],
  collar: ["Price from the mid", (percent) => `${percent}% at most`],
  stop: ["Stop attached at", inPercent],
  max_stop: ["Widest stop", inPercent],
  order_value: ["One order’s value", (amount) => (amount === null ? "no limit" : `${usd(amount)} USDC`)],
  duplicate_window: ["The same entry again", (seconds) => (seconds === "0" ? "allowed" : `after ${seconds} s`)],
};

export function rules({ rules: code }) {
  const known = rulesOf(code);
  const pairs = Object.entries(PER_ORDER).map(([key, [name, show]]) => [name, known && key in known ? clip(show(known[key]), 400) : "–"]);
  terms(byId("rules"), pairs);
}

/** Fills a table of columns `[name, class, cell]`. The roles stay where a phone's style takes it apart. */
export function table(id, columns, groups, key, total = null) {
  const whole = byId(id);
  if (!whole.tHead) {
    const heads = columns.map(([name, kind]) => make("th", { scope: "col", role: "columnheader", class: kind }, name));
    whole.createTHead().append(make("tr", { role: "row" }, ...heads));
    set(whole, { role: "table" });
    set(whole.tHead, { role: "rowgroup" });
  }
  const width = columns.length;
  const body = () => make("tbody", { role: "rowgroup" });
  keep(whole, groups, ({ name }) => name, body, (part, { name, rows }) => {
    const head = name === "" ? [] : [{ head: `${name} (${rows.length})` }];
    keep(part, [...head, ...rows], (row) => row.head ?? key(row),
      (row) => row.head ? make("tr", { role: "row", class: row.tone ? null : "group" }, make("th", { scope: "rowgroup", colspan: width, role: "rowheader" })) : line(columns),
      (tr, row) => fill(tr, row.head ? [[row.head, null, row.tone]] : columns.map(([, , cell]) => cell(row))));
  });
  const count = groups.reduce((sum, { rows }) => sum + rows.length, 0);
  foot(whole, columns, total);
  put(`n-${id}`, count > 0 ? String(count) : "");
  byId(`no-${id}`).hidden = count > 0;
  whole.parentElement.hidden = count === 0;
}

const line = (columns) => make("tr", { role: "row" }, ...columns.map(([name, kind], place) => place
  ? make("td", { role: "cell", class: kind, "data-name": name }) : make("th", { role: "rowheader", scope: "row" })));

/** Fills a row's cells, each a text, or that with a title and a tone. */
function fill({ children }, cells) {
  for (const [place, cell] of cells.entries()) {
    const [text, title, tone] = [cell].flat();
    put(children[place], text);
    set(children[place], { title, "data-tone": tone });
  }
}

/** A row of totals below everything, where there is one. */
function foot(whole, columns, total) {
  if (total === null) return whole.deleteTFoot();
  if (!whole.tFoot) set(whole.createTFoot(), { role: "rowgroup" }).append(line(columns));
  const [row] = whole.tFoot.rows;
  fill(row, columns.map(([name]) => total[name] ?? ""));
  for (const cell of row.cells) cell.hidden = cell.textContent === "" && innerWidth < 640;
}

function cover(row) {
  const { size, covered_size: covered, none, ordersAge } = row;
  if (isBound(row)) return ["● full", "Stops cover all of it", "ok"];
  if (isFull(row) && ordersAge !== null) return ["▲ full when last read", "The account or its open orders are not read now", "warn"];
  if (covered === "0" || isFull(row)) return [`▲ ${none}`, "No stop is known to cover it", "bad"];
  return [`◐ ${figure(covered)} of ${figure(size)}`, "Stops cover a part of it", "warn"];
}

export const money = (text, signed = false) => [usd(text, signed), text];
/** A price and how far the mark is from it. One that was set stands as it is, one that was worked out as fine as the mark. */
function awayFrom(px, mark, show) {
  const far = px === null || mark === null ? null : percent(minus(mark, px).replace("-", ""), mark);
  return far === null ? show(px, mark) : `${show(px, mark)} · ${far}`;
}

export const isUnknown = (value) => value === undefined || value === null;
const known = (value, show) => (isUnknown(value) ? "not known" : show(value));

/** In percent of what the position was worth at its entry: a short is worth less by what it has won. */
function result({ unrealized_pnl: pnl, value, side }) {
  const share = percent(pnl, side === "short" ? plus([value, pnl]) : minus(value, pnl), true);
  return [`${usd(pnl, true)}${share === null ? "" : ` · ${share}`}`, pnl, toneOf(pnl)];
}

const isFull = ({ size, covered_size: covered }) => covered === size;
const isBound = (row) => isFull(row) && row.none === "none";

/** What stops are not known to cover, nothing bounds. */
const risked = (risk, isBound) => isBound ? money(risk) : [`≥ ${usd(risk)}`, `${risk}; stops are not known to cover all of it: more may be lost`, "warn"];

const POSITIONS = [
  ["Market", "", ({ coin }) => clip(coin, 40)],
  ["Side", "", ({ side }) => (side === "long" ? "▲ long" : "▼ short")],
  ["Size", "num", ({ size }) => figure(size)],
  ["Cover", "", cover],
  ["Stop", "num", ({ stop_px: px, mark_px: mark }) => [awayFrom(px, mark, figure), "How far the mark is from the stop"]],
  ["Entry", "num", ({ entry_px: px }) => figure(px)],
  ["Mark", "num", ({ mark_px: px }) => figure(px)],
  ["Value", "num", ({ value }) => money(value)],
  ["Result", "num", result],
  ["Risk", "num", (row) => risked(row.risk, isBound(row))],
  ["Liquidation", "num", ({ liquidation_px: px, mark_px: mark }) => [awayFrom(px, mark, like), px]],
  ["Leverage", "num", ({ leverage, margin_mode: mode }) => `${clip(leverage, 10)}× ${clip(mode, 20)}`],
  ["Funding", "num", ({ funding }) => known(funding, (text) => money(text, true))],
  ["Open since", "num", ({ opened_ms: ms, at_ms: nowMs }) => known(ms, () => [time(ms, nowMs).slice(0, -3), `${moment(ms)}, ${span(nowMs - ms)} ago`])],
];

function total(rows) {
  // What is not known is in no sum.
  if (rows.length < 2 || rows.some(({ head }) => head)) return null;
  const sum = (field) => plus(rows.map((row) => row[field]));
  const pnl = sum("unrealized_pnl");
  const funding = rows.some((row) => isUnknown(row.funding)) ? null : sum("funding");
  return { Market: "All", Value: money(sum("value")), Result: [usd(pnl, true), pnl, toneOf(pnl)], Risk: risked(sum("risk"), rows.every(isBound)), Funding: known(funding, (text) => money(text, true)) };
}

/** What was never read is not none. */
const nothing = (status, isStale, none) => status.venue.account_age_ms === null || isStale ? "Not read" : none;

export function positions(status) {
  // While what is held or rests is not read, nobody can say that there is no stop.
  const none = nothing(status, isUnread(status), "none");
  const rows = heldBy(status).map((row) => ({ ...row, at_ms: status.at_ms, none, ordersAge: status.venue.orders_age_ms }));
  table("positions", POSITIONS, [{ name: "", rows }], ({ coin }) => coin, total(rows));
  put("no-positions", nothing(status, isTold(status, "account_stale"), "No positions"));
}

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

export function orders(status) {
  const all = status.open_orders;
  const groups = OWNERS.map(([owner, name]) => ({ name, rows: all.filter((order) => order.owner === owner) }));
  table("orders", ORDERS, groups.filter(({ rows }) => rows.length > 0), ({ oid }) => oid);
  put("no-orders", nothing(status, isTold(status, "orders_stale"), "No open orders"));
}

/** What a bot needs, for whoever has just set the guard up. */
export function first(status, isNew) {
  byId("first").hidden = !isNew;
  const keys = status.clients.map((client) => clip(client, 60)).join(", ");
  put("first", `No request yet. The bot’s base URL is ${location.origin}, and it signs with a client key: ${keys === "" ? `there is none, ${command(status, "pair")} makes one` : `that of ${keys}`}.`);
}

/** What the venue’s stops leave to lose. */
export function away({ if_away: left }) {
  const told = ({ loss, without_stop: bare }) => `${usd(loss)} lost at stops${bare === "0" ? "" : `, ▲ ${usd(bare)} without`}`;
  const part = (key) => [key, `${left[key].count} worth ${usd(left[key].value)}, ${told(left[key])}`];
  terms(byId("away"), left ? [["at most", told(left)], ...["positions", "entries", "unattended"].map(part)] : [["at most", "–"]]);
}

/** The venue’s own explorer of each network. */
const EXPLORERS = { mainnet: "https://app.hyperliquid.xyz", testnet: "https://app.hyperliquid-testnet.xyz" };

export function facts({ version, account, account_network: network, venue, api_wallet: wallet, api_wallet_valid_until: until, risk, last_event: last }) {
  terms(byId("facts"), [
    ["Account", clip(account, 60)],
    ["Version", clip(version, 40)],
    ["Venue", clip(venue.url, 200)],
    ["Requests to it", `${venue.weight_used} of ${venue.weight_per_minute} a minute`],
    ...(venue.feed ? [["Feed", venue.feed.proved ? "live" : "lost"]] : []),
    ["API wallet", wallet === null ? "none" : short(wallet), wallet],
    ["approved until", until === null ? "–" : stamp(until).slice(0, 10)],
    ["Day", clip(risk.day ?? "–", 20)],
    ["Last event", last ? `#${last.seq}` : "–"],
    ["Times", "UTC; a decision’s row has the local one too"],
  ]);
  const explorer = Object.hasOwn(EXPLORERS, network) && /^0x[0-9a-f]{40}$/.test(account) ? `${EXPLORERS[network]}/explorer/address/${account}` : null;
  set("explorer", { href: explorer });
  byId("explorer").hidden = explorer === null;
}
