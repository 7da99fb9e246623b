// The page: puts what the feed reads where it belongs, and says at once when nothing can be read any more.

import { byId, put, set } from "./dom.js";
import { Feed, beside } from "./feed.js";
import * as panels from "./panels.js";
import { Plot } from "./plot.js";
import { Stream, Teller } from "./stream.js";
import { clip, local, span, stamp } from "./text.js";

/** An answer older than this is told of although none has failed yet. */
const LATE_MS = 2500;
/** How often the book is read, and how often where something was booked since. */
const BOOK_MS = 300_000;
const BOOKED_MS = 60_000;
const DAY_MS = 86_400_000;

const plot = new Plot(byId("plot"), byId("lines"), byId("readout"));
const stream = new Stream(byId("stream"), byId("no-stream"));
const teller = new Teller(byId("said"));
const opened = performance.now();
let read = null;
let problem = null;
let goodbye = null;
let nowMs = NaN;
let hasNews = false;
let isNew = true;
let bookAt = -Infinity;
let isBooked = false;
let era = 0;

new Feed({
  begin(oldest) {
    isNew = oldest <= 1;
    if (oldest > 1) stream.note("begin", "…", `Events before #${oldest} are in the journal on disk.`);
  },
  events(list) {
    for (const event of list) {
      // What happened while the guard was down, nobody saw.
      if (event.kind === "started" || event.kind === "stopped") plot.cut();
      if (event.kind === "decision") isNew = false;
      if (event.kind === "fill" || event.kind === "funding") isBooked = true;
      if (event.kind === "stopped") goodbye = `It stopped: ${clip(event.reason, 200)}.`;
      if (event.kind === "started") goodbye = null;
    }
    stream.add(list, Number.isFinite(nowMs) ? nowMs : list.at(-1).at_ms);
    // What was decided before the page was opened is no news.
    if (hasNews) teller.tell(list);
  },
  gap(from, to) {
    const which = from === to ? `Event #${from} was` : `Events #${from} to #${to} were`;
    stream.note("gap", "≀", `Gap: ${which} missed by this page. The journal on disk has all of them.`);
    plot.cut();
  },
  changed() {
    stream.clear();
    plot.clear();
    goodbye = null;
    [isNew, bookAt, era] = [true, -Infinity, era + 1];
    stream.note("gap", "≀", "This is another journal than before: what the page showed until now is gone.");
  },
  state(status, problems) {
    panels.head(status);
    panels.tiles(status, problems);
    panels.notices(status);
    panels.alerts(status);
    panels.headroom(status);
    panels.rules(status);
    panels.positions(status);
    panels.orders(status);
    panels.away(status);
    panels.facts(status);
    panels.first(status, isNew);
    plot.addStatus(status);
    name(status, problems);
    [read, problem, nowMs, hasNews] = [performance.now(), null, status.at_ms, true];
    tick();
    readPast();
    readBook();
  },
  lost(reason) {
    if (problem === null) plot.cut();
    problem = reason;
    panels.unknown();
    tick();
  },
}).start();

/** Work that is begun only when it is not at work. */
function single(work) {
  let isBusy = false;
  return async () => {
    if (isBusy) return;
    isBusy = true;
    try {
      await work();
    } finally {
      isBusy = false;
    }
  };
}

/** Reads the equity of before, where the drawing lacks it. */
const readPast = single(async () => {
  const [of, wish] = [era, plot.wish()];
  if (wish === null) return;
  const past = await kept(wish);
  if (of !== era) return;
  plot.remember(past);
  byId("no-past").hidden = past !== null;
});

/** Reads the book of today and of thirty days, where that is due. */
const readBook = single(async () => {
  if (nowMs - bookAt < (isBooked ? BOOKED_MS : BOOK_MS)) return;
  [bookAt, isBooked] = [nowMs, false];
  const of = era;
  const day = (before) => stamp(nowMs - before * DAY_MS).slice(0, 10);
  const days = (before) => beside(`/guard/report?from=${day(before)}&to=${day(0)}&by=day`);
  const parts = [["Today", await days(0)], ["Last 30 days", await days(29)]];
  if (of === era) panels.book(parts);
});

/** All points of an answer in parts; null where one cannot be had. */
async function kept({ since, until, step }) {
  const all = [];
  for (let next = since, parts = 0; next >= since && parts < 100; parts += 1) {
    const part = await beside(`/guard/equity?since=${next}&until=${until}&step=${step}`);
    if (!Array.isArray(part?.points)) return null;
    all.push(...part.points);
    if (part.next === null) return all;
    next = part.next > next ? part.next : NaN;
  }
  return null;
}

/** The tab's name tells the state too. */
function name({ killed, risk, mode }, problems) {
  const word = killed !== null ? "■ KILLED" : risk.state !== "active" ? "■ HALTED" : problems.length > 0 ? "▲ Unwell" : "● Active";
  document.title = `${word} · ${clip(mode, 20)} · svc-guard`;
  icon(word.startsWith("■") ? "-bad" : word.startsWith("▲") ? "-warn" : "");
}

/** The tab's sign, for who sees no more of it. */
function icon(kind) {
  set("icon", { href: `/monitor/icon${kind}.svg` });
}

/** Shows how old everything is, and whether the guard is there. */
function tick() {
  const ageMs = performance.now() - (read ?? opened);
  const isLost = problem !== null;
  const isLate = !isLost && ageMs > LATE_MS;
  set(document.body, { "data-lost": isLost ? "" : null });
  const isStale = document.body.hasAttribute("data-stale");
  put("live", isLost ? "■ Lost" : read === null ? "Connecting" : isLate ? "▲ Late" : isStale ? "▲ Live, data stale" : "● Live");
  set("link", { class: isLost ? "bad" : isLate || isStale ? "warn" : read === null ? "idle" : "ok" });
  const guardMs = read === null ? NaN : nowMs + ageMs;
  const own = local(guardMs);
  put("clock", read === null ? "" : `${stamp(guardMs).slice(11, 19)} UTC${own === null ? "" : ` · ${own} here`}`);
  put("age", read === null ? "" : `${span(ageMs)} ago`);
  set("lost", { class: "banner bad" });
  byId("lost").hidden = !isLost;
  if (isLost) {
    const since = read === null ? "Nothing was read yet." : "What stands below is old.";
    put("lost", `■ The guard is lost: ${clip(problem, 300)}. ${goodbye ? `${goodbye} ` : ""}${since}`);
    document.title = "■ LOST · svc-guard";
    icon("-bad");
  }
}

setInterval(tick, 500);
for (const input of document.querySelectorAll("input[name=span], input[name=scale]")) {
  input.addEventListener("change", () => {
    if (input.name === "span") plot.show(Number(input.value));
    else plot.scale = input.value;
    plot.render();
    if (read !== null) readPast();
  });
}
for (const input of document.querySelectorAll("input[name=show]")) {
  input.addEventListener("change", () => set("stream", { "data-show": input.value }));
}
byId("filter").addEventListener("input", (event) => stream.filter(event.target.value));
