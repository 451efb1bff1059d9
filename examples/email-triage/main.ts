// Sorts a folder of emails, each in its own durable session. Kill it at any moment and start it again: it continues where it
// stopped, and no email is labelled or answered twice. With `--crash` it kills itself halfway, so that you can see this.
import { appendFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { scriptedModel } from "@holdfast/testing";
import { agent, tool } from "holdfast";
import { sqliteHost } from "holdfast/sqlite";
import { z } from "zod";

const crashes = process.argv.includes("--crash");
const inbox = join(import.meta.dirname, "inbox");
mkdirSync("drafts", { recursive: true });

const label = tool({
	name: "label",
	description: "Labels the mail.",
	parameters: z.object({ label: z.enum(["billing", "spam", "other"]) }),
	// Labelling twice is harmless, so a call that a crash interrupted simply runs again.
	retryPolicy: "pure",
	run({ label }, { sessionKey }) {
		writeFileSync(`drafts/${sessionKey}.label`, label);
		return label;
	},
});

const draft = tool({
	name: "draft_reply",
	description: "Puts a reply among the drafts.",
	parameters: z.object({ text: z.string() }),
	// Every attempt at this call has the same key, so a reply that already has it is not written again.
	retryPolicy: "idempotent",
	run({ text }, { sessionKey, idempotencyKey }) {
		const file = `drafts/${sessionKey}.txt`;
		const isThere = readdirSync("drafts").includes(`${sessionKey}.txt`);
		if (!isThere || !readFileSync(file, "utf8").includes(idempotencyKey))
			appendFileSync(file, `Draft ${idempotencyKey}\n${text}\n`);
		if (crashes) process.kill(process.pid, "SIGKILL");
		return "It is among the drafts.";
	},
});

// A few rules in place of a language model. Put `openai("gpt-5.2")` of "@ai-sdk/openai" here.
const model = scriptedModel(({ messages }) => {
	const [mail] = messages;
	const text = mail?.text ?? "";
	const kind = /invoice/i.test(text) ? "billing" : /prize/i.test(text) ? "spam" : "other";
	const done = messages.filter(({ type }) => type === "tool_result").length;
	if (done === 0) return { toolCalls: [{ name: "label", arguments: { label: kind } }] };
	if (done === 1 && kind === "billing") {
		const number = /\d{4,}/.exec(text)?.[0];
		return { toolCalls: [{ name: "draft_reply", arguments: { text: `We look into invoice ${number}.` } }] };
	}
	return kind === "billing" ? "Labelled billing, with a draft." : `Labelled ${kind}.`;
});

const host = sqliteHost("./triage.db");
const clerk = agent({
	model,
	tools: [label, draft],
	instructions: "Label each mail. Draft replies about bills.",
	host,
});

// Continue the runs that an earlier process left unfinished.
for await (const run of clerk.recover())
	console.log(`${run.sessionKey}, continued: ${(await run.result()).text}`);

for (const mail of readdirSync(inbox).sort()) {
	const session = clerk.session(mail);
	if ((await session.state()).messages.length > 0) continue; // it is done
	const run = await session.send(readFileSync(join(inbox, mail), "utf8"));
	console.log(`${mail}: ${(await run.result()).text}`);
}
await clerk.close();
await host.close();
