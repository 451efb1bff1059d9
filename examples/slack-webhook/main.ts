// Starts the bot, simulates Slack, and prints what the bot posts. It sends one delivery, repeats it, sends the next message of the
// thread, and sends a delivery with a wrong signature.
import { sqliteHost } from "holdfast/sqlite";
import { sign, slackBot } from "./server.ts";

const host = sqliteHost("./slack.db");
const secret = "a-secret";
let posted = () => {};
const bot = slackBot({
	host,
	secret,
	async post({ channel, thread, text }) {
		console.log(`${channel} ${thread}: ${text}`);
		posted();
	},
});
const { url } = await bot.listen({ port: 0 });

async function deliver(id: string, event: object, key = secret): Promise<number> {
	const body = JSON.stringify({ type: "event_callback", event_id: id, event });
	const timestamp = String(Math.floor(Date.now() / 1000));
	const headers = { "x-slack-request-timestamp": timestamp, "x-slack-signature": sign(key, timestamp, body) };
	return (await fetch(`${url}/slack/events`, { method: "POST", headers, body })).status;
}
const nextPost = (): Promise<void> =>
	new Promise((resolve) => {
		posted = resolve;
	});

const first = nextPost();
await deliver("Ev1", { text: "hello", channel: "C7", ts: "1.1" });
console.log("the same again:", await deliver("Ev1", { text: "hello", channel: "C7", ts: "1.1" }));
await first;
const second = nextPost();
await deliver("Ev2", { text: "and now?", channel: "C7", ts: "1.2", thread_ts: "1.1" });
await second;
console.log("signed by another:", await deliver("Ev3", { text: "hi", channel: "C7", ts: "2.1" }, "a-guess"));
await bot.close();
await host.close();
