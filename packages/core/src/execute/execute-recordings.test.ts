// Recorded answers of real providers, run through the real `@ai-sdk/*` packages and `execute`. The expectations are
// computed from the recorded payloads and the grammar of execution events, so this file contains none of their content.

import { readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { anthropic, google, type ModelReference, openai, openaiCompatible } from "@holdfast/upp";
import { afterEach, describe, expect, test } from "vitest";
import { createSession, execute } from "./create-session.ts";
import { faultsOf, only, played, says, toolResult } from "./execute.fixture.ts";
import type { SessionMessage } from "./session-message.ts";

const folder = process.env.HOLDFAST_RECORDINGS;
const title = `recorded streams${folder === undefined ? " (skipped: HOLDFAST_RECORDINGS is not set)" : ""}`;

type Format = "anthropic" | "google" | "openai";

function recorded(name: string): readonly string[] {
	const lines = readFileSync(join(folder ?? "", `${name}.chunks.txt`), "utf8").split("\n");
	return lines.filter((line) => line.trim() !== "");
}

/** Formats payloads as the provider would send them. */
function sse(payloads: readonly string[], format: Format): string {
	const records = payloads.map((payload) =>
		format === "anthropic"
			? `event: ${JSON.parse(payload).type}\ndata: ${payload}\n\n`
			: `data: ${payload}\n\n`,
	);
	return records.join("") + (format === "openai" ? "data: [DONE]\n\n" : "");
}

let server: Server | undefined;
const requests: unknown[] = [];
afterEach(() => {
	server?.closeAllConnections();
	server?.close();
	requests.splice(0);
});

/** Serves the bodies in order. */
async function serve(bodies: readonly string[]): Promise<string> {
	const made = createServer(async (request, response) => {
		let text = "";
		for await (const chunk of request) text += chunk;
		const body = bodies[requests.push(JSON.parse(text)) - 1];
		response.writeHead(200, { "content-type": "text/event-stream" }).end(body);
	});
	server = made;
	await new Promise<void>((resolve) => made.listen(0, "127.0.0.1", resolve));
	return `http://127.0.0.1:${(made.address() as AddressInfo).port}`;
}

const models: Record<string, { format: Format; make(baseURL: string): ModelReference }> = {
	anthropic: { format: "anthropic", make: (baseURL) => anthropic("claude", { apiKey: "key", baseURL }) },
	google: { format: "google", make: (baseURL) => google("gemini", { apiKey: "key", baseURL }) },
	"openai-chat": {
		format: "openai",
		make: (baseURL) => openai("gpt", { apiKey: "key", baseURL, api: "chat" }),
	},
	"openai-compatible": {
		format: "openai",
		make: (baseURL) => openaiCompatible("any", { apiKey: "key", baseURL, name: "deepseek" }),
	},
};

const streams = [
	["anthropic", "anthropic-text"],
	["anthropic", "anthropic-thinking"],
	["anthropic", "anthropic-tool-call"],
	["anthropic", "anthropic-tool-no-args"],
	["google", "google-text"],
	["google", "google-reasoning"],
	["google", "google-tool-call"],
	["openai-chat", "openai-chat-text"],
	["openai-compatible", "openai-compatible-deepseek-tool-call"],
	["openai-compatible", "openai-compatible-reasoning"],
	["openai-compatible", "openai-compatible-tool-call"],
] as const;

/** Runs one execution, in a session with the tools that the recording calls, against a provider that replays it. */
async function executed(provider: string, name: string, others: readonly string[] = []) {
	const found = models[provider];
	if (found === undefined) throw new Error(`No provider ${provider}.`);
	const url = await serve([name, ...others].map((each) => sse(recorded(each), found.format)));
	const said = recorded(name).join("\n");
	const names = new Set([...said.matchAll(/"name":"([\w-]+)"/g)].map(([, tool]) => tool as string));
	const tools = [...names].map((tool) => ({
		name: tool,
		description: "Elsewhere.",
		parameters: { type: "object" },
	}));
	const session = createSession("s", { tools }, { model: found.make(url) });
	return { ...(await played(execute(session, says("Hello.")))), session };
}

describe.skipIf(folder === undefined)(title, () => {
	test.each(streams)(
		"of %s, %s, are emitted completely and follow the grammar [API-004, API-005, API-008]",
		async (provider, name) => {
			const { events, result, session } = await executed(provider, name);
			expect(faultsOf(events)).toEqual([]);
			const answer = result.messages[1] as Extract<SessionMessage, { role: "assistant" }>;
			expect(answer.role).toBe("assistant");
			const part = (type: "text" | "thinking") =>
				answer.content
					.flatMap((each) => (each.type === type ? [each.type === "text" ? each.text : each.thinking] : []))
					.join("");
			const emitted = (type: "text_delta" | "thinking_delta") =>
				only(events, type)
					.map(({ delta }) => delta)
					.join("");
			expect(emitted("text_delta")).toBe(part("text"));
			expect(emitted("thinking_delta")).toBe(part("thinking"));
			const thinks = ["anthropic-thinking", "openai-compatible-reasoning"].includes(name);
			if (thinks) expect(part("thinking")).not.toBe("");
			const calls = answer.content.filter(({ type }) => type === "toolCall");
			expect(calls.length > 0).toBe(name.includes("tool"));
			expect(answer.stopReason).toBe(calls.length > 0 ? "tool_calls" : "stop");
			expect(answer.usage.outputTokens).toBeGreaterThan(0);
			if (calls.length > 0) {
				expect(result.status).toBe("awaiting_tool_execution");
				expect(
					session.pendingToolCalls?.map(({ id, name, arguments: given }) => ({
						type: "toolCall",
						id,
						name,
						arguments: given,
					})),
				).toEqual(calls);
			} else expect(result.status).toBe("completed");
		},
	);

	test("of a tool call continues with its result, and the provider gets it under its own id [API-029]", async () => {
		const { session, result } = await executed("anthropic", "anthropic-tool-call", ["anthropic-text"]);
		const [call] = result.pendingToolCalls ?? [];
		const answers = (result.pendingToolCalls ?? []).map(({ id }) => toolResult(id, "sunny"));
		const { status, messages } = await execute(session, answers).result();
		expect(status).toBe("completed");
		expect(messages.at(-1)).toMatchObject({ role: "assistant", stopReason: "stop" });
		expect(JSON.stringify(requests[1])).toContain(`"tool_use_id":"${call?.id}"`);
	});

	test("of a refusal end as an error, and the next request has no empty parts [API-009, API-051]", async () => {
		const { events, session, result } = await executed("anthropic", "anthropic-refusal", ["anthropic-text"]);
		expect(faultsOf(events)).toEqual([]);
		expect(result).toMatchObject({ status: "error", error: { code: "content_filtered" } });
		expect(session.messages.map(({ role }) => role)).toEqual(["user", "error"]);
		const next = await execute(session, says("Something else, then.")).result();
		expect(next.status).toBe("completed");
		const { messages } = requests[1] as { messages: { content: unknown[] }[] };
		for (const { content } of messages) expect(content.length).toBeGreaterThan(0);
	});
});
