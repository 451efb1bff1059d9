// Calls that wait for an outside answer while another call of the same model answer still runs: shown and answered at
// once.
import { manualTime, scriptedModel } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { anyTool } from "../agent/agent.fixture.ts";
import { Agent } from "../agent/agent.ts";
import type { AgentOptions } from "../agent/options.ts";
import type { Fact } from "../facts/fact.ts";
import { journalHost } from "../host/host-port.ts";
import { type MemoryJournal, memoryJournal } from "../host/memory-journal.ts";
import type { AnyTool } from "../tools/types.ts";
import { eventsOf, gate, play, upTo } from "./sessions.fixture.ts";

const parameters = { type: "object", properties: { path: { type: "string" } } } as const;
const locate: AnyTool = { name: "locate", description: "Where the user is.", parameters };

/** A tool that requires approval, and the inputs that it ran with. */
function removal(ran: unknown[], options: Partial<AnyTool> = {}): AnyTool {
	const run = (input: unknown) => {
		ran.push(input);
		return "removed";
	};
	const asks = { name: "remove", description: "Removes a file.", parameters, needsApproval: true, run };
	return { ...asks, ...options } as AnyTool;
}

const both = {
	toolCalls: [
		{ name: "remove", id: "r", arguments: { path: "/tmp" } },
		{ name: "slow", id: "s" },
	],
};

/** A session whose run has a waiting call, and another call that works until `slow` is opened. */
async function asked(options: Partial<AgentOptions> = {}, ran: unknown[] = [], reply: object = both) {
	const slow = gate();
	const working = anyTool("slow", async () => {
		await slow.promise;
		return "slowly";
	});
	const played = play([reply, "done"], { tools: [removal(ran), locate, working], ...options });
	const run = await played.session.send("go");
	const events = run.events();
	const seen = await upTo(events, "tools-pending");
	void run.result();
	return { ...played, run, slow, ran, seen };
}

const kindsOf = async (journal: MemoryJournal): Promise<string[]> =>
	(await journal.read("s")).map(({ fact }) => fact.kind);

describe("a call that waits while another call runs", () => {
	test("is shown at once, approved at once, and runs before the other has ended", async () => {
		const { session, run, slow, ran, seen, journal } = await asked();
		const [call] = await session.pending();
		expect(call).toEqual({
			runId: run.runId,
			toolCallId: "r",
			toolName: "remove",
			arguments: { path: "/tmp" },
			awaits: "approval",
		});
		expect(seen.at(-1)).toEqual({ type: "tools-pending", toolCalls: [call] });
		const taken = await session.answer([{ toolCallId: "r", approved: true }]);
		expect(taken.runId).toBe(run.runId);
		const rest = eventsOf(taken);
		await expect.poll(() => ran).toEqual([{ path: "/tmp" }]);
		expect(await session.pending()).toEqual([]);
		slow.open();
		expect(await run.result()).toMatchObject({ outcome: "completed", text: "done" });
		expect(await taken.result()).toMatchObject({ outcome: "completed", text: "done" });
		expect((await rest).map(({ type }) => type)).toEqual(
			expect.arrayContaining(["tool-call", "tool-result", "turn-end"]),
		);
		expect(await kindsOf(journal)).not.toContain("waiting");
	});

	test("costs no additional append", async () => {
		const journal = memoryJournal();
		const appended: string[][] = [];
		const acquire = journal.acquire.bind(journal);
		journal.acquire = async (key, options) => {
			const acquired = await acquire(key, options);
			if (!acquired.ok) return acquired;
			const { lease } = acquired;
			const append = lease.append.bind(lease);
			lease.append = (batch) => {
				if (batch.facts.length > 0) appended.push(batch.facts.map(({ kind }) => kind));
				return append(batch);
			};
			return acquired;
		};
		const ran: unknown[] = [];
		const slow = gate();
		const tools = [removal(ran), anyTool("slow", () => slow.promise)];
		const { session } = play([both, "done"], { tools }, journal);
		const run = await session.send("go");
		await upTo(run.events(), "tools-pending");
		expect(appended.at(-1)).toEqual(["assistant", "tool.started", "tools.pending"]);
		slow.open();
		expect(await run.result()).toMatchObject({ outcome: "waiting" });
		expect(appended.at(-1)).toEqual(["waiting"]);
	});

	test("is denied at once, and the model reads why", async () => {
		const { session, run, slow, ran, model } = await asked();
		await session.answer([{ toolCallId: "r", approved: false, reason: "too dear" }]);
		expect(await session.pending()).toEqual([]);
		slow.open();
		expect(await run.result()).toMatchObject({ outcome: "completed", text: "done" });
		expect(JSON.stringify(model.requests[1])).toContain("was not approved: too dear");
		expect(ran).toEqual([]);
	});

	test("runs with the input that an approval provides", async () => {
		const ran: unknown[] = [];
		const slow = gate();
		const tools = [removal(ran, { editableApproval: true }), anyTool("slow", () => slow.promise)];
		const { session } = play([both, "done"], { tools });
		const run = await session.send("go");
		await upTo(run.events(), "tools-pending");
		await session.answer([{ toolCallId: "r", approved: true, input: { path: "/var" } }]);
		slow.open();
		expect(await run.result()).toMatchObject({ outcome: "completed" });
		expect(ran).toEqual([{ path: "/var" }]);
	});

	test("gets the result of a remote tool while the other call runs", async () => {
		const reply = {
			toolCalls: [
				{ name: "locate", id: "l" },
				{ name: "slow", id: "s" },
			],
		};
		const { session, run, slow, model } = await asked({}, [], reply);
		await session.answer([{ toolCallId: "l", output: "Rome" }]);
		slow.open();
		expect(await run.result()).toMatchObject({ outcome: "completed" });
		expect(model.requests[1]?.messages.at(-1)).toMatchObject({
			results: [
				{ toolCallId: "l", result: "Rome" },
				{ toolCallId: "s", result: "slowly" },
			],
		});
	});

	test("accepts the first of two answers, and the same again", async () => {
		const { session, run, slow, ran } = await asked();
		const answers = await Promise.allSettled([
			session.answer([{ toolCallId: "r", approved: true }]),
			session.answer([{ toolCallId: "r", approved: false }]),
			session.answer([{ toolCallId: "x", approved: true }]),
		]);
		expect(answers.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "rejected"]);
		slow.open();
		expect(await run.result()).toMatchObject({ outcome: "completed" });
		expect(ran).toHaveLength(1);
	});

	test("keeps waiting when the other has ended, and is then answered as usual", async () => {
		const { session, run, slow, ran } = await asked();
		slow.open();
		expect(await run.result()).toMatchObject({ outcome: "waiting", pending: [{ toolCallId: "r" }] });
		const next = await session.answer([{ toolCallId: "r", approved: true }]);
		expect(await next.result()).toMatchObject({ outcome: "completed", text: "done" });
		expect(ran).toHaveLength(1);
	});

	test("is answered at the moment the other ends", async () => {
		for (let steps = 0; steps < 30; steps++) {
			const { session, slow, ran } = await asked();
			slow.open();
			for (let step = 0; step < steps; step++) await null;
			const next = await session.answer([{ toolCallId: "r", approved: true }]);
			expect(await next.result()).toMatchObject({ outcome: "completed", text: "done" });
			expect(ran).toHaveLength(1);
			expect(await session.pending()).toEqual([]);
		}
	});

	test.each(["interrupt", "stop", "kill"] as const)("ends with %s", async (how) => {
		const { session, run, ran, agent } = await asked();
		await session[how]();
		const outcome = how === "kill" ? "killed" : "aborted";
		expect(await run.result()).toMatchObject({ outcome });
		const after = agent.session("s");
		expect(await after.pending()).toEqual([]);
		await expect(after.answer([{ toolCallId: "r", approved: true }])).rejects.toMatchObject({
			code: "no_pending_tool_calls",
		});
		expect(ran).toEqual([]);
	});

	test("is shown again after a suspension, with its answer kept", async () => {
		const { session, agent, ran, journal, run } = await asked();
		await session.answer([{ toolCallId: "r", approved: true }]);
		await agent.close();
		expect(await run.result()).toMatchObject({ outcome: "suspended" });
		expect(ran).toHaveLength(1);
		const again = new Agent({
			model: scriptedModel(["done"]),
			tools: [removal(ran), anyTool("slow", () => "again", { retryPolicy: "pure" })],
			host: journalHost(journal),
		});
		const resumed = await again.session("s").resume();
		expect(await resumed?.result()).toMatchObject({ outcome: "completed" });
		expect(ran).toHaveLength(1);
	});
});

describe("a call with a deadline", () => {
	test("expires while the other runs", async () => {
		const time = manualTime();
		const slow = gate();
		const model = scriptedModel([
			{
				toolCalls: [
					{ name: "locate", id: "l" },
					{ name: "slow", id: "s" },
				],
			},
			"done",
		]);
		const { session } = play([], {
			model,
			ports: time.ports,
			remoteToolTimeoutMs: 5_000,
			tools: [locate, anyTool("slow", () => slow.promise)],
		});
		const run = await session.send("go");
		await upTo(run.events(), "tools-pending");
		void run.result();
		expect(await session.pending()).toMatchObject([{ deadline: 1_005_000 }]);
		time.pass(5_000);
		await expect.poll(() => session.pending()).toEqual([]);
		await expect(session.answer([{ toolCallId: "l", output: 1 }])).rejects.toMatchObject({
			code: expect.stringMatching(/tool_result_expired|session_busy/) as string,
		});
		slow.open();
		expect(await run.result()).toMatchObject({ outcome: "completed" });
		expect(JSON.stringify(model.requests[1])).toContain("within 5000 ms");
	});
});

describe("another process", () => {
	/** Two workers on one store; the first drives a run with a waiting call. */
	async function twoWorkers() {
		const store = memoryJournal({ workerId: "one" });
		const second = store.worker("two");
		const committing: { before?: (facts: readonly Fact[]) => Promise<void> } = {};
		const acquire = store.acquire.bind(store);
		store.acquire = async (key, options) => {
			const acquired = await acquire(key, options);
			if (!acquired.ok) return acquired;
			const append = acquired.lease.append.bind(acquired.lease);
			acquired.lease.append = async (batch) => {
				await committing.before?.(batch.facts);
				return append(batch);
			};
			return acquired;
		};
		const ran: string[] = [];
		const slow = gate();
		const tools = (worker: string): AnyTool[] => [
			removal([], { run: () => void ran.push(worker) }),
			anyTool("slow", () => (worker === "one" ? slow.promise : "again"), { retryPolicy: "pure" }),
		];
		const script = [both, "done"];
		const one = new Agent({ model: scriptedModel(script), tools: tools("one"), host: journalHost(store) });
		const two = new Agent({ model: scriptedModel(["done"]), tools: tools("two"), host: journalHost(second) });
		const run = await one.session("s").send("go");
		await upTo(run.events(), "tools-pending");
		void run.result();
		return { one, two, run, slow, ran, store, second, committing };
	}

	test("sees the call, and its answer is used when the round has ended", async () => {
		const { two, run, slow, ran } = await twoWorkers();
		const session = two.session("s");
		expect(await session.pending()).toMatchObject([{ toolCallId: "r", awaits: "approval" }]);
		const given = await session.answer([{ toolCallId: "r", approved: true }]);
		expect(await given.result()).toMatchObject({ outcome: "suspended", error: { code: "lease_lost" } });
		expect(await session.pending()).toEqual([]);
		// The same answer again, then a different one.
		await session.answer([{ toolCallId: "r", approved: true }]);
		await expect(session.answer([{ toolCallId: "r", approved: false }])).rejects.toMatchObject({
			code: "tool_call_settled",
		});
		await expect(session.answer([{ toolCallId: "x", approved: true }])).rejects.toMatchObject({
			code: "unknown_tool_call_id",
		});
		slow.open();
		expect(await run.result()).toMatchObject({ outcome: "completed", text: "done" });
		expect(ran).toEqual(["one"]);
	});

	test.each([
		["before", "tool_call_settled"],
		["same", undefined],
	] as const)("is rejected if the owner was first between reading and the inbox: %s", async (which, code) => {
		const { one, two, run, slow, ran, second } = await twoWorkers();
		const submit = second.submit.bind(second);
		second.submit = async (key, input) => {
			await one.session("s").answer([{ toolCallId: "r", approved: which === "same" }]);
			return submit(key, input);
		};
		const given = two.session("s").answer([{ toolCallId: "r", approved: true }]);
		if (code === undefined) await given;
		else await expect(given).rejects.toMatchObject({ code, data: { toolCallId: "r" } });
		slow.open();
		expect(await run.result()).toMatchObject({ outcome: "completed" });
		expect(ran).toEqual(which === "same" ? ["one"] : []);
	});

	test("precedes an answer that the owner commits after it", async () => {
		const { one, two, run, slow, ran, committing } = await twoWorkers();
		let late: Promise<unknown> | undefined;
		committing.before = async (facts) => {
			if (late !== undefined || facts.every(({ kind }) => kind !== "decision")) return;
			late = two.session("s").answer([{ toolCallId: "r", approved: true }]);
			await late;
		};
		await expect(one.session("s").answer([{ toolCallId: "r", approved: false }])).rejects.toMatchObject({
			code: "tool_call_settled",
		});
		slow.open();
		expect(await run.result()).toMatchObject({ outcome: "completed" });
		expect(ran).toEqual(["one"]);
	});

	test("is rejected if another answer is in the inbox before it", async () => {
		const { two, run, slow, ran, second } = await twoWorkers();
		const submit = second.submit.bind(second);
		second.submit = async (key, input) => {
			second.submit = submit;
			await submit(key, { ...input, id: "other", body: { answers: [{ toolCallId: "r", approved: false }] } });
			return submit(key, input);
		};
		await expect(two.session("s").answer([{ toolCallId: "r", approved: true }])).rejects.toMatchObject({
			code: "tool_call_settled",
		});
		slow.open();
		expect(await run.result()).toMatchObject({ outcome: "completed" });
		expect(ran).toEqual([]);
	});

	test("denies it", async () => {
		const { two, run, slow, ran, store } = await twoWorkers();
		await two.session("s").answer([{ toolCallId: "r", approved: false, reason: "no" }]);
		slow.open();
		expect(await run.result()).toMatchObject({ outcome: "completed" });
		expect(ran).toEqual([]);
		expect(await store.inbox("s")).toEqual([]);
	});

	test("answers it at the moment the other call ends", async () => {
		for (let steps = 0; steps < 40; steps++) {
			const { two, run, slow, ran, store } = await twoWorkers();
			slow.open();
			for (let step = 0; step < steps; step++) await null;
			const given = await two.session("s").answer([{ toolCallId: "r", approved: true }]);
			await Promise.all([given.result(), run.result()]);
			await expect.poll(async () => (await store.head("s"))?.openRunId, { interval: 1 }).toBe(undefined);
			expect(ran).toHaveLength(1);
			expect(await store.inbox("s")).toEqual([]);
		}
	});

	test.each(["interrupted where it works", "ended by who answered it"])(
		"leaves no answer for a run that is %s",
		async (how) => {
			const { two, run, store } = await twoWorkers();
			await two.session("s").answer([{ toolCallId: "r", approved: true }]);
			expect(await store.inbox("s")).toHaveLength(1);
			if (how === "interrupted where it works") run.interrupt();
			else await two.session("s").stop();
			await expect.poll(() => store.inbox("s"), { interval: 1 }).toEqual([]);
			expect((await store.head("s"))?.openRunId).toBeUndefined();
		},
	);

	test("finds no answer for a run that ended without it after reading the session", async () => {
		const { two, run, slow, store } = await twoWorkers();
		await two.session("s").answer([{ toolCallId: "r", approved: true }]);
		slow.open();
		await run.result();
		store.submit("s", { id: "late", kind: "tool-result", runId: run.runId, body: { answers: [] } });
		expect(await two.session("s").resume()).toBeNull();
		expect(await store.inbox("s")).toEqual([]);
	});

	test("takes over the run with the answer when its process dies", async () => {
		const { two, ran, store } = await twoWorkers();
		const session = two.session("s");
		await session.answer([{ toolCallId: "r", approved: true }]);
		store.die();
		const resumed = await session.resume();
		expect(await resumed?.result()).toMatchObject({ outcome: "completed", text: "done" });
		expect(ran).toEqual(["two"]);
		expect(await store.inbox("s")).toEqual([]);
	});

	test("answers a call of a process that has died, which continues the run", async () => {
		const { two, ran, store } = await twoWorkers();
		store.die();
		const session = two.session("s");
		expect(await session.pending()).toMatchObject([{ toolCallId: "r" }]);
		const run = await session.answer([{ toolCallId: "r", approved: true }]);
		expect(await run.result()).toMatchObject({ outcome: "completed", text: "done" });
		expect(ran).toEqual(["two"]);
	});
});
