// Equity and drawdown over time with their limits, drawn from what the page has seen.

import { draw, set, terms } from "./dom.js";
import { minus, ratio, stamp, usd } from "./text.js";

/** Samples kept: when there are more, every second one older than the newest `FINE` goes. */
const MOST = 1500;
const FINE = 600;
const LEAST_SPAN_MS = 60_000;
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
  constructor(frame, list) {
    [this.frame, this.list] = [frame, list];
    [this.span, this.scale] = [3_600_000, "limits"];
    this.svg = draw("svg", { role: "img", focusable: "false" });
    frame.append(this.svg);
    this.clear();
    new ResizeObserver(() => this.render()).observe(frame);
  }

  clear() {
    this.samples = [];
    this.isCut = false;
    this.latest = null;
    terms(this.list, []);
  }

  /** What comes next is not connected with what was before. */
  cut() {
    this.isCut = true;
  }

  /** A risk event tells the equity of its moment. */
  addEvent(event) {
    const equity = ratio(event.equity);
    if (equity !== null) this.add({ t: event.at_ms, equity });
  }

  addStatus({ at_ms: t, equity, risk }) {
    const stop = minus(risk.day_start_equity, risk.daily_loss_limit);
    const halt = minus(risk.peak_equity, risk.drawdown_limit);
    this.latest = { equity, start: risk.day_start_equity, stop, peak: risk.peak_equity, halt };
    if (ratio(equity) !== null) {
      const numbers = Object.fromEntries(Object.entries(this.latest).map(([name, text]) => [name, ratio(text)]));
      this.add({ t, ...numbers, down: ratio(risk.drawdown), limit: ratio(risk.drawdown_limit) });
    }
    terms(this.list, LINES.map(([field, , name]) => [name, usd(this.latest[field]), this.latest[field]]));
    for (const [index, [field]] of LINES.entries()) set(this.list.children[index], { class: `key ${field}` });
    this.render();
  }

  add(sample) {
    const last = this.samples.at(-1);
    if (!Number.isFinite(sample.t) || (last && sample.t <= last.t)) return;
    this.samples.push({ ...sample, isCut: this.isCut });
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
    const last = this.samples.at(-1);
    if (!last) {
      const waiting = draw("text", { x: width / 2, y: height / 2, "text-anchor": "middle" }, "Waiting for the account’s equity");
      this.svg.replaceChildren(waiting);
      set(this.svg, { "aria-label": "No equity is known yet" });
      return;
    }
    const from = this.span > 0 ? last.t - this.span : -Infinity;
    const shown = this.samples.filter((sample) => sample.t >= from);
    const start = Math.min(shown[0].t, last.t - LEAST_SPAN_MS);
    const [left, right] = [8, width < 480 ? 64 : 78];
    const x = (t) => left + ((t - start) / (last.t - start)) * (width - left - right);
    const lower = Math.round(height * 0.26);
    const upper = height - lower - 46;
    this.svg.replaceChildren(
      ...this.times(start, last.t, x, height),
      ...this.equity(shown, x, { top: 8, bottom: 8 + upper, left, right: width - right, width }),
      ...this.drawdown(shown, x, { top: height - 20 - lower, bottom: height - 20, left, right: width - right, width }),
    );
    set(this.svg, { "aria-label": this.inWords(shown) });
  }

  inWords(shown) {
    const now = this.latest;
    if (!now) return "Equity from earlier events";
    const lines = LINES.filter(([field]) => now[field] !== null).map(([field, , name]) => `${name} ${usd(now[field])}`);
    return `Since ${stamp(shown[0].t).slice(11, 16)} UTC. ${lines.join(", ")} USDC.`;
  }

  times(start, end, x, height) {
    const most = Math.max(2, Math.floor((x(end) - x(start)) / 90));
    const step = 1000 * (STEPS_S.find((seconds) => (end - start) / 1000 / seconds <= most) ?? STEPS_S.at(-1));
    const marks = [];
    for (let t = Math.ceil(start / step) * step; t <= end && marks.length < 40; t += step) {
      const at = x(t);
      marks.push(draw("line", { x1: at, x2: at, y1: 8, y2: height - 20, class: "grid" }));
      const text = step >= 86_400_000 ? stamp(t).slice(5, 10) : stamp(t).slice(11, step < 60_000 ? 19 : 16);
      const anchor = at < 24 ? "start" : "middle";
      marks.push(draw("text", { x: at, y: height - 5, "text-anchor": anchor, class: "tick" }, text));
    }
    return marks;
  }

  equity(shown, x, box) {
    const named = this.scale === "fit" ? ["equity"] : LINES.map(([field]) => field);
    const values = shown.flatMap((sample) => named.map((field) => sample[field])).filter(Number.isFinite);
    let [low, high] = [Math.min(...values), Math.max(...values)];
    const margin = Math.max((high - low) * 0.07, Math.abs(high) * 0.0002, 0.01);
    [low, high] = [low - margin, high + margin];
    const y = (value) => box.top + ((high - value) / (high - low)) * (box.bottom - box.top);
    const isIn = (value) => Number.isFinite(value) && value >= low && value <= high;
    const parts = [draw("line", { x1: box.left, x2: box.right, y1: box.bottom, y2: box.bottom, class: "axis" })];
    const labels = [];
    for (const [field, name] of LINES) {
      const isStep = field !== "equity";
      const drawn = isStep ? shown.filter((sample) => isIn(sample[field])) : shown;
      if (drawn.length > 0) parts.push(draw("path", { d: path(drawn, field, x, y, isStep, box.left), class: `line ${field}` }));
      const last = shown.findLast((sample) => Number.isFinite(sample[field]))?.[field];
      if (isIn(last)) labels.push({ name, field, y: y(last) + 4 });
    }
    const dot = shown.at(-1);
    parts.push(draw("circle", { cx: x(dot.t), cy: y(dot.equity), r: 3, class: "dot" }));
    spread(labels, box.top + 8, box.bottom);
    for (const { name, field, y: at } of labels) {
      parts.push(draw("text", { x: box.right + 7, y: at, class: `label ${field}` }, name));
    }
    return parts;
  }

  drawdown(shown, x, box) {
    const known = shown.filter((sample) => Number.isFinite(sample.down));
    const title = draw("text", { x: box.left, y: box.top - 6, class: "tick" }, "Drawdown");
    if (known.length === 0) return [title];
    const deepest = Math.max(...known.map((sample) => sample.down));
    const limit = known.at(-1).limit;
    const isLimitIn = Number.isFinite(limit) && (this.scale === "limits" || deepest >= limit);
    const depth = Math.max(deepest * 1.15, isLimitIn ? limit * 1.08 : 0, 0.01);
    const y = (value) => box.top + (value / depth) * (box.bottom - box.top);
    const line = path(known, "down", x, y, false, box.left);
    const [first, last] = [known[0], known.at(-1)];
    // One sample alone is drawn from the left edge, as the line is.
    const begin = known.length === 1 ? box.left : x(first.t);
    const area = `M${begin} ${box.top}${line.replaceAll("M", "L")}L${x(last.t)} ${box.top}Z`;
    const parts = [
      title,
      draw("line", { x1: box.left, x2: box.right, y1: box.top, y2: box.top, class: "axis" }),
      draw("path", { d: area, class: "down area" }),
      draw("path", { d: line, class: "down line" }),
    ];
    if (isLimitIn) {
      parts.push(draw("line", { x1: box.left, x2: box.right, y1: y(limit), y2: y(limit), class: "line halt" }));
      parts.push(draw("text", { x: box.right + 7, y: y(limit) + 4, class: "label halt" }, "Limit"));
    }
    return parts;
  }
}

/** A line through the samples; limits move in steps. One sample alone is drawn from the left edge. */
function path(samples, field, x, y, isStep, left) {
  const point = (sample) => `${x(sample.t).toFixed(1)} ${y(sample[field]).toFixed(1)}`;
  if (samples.length === 1) return `M${left} ${y(samples[0][field]).toFixed(1)}L${point(samples[0])}`;
  const parts = samples.map((sample, place) => {
    if (place === 0 || (sample.isCut && !isStep)) return `M${point(sample)}`;
    return isStep ? `H${x(sample.t).toFixed(1)}V${y(sample[field]).toFixed(1)}` : `L${point(sample)}`;
  });
  return parts.join("");
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
