// Reading the guard: one question after the other over one connection, for as long as the page is open.

const EVERY_MS = 1000;
const PATIENCE_MS = 3000;
/** For what takes a while, and holds up nothing. */
const BESIDE_MS = 30_000;
const MOST_EVENTS = 200;

class Lost extends Error {}

async function ask(path, patienceMs = PATIENCE_MS) {
  let answer;
  let text;
  try {
    answer = await fetch(path, { cache: "no-store", credentials: "omit", redirect: "error", signal: AbortSignal.timeout(patienceMs) });
    text = await answer.text();
  } catch (error) {
    if (error.name === "TimeoutError") throw new Lost(`no answer within ${patienceMs / 1000} s`);
    throw new Lost(answer ? "its answer broke off" : "nobody answers at its address");
  }
  return { ok: answer.ok, status: answer.status, body: parsed(text) };
}

/** The answer to what is asked for now and then, beside the rounds; null where there is none. */
export async function beside(path) {
  try {
    return answered(await ask(path, BESIDE_MS));
  } catch {
    return null;
  }
}

/** What is not JSON is nothing. */
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function answered({ ok, status, body }) {
  if (!ok) throw new Lost(`it answers ${status}: ${body?.msg ?? "no reason given"}`);
  if (body?.schema !== 1) throw new Lost("what answers there is no guard of this version");
  return body;
}

// Follows the guard. `told` is called with what was read:
//   events(list)        new events, oldest first
//   begin(oldest)       the first event that can be had, before the first of them
//   gap(from, to)       events that were missed
//   changed()           another journal or account: what was seen before belongs to it no more
//   state(status, problems, begun)   after each whole round, with when the status was asked for: it may be as old as that
//   lost(reason)        after each round that failed
export class Feed {
  constructor(told) {
    this.told = told;
    this.limit = MOST_EVENTS;
    this.who = null;
    this.forget();
  }

  forget() {
    this.seen = { seq: 0, at_ms: 0 };
    this.begun = false;
  }

  start() {
    let timer = null;
    let busy = false;
    const round = async () => {
      if (busy) return;
      busy = true;
      clearTimeout(timer);
      try {
        await this.read();
      } catch (error) {
        if (!(error instanceof Lost)) console.error(error);
        this.told.lost(error instanceof Lost ? error.message : "this page failed to read its answer");
      }
      busy = false;
      timer = setTimeout(round, EVERY_MS);
    };
    // A hidden page is slowed down by the browser; once it is seen again it must not show what is old.
    document.addEventListener("visibilitychange", () => document.hidden || round());
    round();
  }

  async read() {
    await this.events();
    const begun = performance.now();
    const status = answered(await ask("/guard/status"));
    const health = await ask("/healthz");
    const told = health.body?.problems;
    const problems = health.ok ? [] : Array.isArray(told) && told.length > 0 ? told : ["its health is not known"];
    const who = `${status.mode} ${status.account}`;
    if (this.who !== null && this.who !== who) {
      this.change();
      await this.events();
    }
    this.who = who;
    this.told.state(status, problems, begun);
  }

  change() {
    this.forget();
    this.told.changed();
  }

  /** Reads what came after the last event seen, that one included: if it is another now, so is the journal. */
  async events() {
    for (;;) {
      const since = Math.max(this.seen.seq - 1, 0);
      const answer = await ask(`/guard/events?since=${since}&limit=${this.limit}`);
      if (!answer.ok && this.limit > 2) {
        // Long events may be too much for one answer together.
        this.limit = Math.max(2, this.limit >> 2);
        continue;
      }
      const { oldest, last, events } = answered(answer);
      const first = events[0];
      const isOther = (last ?? 0) < this.seen.seq || (first?.seq === this.seen.seq && first.at_ms !== this.seen.at_ms);
      if (isOther && this.seen.seq > 0) {
        this.change();
        continue;
      }
      const before = this.seen.seq;
      this.take(oldest, events);
      // An answer may be cut short by its length: what is left is asked for at once.
      if (this.seen.seq === before || this.seen.seq >= last) break;
    }
    this.limit = Math.min(MOST_EVENTS, this.limit * 2);
  }

  take(oldest, events) {
    if (!this.begun && oldest !== null) {
      this.begun = true;
      this.told.begin(oldest);
      this.seen.seq = oldest - 1;
    }
    let run = [];
    for (const event of events) {
      if (event.seq <= this.seen.seq) continue;
      if (event.seq > this.seen.seq + 1) {
        this.told.events(run);
        run = [];
        this.told.gap(this.seen.seq + 1, event.seq - 1);
      }
      run.push(event);
      this.seen = { seq: event.seq, at_ms: event.at_ms };
    }
    if (run.length > 0) this.told.events(run);
  }
}
