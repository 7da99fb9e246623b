// @nktkas/hyperliquid, unmodified but for its addresses: subscribes by every method that it has, and leaves the market as
// soon as it is told of a fill. Says what it hears, one JSON a line; unsubscribes and ends at the end of its input.
import { createRequire } from "node:module";
import { createInterface } from "node:readline";

const { libraries, url, key, user, asset } = JSON.parse(process.argv[2]);
const library = createRequire(libraries);
const { ExchangeClient, HttpTransport, SubscriptionClient, WebSocketTransport } = library("@nktkas/hyperliquid");
const { Wallet } = library("ethers");

// Every address that these have is given here: they never get to know a host of the venue's.
const socket = new WebSocketTransport({ url: `${url.replace("http", "ws")}/ws` });
const http = new HttpTransport({ apiUrl: url, rpcUrl: url });
const feeds = new SubscriptionClient({ transport: socket });
const exchange = new ExchangeClient({ transport: http, wallet: new Wallet(key) });
const say = (what, data) => console.log(JSON.stringify({ what, data }));

let hasLeft = false;
async function leave(fill) {
  hasLeft = true;
  const order = { a: asset, b: fill.side === "A", p: "59000", s: fill.sz, r: true, t: { limit: { tif: "Ioc" } } };
  say("exit", await exchange.order({ orders: [order], grouping: "na" }).catch(String));
}

const options = {
  ...Object.fromEntries(["bbo", "l2Book", "trades", "activeAssetCtx"].map((name) => [name, { coin: "BTC" }])),
  candle: { coin: "BTC", interval: "1m" },
  activeSpotAssetCtx: { coin: "PURR/USDC" },
  activeAssetData: { coin: "BTC", user },
};
const bare = ["allDexsAssetCtxs", "fastAssetCtxs", "spotAssetCtxs", "outcomeMetaUpdates", "allMids", "assetCtxs"];
const names = Object.getOwnPropertyNames(SubscriptionClient.prototype).filter((name) => name !== "constructor");
const subscriptions = names.map((name) => {
  const listen = (data) => {
    say(name, data);
    if (name === "userFills" && !data.isSnapshot && !hasLeft) leave(data.fills[0]);
  };
  return bare.includes(name) ? feeds[name](listen) : feeds[name](options[name] ?? { user }, listen);
});
const held = await Promise.all(subscriptions);
say("subscribed", names);
for await (const _ of createInterface({ input: process.stdin }));
await Promise.all(held.map((subscription) => subscription.unsubscribe()));
say("unsubscribed", names);
socket.close();
