// The stream: each event that a person should see as one row, the newest first.

import { make, put, set } from "./dom.js";
import { clip, figure, local, moment, ratio, short, span, stamp, time, usd, words } from "./text.js";

const MOST_ROWS = 300;
const MOST_CHANGES = 8;
/** The markets of the newest events that send something, for those that tell what became of it. */
const MARKETS = new Map();
const MOST_MARKETS = 4 * MOST_ROWS;
/** The events of the guard's own questions whether an action was taken. A refusal of one answers it: none has a row. */
const PROBES = new Set();

const VERDICTS = { allow: ["✓", "ok"], resize: ["±", "warn"], veto: ["✕", "bad"] };

/** How each kind is told: a sign, a tone, a text, and more lines; null where the stream needs no row of it. */
const TELL = {
  started: (event) => ["▶", "idle", `The guard ${clip(event.version)} started: ${clip(event.mode)}, account ${short(clip(event.account))}`],
  stopped: (event) => ["■", "warn", `The guard stopped: ${clip(event.reason)}`],
  sent: (event) => {
    if (event.ok !== false || PROBES.has(event.decision)) return null;
    const [what, why] = [sent(event, event.decision), refusal(event.reply)];
    // The venue's own answers have a status. Whatever has none may have been taken all the same.
    if (event.reply?.status === undefined) return ["?", "warn", `No answer to ${what}: ${why}. What became of it is asked for`];
    return ["✕", "bad", `The venue did not take ${what}: ${why}`];
  },
  intent: () => null,
  done: () => null,
  recovered: (event) => [
    "↺", event.outcome === "unknown" ? "bad" : "idle",
    `What became of ${sent(event, event.intent)}: ${words(event.outcome)}`,
  ],
  risk: (event) => [
    event.state === "active" ? "●" : "■", event.state === "active" ? "idle" : "bad",
    `Risk state: ${words(event.state)}, equity ${usd(event.equity)}`,
    [...texts(event.discrepancies), ...(event.journal_error ? [`Journal: ${clip(event.journal_error)}`] : [])],
  ],
  flatten: (event) => ["■", "bad", `${event.sent ? "Closing" : "Would close"} everything: ${clip(event.reason)}`, problems(event)],
  flat: (event) => ["■", "idle", `Flat: ${clip(event.positions)} positions, ${clip(event.orders)} orders`],
  protect: (event) => [
    "◆", "warn", `${event.sent ? "Covering" : "Would cover"} ${clip(texts(event.coins).join(", "))} with the guard’s own stop`,
    problems(event),
  ],
  kill: (event) => ["■", "bad", `The kill switch was pulled: ${clip(event.reason)}`],
  error: (event) => ["!", "bad", clip(event.text)],
  fill: (event) => ["·", "idle", traded(event)],
  funding: (event) => ["·", "idle", `Funding of ${clip(event.coin, 40)}: ${usd(event.usdc, true)} USDC${late(event)}`],
  transfer: (event) => ["·", "idle", `Transfer (${words(event.type)}): ${event.usdc === null ? "of an amount that is not known" : `${usd(event.usdc, true)} USDC`}${late(event)}`],
  // Once a minute while the account trades; where it does not add up an alert and an error say so.
  balance: () => null,
};

const late = (event) => event.late ? ", told late" : "";

/** A trade in words. */
function traded(event) {
  const { coin, side, px, size, fee, fee_token: token, closed_pnl: won, client } = event;
  const cost = token === "USDC" ? `${usd(fee)} USDC` : `${figure(fee)} ${clip(token, 20)}`;
  const result = ratio(won) ? `, result ${usd(won, true)}` : "";
  const whose = client === "guard" ? ", an order of the guard’s own" : client === null ? ", an order that did not come through here" : "";
  return `${side === "sell" ? "Sold" : "Bought"} ${figure(size)} ${clip(coin, 40)} at ${figure(px)}, fee ${cost}${result}${whose}${late(event)}`;
}

/** Why the venue refused, where its answer says it in a text. */
function refusal(reply) {
  const statuses = reply?.response?.data?.statuses;
  const errors = Array.isArray(statuses) ? statuses.map((status) => status?.error).filter((text) => typeof text === "string") : [];
  return clip(errors.length > 0 ? [...new Set(errors)].join("; ") : reply?.error ?? reply?.response ?? reply, 300);
}

const sent = ({ index }, seq) => `action ${clip(index)} of event ${clip(seq)}${MARKETS.get(seq) ?? ""}`;

function noteMarkets({ seq, of, coins, action }) {
  if (action?.type === "noop") PROBES.add(seq);
  const names = texts(coins).join(", ");
  MARKETS.set(seq, names ? ` in ${clip(names, 80)}` : MARKETS.get(of));
  for (const known of [MARKETS, PROBES]) if (known.size > MOST_MARKETS) known.clear();
}

const texts = (list) => (Array.isArray(list) ? list : []).map((text) => clip(text));
const problems = (event) => (event.problems ?? []).map(({ coin, text }) => `${clip(coin ?? "Account", 40)}: ${clip(text)}`);

/** Which events are shown, by the verdict of each that has one. */
const SHOWN = { all: () => true, decisions: (verdict) => verdict !== undefined, changed: (verdict) => verdict === "resize" || verdict === "veto" };

/** A word of the page's own stands whatever is asked for: it tells of what is missing between. */
const isOwn = (row) => row.classList.contains("own");

export class Stream {
  constructor(list, empty, older) {
    [this.list, this.empty, this.older] = [list, empty, older];
    [this.risk, this.wanted, this.kinds] = [null, "", "all"];
  }

  /** Shows only the rows that hold a text. */
  filter(text) {
    this.wanted = text.trim().toLowerCase();
    this.judgeAll();
  }

  /** Shows only the rows of these kinds. */
  show(kinds) {
    this.kinds = kinds;
    this.judgeAll();
  }

  judgeAll() {
    for (const row of this.list.children) this.judge(row);
    this.count();
  }

  judge(row) {
    const isWanted = SHOWN[this.kinds](row.dataset.verdict) && row.textContent.toLowerCase().includes(this.wanted);
    row.classList.toggle("out", !isOwn(row) && !isWanted);
  }

  /** Says it where there is nothing to see. */
  count() {
    const events = [...this.list.children].filter((row) => !isOwn(row));
    const isBlank = events.every((row) => row.classList.contains("out"));
    this.empty.hidden = !isBlank || (events.length === 0 && this.list.children.length > 0);
    put(this.empty, events.length === 0 ? "No events yet" : `None of the ${events.length} events here is of that kind and holds that text`);
  }

  /** Says how old each row is; rows of before today have their date. */
  age(nowMs) {
    for (const at of this.list.querySelectorAll("time")) {
      const ms = Date.parse(at.dateTime);
      put(at, time(ms, nowMs));
      // No part of the text that is looked through.
      set(at.parentElement, { "data-ago": `${span(Math.max(0, nowMs - ms))} ago` });
    }
  }

  /** Only so many rows are kept, and that is said. */
  leaveOut() {
    put(this.older, `The newest ${MOST_ROWS} rows stand here. What is older is in the journal on disk.`);
    this.older.hidden = false;
  }

  /** A risk event that says nothing new has no row. */
  isNews(event) {
    if (event.kind !== "risk") return true;
    const said = JSON.stringify([event.state, event.discrepancies ?? [], event.journal_error ?? null]);
    const isNew = said !== this.risk;
    this.risk = said;
    return isNew;
  }

  clear() {
    this.list.replaceChildren();
    this.risk = null;
    this.older.hidden = true;
    this.count();
  }

  add(events, nowMs) {
    events.forEach(noteMarkets);
    const rows = events.slice(-MOST_ROWS * 4).filter((event) => this.isNews(event)).map((event) => rowOf(event, nowMs)).filter((row) => row !== null);
    if (rows.length > MOST_ROWS) this.leaveOut();
    this.insert(rows.slice(-MOST_ROWS));
  }

  /** A word of the page's own, between the events. */
  note(kind, sign, text) {
    this.insert([make("li", { class: `row own ${kind}` }, make("span", { class: "sign", "aria-hidden": "true" }, sign), make("p", {}, text))]);
  }

  insert(rows) {
    if (rows.length === 0) return;
    for (const row of rows) this.judge(row);
    this.list.prepend(...rows.reverse());
    if (this.list.children.length > MOST_ROWS) this.leaveOut();
    while (this.list.children.length > MOST_ROWS) this.list.lastElementChild.remove();
    this.count();
  }
}

function rowOf(event, nowMs) {
  if (event.kind === "decision") return decision(event, nowMs);
  const told = TELL[event.kind] ? TELL[event.kind](event) : ["·", "idle", clip(event)];
  if (told === null) return null;
  const [sign, tone, text, lines = []] = told;
  return row(event, nowMs, { class: `row ${tone}` }, badge(sign, words(event.kind), tone), [make("p", {}, text), changes(lines)]);
}

function decision(event, nowMs) {
  const verdict = clip(event.verdict, 20);
  const [sign, tone] = VERDICTS[verdict] ?? ["?", "bad"];
  const lines = texts(event.changes);
  // The text of a resize is its changes in one line; told one by one they read better.
  const text = lines.join("; ") === event.text ? "" : ` ${clip(event.text)}`;
  const about = [words(event.action), texts(event.coins).join(", "), `by ${event.client ? short(event.client) : "nobody known"}`, clip(event.via, 20)];
  if (event.limit !== undefined) about.push(`limit ${clip(event.limit, 60)}, actual ${clip(event.actual, 60)}`);
  return row(event, nowMs, { class: `row decision ${tone}`, "data-verdict": verdict }, badge(sign, verdict, tone), [
    make("p", {}, make("code", {}, clip(event.code, 60)), text),
    changes(lines),
    make("p", { class: "quiet num", title: event.client }, about.filter(Boolean).join(" · ")),
  ]);
}

function row(event, nowMs, attributes, mark, body) {
  const at = make("time", { datetime: stamp(event.at_ms), title: moment(event.at_ms), class: "num" }, time(event.at_ms, nowMs));
  const seq = make("span", { class: "seq num", title: "Event number" }, `#${event.seq}`);
  const own = local(event.at_ms);
  const here = own === null ? null : make("span", { class: "here num" }, `${own} here`);
  return make("li", attributes, make("div", { class: "when" }, at, seq, here), mark, make("div", { class: "what" }, ...body));
}

const badge = (sign, text, tone) =>
  make("span", { class: `badge ${tone}` }, make("span", { "aria-hidden": "true" }, sign), ` ${text}`);

function changes(lines) {
  if (lines.length === 0) return null;
  const more = lines.length > MOST_CHANGES ? [make("li", {}, `and ${lines.length - MOST_CHANGES} more`)] : [];
  return make("ul", { class: "changes" }, ...lines.slice(0, MOST_CHANGES).map((line) => make("li", {}, line)), ...more);
}

/** Tells a screen reader what was changed or refused, what comes within seconds as one. */
export class Teller {
  constructor(place) {
    [this.place, this.timer] = [place, null];
  }

  tell(events) {
    const news = events.filter((event) => event.kind === "decision" && event.verdict !== "allow");
    if (news.length === 0) return;
    this.count = (this.timer === null ? 0 : this.count) + news.length;
    const { seq, verdict, code } = news.at(-1);
    this.last = `#${seq} ${clip(verdict, 20)}, ${words(code)}`;
    this.timer ??= setTimeout(() => this.speak(), 2000);
  }

  speak() {
    this.timer = null;
    put(this.place, this.count > 1 ? `${this.count} requests changed or refused, the last: ${this.last}` : this.last);
  }
}
