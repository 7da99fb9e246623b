// The page: puts what the feed reads where it belongs, and says at once when nothing can be read any more.

import { byId, put, set } from "./dom.js";
import { Feed } from "./feed.js";
import * as panels from "./panels.js";
import { Plot } from "./plot.js";
import { Stream, Teller } from "./stream.js";
import { clip, local, span, stamp } from "./text.js";

/** An answer older than this is told of although none has failed yet. */
const LATE_MS = 2500;

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

new Feed({
  begin(oldest) {
    isNew = oldest <= 1;
    if (oldest > 1) stream.note("begin", "…", `Events before #${oldest} are in the journal on disk.`);
  },
  events(list) {
    for (const event of list) {
      // What happened while the guard was down, nobody saw.
      if (event.kind === "started" || event.kind === "stopped") plot.cut();
      if (event.kind === "risk") plot.addEvent(event);
      if (event.kind === "decision") isNew = false;
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
    isNew = true;
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
  },
  lost(reason) {
    if (problem === null) plot.cut();
    problem = reason;
    panels.unknown();
    tick();
  },
}).start();

/** The tab's name tells the state too. */
function name({ killed, risk, mode }, problems) {
  const word = killed !== null ? "■ KILLED" : risk.state !== "active" ? "■ HALTED" : problems.length > 0 ? "▲ Unwell" : "● Active";
  document.title = `${word} · ${clip(mode, 20)} · svc-guard`;
  icon(word.startsWith("■") ? "-bad" : word.startsWith("▲") ? "-warn" : "");
}

/** The tab's sign, for who sees no more of it. */
function icon(kind) {
  set(byId("icon"), { href: `/monitor/icon${kind}.svg` });
}

/** Shows how old everything is, and whether the guard is there. */
function tick() {
  const ageMs = performance.now() - (read ?? opened);
  const isLost = problem !== null;
  const isLate = !isLost && ageMs > LATE_MS;
  set(document.body, { "data-lost": isLost ? "" : null });
  const isStale = document.body.hasAttribute("data-stale");
  put(byId("live"), isLost ? "■ Lost" : read === null ? "Connecting" : isLate ? "▲ Late" : isStale ? "▲ Live, data stale" : "● Live");
  set(byId("link"), { class: isLost ? "bad" : isLate || isStale ? "warn" : read === null ? "idle" : "ok" });
  const guardMs = read === null ? NaN : nowMs + ageMs;
  const own = local(guardMs);
  put(byId("clock"), read === null ? "" : `${stamp(guardMs).slice(11, 19)} UTC${own === null ? "" : ` · ${own} here`}`);
  put(byId("age"), read === null ? "" : `${span(ageMs)} ago`);
  set(byId("lost"), { class: "banner bad", hidden: isLost ? null : "" });
  if (isLost) {
    const since = read === null ? "Nothing was read yet." : "What stands below is old.";
    put(byId("lost"), `■ The guard is lost: ${clip(problem, 300)}. ${goodbye ? `${goodbye} ` : ""}${since}`);
    document.title = "■ LOST · svc-guard";
    icon("-bad");
  }
}

setInterval(tick, 500);
for (const input of document.querySelectorAll("input[name=span], input[name=scale]")) {
  input.addEventListener("change", () => {
    if (input.name === "span") plot.span = Number(input.value);
    else plot.scale = input.value;
    plot.render();
  });
}
for (const input of document.querySelectorAll("input[name=show]")) {
  input.addEventListener("change", () => set(byId("stream"), { "data-show": input.value }));
}
byId("filter").addEventListener("input", (event) => stream.filter(event.target.value));
