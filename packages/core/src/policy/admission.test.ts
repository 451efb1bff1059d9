// The stage `admit`: its result is committed, folded and emitted, and no raw copy exists anywhere else.
import { join } from "node:path";
import { scriptedModel } from "@holdfast/testing";
import { HoldfastError, UserMessage } from "@holdfast/upp";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/shared/temporary-folder.fixture.ts";
import { Agent } from "../agent/agent.ts";
import type { AgentOptions } from "../agent/options.ts";
import type { Fact } from "../facts/fact.ts";
import type { Host } from "../host/host-port.ts";
import { memoryHost } from "../host/memory-host.ts";
import { sqliteHost } from "../sqlite.ts";
import { changing, faces, held, redacting, watched } from "./interceptor.fixture.ts";
import type { Interceptor, Stages } from "./interceptor.ts";

const secret = "sk-1234567890";
const by = (name: string, stages: Stages): Interceptor => ({
	name,
	admitWaiting: "as-is",
	begin: () => stages,
});

const fetchKey = {
	name: "fetch_key",
	description: "Fetches the key.",
	parameters: { type: "object", properties: { hint: { type: "string" } } },
	async *run() {
		yield "The key is sk-12";
		yield "34567890, keep";
		yield " it.";
	},
};

const leaky: AgentOptions = {
	model: scriptedModel([]),
	tools: [fetchKey],
	keepDeltasMs: 1,
};
const script = () =>
	scriptedModel([
		{ text: `I look for ${secret} now`, toolCalls: [{ name: "fetch_key", arguments: { hint: secret } }] },
		{ text: `So it is ${secret}, as I said.`, deltas: 40 },
	]);

const hosts: Readonly<Record<string, () => Host>> = {
	memory: memoryHost,
	sqlite: () => sqliteHost(join(temporaryFolder(), "s.db")),
};

describe("a redaction", () => {
	describe.each(["at-once", "later"] as const)("that answers %s", (answers) => {
		test.each(Object.entries(faces))("hides a secret from observers: %s", async (_, run) => {
			const ran = await run(
				{ ...leaky, model: script(), middleware: [redacting(secret, answers)] },
				`Use ${secret}`,
			);
			expect(ran.error).toBeUndefined();
			expect(ran.text).toBe("So it is [redacted], as I said.");
			expect(JSON.stringify(ran.seen)).toContain("[redacted]");
			expect(JSON.stringify(ran.seen)).not.toMatch(/sk-1/);
		});

		test.each(Object.entries(hosts))(
			"keeps it out of the journal and its chunks: %s",
			async (_, makeHost) => {
				const host = makeHost();
				const model = script();
				const agent = new Agent({ ...leaky, model, host, middleware: [redacting(secret, answers)] });
				const { seen, result } = await watched(agent, `Use ${secret}`);
				const { entries, chunks } = await held(host.journal);
				expect(JSON.stringify([seen, result, entries, chunks])).not.toMatch(/sk-1/);
				const streamed = seen.flatMap((each) =>
					each.type === "model" && each.step === 2 ? (each.event.delta.text ?? "") : [],
				);
				expect(streamed.join("")).toBe("So it is [redacted], as I said.");
				expect(streamed.length).toBeGreaterThan(3);
				const ofTool = seen.flatMap((each) => (each.type === "tool_delta" ? each.delta : []));
				expect(ofTool.join("")).toBe("The key is [redacted], keep it.");
				// The model never sees the raw text again either, and tools receive what was admitted.
				expect(JSON.stringify(model.requests)).not.toMatch(/sk-1/);
				await agent.close();
				await host.close();
			},
		);
	});

	test("keeps it out of the answer of a run that is interrupted in the middle of it", async () => {
		const host = memoryHost();
		let stop = (): void => {};
		const model = scriptedModel([
			{ text: `It is ${secret.slice(0, 8)} ${secret}`, beforeDelta: (at) => (at === 2 ? stop() : undefined) },
		]);
		const agent = new Agent({ ...leaky, model, host, middleware: [redacting(secret)] });
		const run = await agent.session("s").send("go");
		stop = () => run.interrupt();
		const seen: unknown[] = [];
		for await (const event of run.watch()) seen.push(event);
		const result = await run.result();
		expect(result.outcome).toBe("aborted");
		const { entries, chunks } = await held(host.journal);
		expect(JSON.stringify([seen, entries, chunks])).not.toContain(secret);
		expect(entries.at(-1)?.fact).toMatchObject({
			kind: "run.ended",
			partial: { content: [{ type: "text" }] },
		});
	});

	test("keeps it out of a model's retries and of the error that ends a run", async () => {
		const host = memoryHost();
		const model = scriptedModel(() => ({ error: new Error(`the key ${secret} was refused`) }));
		const agent = new Agent({ ...leaky, model, host, middleware: [redacting(secret)] });
		const { seen, result } = await watched(agent, "go");
		const { entries } = await held(host.journal);
		expect(result.error?.message).toBe("the key [redacted] was refused");
		expect(JSON.stringify([seen, entries, result])).not.toContain(secret);
	});

	test("that does not handle deltas lets no deltas out, but the facts", async () => {
		const list = [by("quiet", { admit: () => undefined })];
		const agent = new Agent({ ...leaky, model: script(), middleware: list });
		const { seen, result } = await watched(agent, "go");
		expect(result.outcome).toBe("completed");
		expect(seen.some(({ type }) => type === "model" || type === "tool_delta")).toBe(false);
		expect(seen.filter(({ type }) => type === "message")).toHaveLength(2);
	});
});

test("observers, the journal and the fold see the same for any text [property]", async () => {
	const word = fc.stringMatching(/^[a-zß]{1,6}$/);
	const reply = fc.record({
		text: fc.array(word, { minLength: 1, maxLength: 4 }).map((words) => words.join(" ")),
		calls: fc.array(word, { maxLength: 2 }),
		deltas: fc.integer({ min: 1, max: 9 }),
	});
	await fc.assert(
		fc.asyncProperty(
			fc.array(reply, { maxLength: 4 }),
			word,
			fc.constantFrom("at-once" as const, "later" as const),
			async (replies, input, answers) => {
				const said = replies.map(({ text, calls, deltas }) => ({
					text,
					deltas,
					toolCalls: calls.map((at) => ({ name: "echo", arguments: { at } })),
				}));
				const model = scriptedModel([...said.filter(({ toolCalls }) => toolCalls.length > 0), "the end"]);
				const given: string[] = [];
				const echo = {
					name: "echo",
					description: "Echoes.",
					parameters: { type: "object", properties: { at: { type: "string" } } },
					run({ at }: { at: string }) {
						given.push(at);
						return `echo of ${at.toLowerCase()}`;
					},
				};
				const upper = changing({ change: (text) => text.toUpperCase(), answers });
				const host = memoryHost();
				const agent = new Agent({ model, tools: [echo], host, middleware: [upper], keepDeltasMs: 1 });
				const { seen } = await watched(agent, input);
				const { entries, chunks } = await held(host.journal);
				const state = await agent.session("s").state();
				const isLoud = (text: unknown): void => void expect(text).toBe(String(text).toUpperCase());
				for (const at of given) isLoud(at);
				for (const event of [...seen, ...(chunks as { event: never }[]).map((each) => each.event)])
					if ((event as { type: string }).type === "model")
						isLoud((event as { event: { delta: { text?: string } } }).event.delta.text ?? "");
				const ofJournal = entries.flatMap(({ fact }) =>
					fact.kind === "assistant" || fact.kind === "input" ? [JSON.stringify(fact.message)] : [],
				);
				const ofWatcher = seen.flatMap((each) =>
					each.type === "message" || each.type === "input" ? [JSON.stringify(each.message)] : [],
				);
				const ofFold = state.messages
					.filter(({ type }) => type !== "tool_result")
					.map((each) => JSON.stringify(each));
				expect(ofWatcher).toEqual(ofJournal);
				expect(ofFold).toEqual(ofJournal);
				for (const { text } of state.messages) isLoud(text);
				const results = entries.flatMap(({ fact }) => (fact.kind === "tool.settled" ? [fact.result] : []));
				const ended = seen.flatMap((each) => (each.type === "tool_end" ? [each.result] : []));
				expect(ended).toEqual(results);
				for (const result of results) isLoud(result);
				await agent.close();
			},
		),
		{ numRuns: 60 },
	);
});

describe("notes of an interceptor", () => {
	const auditing = by("audit", {
		admit: (fact) => ({ notes: [{ topic: "audit", value: { of: fact.kind } }] }),
		deltas: "as-is",
	});

	test.each(Object.entries(hosts))(
		"share the append of their fact, and change nothing else: %s",
		async (_, makeHost) => {
			const [host, plain] = [makeHost(), makeHost()];
			const batches: (readonly Fact[])[] = [];
			const audited = new Agent({
				...leaky,
				model: script(),
				host: recording(host, batches),
				middleware: [auditing],
			});
			const { result } = await watched(audited, "go");
			const other = await watched(new Agent({ ...leaky, model: script(), host: plain }), "go");
			expect(result.text).toBe(other.result.text);
			expect(result.steps).toBe(other.result.steps);
			for (const facts of batches) {
				const own = facts.filter((fact) => fact.kind !== "note");
				const notes = facts.flatMap((fact) =>
					fact.kind === "note" ? [(fact.value as { of: string }).of] : [],
				);
				expect(notes).toEqual(own.map(({ kind }) => kind));
				expect(facts.at(-1)?.kind === "note").toBe(false);
			}
			const { entries } = await held(host.journal);
			const without = entries.filter(({ fact }) => fact.kind !== "note").map(({ fact }) => fact.kind);
			const { entries: bare } = await held(plain.journal);
			expect(without).toEqual(bare.map(({ fact }) => fact.kind));
			// A later process reads the same session.
			const later = new Agent({ ...leaky, model: scriptedModel(["Yes."]), host });
			expect((await watched(later, "again?")).result.text).toBe("Yes.");
			for (const each of [host, plain]) await each.close();
		},
	);

	test("are seen by no strategy, and metadata among them is in the state", async () => {
		const counting = by("counting", {
			admit: (fact) => ({ notes: [{ topic: "metadata", value: { key: "last", value: fact.kind } }] }),
			deltas: "as-is",
		});
		const agent = new Agent({ ...leaky, model: script(), middleware: [counting] });
		const { result } = await watched(agent, "go");
		expect(result.text).toContain("as I said");
		expect(result.state.metadata).toEqual({ last: "run.ended" });
	});
});

/** The host, and the facts of each append to it. */
function recording(host: Host, batches: (readonly Fact[])[]): Host {
	const journal = Object.create(host.journal, {
		acquire: {
			async value(...given: Parameters<Host["journal"]["acquire"]>) {
				const acquired = await host.journal.acquire(...given);
				if (!acquired.ok) return acquired;
				const { lease } = acquired;
				const append = lease.append.bind(lease);
				lease.append = (batch) => {
					if (batch.facts.length > 0) batches.push(batch.facts);
					return append(batch);
				};
				return acquired;
			},
		},
	}) as Host["journal"];
	return { ...host, journal, close: () => host.close() };
}

describe("a rejection", () => {
	const refusing = (kind: Fact["kind"]): Interceptor =>
		by("guard", {
			admit(fact) {
				if (fact.kind !== kind) return;
				throw new HoldfastError("not_here", "This is not said here.");
			},
			deltas: "as-is",
		});

	test.each(["assistant", "tool.started", "tool.settled"] as const)(
		"of %s ends the run with its code, and nothing of the append is committed",
		async (kind) => {
			const host = memoryHost();
			const agent = new Agent({ ...leaky, model: script(), host, middleware: [refusing(kind)] });
			const { result } = await watched(agent, "go");
			expect(result).toMatchObject({ outcome: "error", error: { code: "not_here" } });
			const { entries } = await held(host.journal);
			expect(entries.some(({ fact }) => fact.kind === kind)).toBe(false);
			expect(entries.at(-1)?.fact.kind).toBe("run.ended");
			// The session continues.
			const next = new Agent({ model: scriptedModel(["Yes."]), host });
			expect((await watched(next, "again")).result.text).toBe("Yes.");
		},
	);

	test.each(["run.started", "input", "run.ended"] as const)(
		"of %s leaves a recorded run without its content, and the session continues",
		async (kind) => {
			const host = memoryHost();
			const model = scriptedModel(["Hello."]);
			const agent = new Agent({ ...leaky, model, host, middleware: [refusing(kind)] });
			const { result } = await watched(agent, "a secret");
			expect(result).toMatchObject({ outcome: "error", error: { code: "not_here" } });
			const { entries } = await held(host.journal);
			expect(entries.at(-1)?.fact).toMatchObject({ kind: "run.ended", error: { code: "policy_refused" } });
			if (kind !== "run.ended") expect(JSON.stringify(entries)).not.toContain("a secret");
			expect(model.requests).toHaveLength(kind === "run.ended" ? 1 : 0);
			const next = new Agent({ model: scriptedModel(["Yes."]), host });
			expect((await watched(next, "again")).result.text).toBe("Yes.");
			expect(await host.journal.head("s")).toMatchObject({ waiting: 0 });
		},
	);

	test("of an external answer is thrown to the caller, and the run keeps waiting", async () => {
		const host = memoryHost();
		const remote = { name: "ask", description: "Asks.", parameters: { type: "object" } };
		const model = scriptedModel([{ toolCalls: [{ name: "ask", id: "c1" }] }, "Done."]);
		const list = [
			by("guard", {
				admit(fact) {
					if (fact.kind === "tool.settled" && fact.result === "bad")
						throw new HoldfastError("not_here", "This is not said here.");
				},
				deltas: "as-is",
			}),
		];
		const agent = new Agent({ model, tools: [remote], host, middleware: list });
		const session = agent.session("s");
		expect((await (await session.send("go")).result()).outcome).toBe("waiting");
		await expect(session.answer([{ toolCallId: "c1", output: "bad" }])).rejects.toMatchObject({
			code: "not_here",
		});
		const run = await session.answer([{ toolCallId: "c1", output: "good" }]);
		expect(await run.result()).toMatchObject({ outcome: "completed", text: "Done." });
	});

	test("of a pending interceptor does not delay a stop of the run", async () => {
		const host = memoryHost();
		let asked = (): void => {};
		const isAsked = new Promise<void>((resolve) => {
			asked = resolve;
		});
		const never = by("never", {
			admit(fact) {
				if (fact.kind !== "assistant" && fact.kind !== "run.ended") return;
				asked();
				return new Promise(() => {});
			},
			deltas: "as-is",
		});
		const wakes: (() => void)[] = [];
		const timers = {
			after: (_: number, wake: () => void) => {
				wakes.push(wake);
				return () => {};
			},
		};
		const agent = new Agent({
			model: scriptedModel(["Hello."]),
			host,
			middleware: [never],
			ports: { timers },
		});
		const run = await agent.session("s").send("go");
		const ended = run.result();
		await isAsked;
		run.interrupt();
		for (const wake of wakes.splice(0)) wake();
		expect((await ended).outcome).toBe("aborted");
	});
});

describe("the value that an interceptor returns", () => {
	const wrong: readonly [string, Fact["kind"], (fact: never) => unknown][] = [
		["is of another kind", "input", () => ({ fact: { kind: "waiting", step: 1, calls: [] } })],
		["is no fact", "input", () => ({ fact: "nothing" })],
		["has another id", "input", () => undefined],
		["has no message", "assistant", (fact: object) => ({ fact: { ...fact, message: "text" } })],
		["has another step", "assistant", (fact: object) => ({ fact: { ...fact, step: 7 } })],
		["has an unknown outcome", "tool.settled", (fact: object) => ({ fact: { ...fact, outcome: "great" } })],
		["cannot be written", "tool.settled", (fact: object) => ({ fact: { ...fact, result: () => 1 } })],
		["completes what failed", "run.ended", (fact: object) => ({ fact: { ...fact, outcome: "killed" } })],
		["has a note without a topic", "assistant", () => ({ notes: [{ value: 1 }] })],
		["has a note of the engine's", "assistant", () => ({ notes: [{ topic: "suspended", value: 1 }] })],
		["has calls of other ids", "assistant", () => undefined],
	];

	test.each(wrong)("and %s ends the run with policy_invalid", async (what, kind, change) => {
		const list = [
			by("wrong", {
				admit(fact) {
					if (fact.kind !== kind) return;
					if (what === "has another id" && fact.kind === "input")
						return { fact: { ...fact, message: new UserMessage("other") } };
					if (what === "has calls of other ids" && fact.kind === "assistant")
						return {
							fact: { ...fact, message: Object.assign(Object.create(fact.message), { toolCalls: [] }) },
						};
					return change(fact as never) as never;
				},
				deltas: "as-is",
			}),
		];
		const agent = new Agent({ ...leaky, model: script(), middleware: list });
		const { result } = await watched(agent, "go");
		expect(result).toMatchObject({ outcome: "error", error: { code: "policy_invalid" } });
		expect(result.error?.message).toContain('"wrong"');
	});
});
