// Tools that the model is sent once another tool has loaded them.
import { scriptedModel } from "@holdfast/testing";
import type { LLMRequest } from "@holdfast/upp";
import { describe, expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/shared/temporary-folder.fixture.ts";
import { anyTool, contentOf } from "../agent/agent.fixture.ts";
import { Agent } from "../agent/agent.ts";
import type { AgentOptions } from "../agent/options.ts";
import { createLlm } from "../compat.ts";
import type { AssistantSaid, Entry } from "../facts/fact.ts";
import { type Host, journalHost } from "../host/host-port.ts";
import { memoryHost } from "../host/memory-host.ts";
import { memoryJournal } from "../host/memory-journal.ts";
import { foldHistory } from "../host.ts";
import { sqliteHost } from "../sqlite.ts";
import { AgentState } from "../state/agent-state.ts";
import { strategy } from "../strategies/strategy.ts";
import type { AnyTool, EngineTool, ToolContext } from "../tools/index.ts";
import { Loader } from "./loaded-tools.ts";

const pure = { retryPolicy: "pure" } as const;
const load = anyTool(
	"load",
	({ names }, { loadable }: ToolContext) => {
		loadable?.load(names as string[]);
		return `Loaded ${(names as string[]).join(", ")}.`;
	},
	pure,
);

function tools(loaded: string[] = ["a", "b"], options: Partial<AnyTool> = {}): AnyTool[] {
	const others = loaded.map((name) =>
		anyTool(name, () => `ran ${name}`, { ...pure, loadedBy: "load", ...options }),
	);
	return [...others, load, anyTool("look", () => "seen", pure)];
}

const loads = (...names: string[]) => ({
	toolCalls: [{ name: "load", arguments: { names }, id: `load-${names.join("-")}` }],
});
const calls = (name: string, id?: string) => ({ toolCalls: [{ name, ...(id === undefined ? {} : { id }) }] });

function offered(requests: readonly LLMRequest[]): (readonly string[])[] {
	return requests.map(({ tools: sent = [] }) => sent.map(({ name }) => name));
}

function answersOf(entries: readonly Entry[]): AssistantSaid[] {
	return entries.map(({ fact }) => fact).filter((fact): fact is AssistantSaid => fact.kind === "assistant");
}

describe("a tool with `loadedBy`", () => {
	test("is sent from the step after it was loaded, at the end of the list, until the session ends", async () => {
		const model = scriptedModel([loads("b"), calls("b"), loads("a", "b"), "Done.", "Again."]);
		const host = memoryHost();
		const session = new Agent({ model, tools: tools(), host }).session("s");
		await (await session.send("Go.")).result();
		await (await session.send("On.")).result();
		const first = ["load", "look"];
		expect(offered(model.requests)).toEqual([
			first,
			[...first, "b"],
			[...first, "b"],
			[...first, "b", "a"],
			[...first, "b", "a"],
		]);
		expect((await session.state()).loadedTools).toEqual(["b", "a"]);
		const breaks = answersOf(await host.journal.read("s")).map(({ cacheBreak }) => cacheBreak);
		const broken = { reasons: ["tools"], from: 0 };
		expect(breaks).toEqual([undefined, broken, undefined, broken, undefined]);
	});

	test("cannot be called before it is loaded, and the model gets the name of the loading tool", async () => {
		const agent = new Agent({ model: scriptedModel([calls("a"), "Done."]), tools: tools() });
		const { toolExecutions } = await agent.query("Go.");
		const message =
			'The tool "a" is not loaded, so it did not run. Call "load" to load it, then call it again.';
		expect(toolExecutions).toMatchObject([{ isError: true, result: message }]);
	});

	test("cannot be called in the round that loads it", async () => {
		const both = { toolCalls: [...loads("a").toolCalls, { name: "a", id: "a1", after: [] }] };
		const agent = new Agent({ model: scriptedModel([both, calls("a"), "Done."]), tools: tools() });
		const { toolExecutions } = await agent.query("Go.");
		expect(toolExecutions.map(({ isError }) => isError)).toEqual([false, true, false]);
	});

	test("waits for approval like any other", async () => {
		const model = scriptedModel([loads("a"), calls("a", "a1"), "Done."]);
		const session = new Agent({ model, tools: tools(["a"], { needsApproval: true }) }).session("s");
		const waiting = await (await session.send("Go.")).result();
		expect(waiting).toMatchObject({ outcome: "waiting", pending: [{ toolName: "a", toolCallId: "a1" }] });
		const run = await session.answer([{ toolCallId: "a1", approved: true }]);
		expect((await run.result()).text).toBe("Done.");
	});

	test("stays loaded in a state that is passed on, also as JSON", async () => {
		const model = scriptedModel([loads("a"), "Done.", "Again."]);
		const agent = new Agent({ model, tools: tools() });
		const { state } = await agent.ask("Go.", AgentState.initial());
		await agent.ask("On.", AgentState.fromJSON(JSON.parse(JSON.stringify(state))));
		expect(offered(model.requests).at(-1)).toEqual(["load", "look", "a"]);
		expect(() => AgentState.fromJSON({ ...state.toJSON(), loadedTools: [5] as never })).toThrow(
			/loadedTools/,
		);
	});

	test("stays loaded in a fork and after compaction of its history", async () => {
		const model = scriptedModel([loads("a"), "Done.", "Again.", "Again."]);
		const host = memoryHost();
		const agent = new Agent({ model, tools: tools(), host });
		const session = agent.session("s");
		await (await session.send("Go.")).result();
		await session.fork("t");
		await (await agent.session("t").send("On.")).result();
		await agent.close();
		await foldHistory(host.journal, "s", { before: Number.MAX_SAFE_INTEGER });
		const next = new Agent({ model, tools: tools(), host });
		await (await next.session("s").send("On.")).result();
		expect(offered(model.requests).slice(2)).toEqual([
			["load", "look", "a"],
			["load", "look", "a"],
		]);
	});

	test("is omitted if the agent no longer has it", async () => {
		const host = memoryHost();
		const model = scriptedModel([loads("a", "b"), "Done.", calls("a"), "Done."]);
		await (await new Agent({ model, tools: tools(), host }).session("s").send("Go.")).result();
		const next = new Agent({ model, tools: tools(["b"]), host });
		const { text, turn } = await (await next.session("s").send("On.")).result();
		expect(text).toBe("Done.");
		expect(turn?.toolExecutions).toMatchObject([
			{ result: 'There is no tool "a". Available tools: load, look, b.' },
		]);
		expect(offered(model.requests).at(-1)).toEqual(["load", "look", "b"]);
	});

	test("can be called by a strategy, and be active in a step, without being loaded", async () => {
		const requesting = strategy({
			name: "requesting",
			decide: ({ last }) =>
				last.kind === "input"
					? { kind: "tools", step: "next", calls: [{ toolName: "a", arguments: {} }] }
					: { kind: "finish" },
		});
		const agent = new Agent({ model: scriptedModel([]), tools: tools(), execution: requesting });
		expect((await agent.query("Go.")).toolExecutions).toMatchObject([{ result: "ran a" }]);
		const model = scriptedModel([calls("a"), "Done."]);
		const prepared = new Agent({
			model,
			tools: tools(),
			prepareStep: () => ({ activeTools: ["a", "look"] }),
		});
		expect((await prepared.query("Go.")).toolExecutions).toMatchObject([{ result: "ran a" }]);
		expect(offered(model.requests)[0]).toEqual(["look", "a"]);
	});

	test("is not loaded by a call that fails, or for a name that the loader does not have", async () => {
		const failing = anyTool("load", (_, { loadable }) => {
			loadable?.load(["a"]);
			throw new Error("no luck");
		});
		const model = scriptedModel([loads("a"), "Done."]);
		await new Agent({ model, tools: [...tools().filter(({ name }) => name !== "load"), failing] }).query(
			"Go.",
		);
		expect(offered(model.requests)[1]).toEqual(["look", "load"]);
		const agent = new Agent({ model: scriptedModel([loads("look"), "Done."]), tools: tools() });
		const { toolExecutions } = await agent.query("Go.");
		expect(toolExecutions).toMatchObject(
			[{ isError: true, result: /cannot load "look"/ }].map(({ isError }) => ({ isError })),
		);
	});

	test("resumed from every entry, a run is sent the same tools, in memory and in SQLite", async () => {
		const script = ({ messages }: LLMRequest) =>
			[loads("b"), calls("b", "b1"), loads("a"), "Done."][Math.floor(messages.length / 2)] ?? "Done.";
		const make = (host: Host) => {
			const model = scriptedModel(script);
			return { model, agent: new Agent({ model, tools: tools(), host }) };
		};
		const journal = memoryJournal();
		const alone = make(journalHost(journal));
		const { state } = await (await alone.agent.session("k").send("go")).result();
		const entries = await journal.read("k");
		const path = temporaryFolder();
		for (const store of ["memory", "sqlite"] as const)
			for (let kept = 2; kept < entries.length; kept++) {
				const own = store === "memory" ? memoryJournal() : undefined;
				const file = `${path}/${kept}.db`;
				const before = own === undefined ? sqliteHost(file) : journalHost(own);
				const acquired = await before.journal.acquire("k");
				if (!acquired.ok) throw new Error("a new session is free");
				for (const { at, runId, fact } of entries.slice(0, kept))
					await acquired.lease.append({ at, runId, facts: [fact] });
				await acquired.lease.release();
				if (store === "sqlite") await (before as { close?(): Promise<void> }).close?.();
				const host = own === undefined ? sqliteHost(file) : before;
				const { model, agent } = make(host);
				const found = await (await agent.session("k").resume())?.result();
				expect(contentOf(found?.state as never), `cut after entry ${kept}`).toEqual(contentOf(state));
				expect(found?.state.loadedTools).toEqual(["b", "a"]);
				const left = offered(alone.model.requests).slice(-model.requests.length);
				expect(offered(model.requests)).toEqual(model.requests.length === 0 ? [] : left);
				await agent.close();
				await (host as { close?(): Promise<void> }).close?.();
			}
	});
});

test("`loadedBy` is rejected where it would have no effect", () => {
	const model = scriptedModel([]);
	const own = { name: "own", execute: async () => ({}), stream: () => ({}) };
	const made = (options: Partial<AgentOptions>) => () => new Agent({ model, tools: tools(), ...options });
	expect(made({ execution: own as never })).toThrow(/loadedBy/);
	expect(made({ tools: [anyTool("a", () => 1, { loadedBy: "load" })] })).toThrow(
		/is loaded by "load", which is not a tool/,
	);
	expect(made({ tools: [{ ...load, loadedBy: "load" }] })).toThrow(
		/is loaded by "load", which is not a tool/,
	);
	expect(made({ tools: [anyTool("a", () => 1, { loadedBy: 5 as never })] })).toThrow(
		/not the name of a tool/,
	);
	expect(() => createLlm({ model, tools: tools() })).toThrow(/loadedBy/);
});

test("loading all tools at once reads each name a constant number of times", () => {
	const readsOf = (count: number): number => {
		let reads = 0;
		const names = Array.from({ length: count }, (_, at) => `tool-${at}`);
		const counted = names.map((name) => ({
			get name() {
				reads++;
				return name;
			},
		}));
		const loader = new Loader("load", counted as unknown as readonly EngineTool[]);
		loader.load(names);
		for (const name of names) loader.load([name]);
		expect(loader.loaded).toEqual(names);
		return reads;
	};
	expect(readsOf(10)).toBe(10);
	expect(readsOf(5_000)).toBe(5_000);
});
