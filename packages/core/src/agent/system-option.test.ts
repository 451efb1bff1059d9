import { scriptedModel } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/shared/temporary-folder.fixture.ts";
import type { Entry } from "../facts/fact.ts";
import { foldEntries } from "../facts/journal-fold.ts";
import { cutOff } from "../host/cut-off.fixture.ts";
import { type Host, journalHost } from "../host/host-port.ts";
import { memoryHost } from "../host/memory-host.ts";
import { memoryJournal } from "../host/memory-journal.ts";
import { definePlugin } from "../policy/plugins/plugin.ts";
import { sqliteHost } from "../sqlite.ts";
import { strategy } from "../strategies/strategy.ts";
import { anyTool } from "./agent.fixture.ts";
import { Agent, agent } from "./agent.ts";
import type { AgentOptions } from "./options.ts";
import type { SystemFunction } from "./system-option.ts";

const pure = { retryPolicy: "pure" } as const;

/** A model that makes `rounds` calls in each run before it answers. */
function modelOf(rounds = 1) {
	return scriptedModel(
		({ messages }) => {
			const since = messages.length - 1 - messages.findLastIndex(({ type }) => type === "user");
			return since < rounds * 2
				? { text: "", toolCalls: [{ name: "look", id: `c${messages.length}` }] }
				: "Done.";
		},
		{ promptCache: "breakpoints" },
	);
}

function agentWith(system: AgentOptions["system"], more: Partial<AgentOptions> = {}, model = modelOf()) {
	const agent = new Agent({ model, tools: [anyTool("look", () => "seen", pure)], system, ...more });
	return { agent, model, sent: () => model.requests.map((request) => request.system) };
}

describe("a function as `system`", () => {
	test("is called once for each run of a session, with its key and caller", async () => {
		const asked: unknown[] = [];
		const { agent, sent } = agentWith(async (run) => {
			asked.push(run);
			return `You help ${run.caller?.user ?? "anyone"}.`;
		});
		const caller = { tenant: "acme", user: "ada" };
		await (await agent.session("s").send("go", { caller })).result();
		await (await agent.session("s").send("go")).result();
		expect(asked).toEqual([
			{ sessionKey: "s", caller },
			{ sessionKey: "s", caller: undefined },
		]);
		expect(sent()).toEqual(["You help ada.", "You help ada.", "You help anyone.", "You help anyone."]);
	});

	test("is called for each call without a session", async () => {
		const { agent, sent } = agentWith(({ sessionKey }) => `Key: ${sessionKey}.`);
		await agent.generate("go");
		for await (const _ of agent.stream("go"));
		expect(sent()).toEqual(Array(4).fill("Key: undefined."));
	});

	test("records a text once for as long as it stays the same, and a break when it changes", async () => {
		const host = memoryHost();
		const texts = ["Monday.", "Monday.", "Tuesday.", "Tuesday.", "Monday."];
		const { agent } = agentWith(() => texts.shift() as string, { host });
		for (let turn = 0; turn < 5; turn++) await (await agent.session("s").send("go")).result();
		const facts = (await host.journal.read("s")).map(({ fact }) => fact);
		expect(facts.flatMap((fact) => (fact.kind === "run.started" ? [fact.system] : []))).toEqual([
			"Monday.",
			{ same: true },
			"Tuesday.",
			{ same: true },
			"Monday.",
		]);
		const breaks = facts.flatMap((fact) => (fact.kind === "assistant" ? [fact.cacheBreak] : []));
		const changed = { reasons: ["instructions"], from: 0 };
		expect(breaks).toEqual([
			...[undefined, undefined, undefined, undefined],
			...[changed, undefined, undefined, undefined, changed, undefined],
		]);
	});

	test("gets the sections of plugins after its text", async () => {
		const plugin = definePlugin({ setup: (host) => host.instructions("Section.") });
		const { agent, sent } = agentWith(() => "Text.", { plugins: [plugin] });
		await agent.generate("go");
		await (await agent.session("s").send("go")).result();
		expect(new Set(sent())).toEqual(new Set(["Text.\n\nSection."]));
	});

	test("is called for the sessions of sub-agents with their own keys and the caller of the parent", async () => {
		const asked: { sessionKey?: string | undefined; user: string | undefined }[] = [];
		const helper = agentWith(
			({ sessionKey, caller }) => {
				asked.push({ sessionKey, user: caller?.user });
				return "You help.";
			},
			{ name: "helper", description: "Helps." },
		);
		const model = scriptedModel([
			{ text: "", toolCalls: [{ name: "delegate_to_helper", arguments: { prompt: "help" } }] },
			"Done.",
		]);
		const boss = new Agent({ model, system: () => "You lead.", subagents: [helper.agent] });
		await (await boss.session("s").send("go", { caller: { user: "ada" } })).result();
		expect(asked).toEqual([{ sessionKey: expect.not.stringMatching(/^s$/), user: "ada" }]);
		expect(helper.sent()).toEqual(["You help.", "You help."]);
		expect(model.requests.map(({ system }) => system)).toEqual(["You lead.", "You lead."]);
	});

	test("prepareStep compares with its result, and can replace it for a step", async () => {
		const host = memoryHost();
		const { agent, sent } = agentWith(() => "Usual.", {
			host,
			prepareStep: ({ step }) => ({
				instructions: step === 1 ? "Usual." : [{ text: "Other.", cache: true }],
			}),
		});
		await (await agent.session("s").send("go")).result();
		expect(sent()).toEqual(["Usual.", "Other."]);
		const answers = (await host.journal.read("s")).flatMap(({ fact }) =>
			fact.kind === "assistant" ? [fact] : [],
		);
		expect(answers.map(({ prepared }) => prepared?.changed)).toEqual([undefined, ["instructions"]]);
		expect(answers[1]?.cacheBreak).toEqual({ reasons: ["instructions"], from: 0 });
	});

	test("an error of it ends the run, and nothing is sent", async () => {
		const { agent, model } = agentWith(() => {
			throw new Error("no text");
		});
		await expect(agent.generate("go")).rejects.toThrow("no text");
		const run = await agent.session("s").send("go");
		expect(await run.result()).toMatchObject({ outcome: "error", error: { message: "no text" } });
		expect(model.requests).toEqual([]);
	});

	test.each([
		["nothing", undefined],
		["a number", 1],
		["a part without text", [{ cache: true }]],
		["an unknown member", [{ text: "a", role: "system" }]],
	])("is refused with `invalid_system` if it returns %s", async (_, returned) => {
		const { agent, model } = agentWith((() => returned) as never);
		await expect(agent.generate("go")).rejects.toMatchObject({ code: "invalid_system" });
		const { error } = await (await agent.session("s").send("go")).result();
		expect(error).toMatchObject({ code: "invalid_system" });
		expect(model.requests).toEqual([]);
	});

	test("cannot wait for its own session", async () => {
		const { agent, model } = agentWith(async () => {
			await (await agent.session("s").send("inner")).result();
			return "Text.";
		});
		const result = await (await agent.session("s").send("go")).result();
		expect(result).toMatchObject({ outcome: "error", error: { code: "session_busy" } });
		await agent.close();
		expect(model.requests).toEqual([]);
	});

	test("a call that is stopped does not wait for it", async () => {
		const { agent } = agentWith(() => new Promise<string>(() => {}));
		const controller = new AbortController();
		const call = agent.generate("go", undefined, { signal: controller.signal });
		controller.abort();
		await expect(call).rejects.toMatchObject({ code: "CANCELLED" });
	});

	test("cannot be given with a strategy that asks its model itself, a function or an instance", async () => {
		const execution = { name: "own", execute: async () => ({}) as never, stream: () => ({}) as never };
		expect(() => agent({ model: modelOf(), system: () => "a", execution })).toThrow(
			expect.objectContaining({ code: "conflicting_options" }),
		);
		expect(() => agent({ model: (async () => []) as never, system: () => "a" })).toThrow(
			expect.objectContaining({ code: "invalid_option" }),
		);
	});

	test("a strategy that decides is sent its text in all of its calls", async () => {
		const execution = strategy({
			name: "twice",
			decide: ({ step }) =>
				step < 2 ? { kind: "model", tag: `t${step}`, tools: "withheld", step: "next" } : { kind: "finish" },
		});
		const { agent, sent } = agentWith(() => "Text.", { execution }, modelOf(0));
		await (await agent.session("s").send("go")).result();
		expect(sent()).toEqual(["Text.", "Text."]);
	});
});

/** Returns a different text each time. */
function counting(): SystemFunction & { count(): number } {
	let count = 0;
	return Object.assign(() => `Text ${++count}.`, { count: () => count });
}

describe("a run that is resumed in another process", () => {
	async function resumeEach(restored: (entries: readonly Entry[]) => Promise<Host> | Host): Promise<void> {
		const journal = memoryJournal();
		const first = agentWith(counting(), { host: journalHost(journal) }, modelOf(2));
		await (await first.agent.session("k").send("go")).result();
		await (await first.agent.session("k").send("go")).result();
		const entries = await journal.read("k");
		const second = entries.findLastIndex(({ fact }) => fact.kind === "run.started");
		for (let kept = second + 1; kept < entries.length; kept++) {
			const host = await restored(entries.slice(0, kept));
			const never: SystemFunction = () => "Another text.";
			const { agent, sent } = agentWith(never, { host }, modelOf(2));
			const result = await (await agent.session("k").resume())?.result();
			expect(result?.outcome).toBe("completed");
			expect(new Set(sent()), `cut after entry ${kept}`).toEqual(
				new Set(sent().length === 0 ? [] : ["Text 2."]),
			);
			const resumed = (await host.journal.read("k")).slice(kept);
			expect(resumed[0]?.fact).toMatchObject({ kind: "run.resumed" });
			expect(resumed[0]?.fact).not.toHaveProperty("agentChanged");
			expect(
				resumed.flatMap(({ fact }) => (fact.kind === "assistant" ? (fact.cacheBreak ?? []) : [])),
			).toEqual(
				kept === second + 1 || !entries.slice(second, kept).some(({ fact }) => fact.kind === "assistant")
					? [{ reasons: ["instructions"], from: 0 }]
					: [],
			);
			await agent.close();
			await host.close?.();
		}
	}

	test("is sent the text it began with, after a crash at any entry", () =>
		resumeEach((entries) => journalHost(cutOff(entries))));

	test("is sent the text it began with, from a file, after a crash at any entry", () =>
		resumeEach(async (entries) => {
			const path = `${temporaryFolder()}/journal.db`;
			const before = sqliteHost(path);
			const acquired = await before.journal.acquire("k");
			if (!acquired.ok) throw new Error("a new session is free");
			for (const { at, runId, fact } of entries) await acquired.lease.append({ at, runId, facts: [fact] });
			await acquired.lease.release();
			await before.close();
			return sqliteHost(path);
		}));
});

test("the folded history of a session keeps the text", async () => {
	const host = memoryHost();
	const { agent } = agentWith(() => "Text.", { host });
	await (await agent.session("s").send("go")).result();
	const entries = await host.journal.read("s");
	expect(foldEntries(entries).system?.system).toBe("Text.");
});

describe("parts as `system`", () => {
	const stable = { text: "Stable.", cache: true } as const;

	test("are sent as one text and as parts, with settings", async () => {
		const { agent, model } = agentWith([stable, { text: "One." }, { text: "Two." }]);
		await agent.generate("go");
		expect(model.requests[0]).toMatchObject({
			system: "Stable.\n\nOne.\n\nTwo.",
			systemParts: [stable, { text: "One.\n\nTwo." }],
		});
	});

	test("without settings are one text, with the fingerprint of that text", async () => {
		const host = memoryHost();
		const fingerprints: string[] = [];
		for (const system of ["One.\n\nTwo.", [{ text: "One." }, { text: "Two." }]]) {
			const { agent, model } = agentWith(system, { host });
			await (await agent.session("s").send("go")).result();
			expect(model.requests[0]?.systemParts).toBeUndefined();
		}
		for (const { fact } of await host.journal.read("s"))
			if (fact.kind === "run.started") fingerprints.push(fact.fingerprint);
		expect(new Set(fingerprints).size).toBe(1);
	});

	test("a part after the cached one can change without losing the cache of the first", async () => {
		const host = memoryHost();
		const model = modelOf();
		const stableText = "Stable. ".repeat(1_000);
		let day = 0;
		const system: SystemFunction = () => [{ text: stableText, cache: true }, { text: `Day ${++day}.` }];
		const { agent } = agentWith(system, { host }, model);
		await (await agent.session("s").send("go")).result();
		const { cacheReport } = await (await agent.session("s").send("go")).result();
		expect(cacheReport?.calls[0]?.cacheBreak).toEqual({ reasons: ["instructions"], from: 0 });
		expect(cacheReport?.calls[0]?.cachedTokens).toBeGreaterThan(stableText.length / 4);
	});

	test.each([
		["cache_unsupported", "a provider without breakpoints", {}, undefined],
		["conflicting_options", "the cache off", { cache: "off" }, "breakpoints"],
	] as const)("`cache` of a part is refused with `%s` for %s", async (code, _, more, promptCache) => {
		const model = scriptedModel(() => "Done.", promptCache === undefined ? {} : { promptCache });
		for (const system of [[stable], () => [stable]])
			await expect(async () => new Agent({ model, system, ...more }).generate("go")).rejects.toMatchObject({
				code,
			});
		expect(model.requests).toEqual([]);
	});

	test.each([
		["no text", [{}]],
		["three cached parts", [stable, stable, stable]],
		[
			"a cached part and an own breakpoint",
			[stable, { text: "a", providerOptions: { anthropic: { cacheControl: {} } } }],
		],
		["`cache: false`", [{ text: "a", cache: false }]],
		["options that are no record", [{ text: "a", providerOptions: { anthropic: 1 } }]],
		["a number", 1],
	])("are refused with `invalid_option` for %s", (_, system) => {
		for (const name of ["system", "instructions"])
			expect(() => new Agent({ model: modelOf(), [name]: system } as never)).toThrow(
				expect.objectContaining({ code: "invalid_option" }),
			);
	});
});
