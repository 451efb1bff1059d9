import { scriptedModel } from "@holdfast/testing";
import { isToolResultMessage } from "@holdfast/upp";
import { describe, expect, test } from "vitest";
import { Agent } from "../../agent/agent.ts";
import type { AgentOptions } from "../../agent/options.ts";
import { allOf } from "../../execution-host/execution-host.fixture.ts";
import { createInMemoryExecutionHost } from "../../execution-host/in-memory.ts";
import { memoryHost } from "../../host/memory-host.ts";
import { definePlugin, type Plugin, type PluginHooks } from "./plugin.ts";
import { eventsOf, openCalls } from "./plugins.fixture.ts";

function onCall(handler: PluginHooks["tool.call"], name = "policy"): Plugin {
	return definePlugin({ name, setup: (host) => host.on("tool.call", handler) });
}

function onResult(handler: PluginHooks["tool.result"], name = "results"): Plugin {
	return definePlugin({ name, setup: (host) => host.on("tool.result", handler) });
}

/** An agent whose model calls `search` once, and the input that the tool received. */
function searching(
	plugins: readonly Plugin[],
	run: (input: object) => unknown = () => "found",
	host: AgentOptions["host"] = memoryHost(),
) {
	const given: object[] = [];
	const search = {
		name: "search",
		description: "Searches.",
		parameters: { type: "object", properties: { query: { type: "string" } } },
		run(input: object) {
			given.push(input);
			return run(input);
		},
	};
	const model = scriptedModel([
		{ toolCalls: [{ name: "search", id: "c1", arguments: { query: "all" } }] },
		"Done.",
	]);
	const agent = new Agent({ model, host, tools: [search], plugins });
	/** The result as the model saw it. */
	const shown = (): unknown => {
		const message = model.requests[1]?.messages.at(-1);
		return isToolResultMessage(message) ? message.results : undefined;
	};
	return { agent, model, given, shown };
}

describe("tool.call", () => {
	test.each([[{ action: "allow" } as const], [undefined]])(
		"with %o lets the tool run unchanged [SES-130]",
		async (decision) => {
			const { agent, given, shown } = searching([
				onCall(({ input }) => {
					input.query = "changed in place";
					return decision;
				}),
			]);
			await eventsOf(agent, "go");
			expect(given).toEqual([{ query: "all" }]);
			expect(shown()).toEqual([{ toolCallId: "c1", result: "found" }]);
		},
	);

	test("that modifies passes the new input to later handlers and to the tool, in order [SES-130]", async () => {
		const seen: unknown[] = [];
		const narrowing = (name: string): Plugin =>
			onCall(({ input, tool, toolCallId, stepIndex }) => {
				seen.push([name, tool, toolCallId, stepIndex, input]);
				return { action: "modify", input: { query: `${input.query} ${name}` } };
			}, name);
		const { agent, given } = searching([narrowing("one"), narrowing("two")]);
		await eventsOf(agent, "go");
		expect(seen).toEqual([
			["one", "search", "c1", 0, { query: "all" }],
			["two", "search", "c1", 0, { query: "all one" }],
		]);
		expect(given).toEqual([{ query: "all one two" }]);
	});

	test("that rejects without a message informs the model that the call was not permitted", async () => {
		const rejecting = onCall((() => ({ action: "reject-and-continue" })) as never);
		const { agent, shown } = searching([rejecting]);
		await eventsOf(agent, "go");
		const result = 'The call of "search" was not permitted.';
		expect(shown()).toEqual([{ toolCallId: "c1", result, isError: true }]);
	});

	test("that rejects skips the tool, gives the model the reason and continues [SES-131]", async () => {
		const later: unknown[] = [];
		const { agent, given, shown } = searching([
			onCall(() => ({ action: "reject-and-continue", message: "Not in this workspace." })),
			onCall(({ input }) => void later.push(input), "later"),
		]);
		const events = await eventsOf(agent, "go");
		expect(given).toEqual([]);
		expect(later).toEqual([]);
		expect(shown()).toEqual([{ toolCallId: "c1", result: "Not in this workspace.", isError: true }]);
		expect(events.at(-1)).toEqual({ type: "turn-end" });
	});

	test("that synthesizes skips the tool; its output is the result everywhere [SES-132]", async () => {
		const { agent, given, shown } = searching([
			onCall(() => ({ action: "synthesize", output: { hits: ["cached"] } })),
		]);
		const events = await eventsOf(agent, "go");
		expect(given).toEqual([]);
		expect(shown()).toEqual([{ toolCallId: "c1", result: { hits: ["cached"] } }]);
		expect(events).toContainEqual({
			type: "tool-result",
			toolCallId: "c1",
			toolName: "search",
			output: { hits: ["cached"] },
		});
	});

	test("with an error fails the run without the tool, and the call has a result [SES-133]", async () => {
		const { agent, given } = searching([onCall(() => ({ action: "error", error: new Error("forbidden") }))]);
		const events = await eventsOf(agent, "go");
		expect(given).toEqual([]);
		expect(events.at(-1)).toEqual({
			type: "turn-error",
			code: "plugin_failed",
			message: 'The plugin "policy" failed in tool.call: forbidden',
		});
		expect(await openCalls(agent)).toEqual([]);
		const { messages } = await agent.session("default").state();
		expect(messages.filter(isToolResultMessage)).toHaveLength(1);
	});

	test.each(["retry", 1, null])("that returns the unknown action %o fails the run", async (action) => {
		const { agent } = searching([onCall(() => ({ action }) as never)]);
		const last = (await eventsOf(agent, "go")).at(-1);
		expect(last).toMatchObject({ type: "turn-error", code: "plugin_failed" });
		expect(JSON.stringify(last)).toContain("It returned the action");
	});
});

describe("tool.result", () => {
	const throwing = (): never => {
		throw new Error("no index");
	};
	test.each<[string, Plugin[], ((input: object) => unknown) | undefined, unknown]>([
		["an executed call", [], undefined, ["done", "found", undefined]],
		[
			"a rejected call",
			[onCall(() => ({ action: "reject-and-continue", message: "no" }))],
			undefined,
			["error", "no", "no"],
		],
		[
			"a synthesized call",
			[onCall(() => ({ action: "synthesize", output: 7 }))],
			undefined,
			["done", 7, undefined],
		],
		["a throwing call", [], throwing, ["error", "no index", "no index"]],
	])("gets %s, and the model sees its replacement [SES-134]", async (_, before, run, expected) => {
		const seen: unknown[] = [];
		const { agent, shown } = searching(
			[
				...before,
				onResult(({ status, output, error, tool }) => {
					seen.push([status, output, error], tool);
					return { status: "done", output: "replaced" };
				}),
			],
			run,
		);
		await eventsOf(agent, "go");
		expect(seen).toEqual([expected, "search"]);
		expect(shown()).toEqual([{ toolCallId: "c1", result: "replaced" }]);
	});

	test.each(["error", "cancelled"] as const)(
		"with the status %s is passed to later handlers and to the model as an error [SES-134]",
		async (status) => {
			const seen: unknown[] = [];
			const { agent, shown } = searching([
				onResult(() => ({ status, error: new Error("withdrawn") }), "first"),
				onResult((context) => void seen.push(context.status, context.output, context.error), "second"),
			]);
			await eventsOf(agent, "go");
			expect(seen).toEqual([status, "withdrawn", new Error("withdrawn")]);
			expect(shown()).toEqual([{ toolCallId: "c1", result: "withdrawn", isError: true }]);
		},
	);

	test("that replaces removes the raw output from events, history, requests and the host's storage [SES-135]", async () => {
		const host = createInMemoryExecutionHost();
		const committed: unknown[] = [];
		const { commit } = host.store.sessions;
		host.store.sessions.commit = (...given) => {
			committed.push(structuredClone(given));
			return commit(...given);
		};
		const replacing = onResult(() => ({ status: "done", output: "[redacted]" }));
		const { agent, model } = searching([replacing], () => "s3cret", host);
		const [watched, emitted]: unknown[][] = [[], []];
		const run = await agent.send("go");
		const watching = (async () => {
			for await (const event of run.watch()) watched?.push(event);
		})();
		for await (const event of run.events()) emitted?.push(event);
		await watching;
		const kept = [
			watched,
			emitted,
			(await agent.session("default").state()).messages,
			committed,
			await allOf(host.store.events.read(run.runId)),
			model.requests.map((request) => request.messages),
		].map((each) => JSON.stringify(each));
		for (const each of kept) expect(each).toContain("[redacted]");
		kept.push(JSON.stringify(await host.store.checkpoints.list(run.runId)));
		expect(kept.join()).not.toContain("s3cret");
	});

	test('with `deltas: "as-is"` lets output pass that no other handler may remove', async () => {
		const adding = definePlugin({
			name: "adding",
			setup: (host) =>
				host.on("tool.result", ({ output }) => ({ status: "done", output: `${output} and more` }), {
					deltas: "as-is",
				}),
		});
		const deltasUnder = async (...plugins: readonly Plugin[]): Promise<readonly string[]> => {
			const { agent, shown } = searching(plugins, async function* () {
				yield "one ";
				yield "two";
			} as never);
			const deltas: string[] = [];
			const run = await agent.send("go");
			for await (const event of run.watch()) if (event.type === "tool_delta") deltas.push(event.delta);
			expect(shown()).toEqual([{ toolCallId: "c1", result: expect.stringMatching(/two and more$/) }]);
			return deltas;
		};
		expect(await deltasUnder(adding)).toEqual(["one ", "two"]);
		expect(
			await deltasUnder(
				adding,
				onResult(() => undefined),
			),
		).toEqual([]);
	});

	test("that replaces also removes the deltas of a streaming tool [SES-135]", async () => {
		const host = memoryHost();
		const { agent } = searching(
			[onResult(() => ({ status: "done", output: "[redacted]" }))],
			async function* () {
				yield "s3cret ";
				yield "s3cret";
			} as never,
			host,
		);
		const watched: unknown[] = [];
		const run = await agent.send("go");
		const watching = (async () => {
			for await (const event of run.watch()) watched.push(event);
		})();
		await run.result();
		await watching;
		expect(JSON.stringify([watched, await host.journal.read("default")])).not.toContain("s3cret");
	});

	test("with an unknown status fails the run", async () => {
		const { agent } = searching([onResult(() => ({ status: "maybe" }) as never)]);
		expect((await eventsOf(agent, "go")).at(-1)).toMatchObject({ type: "turn-error", code: "plugin_failed" });
		expect(await openCalls(agent)).toEqual([]);
	});
});
