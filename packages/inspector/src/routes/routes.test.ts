// The routes of the inspector over a service in memory: their data, their permissions, and their actions.
import { skills } from "@holdfast/context";
import { scriptedModel } from "@holdfast/testing";
import fc from "fast-check";
import { Agent, HoldfastError, memoryHost, tool } from "holdfast";
import { afterEach, describe, expect, test } from "vitest";
import { type Inspected, type InspectedOptions, inspect } from "./inspected.fixture.ts";

const key = "sk-abcDEF0123456789abcDEF0123456789";
const opened: Inspected[] = [];
afterEach(async () => {
	for (const each of opened.splice(0)) await each.close();
});

function open(script: Parameters<typeof inspect>[0], options?: InspectedOptions): Inspected {
	const made = inspect(script, options);
	opened.push(made);
	return made;
}

const add = tool({
	name: "add",
	description: "Adds.",
	parameters: { type: "object" },
	run: () => ({ sum: 3, apiKey: "hunter2-hunter2" }),
});
const withCall = [{ toolCalls: [{ name: "add", arguments: { a: 1 } }] }, "It is 3."];
const prices = { "clever-1": { input: 1, output: 4 } };

describe("access", () => {
	test("a server that others reach without a key has no inspector: neither the page nor its data", async () => {
		for (const handler of [{ allowUnauthenticated: true }, { allowedHosts: ["agents.example"] }]) {
			const { fetch, get } = open(["Hi."], { handler });
			expect((await get("sessions")).body.code).toBe("inspector_closed");
			for (const path of ["/", "/inspector/app.js"]) expect((await fetch(path)).status).toBe(403);
		}
	});

	test("behind a key the page loads without one, but its data does not", async () => {
		const { fetch, get, say } = open(["Hi."], { handler: { apiKeys: { "key-of-a": "a", "key-of-b": "b" } } });
		const [a, b] = [{ "x-api-key": "key-of-a" }, { "x-api-key": "key-of-b" }];
		await say("s", "Hello", a);
		expect((await fetch("/")).status).toBe(200);
		expect(await get("sessions")).toMatchObject({ status: 401, body: { code: "unauthorized" } });
		expect((await get("sessions", a)).body.sessions).toMatchObject([{ sessionId: "s" }]);
		expect((await get("sessions", b)).body.sessions).toEqual([]);
	});

	test("a tenant gets none of another's data: not by its id, nor by the name of a sub-agent's session", async () => {
		const { get, post, say } = open(["Hi."], { handler: { apiKeys: { "key-of-a": "a", "key-of-b": "b" } } });
		await say("s", "Hello", { "x-api-key": "key-of-a" });
		await say("t", "Hello", { "x-api-key": "key-of-b" });
		const b = { "x-api-key": "key-of-b" };
		for (const path of ["session/s", "session/s/entries", "session/s/entries/1", "session/s/steps/3"])
			expect((await get(path, b)).body.code).toBe("session_not_found");
		for (const path of ["session/s/fork", "session/s/release"])
			expect((await post(path, {}, b)).body.code).toBe("session_not_found");
		expect((await post("session/s/steer", { input: "x" }, b)).body.code).toBe("session_not_found");
		for (const child of ["\u0000ns\u00001\u0000a\u0000s", "s", "\u0000sub\u00001\u0000s\u00001\u0000x\u0000"])
			expect(
				(await get(`session/t/entries?child=${encodeURIComponent(encodeURIComponent(child))}`, b)).body.code,
			).toBe("session_not_found");
		expect((await get("counts?ids=s", b)).body.counts).toEqual([]);
		expect((await get("usage", b)).body.sessions).toBe(1);
	});

	test("`mayInspect` determines which authenticated callers may inspect", async () => {
		const { get, say } = open(["Hi."], {
			handler: { apiKeys: { "key-of-a": "a", "key-of-b": "b" } },
			inspector: { mayInspect: ({ tenant }) => tenant === "a" },
		});
		await say("s", "Hello", { "x-api-key": "key-of-b" });
		expect((await get("sessions", { "x-api-key": "key-of-a" })).status).toBe(200);
		for (const path of [
			"sessions",
			"session/s",
			"session/s/entries",
			"usage",
			"changes?wait=0",
			"counts?ids=s",
		])
			expect(await get(path, { "x-api-key": "key-of-b" })).toMatchObject({
				status: 403,
				body: { code: "inspector_closed" },
			});
	});
});

describe("display", () => {
	test("a session has its status, first words, numbers and agent", async () => {
		const { get, say } = open(withCall, { tools: [add], agent: { prices, system: "Be brief." } });
		await say("s", "1 + 2?");
		const { body } = await get("session/s");
		expect(body).toMatchObject({
			sessionId: "s",
			status: "completed",
			title: "1 + 2?",
			counts: { runs: 1, steps: 2, answers: 2, toolCalls: 1, errors: 0, unpriced: 0 },
			agent: { model: "clever-1", system: "Be brief.", tools: [{ name: "add" }] },
			children: [],
			forks: [],
		});
		expect(body.counts.cost).toBeGreaterThan(0);
		expect((await get("sessions")).body.sessions).toMatchObject([{ sessionId: "s", status: "completed" }]);
		expect((await get("counts?ids=s,none")).body.counts).toEqual([
			{ sessionId: "s", counts: body.counts, tools: ["add"], codes: [] },
		]);
		expect((await get("session/none")).body.code).toBe("session_not_found");
	});

	test("sessions arrive a page at a time, each once", async () => {
		const { get, say } = open(() => "Hi.");
		for (const id of ["a", "b", "c", "d", "e"]) await say(id, "Hello");
		const found: string[] = [];
		let after: string | undefined;
		do {
			const { body } = await get(`sessions?limit=2${after === undefined ? "" : `&after=${after}`}`);
			found.push(...body.sessions.map(({ sessionId }: { sessionId: string }) => sessionId));
			after = body.next;
		} while (after !== undefined);
		expect(found).toEqual(["a", "b", "c", "d", "e"]);
		expect((await get("sessions?ids=e,b,x")).body.sessions).toHaveLength(2);
		expect((await get("sessions?limit=0")).body.code).toBe("invalid_input");
	});

	test("sessions that are damaged or incomplete are listed as unreadable, and the others remain", async () => {
		const host = memoryHost();
		const { get, say } = open(() => "Hi.", { host });
		const { journal } = host;
		for (const id of ["a", "b", "c", "d"]) await say(id, "Hello");
		const [{ key, seq } = { key: "", seq: 0 }] = await journal.list();
		await journal.fork(key, `${key.slice(0, -1)}e`, seq); // without a setup
		const read = journal.read.bind(journal);
		journal.read = (of, options) => {
			if (of === `${key.slice(0, -1)}b`)
				throw new HoldfastError("journal_corrupt", "The journal is damaged: an entry cannot be read.");
			return read(of, options);
		};
		const ids = (list: readonly { sessionId: string }[]) => list.map(({ sessionId }) => sessionId);
		const all = (await get("sessions")).body;
		expect(ids(all.sessions)).toEqual(["a", "b", "c", "d", "e"]);
		const { sessions } = all as { sessions: readonly { status: string; failure?: { code: string } }[] };
		expect(sessions.map(({ status, failure }) => failure?.code ?? status)).toEqual([
			...["completed", "journal_corrupt", "completed", "completed", "session_not_found"],
		]);
		const page = (await get("sessions?limit=2")).body;
		expect([ids(page.sessions), page.next]).toEqual([["a", "b"], "b"]);
		const some = (await get("sessions?ids=a,b")).body;
		expect(ids(some.sessions)).toEqual(["a", "b"]);
		const { counts } = (await get("counts?ids=a,b,c")).body;
		expect(counts.map((each: { counts: { unreadable: number } }) => each.counts.unreadable)).toEqual([
			0, 4, 0,
		]);
		expect((await get("usage")).body.sessions).toBe(4);
		const search = (await get("search?q=hello&ids=b,c")).body;
		expect([ids(search.found), ids(search.unreadable), search.searched]).toEqual([["c"], ["b"], 2]);
	});

	test("a list of ids without a valid one is empty", async () => {
		const { get, say } = open(["Hi."]);
		await say("s", "Hello");
		expect((await get("sessions?ids=../s")).body.sessions).toEqual([]);
	});

	test("credentials, fields named like them and the server's own secrets are masked everywhere", async () => {
		const { get, say } = open(
			[
				{ toolCalls: [{ name: "add", arguments: { password: "hunter3-hunter3" } }] },
				`Key: ${key}, correct-horse-battery.`,
			],
			{
				tools: [add],
				agent: { system: `Use Bearer ${key}.` },
				inspector: { secrets: ["correct-horse-battery"] },
			},
		);
		await say("s", `My key is ${key}`);
		const { entries } = (await get("session/s/entries")).body;
		const shown = [
			await get("session/s"),
			await get("sessions"),
			await get("session/s/entries"),
			...(await Promise.all(entries.map(({ seq }: { seq: number }) => get(`session/s/entries/${seq}`)))),
			await get(
				`session/s/steps/${entries.findLast(({ kind }: { kind: string }) => kind === "assistant").seq}`,
			),
		];
		for (const { status, body } of shown) {
			expect(status).toBe(200);
			const text = JSON.stringify(body);
			for (const hidden of [key, "hunter2", "hunter3", "correct-horse"]) expect(text).not.toContain(hidden);
		}
		expect(JSON.stringify(shown)).toContain("inputTokens");
	});

	test("entries arrive a page at a time, in order, each once, with the position from which the public stream continues", async () => {
		const { get, fetch, say } = open(withCall, { tools: [add] });
		await say("s", "1 + 2?");
		const whole = (await get("session/s/entries")).body;
		expect(whole.isLast).toBe(true);
		const seqs = whole.entries.map(({ seq }: { seq: number }) => seq);
		expect(seqs).toEqual(seqs.map((_: number, at: number) => at + 1));
		const found = [];
		for (let after = 0, isLast = false; !isLast; ) {
			const page = (await get(`session/s/entries?limit=2&after=${after}`)).body;
			found.push(...page.entries);
			after = found.at(-1).seq;
			({ isLast } = page);
		}
		expect(found).toEqual(whole.entries);
		const rest = await fetch(`/api/agent/session/s/events?after=${whole.lastEventId}`);
		expect([rest.status, await rest.text()]).toEqual([200, ""]);
	});

	test("long texts and lists are cut in a list, and complete in a single entry", async () => {
		const long = "word ".repeat(20_000);
		const { get, say } = open([long]);
		await say("s", "Hello");
		const { entries } = (await get("session/s/entries")).body;
		const answer = entries.find(({ kind }: { kind: string }) => kind === "assistant");
		expect(answer.isCut).toBe(true);
		expect(JSON.stringify(answer).length).toBeLessThan(10_000);
		expect((await get(`session/s/entries/${answer.seq}`)).body.body.message.content[0].text).toBe(long);
	});

	test("a step shows the model's request: the messages before the answer, and none after", async () => {
		const model = scriptedModel([...withCall, "And more."], { modelId: "clever-1" });
		const { get, say } = open([], { tools: [add], agent: { model, system: "Be brief." } });
		await say("s", "1 + 2?");
		await say("s", "And now?");
		const { entries } = (await get("session/s/entries")).body;
		const answers = entries.filter(({ kind }: { kind: string }) => kind === "assistant");
		for (const [index, { seq }] of answers.entries()) {
			const { request, reply, parts } = (await get(`session/s/steps/${seq}`)).body;
			const asked = model.requests[index];
			expect(request.system).toBe("Be brief.");
			expect(request.messages.map(({ type }: { type: string }) => type)).toEqual(
				asked?.messages.map(({ type }) => type),
			);
			expect(request.tools.map(({ name }: { name: string }) => name)).toEqual(["add"]);
			expect([reply.seq, new Set(Object.values(parts))]).toEqual([seq, new Set(["same"])]);
		}
		expect((await get("session/s/steps/1")).body.code).toBe("invalid_input");
		expect((await get("session/s/steps/999")).body.code).toBe("invalid_input");
	});

	test("sub-agents' sessions are in the tree, and their entries can be read", async () => {
		const helper = new Agent({ name: "helper", description: "Helps.", model: scriptedModel(["On page 7."]) });
		const { get, say } = open(
			[{ toolCalls: [{ name: "delegate_to_helper", arguments: { prompt: "Look it up." } }] }, "Page 7."],
			{ agent: { subagents: [helper] } },
		);
		await say("s", "Where?");
		const [child] = (await get("session/s")).body.children;
		expect(child).toMatchObject({ subagent: "helper", status: "completed" });
		const page = (await get(`session/s/entries?child=${encodeURIComponent(child.child)}`)).body;
		expect(JSON.stringify(page.entries)).toContain("On page 7.");
		const seq = page.entries.find(({ kind }: { kind: string }) => kind === "assistant").seq;
		const step = (await get(`session/s/steps/${seq}?child=${encodeURIComponent(child.child)}`)).body;
		expect(JSON.stringify(step.request.messages)).toContain("Look it up.");
	});

	test("usage sums the events in each part of the time", async () => {
		const { get, say } = open((_, call) => (call === 1 ? { error: new Error("no") } : "Hi."), {
			agent: { prices },
		});
		await say("a", "Hello");
		await say("b", "Hello");
		const { buckets, sessions } = (await get("usage?minutes=60")).body;
		expect(buckets).toHaveLength(60);
		const sum = (name: string) =>
			buckets.reduce((total: number, bucket: Record<string, number>) => total + (bucket[name] ?? 0), 0);
		expect([sessions, sum("answers"), sum("errors")]).toEqual([2, 1, 1]);
		expect(sum("inputTokens")).toBeGreaterThan(0);
		expect((await get("usage?minutes=1")).body.code).toBe("invalid_input");
	});

	test("a request for changes ends when something changes, and reports where", async () => {
		const { get, say, fetch } = open(() => "Hi.");
		const { position } = (await get("changes?wait=0")).body;
		const waiting = get(`changes?after=${position}`);
		await say("s", "Hello");
		expect((await waiting).body).toMatchObject({ changed: ["s"], deleted: [] });
		const later = (await get("changes?wait=0")).body.position;
		await fetch("/api/agent/session/s", { method: "DELETE" });
		expect((await get(`changes?after=${later}`)).body).toMatchObject({ changed: [], deleted: ["s"] });
	});
});

describe("actions", () => {
	test("a session of an agent whose plugin listens to forks is forked, and the fork continues", async () => {
		const text = "---\nname: tidy-up\ndescription: Tidies.\n---\nMove.\n";
		const { get, post, say } = open(() => "Hi.", { agent: { plugins: [skills({ sources: [{ text }] })] } });
		await say("s", "Hello");
		expect((await post("session/s/fork", { to: "t", systemPrompt: "Never." })).status).toBe(200);
		await say("t", "Again");
		expect((await get("sessions")).body.sessions).toHaveLength(2);
		expect((await get("session/t")).body).toMatchObject({ status: "completed", origin: { sessionId: "s" } });
	});

	test("a fork starts with the messages up to a turn, and both continue independently", async () => {
		const { get, post, say } = open(() => "Hi.");
		await say("s", "One");
		const { seq } = (await get("session/s")).body;
		await say("s", "Two");
		const { status, body } = await post("session/s/fork", { to: "f", at: seq });
		expect([status, body]).toEqual([200, { sessionId: "f", seq }]);
		const texts = async (id: string) => JSON.stringify((await get(`session/${id}/entries`)).body.entries);
		expect(await texts("f")).toContain("One");
		expect(await texts("f")).not.toContain("Two");
		await say("f", "Three");
		expect(await texts("s")).not.toContain("Three");
		expect((await get("session/f")).body.origin).toEqual({ sessionId: "s", seq });
		expect((await get("session/s")).body.forks).toEqual([{ sessionId: "f", seq }]);
	});

	test("a fork can have another model and other instructions; unknown ones are rejected, and create nothing", async () => {
		const wise = scriptedModel(["Wisely."], { modelId: "wise-2" });
		const { get, post, say } = open(() => "Hi.", {
			models: (name) => (name === "wise-2" ? wise : undefined),
			agent: { system: "Be brief." },
		});
		await say("s", "One");
		const made = await post("session/s/fork", { to: "f", at: 0, model: "wise-2", systemPrompt: "Be wise." });
		expect(made.body).toEqual({ sessionId: "f", seq: 0 });
		await say("f", "One");
		expect(wise.requests[0]?.system).toBe("Be wise.");
		expect((await get("session/f")).body.agent).toMatchObject({ model: "wise-2", system: "Be wise." });
		for (const [how, code] of [
			[{ to: "g", model: "none" }, "unknown_model"],
			[{ to: "f" }, "session_exists"],
			[{ to: "g", at: "no run" }, "run_not_found"],
			[{ to: "g", at: 2 }, "fork_unsettled"],
			[{ to: "g", at: -1 }, "invalid_input"],
			[{ to: "../g" }, "invalid_input"],
			[{ to: "g", prompt: "x" }, "invalid_input"],
		] as const)
			expect((await post("session/s/fork", how)).body.code).toBe(code);
		expect((await get("session/g")).body.code).toBe("session_not_found");
	});

	// The row "inspector" of the table in docs/guide/client-settings.md.
	test.each([
		["tools", { tools: [{ name: "spy", description: "Spies.", parameters: { type: "object" } }] }],
		["messages", { messages: [{ role: "assistant", content: [{ type: "text", text: "Forged." }] }] }],
		["context", { context: { systemPrompt: "Obey." } }],
		["history", { history: [] }],
		["options", { options: { temperature: 1 } }],
		["owner", { tenant: "b" }],
	])("a fork accepts no %s from a client, and creates nothing", async (_, more) => {
		const { get, post, say } = open(() => "Hi.");
		await say("s", "One");
		expect((await post("session/s/fork", { to: "f", ...more })).body.code).toBe("invalid_input");
		expect((await get("session/f")).body.code).toBe("session_not_found");
	});

	test("callers who may not inspect set nothing: neither by a fork, nor by steering, nor by the fields of an execution", async () => {
		const { fetch, get, post, say } = open(() => "Hi.", { inspector: { mayInspect: () => false } });
		await say("s", "One");
		for (const [path, body] of [
			["session/s/fork", { to: "f", systemPrompt: "Obey." }],
			["session/s/steer", { input: "Obey." }],
			["session/s/release", {}],
		] as const)
			expect((await post(path, body)).body.code).toBe("inspector_closed");
		const executed = await fetch("/api/agent/execute", {
			method: "POST",
			headers: { "content-type": "application/json" },
			body: JSON.stringify({ sessionId: "f", input: "One", context: { systemPrompt: "Obey." } }),
		});
		expect(await executed.json()).toMatchObject({ code: "field_not_allowed" });
		expect((await get("session/f")).body.code).toBe("inspector_closed");
	});

	test("steering sends a message to the active run, also if messages are queued", async () => {
		let release = (): void => {};
		const gate = new Promise<void>((resolve) => {
			release = resolve;
		});
		const { get, post, say } = open((_, call) => (call === 0 ? { text: "First.", gate } : "Then."));
		const saying = say("s", "One");
		await expect.poll(async () => (await get("session/s")).body.status).toBe("running");
		expect((await post("session/s/steer", { input: "Left!" })).status).toBe(200);
		release();
		await saying;
		const { entries } = (await get("session/s/entries")).body;
		expect(new Set(entries.map(({ runId }: { runId: string }) => runId)).size).toBe(1);
		expect(JSON.stringify(entries)).toContain("Left!");
		expect((await post("session/s/steer", {})).body.code).toBe("invalid_input");
	});

	test("releasing does nothing if nothing is parked", async () => {
		const { post, say } = open(["Hi."]);
		await say("s", "One");
		expect((await post("session/s/release")).body).toEqual({ sessionId: "s", released: false });
	});

	test("any request to fork either forks or is rejected with a Holdfast code", async () => {
		const { post, say } = open(() => "Hi.");
		await say("s", "One");
		const codes = ["invalid_input", "run_not_found", "fork_unsettled", "unknown_model", "session_exists"];
		const some = fc.record(
			{
				at: fc.oneof(fc.integer(), fc.string(), fc.double()),
				model: fc.anything(),
				to: fc.string(),
				maxTokens: fc.anything(),
			},
			{ requiredKeys: [] },
		);
		await fc.assert(
			fc.asyncProperty(some, async (how) => {
				const { status, body } = await post("session/s/fork", JSON.parse(JSON.stringify(how)));
				if (status !== 200) expect(codes).toContain(body.code);
			}),
			{ numRuns: 100 },
		);
	});
});

test("the waiting calls of background tasks are part of a session, masked", async () => {
	const worker = new Agent({
		name: "worker",
		description: "Works.",
		model: scriptedModel([{ toolCalls: [{ name: "remove", arguments: { apiKey: "hunter2-hunter2" } }] }]),
		tools: [tool({ name: "remove", description: "Removes.", needsApproval: true, run: () => "removed" })],
	});
	const delegation = { name: "delegate_to_worker", arguments: { prompt: "go", run_in_background: true } };
	const { get, say } = open([{ toolCalls: [delegation] }, "It has begun."], {
		agent: { subagents: [worker] },
	});
	await say("s", "Go.");
	await expect.poll(async () => (await get("session/s")).body.background).toHaveLength(1);
	const [call] = (await get("session/s")).body.background;
	expect(call).toMatchObject({
		name: "remove",
		awaits: "approval",
		agents: ["worker"],
		taskId: expect.stringMatching(/^bg_/),
	});
	expect(JSON.stringify(call)).not.toContain("hunter2");
});

test("the usage of sub-agents counts for their session, of background tasks once their reminder is delivered", async () => {
	const worker = () =>
		new Agent({
			name: "worker",
			description: "Works.",
			model: scriptedModel(["It is done."], { modelId: "clever-1" }),
			prices,
		});
	const totals = async (run_in_background: boolean) => {
		const delegation = { name: "delegate_to_worker", arguments: { prompt: "go", run_in_background } };
		const script = [{ toolCalls: [delegation] }, "It has begun.", "It is done."];
		const { fetch, get, say, host } = open(script, { agent: { subagents: [worker()], prices } });
		await say("s", "Go.");
		const [{ key: storeKey = "" } = {}] = await host.journal.list();
		if (run_in_background) await expect.poll(async () => (await host.journal.inbox(storeKey)).length).toBe(1);
		await say("s", "And?");
		const { totalCost } = (await (await fetch("/api/agent/session/s")).json()) as { totalCost: number };
		const { inputTokens, outputTokens, cost } = (await get("session/s")).body.counts;
		expect(cost).toBeCloseTo(totalCost, 10);
		return { inputTokens, outputTokens, totalCost };
	};
	// Three answers of its own, and one of the worker.
	const inForeground = await totals(false);
	expect(inForeground).toMatchObject({ inputTokens: 40, outputTokens: 20 });
	expect(await totals(true)).toEqual(inForeground);
});
