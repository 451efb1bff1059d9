// Runs that are not resumed automatically: parked because of their crashes, or because the agent has changed.

import { type ScriptedReply, scriptedModel } from "@holdfast/testing";
import { messageToJSON, UserMessage } from "@holdfast/upp";
import { describe, expect, test } from "vitest";
import { Agent } from "../agent/agent.ts";
import type { AgentOptions } from "../agent/options.ts";
import { createInMemoryExecutionHost } from "../execution-host/in-memory.ts";
import type { RunEvent } from "../facts/events.ts";
import type { Entry, Fact } from "../facts/fact.ts";
import { journalHost } from "../host/host-port.ts";
import { type MemoryJournal, memoryJournal } from "../host/memory-journal.ts";
import type { AnyTool } from "../tools/types.ts";
import { never, settled } from "./sessions.fixture.ts";

type Script = (asked: string) => ScriptedReply | string;

let names = 0;

/** A worker over the sessions of another. Its model hangs unless a script is given. */
function worker(
	of: MemoryJournal,
	script: Script = () => ({ gate: never, text: "never" }),
	options: Partial<AgentOptions> = {},
): { readonly journal: MemoryJournal; readonly agent: Agent } {
	const journal = of.worker(`worker ${++names}`);
	const model = scriptedModel(({ messages }) => script((messages.at(-1) as { text?: string }).text ?? ""));
	return { journal, agent: new Agent({ model, host: journalHost(journal), ...options }) };
}

function factsOf<K extends Fact["kind"]>(journal: MemoryJournal, kind: K): Extract<Fact, { kind: K }>[] {
	const facts = (journal.read("s") as readonly Entry[]).map(({ fact }) => fact);
	return facts.filter((fact): fact is Extract<Fact, { kind: K }> => fact.kind === kind);
}

/** A session whose run has begun, and whose process has died this number of times during the model call. */
async function crashed(deaths: number, options: Partial<AgentOptions> = {}): Promise<MemoryJournal> {
	const store = memoryJournal();
	for (let death = 1; death <= deaths; death++) {
		const { journal, agent } = worker(store, undefined, options);
		const session = agent.session("s");
		void (await (death === 1 ? session.send("one") : session.resume()))?.result();
		await settled();
		journal.die();
	}
	return store.worker("living");
}

const echo: Script = (asked) => `re: ${asked}`;

describe("a run whose process dies repeatedly", () => {
	test("is resumed as often as `maxRestarts` says, then parked", async () => {
		const store = await crashed(3, { maxRestarts: 2 });
		const { agent, journal } = worker(store, echo, { maxRestarts: 2 });
		await expect(agent.session("s").resume()).rejects.toMatchObject({
			code: "run_parked",
			retryable: false,
			data: { reason: "crash", crashes: 3 },
		});
		expect(factsOf(journal, "run.parked")).toEqual([{ kind: "run.parked", reason: "crash", crashes: 3 }]);
		await expect(agent.session("s").resume()).rejects.toMatchObject({ code: "run_parked" });
		expect(factsOf(journal, "run.parked")).toHaveLength(1);
	});

	test("is not parked earlier, and never with Infinity", async () => {
		const twice = worker(await crashed(2, { maxRestarts: 2 }), echo, { maxRestarts: 2 });
		expect(await (await twice.agent.session("s").resume())?.result()).toMatchObject({ text: "re: one" });
		const forEver = { maxRestarts: Number.POSITIVE_INFINITY };
		const often = worker(await crashed(9, forEver), echo, forEver);
		expect(await (await often.agent.session("s").resume())?.result()).toMatchObject({ text: "re: one" });
	});

	test("is parked after five restarts by default", async () => {
		const fifth = worker(await crashed(5), echo);
		expect(await (await fifth.agent.session("s").resume())?.result()).toMatchObject({ outcome: "completed" });
		await expect(
			worker(await crashed(6))
				.agent.session("s")
				.resume(),
		).rejects.toThrow(/died 6 times/);
	});

	test("restarts its count after each finished step, but not after a call whose outcome is unknown", async () => {
		for (const retryPolicy of ["pure", "manual-recovery"] as const) {
			const store = memoryJournal();
			// Each process finishes the previous one's step, requests one more call, and dies during it.
			for (let death = 0; death < 3; death++) {
				let calls = 0;
				const tools: AnyTool[] = [
					{
						name: "work",
						description: "works",
						parameters: { type: "object", properties: {} },
						retryPolicy,
						run: () => (calls++ === 0 && death > 0 && retryPolicy === "pure" ? "done" : never),
					},
				];
				const script: Script = () => ({ toolCalls: [{ name: "work" }] });
				const { journal, agent } = worker(store, script, { tools, maxRestarts: 2 });
				const run = await (death === 0 ? agent.session("s").send("one") : agent.session("s").resume());
				void run?.result();
				await settled();
				journal.die();
			}
			const resumed = worker(store, undefined, { maxRestarts: 2 }).agent.session("s").resume();
			if (retryPolicy === "pure") expect((await resumed)?.runId).toBeDefined();
			else await expect(resumed).rejects.toMatchObject({ code: "run_parked" });
		}
	});

	test("is not parked for suspensions", async () => {
		const store = memoryJournal();
		for (let time = 1; time <= 4; time++) {
			const { agent } = worker(store, undefined, { maxRestarts: 1 });
			const run = await (time === 1 ? agent.session("s").send("one") : agent.session("s").resume());
			void run?.result();
			await settled();
			await agent.close();
		}
		const { agent } = worker(store, echo, { maxRestarts: 1 });
		expect(await (await agent.session("s").resume())?.result()).toMatchObject({ outcome: "completed" });
	});
});

describe("a parked run", () => {
	test("is yielded once by the recovery that parks it, and ignored by the next", async () => {
		const { agent, journal } = worker(await crashed(2, { maxRestarts: 1 }), echo, { maxRestarts: 1 });
		const seen: RunEvent[] = [];
		const outcomes: unknown[] = [];
		for await (const run of agent.recover()) {
			for await (const event of run.watch()) seen.push(event);
			outcomes.push(await run.result());
		}
		expect(outcomes).toMatchObject([{ outcome: "suspended", error: { code: "run_parked" } }]);
		expect(seen).toMatchObject([{ type: "run_suspended", reason: "parked", error: { code: "run_parked" } }]);
		expect(journal.head("s")).toMatchObject({ parked: true });
		for await (const run of agent.recover()) expect(run).toBeUndefined();
		expect(factsOf(journal, "run.resumed")).toHaveLength(1);
	});

	test("does not end the work of a worker, which yields it once and continues with others", async () => {
		const store = await crashed(2, { maxRestarts: 1 });
		const { agent } = worker(store, echo, { maxRestarts: 1 });
		const dead = store.worker("dead");
		await dead.submit("z", {
			id: "i",
			kind: "message",
			body: { shape: "text", message: messageToJSON(new UserMessage("two")) },
		});
		const outcomes: unknown[] = [];
		for await (const run of agent.work({ until: "done", lookEveryMs: 5 })) {
			const { outcome, text, error } = await run.result();
			outcomes.push([run.sessionKey, outcome, error?.code ?? text]);
		}
		expect(outcomes.sort()).toEqual([
			["s", "suspended", "run_parked"],
			["z", "completed", "re: two"],
		]);
	});

	test("queues inputs, which run after it once it is released", async () => {
		const { agent, journal } = worker(await crashed(2, { maxRestarts: 1 }), echo, { maxRestarts: 1 });
		const session = agent.session("s");
		const said = [await session.send("two"), await session.steer("three")];
		for (const run of said)
			expect(await run.result()).toMatchObject({ outcome: "suspended", error: { code: "run_parked" } });
		expect(journal.head("s")).toMatchObject({ parked: true, waiting: 2 });
		expect(await (await session.release())?.result()).toMatchObject({
			outcome: "completed",
			text: "re: one",
		});
		await expect.poll(() => journal.head("s")).toMatchObject({ waiting: 0 });
		await expect.poll(() => factsOf(journal, "run.ended")).toHaveLength(3);
		expect(factsOf(journal, "run.resumed").at(-1)?.reason).toBe("released");
		expect(await session.resume()).toBeNull();
		expect(await session.release()).toBeNull();
	});

	test("is followed by inputs that a living process accepted in the meantime, regardless of who releases it", async () => {
		const options = { maxRestarts: 1 };
		const store = await crashed(2, options);
		const [one, other] = [worker(store, echo, options), worker(store, echo, options)];
		const said = await one.agent.session("s").send("two");
		expect(await said.result()).toMatchObject({ outcome: "suspended", error: { code: "run_parked" } });
		for await (const run of one.agent.recover()) expect(run).toBeUndefined();
		const released = await other.agent.session("s").release();
		expect(await released?.result()).toMatchObject({ outcome: "completed", text: "re: one" });
		// The turn belongs to a living process, so no other may begin it.
		for await (const run of other.agent.recover()) expect(run).toBeUndefined();
		expect(one.journal.head("s")).toMatchObject({ waiting: 1 });
		const begun: unknown[] = [];
		for await (const run of one.agent.recover()) begun.push((await run.result()).text);
		expect(begun).toEqual(["re: two"]);
		for await (const run of one.agent.recover()) expect(run).toBeUndefined();
		expect(one.journal.head("s")).toMatchObject({ waiting: 0 });
	});

	test("has its crash count reset when it was released", async () => {
		const options = { maxRestarts: 1 };
		const store = await crashed(2, options);
		const { agent, journal } = worker(store, undefined, options);
		await expect(agent.session("s").resume()).rejects.toThrow();
		void (await agent.session("s").release())?.result();
		await settled();
		journal.die();
		const next = worker(store, echo, options);
		expect(await (await next.agent.session("s").resume())?.result()).toMatchObject({ outcome: "completed" });
	});

	test("is ended by a kill", async () => {
		const { agent, journal } = worker(await crashed(2, { maxRestarts: 1 }), echo, { maxRestarts: 1 });
		await expect(agent.session("s").resume()).rejects.toThrow();
		await agent.session("s").kill();
		expect(journal.head("s")).not.toHaveProperty("openRunId");
		expect(await (await agent.session("s").send("two")).result()).toMatchObject({ text: "re: two" });
	});

	test("is ended by a stop, without any of its tools, and queued turns follow", async () => {
		const ran: string[] = [];
		const tools: AnyTool[] = [
			{
				name: "deadly",
				description: "deadly",
				parameters: { type: "object", properties: {} },
				retryPolicy: "pure",
				run: () => void ran.push("again"),
			},
		];
		const store = memoryJournal();
		const options = { maxRestarts: 0, tools: [{ ...tools[0], run: () => never } as AnyTool] };
		const first = worker(store, () => ({ toolCalls: [{ name: "deadly" }] }), options);
		void (await first.agent.session("s").send("one")).result();
		await settled();
		first.journal.die();
		const { agent, journal } = worker(store, echo, { maxRestarts: 0, tools });
		const said = await agent.session("s").send("two");
		expect(await said.result()).toMatchObject({ error: { code: "run_parked" } });
		expect(await agent.session("s").stop()).toBe(true);
		expect(ran).toEqual([]);
		await expect
			.poll(() => factsOf(journal, "run.ended").map(({ outcome }) => outcome))
			.toEqual(["aborted", "completed"]);
		expect(journal.head("s")).not.toHaveProperty("parked");
	});

	test("that has ended cannot be stopped, and nothing is written", async () => {
		const store = await crashed(1, { maxRestarts: 0 });
		const parks = worker(store, echo, { maxRestarts: 0 });
		await expect(parks.agent.session("s").resume()).rejects.toMatchObject({ code: "run_parked" });
		await parks.agent.session("s").kill();
		const { agent, journal } = worker(store, echo, { maxRestarts: 0 });
		const written = journal.head("s")?.seq;
		expect(await agent.session("s").stop()).toBe(false);
		expect(journal.head("s")?.seq).toBe(written);
		expect(await (await agent.session("s").send("two")).result()).toMatchObject({ text: "re: two" });
	});

	test("is parked by only one worker, and a late one writes nothing", async () => {
		const store = await crashed(2, { maxRestarts: 1 });
		const workers = [1, 2, 3].map(() => worker(store, echo, { maxRestarts: 1 }).agent.session("s").resume());
		const outcomes = await Promise.allSettled(workers);
		expect(outcomes.map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected"]);
		expect(factsOf(store, "run.parked")).toHaveLength(1);
	});

	test("needs none of the caller's code to be parked", async () => {
		const plugins = [{ name: "deadly", setup: () => never }];
		const store = await crashed(2, { maxRestarts: 1 });
		const { agent } = worker(store, echo, { maxRestarts: 1, plugins });
		await expect(agent.session("s").resume()).rejects.toMatchObject({ code: "run_parked" });
	});

	test("is recorded as parked on a host that keeps runs, and can be released at once by another worker", async () => {
		const host = createInMemoryExecutionHost();
		const agentOf = (system: string, script: Script): Agent =>
			new Agent({
				model: scriptedModel(() => script("")),
				host,
				system,
				onAgentChange: "park",
			});
		const run = await agentOf("Be brief.", () => ({ gate: never, text: "never" }))
			.session("s")
			.send("one");
		void run.result();
		await settled();
		run.suspend();
		await run.result();
		await expect(agentOf("Be long.", echo).resume(run.runId)).rejects.toMatchObject({ code: "run_parked" });
		expect((await host.store.runs.get(run.runId))?.status).toBe("needs-recovery");
		await expect(agentOf("Be long.", echo).session("s").resume()).rejects.toMatchObject({
			code: "run_parked",
		});
		const released = await agentOf("Be long.", () => "done")
			.session("s")
			.release();
		expect(await released?.result()).toMatchObject({ outcome: "completed", text: "done" });
		expect((await host.store.runs.get(run.runId))?.status).toBe("completed");
	});
});

describe("an agent that changed during an active run", () => {
	const tool = (name: string): AnyTool => ({
		name,
		description: name,
		parameters: { type: "object", properties: {} },
		retryPolicy: "idempotent",
		run: () => never,
	});

	/** A run that was cut off inside a call of the tool `book`. */
	async function cutOff(): Promise<MemoryJournal> {
		const store = memoryJournal();
		const script: Script = () => ({ toolCalls: [{ name: "book" }, { name: "look" }] });
		const { journal, agent } = worker(store, script, {
			tools: [tool("book"), tool("look")],
			system: "Be brief.",
		});
		void (await agent.session("s").send("one")).result();
		await settled();
		journal.die();
		return store.worker("living");
	}
	const finishing: AnyTool = { ...tool("look"), run: () => "looked again" };

	test("continues with the new one; watchers and the journal get the changes", async () => {
		const { agent, journal } = worker(await cutOff(), () => "done", {
			tools: [finishing],
			system: "Be long.",
		});
		const run = await agent.session("s").resume();
		const events: RunEvent[] = [];
		for await (const event of run?.watch() ?? []) events.push(event);
		expect(events[0]).toMatchObject({
			type: "run_start",
			attempt: 2,
			agentChanged: ["instructions", "tools"],
		});
		expect(factsOf(journal, "run.resumed")).toMatchObject([{ agentChanged: ["instructions", "tools"] }]);
		// The call of a removed tool does not run again; that of a remaining one does.
		expect(factsOf(journal, "tool.settled")).toMatchObject([
			{ outcome: "unknown", result: expect.stringContaining("unknown") },
			{ outcome: "done", result: "looked again" },
		]);
		expect(await run?.result()).toMatchObject({ outcome: "completed", text: "done" });
	});

	test("is not recorded without changes, or a second time", async () => {
		const same = worker(await cutOff(), undefined, {
			tools: [tool("book"), tool("look")],
			system: "Be brief.",
		});
		void (await same.agent.session("s").resume())?.result();
		await settled();
		expect(factsOf(same.journal, "run.resumed")[0]).not.toHaveProperty("agentChanged");
		same.journal.die();
		for (const expected of [["instructions"], undefined]) {
			const other = worker(same.journal, undefined, {
				tools: [tool("book"), tool("look")],
				system: "Be long.",
			});
			void (await other.agent.session("s").resume())?.result();
			await settled();
			expect(factsOf(other.journal, "run.resumed").at(-1)?.agentChanged).toEqual(expected);
			other.journal.die();
		}
	});

	test('leaves the run parked with `onAgentChange: "park"`, until it is released', async () => {
		const options = { tools: [finishing], system: "Be brief.", onAgentChange: "park" as const };
		const { agent, journal } = worker(await cutOff(), () => "done", options);
		await expect(agent.session("s").resume()).rejects.toMatchObject({
			code: "run_parked",
			message: expect.stringContaining("tools"),
			data: { reason: "agent-changed" },
		});
		expect(journal.head("s")).toMatchObject({ parked: true });
		const run = await agent.session("s").release();
		expect(await run?.result()).toMatchObject({ outcome: "completed", text: "done" });
	});
});

test("`maxRestarts` and `onAgentChange` are checked when the agent is made", () => {
	const model = scriptedModel([]);
	for (const maxRestarts of [-1, 1.5, Number.NaN, "5"])
		expect(() => new Agent({ model, maxRestarts: maxRestarts as number })).toThrow(/`maxRestarts`/);
	expect(() => new Agent({ model, onAgentChange: "ask" as "park" })).toThrow(/`onAgentChange`/);
});
