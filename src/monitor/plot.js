// Equity and drawdown over time with their limits: what the page has seen, and before that what the guard has kept.

import { draw, put, set, terms } from "./dom.js";
import { local, many, minus, ratio, stamp, time, usd } from "./text.js";

/** Samples kept: when there are more, every second one older than the newest `FINE` goes. */
const MOST = 1500;
const FINE = 600;
const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
/** After an answer that failed. */
const AGAIN_MS = 30_000;
/** Two samples further apart than this are not connected: nobody saw what was between them. */
const MOST_APART_MS = 10_000;
/** So many of the guard's starts are kept. */
const MOST_STARTS = 200;
const STEPS_S = [10, 30, 60, 300, 900, 1800, 3600, 7200, 21600, 43200, 86400, 604800];

/** The lines of the upper half: the sample's field, its short name in the drawing, its name beneath. */
const LINES = [
  ["peak", "Peak", "Peak"],
  ["start", "Day start", "Day start"],
  ["stop", "Loss stop", "Daily loss stop at"],
  ["halt", "Halt", "Drawdown halt at"],
  ["equity", "Equity", "Equity"],
];

export class Plot {
  constructor(frame, list, readout) {
    [this.frame, this.list, this.readout] = [frame, list, readout];
    [this.span, this.scale] = [3_600_000, "limits"];
    this.svg = draw("svg", { role: "img", focusable: "false" });
    frame.append(this.svg);
    this.clear();
    frame.addEventListener("pointermove", (event) => this.pointAt(event.clientX - frame.getBoundingClientRect().left));
    frame.addEventListener("pointerleave", () => this.read(null));
    frame.addEventListener("blur", () => this.read(null));
    frame.addEventListener("keydown", (event) => this.pressed(event));
    new ResizeObserver(() => this.render()).observe(frame);
  }

  clear() {
    [this.samples, this.past, this.starts, this.askAt, this.nextAt] = [[], [], [], 0, Infinity];
    this.isCut = false;
    [this.latest, this.now] = [null, {}];
    this.place = null;
    this.shown = [];
    terms(this.list, []);
  }

  /** What comes next is not connected with what was before. */
  cut() {
    this.isCut = true;
  }

  /** The guard began to run: before that nobody measured. Beside whole minutes a pause as between two samples is none. */
  began(t, stoppedMs, isFirst = false) {
    // Before its first start there was no guard to be out.
    const isLong = !isFirst && !(t - stoppedMs <= MOST_APART_MS);
    this.starts = [...this.starts, { t, stoppedMs, isLong }].slice(-MOST_STARTS);
  }

  isOut(last, point) {
    const isOwn = !last.from && !point.from;
    return !(point.t - point.from > MINUTE_MS) && this.starts.some(({ t, isLong }) => t > last.t && t <= point.t && (isLong || isOwn));
  }

  /** Since when what a point holds was measured: in its one minute the guard may have begun to run, where it did not stop in it before. */
  since({ from, t }, until = t) {
    const begun = this.starts.map((start) => t - from > MINUTE_MS || start.t > until || start.stoppedMs > from ? from : start.t);
    return Math.max(from, ...begun);
  }

  show(span) {
    [this.span, this.askAt] = [span, 0];
    this.render();
  }

  /** What is to be asked of what the guard has kept, null where nothing is. */
  wish() {
    if (!(this.nowMs >= this.askAt)) return null;
    [this.askAt, this.nextAt] = [this.nextAt, Infinity];
    const until = this.nowMs - MINUTE_MS;
    return { since: Math.max(0, until - this.span), until, step: Math.ceil(this.span / MINUTE_MS / 1440) };
  }

  /** Takes in the points of that; null where they could not be had: what was had before stays. */
  remember(points) {
    if (points === null) {
      this.askAt = this.nowMs + AGAIN_MS;
      return;
    }
    this.past = [];
    for (const { at_ms: from, minutes, equity, low, high } of points.filter(Boolean)) {
      const t = from + minutes * MINUTE_MS;
      const known = [equity, low, high].map(ratio);
      // What is not in its order stands for no time.
      if (!(t > from && from >= (this.past.at(-1)?.t ?? 0)) || known.includes(null)) continue;
      this.past.push({ from, t, equity: known[0], low: known[1], high: known[2] });
    }
    this.render();
  }

  /** The samples, and where the page has none what the guard kept. Nothing is connected over a minute that nobody measured. */
  joined() {
    const [all, { past }] = [[], this];
    // Where a point is many minutes, it has its place before a second of the page.
    const own = this.span > DAY_MS && past.length > 0 ? this.samples.filter(({ t }) => t > past.at(-1).t) : this.samples;
    let place = 0;
    const push = (last, point, isCut) => all.push({ ...point, begun: this.since(point), isCut: isCut || last === undefined || this.isOut(last, point) });
    const fill = (until) => {
      // Of a minute that the page saw a part of, nobody knows when the rest was measured.
      while (past[place]?.from < (all.at(-1)?.t ?? 0)) place += 1;
      for (; past[place]?.t <= until; place += 1) {
        const last = all.at(-1);
        push(last, past[place], past[place].from - last?.t >= (last?.from ? 1 : MINUTE_MS));
      }
    };
    for (const sample of own) {
      const isBegin = sample.isCut || sample === own[0];
      if (isBegin) fill(sample.t);
      const [last, partly] = [all.at(-1), past[place]];
      push(last, sample, last?.from ? sample.t - last.t >= MINUTE_MS : sample.isCut);
      // What was seen in the minute in which the page began to see.
      if (isBegin && partly?.from < sample.t) Object.assign(all.at(-1), { begun: Math.max(this.since(partly, sample.t), last?.t ?? 0), low: partly.low, high: partly.high });
    }
    fill(this.nowMs);
    return all;
  }

  addStatus({ at_ms: t, equity, risk, alerts }) {
    this.nowMs = t;
    const stop = minus(risk.day_start_equity, risk.daily_loss_limit);
    const halt = minus(risk.peak_equity, risk.drawdown_limit);
    this.dayStartMs = Date.parse(`${risk.day ?? ""}T00:00:00Z`);
    this.latest = { equity, start: risk.day_start_equity, stop, peak: risk.peak_equity, halt };
    const numbers = Object.entries(this.latest).map(([name, text]) => [name, ratio(text)]);
    // The limits are known also while nothing is measured.
    this.now = { t, ...Object.fromEntries(numbers), limit: ratio(risk.drawdown_limit) };
    // What is shown on, or carried on, was not measured now.
    if (ratio(equity) === null || alerts.some(({ code }) => code === "account_stale" || code === "account_mode")) this.cut();
    else this.add({ ...this.now, down: ratio(risk.drawdown) });
    terms(this.list, LINES.map(([field, , name]) => [name, usd(this.latest[field]), this.latest[field]]));
    for (const [index, [field]] of LINES.entries()) set(this.list.children[index], { class: `key ${field}` });
    this.render();
  }

  add(sample) {
    const last = this.samples.at(-1);
    if (!Number.isFinite(sample.t) || (last && sample.t <= last.t)) return;
    const isApart = last !== undefined && sample.t - last.t > MOST_APART_MS;
    this.samples.push({ ...sample, isCut: this.isCut || isApart });
    if (this.isCut || isApart) this.askAt = Math.min(this.askAt, sample.t);
    // The minute in which the page began to see is told once it is over.
    if (this.isCut || isApart || !last) this.nextAt = sample.t + 2 * MINUTE_MS;
    this.isCut = false;
    if (this.samples.length <= MOST) return;
    const old = this.samples.length - FINE;
    let isCut = false;
    this.samples = this.samples.filter((one, place) => {
      one.isCut ||= isCut;
      const stays = place >= old || place % 2 === 0;
      isCut = !stays && one.isCut;
      return stays;
    });
  }

  render() {
    const { clientWidth: width, clientHeight: height } = this.frame;
    if (width === 0 || height === 0) return;
    set(this.svg, { viewBox: `0 0 ${width} ${height}`, width, height });
    const end = this.nowMs;
    const shown = this.joined().filter(({ t }) => t >= end - this.span);
    if (shown.length === 0) {
      const waiting = draw("text", { x: width / 2, y: height / 2, "text-anchor": "middle" }, "Waiting for the account’s equity");
      this.svg.replaceChildren(waiting);
      set(this.svg, { "aria-label": "No equity is known yet" });
      return;
    }
    // A point of many minutes begins before it is drawn.
    const start = Math.min(Math.max(shown[0].from ?? shown[0].t, end - this.span), end - MINUTE_MS);
    const left = Math.max(width < 480 ? 50 : 60, 14 + 6.3 * this.widest(shown));
    const right = width < 480 ? 64 : 78;
    const x = (t) => left + Math.max(0, (t - start) / (end - start)) * (width - left - right);
    const lower = Math.round(height * 0.26);
    const upper = height - lower - 46;
    this.svg.replaceChildren(
      ...this.times(start, end, x, height),
      ...this.equity(shown, x, { top: 8, bottom: 8 + upper, left, right: width - right, width }),
      ...this.drawdown(shown, x, { top: height - 20 - lower, bottom: height - 20, left, right: width - right, width }),
    );
    set(this.svg, { "aria-label": this.inWords(shown) });
    [this.shown, this.x, this.foot] = [shown, x, height - 20];
    this.mark();
  }

  /** How many characters the longest amount beside the drawing has. */
  widest(shown) {
    const fields = [...(this.scale === "fit" ? ["equity"] : LINES.map(([field]) => field)), "low", "high", "down", "limit"];
    const values = [...shown, this.now].flatMap((sample) => fields.map((field) => sample[field])).filter(Number.isFinite);
    const [low, high] = [Math.min(...values), Math.max(...values)];
    // Both ends of the scale lie a little beyond, and close together they have cents.
    const digits = Math.max(...[low, high].map((value) => amount(value * 1.1, 0).length));
    return digits + (high - low < 5 ? 3 : 0);
  }

  /** Reads out the sample that is nearest to a place in the drawing. */
  pointAt(at) {
    const far = (sample) => Math.abs(this.x(sample.t) - at);
    const nearest = this.shown.reduce((best, sample) => (best === null || far(sample) < far(best) ? sample : best), null);
    this.read(nearest?.t ?? null);
  }

  pressed(event) {
    const now = this.shown.findIndex(({ t }) => t === this.place);
    const from = now < 0 ? this.shown.length - 1 : now;
    const last = this.shown.length - 1;
    const to = { ArrowLeft: from - (event.shiftKey ? 10 : 1), ArrowRight: from + (event.shiftKey ? 10 : 1), Home: 0, End: last }[event.key];
    if (event.key === "Escape") return this.read(null);
    if (to === undefined || last < 0) return;
    event.preventDefault();
    this.read(this.shown[Math.min(last, Math.max(0, to))].t);
  }

  read(t) {
    this.place = t;
    this.mark();
    const sample = this.shown.find((one) => one.t === t);
    const own = sample && local(sample.t);
    put(this.readout, sample ? [`${time(sample.t, this.nowMs)} UTC${own ? ` (${own} here)` : ""}`, `equity ${usd(written(sample.equity))}`,
      ...(sample.low < sample.high ? [`from ${usd(written(sample.low))} to ${usd(written(sample.high))}`] : []),
      ...(Number.isFinite(sample.down) ? [`drawdown ${usd(written(sample.down))}`] : [])].join(" · ") : "");
  }

  /** A line where the read-out is. */
  mark() {
    this.svg.querySelector(".cursor")?.remove();
    if (this.place === null || !this.shown.some(({ t }) => t === this.place)) return;
    const at = this.x(this.place);
    this.svg.append(draw("line", { x1: at, x2: at, y1: 8, y2: this.foot, class: "cursor" }));
  }

  inWords(shown) {
    const now = this.latest;
    const lines = LINES.filter(([field]) => now[field] !== null).map(([field, , name]) => `${name} ${usd(now[field])}`);
    const gaps = shown.slice(1).filter(({ isCut }) => isCut).length;
    return `Since ${time(shown[0].t, this.nowMs)} UTC${gaps > 0 ? `, ${many(gaps, "gap")}` : ""}. ${lines.join(", ")} USDC.`;
  }

  times(start, end, x, height) {
    const most = Math.max(2, Math.floor((x(end) - x(start)) / 90));
    const step = 1000 * (STEPS_S.find((seconds) => (end - start) / 1000 / seconds <= most) ?? STEPS_S.at(-1));
    const marks = [];
    for (let t = Math.ceil(start / step) * step; t <= end && marks.length < 40; t += step) {
      const at = x(t);
      marks.push(draw("line", { x1: at, x2: at, y1: 8, y2: height - 20, class: "grid" }));
      const text = step >= 86_400_000 ? stamp(t).slice(5, 10) : stamp(t).slice(11, step < 60_000 ? 19 : 16);
      marks.push(draw("text", { x: at, y: height - 5, "text-anchor": "middle", class: "tick" }, text));
    }
    return marks;
  }

  equity(shown, x, box) {
    const named = this.scale === "fit" ? ["equity"] : LINES.map(([field]) => field);
    const values = [...shown, this.now].flatMap((sample) => [...named, "low", "high"].map((field) => sample[field])).filter(Number.isFinite);
    let [low, high] = [Math.min(...values), Math.max(...values)];
    const margin = Math.max((high - low) * 0.07, Math.abs(high) * 0.0002, 0.01);
    [low, high] = [low - margin, high + margin];
    const y = (value) => box.top + ((high - value) / (high - low)) * (box.bottom - box.top);
    const isIn = (value) => Number.isFinite(value) && value >= low && value <= high;
    const parts = [across(box, box.bottom, "axis"), ...scale(low, high, y, box)];
    const labels = [];
    const dot = shown.at(-1);
    for (const [field, name] of LINES) {
      const isStep = field !== "equity";
      const drawn = isStep ? only([...shown, this.now], field, isIn) : shown;
      // A limit held before this page saw it: the day's from the day's start on.
      const isOfDay = (field === "start" || field === "stop") && this.dayStartMs > shown[0].t;
      const from = isOfDay ? Math.min(x(this.dayStartMs), x(drawn[0]?.t ?? 0)) : box.left;
      const d = isStep ? steps(drawn, field, x, y, from) : line(drawn, field, x, y);
      if (drawn.length > 0) parts.push(draw("path", { d, class: `line ${field}` }));
      const last = (isStep ? this.now : dot)[field];
      if (isIn(last)) labels.push({ name, field, y: y(last) + 4 });
    }
    const wide = shown.filter(({ low, high }) => low < high).map((one) => [x(one.begun), one]);
    parts.push(draw("path", { d: wide.map(([from, { t, low, high }]) => `M${from} ${y(low)}H${x(t)}V${y(high)}H${from}Z`).join(""), class: "area" }));
    parts.push(draw("circle", { cx: x(dot.t), cy: y(dot.equity), r: 3, class: "dot" }));
    spread(labels, box.top + 8, box.bottom);
    for (const { name, field, y: at } of labels) {
      parts.push(draw("text", { x: box.right + 7, y: at, class: `label ${field}` }, name));
    }
    return parts;
  }

  drawdown(shown, x, box) {
    const known = only(shown, "down", Number.isFinite);
    const title = draw("text", { x: box.left, y: box.top - 6, class: "tick" }, "Drawdown");
    const { limit } = this.now;
    if (known.length === 0 && !Number.isFinite(limit)) return [title];
    const deepest = Math.max(0, ...known.map((sample) => sample.down));
    const isLimitIn = Number.isFinite(limit) && (this.scale === "limits" || deepest >= limit);
    const depth = Math.max(deepest * 1.15, isLimitIn ? limit * 1.08 : 0, 0.01);
    const y = (value) => box.top + (value / depth) * (box.bottom - box.top);
    const parts = [
      title,
      ...scale(0, depth, y, box, 2),
      across(box, box.top, "axis"),
      draw("path", { d: runs(known).map((run) => under(run, x, y, box.top)).join(""), class: "area" }),
      draw("path", { d: line(known, "down", x, y), class: "down line" }),
    ];
    if (isLimitIn) {
      parts.push(across(box, y(limit), "line halt"));
      parts.push(draw("text", { x: box.right + 7, y: y(limit) + 4, class: "label halt" }, "Limit"));
    }
    return parts;
  }
}

/** The samples that have a field, a cut before one that has not kept. */
function only(samples, field, isGood) {
  let isCut = false;
  const kept = [];
  for (const sample of samples) {
    isCut ||= sample.isCut;
    if (!isGood(sample[field])) {
      // Where it was not measured, nothing is drawn over.
      isCut = true;
      continue;
    }
    kept.push({ ...sample, isCut });
    isCut = false;
  }
  return kept;
}

/** The samples in runs that are connected. */
function runs(samples) {
  const all = [];
  for (const sample of samples) {
    if (sample.isCut || all.length === 0) all.push([]);
    all.at(-1).push(sample);
  }
  return all;
}

const at = (sample, field, x, y) => `${x(sample.t).toFixed(1)} ${y(sample[field]).toFixed(1)}`;

/** A line through each run of samples, from where the first of it began; one alone is a dot, or its minute. */
const line = (samples, field, x, y) =>
  runs(samples).map((run) => `M${at(run[0], field, x, y)}${back(run[0], x)}${run.slice(1).map((sample) => `L${at(sample, field, x, y)}`).join("")}`).join("");

const back = ({ t, from, begun }, x) => from === undefined ? "h0" : `h${(x(begun) - x(t)).toFixed(1)}h${(x(t) - x(begun)).toFixed(1)}`;

/** A limit moves in steps, and was what it is when it was first read. */
const steps = (samples, field, x, y, from) => samples.length === 0 ? "" :
  `M${from.toFixed(1)} ${y(samples[0][field]).toFixed(1)}${samples.map((sample) => `H${x(sample.t).toFixed(1)}V${y(sample[field]).toFixed(1)}`).join("")}`;

/** What lies between the top and a run. */
const under = (run, x, y, top) =>
  `M${x(run[0].t).toFixed(1)} ${top}${run.map((sample) => `L${at(sample, "down", x, y)}`).join("")}L${x(run.at(-1).t).toFixed(1)} ${top}Z`;

/** A number as the decimal string that the rest of the page writes. */
const written = (number) => Number(number).toFixed(6);

/** An amount beside the drawing. */
const amount = (value, places) =>
  value.toLocaleString("en-US", { minimumFractionDigits: places, maximumFractionDigits: places }).replace("-", "−");

/** A line through all of a part of the drawing. */
const across = ({ left, right }, y, kind) => draw("line", { x1: left, x2: right, y1: y, y2: y, class: kind });

/** Round amounts beside the drawing, with lines through it. */
function scale(low, high, y, box, most = 5) {
  const wide = (high - low) / most;
  const power = 10 ** Math.floor(Math.log10(wide));
  const step = power * [1, 2, 5, 10].find((times) => times * power >= wide);
  const parts = [];
  for (let value = Math.ceil(low / step) * step; value <= high && parts.length < 24; value += step) {
    const height = y(value);
    if (height > box.bottom + 1 || height < box.top - 1) continue;
    const text = amount(Math.abs(value) < step / 2 ? 0 : value, step < 1 ? 2 : 0);
    parts.push(across(box, height, "grid"));
    parts.push(draw("text", { x: box.left - 6, y: height + 4, "text-anchor": "end", class: "tick" }, text));
  }
  return parts;
}

/** Moves labels apart, downwards first, then back up from the bottom. */
function spread(labels, top, bottom) {
  const GAP = 13;
  labels.sort((one, other) => one.y - other.y);
  let last = top - GAP;
  for (const label of labels) last = label.y = Math.max(label.y, last + GAP);
  last = bottom + GAP;
  for (const label of labels.toReversed()) last = label.y = Math.min(label.y, last - GAP);
}
