// Malformed values at any port, from models, tools, stores, hosts, callers and policy: the run ends normally or with a
// coded error, committed facts stay readable, and the session can be continued, ended and deleted.
import { join } from "node:path";
import { MemorySessionStore } from "@holdfast/stores";
import { type Script, scriptedModel } from "@holdfast/testing";
import { AssistantMessage, createProvider, emptyUsage, isHoldfastError, UserMessage } from "@holdfast/upp";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { changed, garbage, pathsOf } from "../../../../test/shared/garbage.fixture.ts";
import { temporaryFolder } from "../../../../test/shared/temporary-folder.fixture.ts";
import { Agent } from "../agent/agent.ts";
import type { AgentOptions } from "../agent/options.ts";
import { createSession, execute } from "../execute/create-session.ts";
import { createInMemoryExecutionHost } from "../execution-host/in-memory.ts";
import { runEventsOf } from "../execution-host/over-journal/run-events-of.ts";
import { followSession } from "../following/follow-session.ts";
import type { PluginHooks } from "../policy/plugins/plugin.ts";
import { sqliteHost } from "../sqlite.ts";
import { AgentState } from "../state/agent-state.ts";
import { strategy } from "../strategies/strategy.ts";

const calling: Script = (_, call) => (call === 0 ? { toolCalls: [{ name: "look" }] } : "Done.");
const look = { name: "look", description: "Looks.", parameters: { type: "object" as const }, run: () => 1 };
const decisions = [undefined, "modify", "synthesize", "reject-and-continue", "error", "done", "cancelled"];
const outcomes = ["completed", "error", "aborted"];

/** Runs one turn of an agent with malformed values, and checks everything that must hold afterwards. */
async function survives(options: AgentOptions): Promise<void> {
	const host = sqliteHost(join(temporaryFolder(), "host.db"));
	try {
		const odd = agentOf({ model: scriptedModel(calling), tools: [look], keepDeltasMs: 1, host, ...options });
		const sent = await odd
			?.session("s")
			.send("go")
			.catch((error: unknown) => {
				expect(isHoldfastError(error)).toBe(true);
			});
		const result = await sent?.result();
		if (result?.outcome === "waiting") expect(await odd?.session("s").stop()).toBe(true);
		else if (result !== undefined) {
			expect(outcomes).toContain(result.outcome);
			if (result.outcome === "error") expect(result.error?.code).toMatch(/^[A-Za-z_]+$/);
		}
		await odd?.close();
		expect((await host.journal.head("s"))?.openRunId).toBeUndefined();
		runEventsOf(await host.journal.read("s"));
		for await (const event of followSession(host, "s", { until: "idle" })) JSON.stringify(event);
		const sane = new Agent({ model: scriptedModel(() => "Fine."), tools: [look], host });
		const next = await (await sane.session("s").send("again")).result();
		expect([next.outcome, next.text]).toEqual(["completed", "Fine."]);
		for (const end of ["kill", "delete"] as const) await sane.session("s")[end]();
		expect(await host.journal.head("s")).toBeUndefined();
		await sane.close();
	} finally {
		await host.close();
	}
}

/** Returns undefined if the agent itself is refused with a message. */
function agentOf(options: AgentOptions): Agent | undefined {
	try {
		return new Agent(options);
	} catch (error) {
		expect(error instanceof TypeError || isHoldfastError(error)).toBe(true);
		return undefined;
	}
}

/** Each run creates and opens a file, so the number is limited to a few seconds' worth. `GARBAGE_RUNS` requests more. */
const runs = { numRuns: Number(process.env.GARBAGE_RUNS ?? 12) };

function property<T>(values: fc.Arbitrary<T>, check: (value: T) => Promise<void>): Promise<void> {
	return fc.assert(fc.asyncProperty(values, check), runs) as Promise<void>;
}

const answer = (): Record<string, unknown> => ({
	message: new AssistantMessage(
		[{ type: "text", text: "Hello." }],
		[{ toolCallId: "c", toolName: "look", arguments: { a: 1 } }],
	),
	usage: emptyUsage(),
	stopReason: "stop",
});

describe("invalid values", () => {
	test.each(["complete", "stream"])("from a model that answers by %s", (how) =>
		property(
			fc.tuple(fc.constantFrom(...pathsOf(answer())), garbage, fc.boolean()),
			async ([path, value, isTyped]) => {
				let call = 0;
				const odd = (): never => {
					const plain = { ...answer(), message: { ...(answer().message as object), type: "assistant" } };
					if (call++ === 0) return changed(plain, path, value) as never;
					return { ...answer(), message: new AssistantMessage("Done.") } as never;
				};
				const capabilities = { streaming: how === "stream", tools: true } as never;
				const bind = (modelId: string) => ({
					modelId,
					capabilities,
					complete: async () => odd(),
					stream: () => ({
						response: Promise.resolve().then(odd),
						async *[Symbol.asyncIterator]() {
							yield value as never;
						},
					}),
				});
				const provider = createProvider({ name: "odd", version: "1", modalities: { llm: { bind } } });
				await survives({ model: provider("m"), ...(isTyped ? { output: { type: "object" } } : {}) });
			},
		),
	);

	test.each<[string, (value: unknown) => object]>([
		["gives", (value) => ({ run: () => value })],
		[
			"throws",
			(value) => ({
				run: () => {
					throw value;
				},
			}),
		],
		[
			"streams",
			(value) => ({
				async *run() {
					yield value;
					yield { type: "delta", delta: value };
					yield { type: "complete", output: value };
				},
			}),
		],
		[
			"gives as output and details",
			(value) => ({ run: undefined, label: "l", execute: async () => ({ output: value, details: value }) }),
		],
		[
			"emits",
			(value) => ({
				run(_: unknown, context: { onSubagentEvent?(event: unknown): void }) {
					context.onSubagentEvent?.(value);
					return 1;
				},
			}),
		],
		["shows a model", (value) => ({ toModelOutput: () => value })],
		[
			"validates to",
			(value) => ({
				parameters: { "~standard": { version: 1, vendor: "odd", validate: () => value }, type: "object" },
			}),
		],
		["approves with", (value) => ({ approval: () => value })],
		["is named to need approval by", (value) => ({ needsApproval: () => value })],
	])("that a tool %s", (_, tool) =>
		property(garbage, async (value) => {
			await survives({ tools: [{ ...look, ...tool(value) } as never] });
		}),
	);

	test.each<[string, (value: unknown) => unknown]>([
		["is", (value) => value],
		["has as a keyword", (value) => ({ type: "object", properties: value })],
		["has as a member's schema", (value) => ({ type: "object", properties: { a: value } })],
		["shows the model", (value) => standardSchema({ jsonSchema: { input: () => value } })],
		["validates to", (value) => standardSchema({ validate: () => value })],
		["makes of an answer", (value) => standardSchema({ validate: () => ({ value }) })],
		["finds wrong", (value) => standardSchema({ validate: () => ({ issues: [value] }) })],
	])("that an `output` schema %s", (_, output) =>
		property(garbage, async (value) => {
			const answers: Script = (_, call) => (call === 0 ? { toolCalls: [{ name: "look" }] } : '{"a":1}');
			await survives({ model: scriptedModel(answers), output: output(value) as never });
		}),
	);

	test.each<keyof PluginHooks>([
		"turn.before",
		"step.before",
		"step.after",
		"turn.after",
		"tool.call",
		"tool.result",
		"assemble",
	])("from a plugin's %s", (hook) =>
		property(fc.tuple(garbage, fc.constantFrom(...decisions)), async ([value, action]) => {
			const decision = { action, input: value, output: value, message: value, error: value, status: action };
			const given = action === undefined ? value : decision;
			await survives({ plugins: [{ name: "odd", setup: (host) => host.on(hook, (() => given) as never) }] });
		}),
	);

	test.each(["before", "after", "onError", "stop"])("from a middleware's %s", (stage) =>
		property(garbage, (value) => survives({ middleware: [{ name: "odd", [stage]: () => value } as never] })),
	);

	test("from the facts that an interceptor admits", () =>
		property(
			fc.tuple(garbage, fc.nat(6), fc.constantFrom("as it is", "member", "notes")),
			async ([value, at, how]) => {
				let facts = 0;
				const admit = (fact: object): unknown => {
					if (facts++ !== at) return undefined;
					if (how === "as it is") return { fact: value };
					if (how === "notes") return { notes: [{ topic: "odd", value }] };
					const names = Object.keys(fact);
					return { fact: { ...fact, [names[at % names.length] as string]: value } };
				};
				await survives({
					middleware: [{ name: "odd", admitWaiting: "as-is", begin: () => ({ admit }) } as never],
				});
			},
		));

	test("from a strategy", () =>
		property(
			fc.tuple(garbage, fc.constantFrom("action", "note", "ask", "tools", "tag")),
			async ([value, how]) => {
				const odd: Record<string, unknown> = {
					action: value,
					note: { kind: "note", topic: "odd", value },
					ask: { kind: "ask", topic: "odd", question: () => value },
					tools: { kind: "tools", calls: value, tag: "t" },
					tag: { kind: "model", tag: value, step: "next" },
				};
				let asked = 0;
				const execution = strategy({
					name: "odd",
					decide: () => (asked++ === 0 ? odd[how] : { kind: "finish" }) as never,
				});
				await survives({ execution, maxSteps: 3 });
			},
		));

	test.each(["a session store", "an execution host"])("from %s, once", (kind) =>
		property(fc.tuple(garbage, fc.nat(30)), async ([value, at]) => {
			const execution = createInMemoryExecutionHost();
			const sane = kind === "a session store" ? { sessionStore: new MemorySessionStore() } : execution;
			let calls = 0;
			const odd = answering(sane, () => (calls++ === at ? { value } : undefined));
			const agent = new Agent({ model: scriptedModel(calling), tools: [look], host: odd as never });
			const sent = await agent
				.session("s")
				.send("go")
				.catch((error: unknown) => {
					expect(error).toBeInstanceOf(Error);
				});
			const result = await sent?.result();
			if (result?.error !== undefined) expect(result.error.code).toMatch(/^[A-Za-z_]+$/);
			await agent.close();
			const next = new Agent({ model: scriptedModel(() => "Fine."), tools: [look], host: sane });
			for await (const run of next.recover({ onProblem() {} })) await run.result();
			expect((await (await next.session("other").send("hi")).result()).text).toBe("Fine.");
			for (const end of ["kill", "delete"] as const) await next.session("s")[end]();
			expect((await (await next.session("s").send("anew")).result()).text).toBe("Fine.");
			await next.close();
		}),
	);

	test("in a message", () =>
		property(garbage, async (value) => {
			const host = sqliteHost(join(temporaryFolder(), "host.db"));
			const agent = new Agent({ model: scriptedModel(() => "Fine."), host });
			const session = agent.session("s");
			for (const give of [
				() => session.send(value as never),
				() => session.send([{ type: "file", data: value, mediaType: "text/plain" }] as never),
				() => session.steer({ type: "user-text", text: value } as never),
			]) {
				const run = await give().catch((error: unknown) => {
					if (!(error instanceof TypeError) && !isHoldfastError(error)) throw error;
				});
				if (run !== undefined) await run.result();
			}
			await (await session.send("again")).result();
			await host.journal.read("s");
			await session.delete();
			await agent.close();
			await host.close();
		}));

	test("in the initial history of a session", () =>
		property(fc.tuple(garbage, fc.constantFrom(...pathsOf(history()))), async ([value, path]) => {
			const host = sqliteHost(join(temporaryFolder(), "host.db"));
			const messages = changed(history(), path, value) as never;
			try {
				const session = createSession("s", { messages }, { host, model: scriptedModel(() => "Fine.") });
				await execute(session, "go").result();
				for (const { key } of await host.journal.list()) {
					await host.journal.read(key);
					await host.journal.delete(key);
				}
			} catch (error) {
				if (!(error instanceof TypeError) && !isHoldfastError(error)) throw error;
				for (const { key } of await host.journal.list()) await host.journal.read(key);
			}
			await host.close();
		}));

	test("in the state of a call", () =>
		property(fc.tuple(garbage, fc.constantFrom("message", "metadata", "json")), async ([value, how]) => {
			try {
				const state =
					how === "json"
						? AgentState.fromJSON(value as never)
						: how === "message"
							? AgentState.initial().withMessage(value as never)
							: AgentState.initial().withMetadata("odd", value as never);
				const agent = new Agent({ model: scriptedModel(() => "Fine.") });
				const result = await agent.generate(new UserMessage("go"), state);
				AgentState.fromJSON(JSON.parse(JSON.stringify(result.state.toJSON())));
			} catch (error) {
				if (!(error instanceof TypeError) && !isHoldfastError(error)) throw error;
			}
		}));
});

/** The same object, except that its functions, and those of its members, answer differently where `instead` decides. */
function answering<T extends object>(of: T, instead: () => { readonly value: unknown } | undefined): T {
	return new Proxy(of, {
		get(target, name) {
			const member: unknown = Reflect.get(target, name);
			if (typeof member === "object" && member !== null) return answering(member, instead);
			if (typeof member !== "function") return member;
			if (name === "transaction")
				return (work: (inside: object) => unknown) =>
					member.call(target, (inside: object) => work(answering(inside, instead)));
			if (name === "now" || name === "read") return member.bind(target);
			return async (...given: unknown[]) => {
				const other = instead();
				return other === undefined ? member.apply(target, given) : other.value;
			};
		},
	});
}

function standardSchema(odd: object): unknown {
	const jsonSchema = { input: () => ({ type: "object" }), output: () => ({ type: "object" }) };
	return {
		"~standard": { version: 1, vendor: "odd", validate: (value: unknown) => ({ value }), jsonSchema, ...odd },
	};
}

function history(): unknown[] {
	return [
		{ role: "user", content: [{ type: "text", text: "a" }] },
		{
			role: "assistant",
			content: [
				{ type: "text", text: "b" },
				{ type: "toolCall", id: "c", name: "look", arguments: { a: 1 } },
			],
		},
		{ role: "tool", toolCallId: "c", toolName: "look", output: "1", isError: false },
	];
}
