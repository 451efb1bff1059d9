// Trials end with their page and with the server, count as what they cost, and never send the mask of a secret.
import { createServer, type NamedModels, sessionService } from "@holdfast/server";
import { scriptedModel } from "@holdfast/testing";
import { type AgentOptions, memoryHost, tool } from "holdfast";
import { expect, onTestFinished, test } from "vitest";
import { inspector } from "../inspector.ts";

/** A model that answers when the gate opens, and the signal of its first request. */
function slowModel() {
	const started = Promise.withResolvers<AbortSignal>();
	const model = scriptedModel(({ signal }) => {
		if (signal !== undefined) started.resolve(signal);
		return { text: "Late.", gate: new Promise(() => {}) };
	});
	return { model, started: started.promise };
}

async function serve(agent: AgentOptions, models: NamedModels = {}) {
	const host = memoryHost();
	const service = sessionService({ host, agent, models });
	const server = createServer({ service, ...inspector({ playground: "models-and-tools" }) });
	const { url } = await server.listen({ port: 0 });
	onTestFinished(async () => {
		await server.close({ drainMs: 0 });
		await service.close();
		await host.close();
	});
	const post = async (path: string, body: unknown, signal?: AbortSignal) => {
		const response = await fetch(`${url}/api/${path}`, {
			method: "POST",
			headers: { "content-type": "application/json" },
			body: JSON.stringify(body),
			...(signal === undefined ? {} : { signal }),
		});
		const text = await response.text();
		// biome-ignore lint/suspicious/noExplicitAny: tests look at what they expect
		return { status: response.status, body: (text.startsWith("{") ? JSON.parse(text) : text) as any };
	};
	const get = async (path: string) => (await fetch(`${url}/api/inspect/${path}`)).json();
	await post("agent/execute", { sessionId: "s", input: "One", context: {} });
	return { server, post, get };
}

const quick = () => scriptedModel(() => "First.", { modelId: "quick-1" });
const playground = (groups: readonly { kind: string; name: string }[]) =>
	groups.find(({ kind, name }) => kind === "agent" && name === "playground");

test("a trial ends when its page is closed, and counts as a request of unknown cost", async () => {
	const { model: slow, started } = slowModel();
	const { post, get } = await serve({ model: quick() }, { slow });
	const page = new AbortController();
	const asked = post("inspect/session/s/try-model", { model: "slow" }, page.signal).catch(
		(error: Error) => error.name,
	);
	const signal = await started;
	expect(signal.aborted).toBe(false);
	page.abort();
	expect(await asked).toBe("AbortError");
	await expect.poll(() => signal.aborted).toBe(true);
	await expect
		.poll(async () => playground((await get("usage")).groups))
		.toMatchObject({ count: 1, unpriced: 1, errors: 1 });
});

test("a trial ends when the server closes, even if the tool ignores its signal", async () => {
	const { model: slow, started } = slowModel();
	const running = Promise.withResolvers<AbortSignal | undefined>();
	const deaf = tool({
		...{ name: "deaf", description: "Ignores.", parameters: { type: "object" } },
		run: (_: unknown, context) => {
			running.resolve(context?.signal);
			return new Promise(() => {});
		},
	});
	const { server, post } = await serve({ model: quick(), tools: [deaf] }, { slow });
	const asked = post("inspect/session/s/try-model", { model: "slow" });
	const called = post("inspect/session/s/try-tool", { tool: "deaf" });
	const signals = [await started, await running.promise];
	await server.close({ drainMs: 0 });
	expect(signals.map((signal) => signal?.aborted)).toEqual([true, true]);
	for (const answer of [await asked, await called])
		expect(answer).toMatchObject({ status: 503, body: { code: "shutting_down" } });
});

test("a trial counts in the overview as what it cost, and not for its session", async () => {
	const { post, get } = await serve({
		model: quick(),
		prices: { "quick-1": { input: 1_000_000, output: 1_000_000 } },
	});
	const before = await get("session/s");
	const { body } = await post("inspect/session/s/try-model", { input: "Again?" });
	const { groups, sessions, buckets } = await get("usage");
	expect(playground(groups)).toMatchObject({ count: 1, cost: body.cost, unpriced: 0, errors: 0 });
	expect([body.cost > 0, sessions]).toEqual([true, 1]);
	const total = buckets.reduce((sum: number, each: { cost: number }) => sum + each.cost, 0);
	expect(total).toBeCloseTo(before.counts.cost + body.cost);
	expect((await get("session/s")).counts).toEqual(before.counts);
});

test("a mask is never sent: unchanged instructions are the real ones, and changed ones with a mask are rejected", async () => {
	const key = "sk-abcDEF0123456789abcDEF0123456789";
	const model = quick();
	const echo = tool({
		...{ name: "echo", description: "Echoes.", parameters: { type: "object" } },
		run: (input: unknown) => input,
	});
	const { post, get } = await serve({ model, system: `Use ${key}.`, tools: [echo] });
	const { system } = (await get("session/s")).agent;
	expect(system).toContain("[REDACTED:");
	const again = await post("inspect/session/s/try-model", { input: "And?", systemPrompt: system });
	expect([again.status, model.requests.at(-1)?.system]).toEqual([200, `Use ${key}.`]);
	await post("inspect/session/s/fork", { to: "fork", systemPrompt: system });
	await post("agent/execute", { sessionId: "fork", input: "Two" });
	expect(model.requests.at(-1)?.system).toBe(`Use ${key}.`);
	const sent = model.requests.length;
	for (const [path, body] of [
		["try-model", { systemPrompt: `${system} Be brief.` }],
		["try-model", { input: "Use [REDACTED:secret]." }],
		["try-tool", { tool: "echo", input: { deep: ["[REDACTED:key]"] } }],
		["fork", { systemPrompt: `${system} Be brief.` }],
		["steer", { input: "Use [REDACTED:secret]." }],
	] as const) {
		const { status, body: refused } = await post(`inspect/session/s/${path}`, body);
		expect([path, status, refused.code]).toEqual([path, 400, "invalid_input"]);
	}
	expect(model.requests).toHaveLength(sent);
});
