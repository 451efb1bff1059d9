// main.ts start TOPIC, then main.ts change WISH as often as necessary, then main.ts accept.
import { sqliteHost } from "holdfast/sqlite";
import { review } from "./review.ts";

const [command = "", ...words] = process.argv.slice(2);
const host = sqliteHost("./reviews.db");
const desk = review.withOptions({ host });
await desk.recover(); // continues what a killed command left
const reviewed = desk.session("article-7");
const { session } = reviewed;
const [call] = await session.pending();
const text = words.join(" ");

if (command === "start" && text !== "") {
	if (call !== undefined) console.log("A draft waits already. Change or accept it first.");
	else {
		const run = await reviewed.send({ topic: text });
		await run.run.result(); // it ends or waits
	}
} else if ((command === "change" && text !== "") || command === "accept") {
	const output = command === "accept" ? { accepted: true } : { accepted: false, wish: text };
	if (call === undefined) console.log("No draft waits.");
	else {
		const run = await session.answer([{ toolCallId: call.toolCallId, output }]);
		const { outcome, output: published, error } = await run.result();
		if (outcome === "completed") console.log(`Published: ${(published as { draft: string }).draft}`);
		if (error !== undefined) console.log(`Ended: ${error.message}`);
	}
} else console.log("main.ts start TOPIC | change WISH | accept");

for (const { arguments: asked } of await session.pending())
	console.log(`Waits for review: ${(asked.details as { draft: string }).draft}`);
await desk.close();
await host.close();
