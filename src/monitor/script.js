// The page: puts what the feed reads where it belongs, and says at once when nothing can be read any more.

import { byId, put, set } from "./dom.js";
import { Book } from "./book.js";
import { Feed, beside } from "./feed.js";
import * as panels from "./panels.js";
import { Plot } from "./plot.js";
import { Stream, Teller } from "./stream.js";
import { clip, local, span, stamp } from "./text.js";

/** An answer older than this is told of although none has failed yet. */
const LATE_MS = 2500;

const plot = new Plot(byId("plot"), byId("lines"), byId("readout"));
const book = new Book();
const stream = new Stream(byId("stream"), byId("no-stream"), byId("older"));
const teller = new Teller(byId("said"));
const opened = performance.now();
let read = null;
let problem = null;
let goodbye = null;
let nowMs = NaN;
let known = null;
let hasNews = false;
let isNew = true;
let era = 0;
let stoppedMs = NaN;
/** When the past of the drawing was had last, and whether it was the last time it was asked for. */
let past = { at: null, isFailed: false };

new Feed({
  begin(oldest) {
    isNew = oldest <= 1;
    if (oldest > 1) stream.note("begin", "…", `Events before #${oldest} are in the journal on disk.`);
  },
  events(list) {
    for (const event of list) {
      if (event.kind === "started") plot.began(event.at_ms, stoppedMs, event.seq <= 1);
      stoppedMs = event.kind === "stopped" ? event.at_ms : NaN;
      if (event.kind === "decision") isNew = false;
      if (event.kind === "fill" || event.kind === "funding") book.booked();
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
    book.forget();
    goodbye = null;
    [isNew, era, stoppedMs, past] = [true, era + 1, NaN, { at: null, isFailed: false }];
    stream.note("gap", "≀", "This is another journal than before: what the page showed until now is gone.");
  },
  state(status, problems, begun) {
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
    [read, problem, nowMs, hasNews, known] = [begun, null, status.at_ms, true, status];
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
  const points = await kept(wish);
  if (of !== era) return;
  plot.remember(points);
  past = { at: points === null ? past.at : performance.now(), isFailed: points === null };
  tick();
});

const readBook = single(() => book.read(known));

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
  // Also while the guard is lost: what it told last grows older.
  if (read !== null) stream.age(guardMs);
  const own = local(guardMs);
  put("clock", read === null ? "" : `${stamp(guardMs).slice(11, 19)} UTC${own === null ? "" : ` · ${own} here`}`);
  put("age", read === null ? "" : `${span(ageMs)} ago`);
  const pastAge = past.at === null ? "not read" : `read ${span(performance.now() - past.at)} ago, and not again`;
  put("no-past", `▲ The time before this page was opened: ${pastAge}`);
  byId("no-past").hidden = !past.isFailed;
  book.tick();
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
  input.addEventListener("change", () => stream.show(input.value));
}
byId("filter").addEventListener("input", (event) => stream.filter(event.target.value));
