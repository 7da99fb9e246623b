// The book: what was won and lost today and in thirty days, as it was read last, and how long ago that was.

import { byId, put } from "./dom.js";
import { beside } from "./feed.js";
import { isTold, isUnknown, money, table } from "./panels.js";
import { clip, span, stamp, time, toneOf, usd } from "./text.js";

const DAY_MS = 86_400_000;
/** How often it is read, how soon where something was booked since, and how soon where that failed. */
const EVERY_MS = 300_000;
const BOOKED_MS = 10_000;
const AGAIN_MS = 30_000;
/** So many times as long as a reading took nothing is read: what has a long journal is not always read. */
const REST = 20;
/** The rows, and how many days each goes back. */
const SPANS = [["Today", 0], ["Last 30 days", 29]];

const dayOf = (ms) => stamp(ms).slice(0, 10);

/** A figure; what was not read is another thing than what the journal does not have, or has not yet. */
const column = (name, field, show) => [name, "num", ({ report, isBegun }) => {
  const value = report?.total[field];
  if (!isUnknown(value)) return show(value);
  return report === undefined ? "not read" : isBegun ? "not recorded" : "none yet";
}];

const COLUMNS = [
  ["Time", "", ({ name }) => name],
  column("Result", "net", (net) => [usd(net, true), `${clip(net, 60)}: what closing won or lost, less fees, and funding`, toneOf(net)]),
  column("Fees", "fees", (fees) => money(fees)),
  column("Funding", "funding", (funding) => money(funding, true)),
  column("Fills", "fills", (count) => clip(count, 20)),
];

export class Book {
  constructor() {
    this.forget();
  }

  forget() {
    this.kept = new Map();
    [this.dueAt, this.soonestAt, this.day, this.isFailed] = [0, 0, null, false];
    [this.unread, this.remarks] = ["", "Not read yet"];
  }

  /** Something came into it. */
  booked() {
    this.dueAt = 0;
  }

  /** Reads it where that is due: by time, by what was booked, and with each new day. */
  async read(status) {
    const { at_ms: nowMs, mode, venue } = status;
    const [day, begun] = [dayOf(nowMs), performance.now()];
    // What the guard could not read may have been booked: it is not none.
    const isRead = venue.account_age_ms !== null && !isTold(status, "book_differs");
    this.unread = unread(status);
    // Between what was not read and none lies one reading, however long the last one took.
    if (isRead !== this.isRead) [this.dueAt, this.soonestAt] = [0, 0];
    this.isRead = isRead;
    if (day === this.day && (begun < this.dueAt || begun < this.soonestAt)) return;
    const { kept } = this;
    this.isOnPaper = mode === "paper";
    if (this.day !== null && day !== this.day) this.show(day);
    [this.day, this.dueAt, this.soonestAt] = [day, begun + EVERY_MS, begun + BOOKED_MS];
    let isFailed = false;
    const parts = [];
    for (const [name, back] of SPANS) {
      const report = await beside(`/guard/report?from=${dayOf(nowMs - back * DAY_MS)}&to=${day}&by=day`);
      // Another journal than when it was asked for.
      if (this.kept !== kept) return;
      if (report?.total) parts.push([name, { report, day, at: begun }]);
      else isFailed = true;
    }
    // Its age stands beside figures that stand there.
    for (const part of parts) kept.set(...part);
    const ended = performance.now();
    if (isFailed) this.dueAt = Math.min(this.dueAt, ended + AGAIN_MS);
    this.soonestAt = Math.max(this.soonestAt, ended + REST * (ended - begun));
    this.isFailed = isFailed;
    this.show(day);
  }

  show(day) {
    // The figures of another day are not today's.
    const of = (name, back) => this.kept.get(name)?.day === day || back > 0 ? this.kept.get(name)?.report : undefined;
    const all = of(...SPANS.at(-1));
    // On paper there is no book; elsewhere it begins with what is booked first.
    const isBegun = this.isOnPaper || all?.recorded_from !== null;
    this.isKnown = isBegun || this.isRead;
    table("book", COLUMNS, [{ name: "", rows: SPANS.map(([name, back]) => ({ name, isBegun, report: this.isKnown ? of(name, back) : undefined })) }], ({ name }) => name);
    put("n-book", "UTC days");
    this.remarks = remarks(all, isBegun || !this.isRead);
    this.tick();
  }

  /** What is to be known beside it, and how old the oldest of it is. */
  tick() {
    put("no-book", this.unread + this.remarks);
    byId("no-book").hidden = false;
    const read = [...this.kept.values()].map(({ at }) => at);
    const age = read.length > 0 && this.isKnown ? `read ${span(performance.now() - Math.min(...read))} ago` : "";
    put("book-age", this.isFailed ? `▲ The book could not be read just now${age ? `: ${age}` : ""}` : age.replace("read", "Read"));
  }
}

/** What could not all be read since when; an alert that is about nothing is none of these. */
const unread = ({ alerts, at_ms: nowMs }) => alerts.filter(({ code, about }) => code === "book_differs" && about)
  .map(({ about, since_ms: ms }) => `▲ Not all ${clip(about, 40)} were read since ${time(ms, nowMs)} UTC. `).join("");

/** What the journal has to say of the figures. */
function remarks(all, isBegun) {
  const lacks = all?.missing_events > 0 || all?.unreadable_lines > 0 ? "A part of the journal is missing, and not in these figures. " : "";
  const altered = all?.changed_lines > 0 || all?.doubled_lines > 0 ? "Lines of the journal were changed or stand twice: do not rely on these figures. " : "";
  const unread = all?.book_lacks > 0 ? "The guard told that rows may be missing in the book. " : "";
  const from = clip(String(all?.recorded_from ?? "").slice(0, 16), 20).replace("T", " ");
  const since = from ? `Recorded from ${from} UTC on` : isBegun ? "" : "The book begins with the first fill, funding or transfer";
  return `${lacks}${altered}${unread}${since}`;
}
