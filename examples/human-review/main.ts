// main.ts start TOPIC, then main.ts change WISH as often as necessary, then main.ts accept.
import { sqliteHost } from "holdfast/sqlite";
import { review } from "./review.ts";

const [command = "", ...words] = process.argv.slice(2);
const host = sqliteHost("./reviews.db");
const desk = review.withOptions({ host });
const reviewed = desk.session("article-7");
const { session } = reviewed;

if (command === "start") {
	const run = await reviewed.send({ topic: words.join(" ") });
	await run.run.result(); // it ends or waits
} else if (command === "change" || command === "accept") {
	const [call] = await session.pending();
	const output = command === "accept" ? { accepted: true } : { accepted: false, wish: words.join(" ") };
	if (call === undefined) console.log("No draft waits.");
	else {
		const { outcome, text } = await (
			await session.answer([{ toolCallId: call.toolCallId, output }])
		).result();
		if (outcome !== "waiting") console.log(`Published: ${text}`);
	}
} else console.log("main.ts start TOPIC | change WISH | accept");

for (const { arguments: asked } of await session.pending())
	console.log(`Waits for review: ${(asked.details as { draft: string }).draft}`);
await desk.close();
await host.close();
