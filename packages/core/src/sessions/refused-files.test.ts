// A file that the provider refuses fails only the turn that contains it.
import { type AssistantMessage, type LLMRequest, type Message, UPPError } from "@holdfast/upp";
import { expect, test } from "vitest";
import { memoryJournal } from "../host/memory-journal.ts";
import { tool } from "../tools/tool.ts";
import { play } from "./sessions.fixture.ts";

const pdf = { type: "file", data: "JVBERg==", mediaType: "application/pdf", filename: "a.pdf" } as const;
const png = { type: "image", source: { type: "base64", data: "AQI=" }, mimeType: "image/png" } as const;

/** Refuses every request that contains a file, like a provider whose model accepts none. */
function withoutEyes({ messages }: LLMRequest): string {
	if (/"(document|image)"/.test(JSON.stringify(messages)))
		throw new UPPError("Unsupported content part type: file", "INVALID_REQUEST", "acme", "llm", 400);
	return `saw ${messages.length}: ${JSON.stringify(messages.map(({ text }) => text))}`;
}

const typesOf = (messages: readonly Message[]): string[] =>
	messages.flatMap((message) =>
		"content" in message ? (message as AssistantMessage).content.map(({ type }) => type) : [],
	);

test("later messages are answered, and the history keeps the file", async () => {
	const { session } = play(withoutEyes);
	const first = await (await session.send([{ type: "text", text: "read" }, pdf])).result();
	expect(first).toMatchObject({ outcome: "error", error: { code: "INVALID_REQUEST" } });
	const second = await (await session.send("hello?")).result();
	expect(second.outcome).toBe("completed");
	expect(second.text).toContain("[document a.pdf: the provider refused the request with it");
	expect(typesOf((await session.state()).messages)).toEqual(["text", "document", "text", "text"]);
});

test("a file in the result of a tool is also removed, and accepted files stay", async () => {
	let refuses = false;
	const look = tool({ name: "look", description: "Looks.", run: () => [png] });
	const { session, model } = play(
		({ messages }, call) => {
			const isAnswered = messages.at(-1)?.type === "tool_result";
			if (isAnswered && refuses) throw new UPPError("No pictures.", "INVALID_REQUEST", "acme", "llm", 400);
			return isAnswered || call > 3 ? "seen" : { toolCalls: [{ name: "look", id: `c${call}` }] };
		},
		{ tools: [look] },
	);
	await (await session.send("look")).result();
	refuses = true;
	expect((await (await session.send("look again")).result()).outcome).toBe("error");
	expect((await (await session.send("well?")).result()).outcome).toBe("completed");
	const shown = JSON.stringify(model.requests.at(-1)?.messages);
	expect(shown.match(/"type":"image"/g)).toHaveLength(1);
	expect(shown.match(/the provider refused/g)).toHaveLength(1);
});

test("the same holds after a restart", async () => {
	const journal = memoryJournal();
	const before = play(withoutEyes, {}, journal);
	await (await before.session.send([pdf])).result();
	await before.agent.close();
	const after = play(withoutEyes, {}, journal);
	expect((await (await after.session.send("hello?")).result()).outcome).toBe("completed");
});

test("a run that failed for other reasons, or was stopped, keeps its files", async () => {
	const error = new UPPError("Wrong key.", "AUTHENTICATION_FAILED", "acme", "llm", 401);
	const { session, model } = play([{ error }, "seen"]);
	await (await session.send([pdf])).result();
	await (await session.send("and now?")).result();
	expect(typesOf(model.requests.at(-1)?.messages ?? [])).toEqual(["document", "text"]);
});
