// What providers say when they fail: for the log, with status and request id, and for nobody who calls.
import { scriptedModel } from "@holdfast/testing";
import { type ErrorCode, exponentialBackoff, UPPError } from "@holdfast/upp";
import { HoldfastError } from "holdfast";
import { foldHistory } from "holdfast/host";
import { afterEach, expect, test } from "vitest";
import { type Served, type ServedOptions, say, serveScript } from "./served.fixture.ts";
import { until } from "./sse.fixture.ts";
import type { RequestLogEntry } from "./telemetry/log.ts";

const open: Served[] = [];
afterEach(async () => {
	for (const served of open.splice(0)) await served.close();
});

const secret = "sk-proj-1234567890abcdef";
const words = `Incorrect API key provided: ${secret}. Find yours at https://provider.example/keys.`;

function refused(code: keyof typeof ErrorCode = "AUTHENTICATION_FAILED", status = 401): UPPError {
	const error = new UPPError(words, code, "provider", "llm", status);
	error.requestId = "req_42";
	return error;
}

function serve(script: Parameters<typeof serveScript>[0], options: ServedOptions = {}) {
	const logged: RequestLogEntry[] = [];
	const served = serveScript(script, { log: (entry) => logged.push(entry), ...options });
	open.push(served);
	const metrics = async (name: string): Promise<readonly string[]> => {
		const lines = (await (await served.get("/metrics")).text()).split("\n");
		return lines.filter((line) => line.startsWith(name));
	};
	return { ...served, logged, metrics };
}

/** All that a client gets of a run that fails, on every face. */
async function everyFace({ post, get, handler }: Served): Promise<readonly string[]> {
	const user = { id: "m", role: "user", parts: [{ type: "text", text: "hi" }] };
	const agUi = { threadId: "agui", runId: "r", messages: [{ id: "m", role: "user", content: "hi" }] };
	const texts = [
		await post("/api/agent/execute", { sessionId: "s", input: say("hi"), context: {} }),
		await post("/api/chat", { id: "chat", messages: [user] }),
		await post("/api/ag-ui", agUi),
	].map((response) => response.text());
	const answers = [...(await Promise.all(texts))];
	for (const id of ["s", "chat", "agui"])
		for (const path of [
			`/api/agent/session/${id}`,
			`/api/agent/session/${id}/events`,
			`/api/chat/${id}`,
			`/api/chat/${id}/stream?again=1`,
		])
			answers.push(await (await get(path)).text());
	answers.push(await (await get("/metrics")).text());
	answers.push(await (await handler.fetch(new Request("http://localhost/api/agent/sessions"))).text());
	return answers;
}

test.each([
	["of the model layer", () => refused(), "AUTHENTICATION_FAILED", "The model cannot be used at the moment."],
	["of a model of one's own", () => new Error(words), "run_failed", "The run failed. See the server's log."],
	[
		"with a code of its own",
		() => Object.assign(new Error(words), { code: "invalid_api_key" }),
		"invalid_api_key",
		"The run failed. See the server's log.",
	],
	[
		"that wraps another",
		() => new HoldfastError("own", words, { cause: refused() }),
		"own",
		"The run failed. See the server's log.",
	],
])(
	"an error %s never shows its text to a client, in any protocol or transcript",
	async (_, make, code, shown) => {
		const served = serve(() => ({ text: "I will ", error: make() }));
		const answers = await everyFace(served);
		for (const answer of answers)
			for (const word of [secret, "Incorrect", "provider.example"]) expect(answer).not.toContain(word);
		const [execute = "", chat = "", agUi = "", transcript = ""] = answers;
		for (const answer of [execute, chat, agUi, transcript]) expect(answer).toContain(shown);
		expect(execute).toContain(`"code":"${code}"`);
		expect(agUi).toContain(`"code":"${code}"`);
	},
);

test("a transcript that was compacted since it was last read shows it no more than another one", async () => {
	const { run, session, host } = serve(["One.", "Two.", { error: refused() }]);
	await run({ sessionId: "s", input: say("one"), context: {} });
	await session("s");
	await run({ sessionId: "s", input: say("two") });
	const [head] = await host.journal.list();
	await until("the past is folded", () =>
		foldHistory(host.journal, head?.key as string, { before: Date.now() + 1_000 }).then(
			(folded) => folded !== undefined,
			() => false,
		),
	);
	await run({ sessionId: "s", input: say("three") });
	const { messages } = await session("s");
	expect(messages.at(-1)).toMatchObject({ role: "error", error: "The model cannot be used at the moment." });
});

test("the log has the provider's text, with status and request id, but no key", async () => {
	const { run, logged } = serve([{ error: refused() }]);
	await run({ sessionId: "s", input: say("hi"), context: {} });
	const error = "Incorrect API key provided: sk…. Find yours at https://provider.example/keys.";
	const about = { tenant: "default", sessionId: "s", code: "AUTHENTICATION_FAILED", error };
	expect(logged).toContainEqual(
		expect.objectContaining({
			type: "model_error",
			model: "scripted",
			outcome: "failed",
			status: 401,
			requestId: "req_42",
			...about,
		}),
	);
	expect(logged).toContainEqual(expect.objectContaining({ type: "run", outcome: "error", ...about }));
	expect(JSON.stringify(logged)).not.toContain(secret);
});

test("a stream that ended in an error is not logged as complete, in any protocol", async () => {
	const served = serve(() => ({ text: "I will ", error: refused() }));
	await everyFace(served);
	const streams = served.logged.flatMap((entry) =>
		entry.type === "request" && entry.stream !== undefined ? [entry] : [],
	);
	// The events of a session that is over are sent again, whole; so is what failed.
	expect(streams.map(({ route, stream }) => [route, stream])).toEqual(
		streams.map(({ route }) => [route, "error"]),
	);
	expect(streams.length).toBeGreaterThan(5);
	expect(await served.metrics('holdfast_streams_ended_total{reason="complete"}')).toEqual([]);
});

test("a stream of a successful run is complete, also after a failed one", async () => {
	const { run, get, logged } = serve([{ error: refused() }, "Fine."]);
	await run({ sessionId: "s", input: say("hi"), context: {} });
	await run({ sessionId: "s", input: say("again") });
	await (await get("/api/agent/session/s/events")).text();
	const ends = logged.flatMap((entry) => (entry.type === "request" ? (entry.stream ?? []) : []));
	expect(ends).toEqual(["error", "complete", "complete"]);
});

test("errors, retries, tokens and cost of models are logged and counted", async () => {
	const model = scriptedModel([{ error: refused("RATE_LIMITED", 429) }, "Fine.", { error: refused() }]);
	const agent = {
		model,
		prices: { scripted: { input: 1_000_000, output: 2_000_000 } },
		config: { retryStrategy: exponentialBackoff({ initialDelayMs: 1 }) },
	};
	const { run, logged, metrics } = serve([], { serving: { agent } });
	await run({ sessionId: "s", input: say("hi"), context: {} });
	await run({ sessionId: "s", input: say("again") });
	expect(logged).toContainEqual(
		expect.objectContaining({
			type: "model_error",
			outcome: "retried",
			attempt: 1,
			code: "RATE_LIMITED",
			status: 429,
		}),
	);
	const [first] = logged.flatMap((entry) => (entry.type === "run" ? [entry] : []));
	expect(first).toMatchObject({ outcome: "completed", answers: 1, retries: 1 });
	const { inputTokens = 0, outputTokens = 0, cost } = first ?? {};
	expect(inputTokens).toBeGreaterThan(0);
	expect(cost).toBeCloseTo(inputTokens + 2 * outputTokens);
	expect(await metrics("holdfast_model_")).toEqual([
		"holdfast_model_answers_total 1",
		'holdfast_model_errors_total{code="RATE_LIMITED",outcome="retried"} 1',
		'holdfast_model_errors_total{code="AUTHENTICATION_FAILED",outcome="failed"} 1',
		`holdfast_model_tokens_total{direction="input"} ${inputTokens}`,
		`holdfast_model_tokens_total{direction="output"} ${outputTokens}`,
		`holdfast_model_cost_dollars_total ${cost}`,
		"holdfast_model_unpriced_answers_total 0",
	]);
	expect(await metrics("holdfast_runs_ended_total")).toEqual([
		'holdfast_runs_ended_total{outcome="completed"} 1',
		'holdfast_runs_ended_total{outcome="error"} 1',
	]);
});

test("an answer without a price is counted, and no costs are invented", async () => {
	const { run, logged, metrics } = serve(["Fine."]);
	await run({ input: say("hi") });
	expect(logged.find(({ type }) => type === "run")).not.toHaveProperty("cost");
	expect(await metrics("holdfast_model_unpriced")).toEqual(["holdfast_model_unpriced_answers_total 1"]);
});

test("an application can publish texts for its own errors, but no others", async () => {
	const shownError = ({ code, message }: { code: string; message: string }): string | undefined =>
		code === "closed_today" ? message : undefined;
	const closed = new HoldfastError("closed_today", "We are closed on Sundays.");
	const { run } = serve([{ error: closed }, { error: refused() }], { serving: { shownError } });
	const first = await run({ sessionId: "s", input: say("hi"), context: {} });
	expect(first.at(-1)?.event.error).toEqual({ code: "closed_today", message: "We are closed on Sundays." });
	const second = await run({ sessionId: "s", input: say("hi") });
	expect(JSON.stringify(second)).not.toContain("Incorrect");
});

test("a tool or sub-agent whose model fails shows the provider's text neither to the model nor to the client", async () => {
	const { Agent } = await import("holdfast");
	const helper = new Agent({
		name: "helper",
		description: "Helps.",
		model: scriptedModel([{ error: refused() }]),
	});
	const ask = {
		name: "ask",
		description: "Asks another model.",
		run: () => {
			throw refused();
		},
	};
	const model = scriptedModel([
		{ toolCalls: [{ name: "ask" }, { name: "delegate_to_helper", arguments: { prompt: "Help." } }] },
		"So be it.",
	]);
	const { run, session, logged } = serve([], {
		serving: { agent: { model, tools: [ask], subagents: [helper] } },
	});
	const events = await run({ sessionId: "s", input: say("hi"), context: {} });
	const seen = JSON.stringify([events, await session("s"), model.requests.map(({ messages }) => messages)]);
	expect(seen).not.toContain("Incorrect");
	expect(seen).toContain("The model cannot be used at the moment.");
	expect(logged).toContainEqual(
		expect.objectContaining({ type: "model_error", sessionId: "s", requestId: "req_42" }),
	);
});
