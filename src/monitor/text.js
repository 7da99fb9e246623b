// Words and figures for people. Money stays a decimal string, grouped and rounded digit by digit.

const MISSING = "–";

function parse(text) {
  const found = /^(-?)(\d+)(?:\.(\d+))?$/.exec(text ?? "");
  if (!found) return null;
  const [, sign, whole, fraction = ""] = found;
  return { units: BigInt(sign + whole + fraction), places: fraction.length };
}

function show(units, places, signed) {
  const size = (units < 0n ? -units : units).toString().padStart(places + 1, "0");
  const whole = size.slice(0, size.length - places).replace(/\B(?=(\d{3})+$)/g, ",");
  const sign = units < 0n ? "−" : signed && units > 0n ? "+" : "";
  return sign + whole + (places > 0 ? `.${size.slice(size.length - places)}` : "");
}

/** An amount of USDC, rounded to the cent; the whole of it belongs into a title. */
export function usd(text, signed = false) {
  const amount = parse(text);
  if (!amount) return MISSING;
  let { units, places } = amount;
  for (; places < 2; places += 1) units *= 10n;
  if (places > 2) {
    const step = 10n ** BigInt(places - 2);
    const half = units < 0n ? -step / 2n : step / 2n;
    units = (units + half) / step;
  }
  return show(units, 2, signed);
}

/** A price or a size as it is, its thousands grouped. */
export function figure(text) {
  const amount = parse(text);
  return amount ? show(amount.units, amount.places, false) : MISSING;
}

/** Amounts together, as a decimal string; null where one is not known. */
export const plus = (list) => sum(list.map(parse));

/** One amount less another, alike. */
export function minus(one, other) {
  const less = parse(other);
  return sum([parse(one), less && { ...less, units: -less.units }]);
}

function sum(amounts) {
  if (amounts.includes(null)) return null;
  const places = Math.max(0, ...amounts.map((amount) => amount.places));
  const units = amounts.reduce((sum, amount) => sum + amount.units * 10n ** BigInt(places - amount.places), 0n);
  return show(units, places, false).replaceAll(",", "").replace("−", "-");
}

/** A price with as many places as another one of its market has, or as five digits need; never rounded onto that one. */
export function like(text, other) {
  const [amount, model] = [parse(text), parse(other)];
  if (!amount || !model) return figure(text);
  const places = Math.max(model.places, amount.places + 5 - String(amount.units).length);
  if (amount.places <= places) return figure(text);
  const step = 10n ** BigInt(amount.places - places);
  const units = (amount.units + step / 2n) / step;
  return units === model.units * 10n ** BigInt(places - model.places) ? figure(text) : show(units, places, false);
}

/** A part of a whole in percent; null where either is not known. */
export function percent(part, whole, signed = false) {
  const [top, under] = [ratio(part), ratio(whole)];
  if (top === null || !under) return null;
  const share = Math.round((1000 * top) / Math.abs(under)) / 10;
  return `${share < 0 ? "−" : signed && share > 0 ? "+" : ""}${Math.abs(share).toFixed(1)}%`;
}

/** How many there are of something. */
export const many = (count, what) => `${count} ${what}${count === 1 ? "" : "s"}`;

/** A number to draw with; null where none is known. */
export function ratio(text) {
  return parse(text) ? Number(text) : null;
}

export const isNegative = (text) => (text ?? "").startsWith("-");

/** The tone of what was won or lost; nothing has none. */
export const toneOf = (text) => isNegative(text) ? "bad" : ratio(text) ? "ok" : null;

/** Text from anywhere, kept to what a row can hold; what would turn its direction is shown. */
export function clip(text, most = 600) {
  const raw = typeof text === "string" ? text : JSON.stringify(text) ?? "";
  // Cut before it is looked at: it may be very long.
  const whole = raw.slice(0, 2 * most + 2).replace(/[\0-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g, "\ufffd");
  const characters = Array.from(whole);
  return characters.length > most ? `${characters.slice(0, most).join("")}…` : whole;
}

/** An address or an id, its middle left out. */
export function short(text) {
  const whole = String(text ?? "");
  return whole.length > 16 ? `${whole.slice(0, 8)}…${whole.slice(-6)}` : whole;
}

/** `halted_for_day` as words. */
export const words = (name) => clip(String(name ?? ""), 60).replaceAll("_", " ");

const iso = (ms) => (Number.isFinite(ms) && Math.abs(ms) < 8e15 ? new Date(ms).toISOString() : null);

/** A time of day, UTC; with its date when that is not today. */
export function time(ms, nowMs) {
  const text = iso(ms);
  if (!text) return MISSING;
  const isToday = iso(nowMs)?.slice(0, 10) === text.slice(0, 10);
  return isToday ? text.slice(11, 19) : `${text.slice(5, 10)} ${text.slice(11, 19)}`;
}

export const stamp = (ms) => iso(ms) ?? "";

/** The same moment on this machine's clock; null where that is UTC. */
export function local(ms) {
  if (!iso(ms) || new Date(ms).getTimezoneOffset() === 0) return null;
  return new Date(ms).toLocaleTimeString("en-GB");
}

/** A moment in full, with this machine's own time of day where that is another one. */
export const moment = (ms) => [stamp(ms), local(ms)].filter(Boolean).join(", local ");

/** A span of time in its largest units. */
export function span(ms) {
  if (!Number.isFinite(ms)) return MISSING;
  const seconds = ms / 1000;
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  if (seconds < 120) return `${Math.floor(seconds)} s`;
  if (seconds < 7200) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 172800) return `${Math.floor(seconds / 3600)} h ${Math.floor(seconds / 60) % 60} min`;
  return `${Math.floor(seconds / 86400)} days`;
}

/** The rules inside an `sr1_` code; null where it cannot be read. */
export function rulesOf(code) {
  try {
    const plain = atob(code.replace(/^sr1_/, "").replaceAll("-", "+").replaceAll("_", "/"));
    // Four bytes of checksum stand in front; every rule's text is ASCII.
    return JSON.parse(plain.slice(4));
  } catch {
    return null;
  }
}
