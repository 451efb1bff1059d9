import { scriptedModel } from "@holdfast/testing";
import { AssistantMessage } from "@holdfast/upp";
import { describe, expect, test } from "vitest";
import { answer, anyTool, deafModel, lines, modelOf } from "../agent/agent.fixture.ts";
import { Agent } from "../agent/agent.ts";
import type { AcquireResult } from "../host/journal.ts";
import { memoryJournal } from "../host/memory-journal.ts";
import { drain } from "./drain.ts";
import { echo, eventsOf, gate, never, play, settled, shown, types } from "./sessions.fixture.ts";

const callLook = { toolCalls: [{ name: "look" }] };

describe("interrupt", () => {
	test.each(["model", "tool"])(
		"notifies the %s through its signal, ends the run, and lets the queue continue [SES-044]",
		async (at) => {
			const working = gate();
			const aborted = gate();
			const hang = (signal: AbortSignal | undefined): Promise<never> => {
				signal?.addEventListener("abort", () => aborted.open());
				working.open();
				return never;
			};
			const { session } = play(
				({ signal }, call) => {
					if (call > 0) return "Yes.";
					return at === "model" ? { gate: hang(signal) } : callLook;
				},
				{ tools: [anyTool("look", (_, { signal }) => hang(signal))] },
			);
			const first = eventsOf(await session.send("one"));
			const second = drain(await session.send("two"));
			await working.promise;
			session.interrupt();
			await aborted.promise;
			expect((await first).at(-1)).toEqual({ type: "turn-abort" });
			expect(await second).toEqual({ outcome: "completed", text: "Yes." });
		},
	);

	test("records the interrupted calls and the end of the run in one append: a crash cannot separate them", async () => {
		const working = gate();
		const journal = memoryJournal();
		const batches: string[][] = [];
		const acquire = journal.acquire.bind(journal);
		journal.acquire = (key, options) => {
			const acquired = acquire(key, options) as Exclude<AcquireResult, Promise<unknown>>;
			if (!acquired.ok) return acquired;
			const append = acquired.lease.append.bind(acquired.lease);
			acquired.lease.append = (batch) => {
				batches.push(batch.facts.map(({ kind }) => kind));
				return append(batch);
			};
			return acquired;
		};
		const hang = (): Promise<never> => {
			working.open();
			return never;
		};
		const { session } = play([callLook], { tools: [anyTool("look", hang)] }, journal);
		const run = await session.send("one");
		const over = run.result();
		await working.promise;
		session.interrupt();
		expect((await over).outcome).toBe("aborted");
		expect(batches.at(-1)).toEqual(["tool.settled", "run.ended"]);
	});

	test("of an idle session does nothing [SES-044]", async () => {
		const { session, journal } = play(echo);
		session.interrupt();
		await settled();
		expect(journal.list()).toEqual([]);
		await drain(await session.send("one"));
		session.interrupt();
		expect(await drain(await session.send("two"))).toEqual({ outcome: "completed", text: "re: two" });
	});

	test("keeps existing results and cancels the other calls: none is without a result [SES-045]", async () => {
		const { session, model } = play(
			(_, call) =>
				call === 0 ? { toolCalls: [{ name: "fast" }, { name: "slow" }, { name: "slow" }] } : "Yes.",
			{ tools: [anyTool("fast", () => "found"), anyTool("slow", () => never)] },
		);
		const all: string[] = [];
		for await (const event of (await session.send("go")).events()) {
			all.push(event.type);
			if (event.type === "tool-result" && event.toolName === "fast") session.interrupt();
		}
		expect(all.at(-1)).toBe("turn-abort");
		await drain(await session.send("again"));
		const cancelled = "The call was cancelled: the run was interrupted.";
		expect(shown(model)[1]).toEqual([
			"user: go",
			"assistant:  [fast, slow, slow]",
			`results: found, ${cancelled}!, ${cancelled}!`,
			"user: again",
		]);
	});
});

describe("kill", () => {
	test.each(["model", "tool"])(
		"ends the active and the queued runs even if the %s never settles; its handle can no longer be used [SES-046]",
		async (at) => {
			const working = gate();
			const look = anyTool("look", () => {
				working.open();
				return never; // and ignores all signals
			});
			const { model, asked } = deafModel();
			const { session } = play([callLook], { tools: [look], ...(at === "model" ? { model } : {}) });
			const all = [eventsOf(await session.send("one")), eventsOf(await session.send("two"))];
			await (at === "model" ? asked : working.promise);
			await session.kill();
			const [active, queued] = await Promise.all(all);
			const killed = { type: "turn-error", code: "session_killed", message: expect.any(String) };
			expect(active?.at(-1)).toEqual(killed);
			expect(queued).toEqual([killed]);
			await expect(session.send("three")).rejects.toMatchObject({ code: "session_killed" });
			await expect(session.steer("three")).rejects.toMatchObject({ code: "session_killed" });
		},
	);

	test("keeps committed data: a new handle continues from there [SES-047]", async () => {
		const asked = gate();
		const { session, agent, model } = play(
			(_, call) => {
				if (call === 1) asked.open();
				return [{ text: "I look.", ...callLook }, { gate: never }, "Yes."][call] ?? "";
			},
			{ tools: [anyTool("look", () => 1)] },
		);
		const all = eventsOf(await session.send("one"));
		await asked.promise;
		await session.kill();
		expect(types(await all).at(-1)).toBe("turn-error");
		expect(await drain(await agent.session("s").send("two"))).toEqual({ outcome: "completed", text: "Yes." });
		expect(shown(model)[2]).toEqual(["user: one", "assistant: I look. [look]", "results: 1", "user: two"]);
	});

	test.each(["send", "start"] as const)(
		"of an active run does not end what %s sends right after it [SES-047]",
		async (how) => {
			const asked = gate();
			const { session, agent } = play((_, call) => {
				if (call > 0) return "Yes.";
				asked.open();
				return { gate: never };
			});
			const active = (await session.send("one")).result();
			await asked.promise;
			const killed = session.kill();
			const next = agent.session("s")[how]("two");
			await killed;
			expect((await active).outcome).toBe("killed");
			expect(await drain(await next)).toEqual({ outcome: "completed", text: "Yes." });
		},
	);
});

describe("delete", () => {
	test("kills, and leaves nothing of the session and of its sub-agents' sessions [SES-048]", async () => {
		const helper = new Agent({
			name: "helper",
			description: "Helps.",
			model: scriptedModel(() => "Four."),
		});
		const delegate = { toolCalls: [{ name: "delegate_to_helper", arguments: { prompt: "2+2?" } }] };
		const { session, agent, model, journal } = play([delegate, "It is four.", { gate: never }, "Anew."], {
			subagents: [helper],
		});
		await drain(await session.send("one"));
		expect(journal.list().length).toBeGreaterThan(1);
		const ended = [eventsOf(await session.send("two")), eventsOf(await session.send("three"))];
		await settled();
		await session.delete();
		for (const events of ended) {
			expect((await events).at(-1)).toMatchObject({ type: "turn-error", code: "session_killed" });
		}
		expect(journal.list()).toEqual([]);
		await expect(session.send("four")).rejects.toMatchObject({ code: "session_killed" });
		const anew = agent.session("s");
		expect((await anew.state()).messages).toEqual([]);
		await drain(await anew.send("five"));
		expect(shown(model).at(-1)).toEqual(["user: five"]);
	});

	test("of an unknown key resolves [SES-048]", async () => {
		const { agent, journal } = play(echo);
		await expect(agent.session("unknown").delete()).resolves.toBeUndefined();
		expect(journal.list()).toEqual([]);
	});

	test.each(["model", "tool"])("is final: later output of the %s commits nothing [SES-049]", async (at) => {
		const working = gate();
		const held = gate();
		const late = async <T>(value: T): Promise<T> => {
			working.open();
			await held.promise; // regardless of the signal
			return value;
		};
		const model = modelOf({ complete: () => late(answer(new AssistantMessage("late"))) });
		const { session, agent, journal } = play([callLook, "Done."], {
			tools: [anyTool("look", () => late("late"))],
			...(at === "model" ? { model } : {}),
		});
		const all = eventsOf(await session.send("go"));
		await working.promise;
		await session.delete();
		held.open();
		await settled();
		expect(journal.list()).toEqual([]);
		expect(await journal.read("s")).toEqual([]);
		expect(await journal.head("s")).toBeUndefined();
		expect(lines((await agent.session("s").state()).messages)).toEqual([]);
		expect((await all).at(-1)).toMatchObject({ type: "turn-error", code: "session_killed" });
	});

	test("includes inputs on their way into the inbox at the time of the call", async () => {
		const [working, arriving, stored] = [gate(), gate(), gate()];
		const journal = memoryJournal();
		const submit = journal.submit.bind(journal);
		const { session, agent } = play(
			(_, call) => (call === 0 ? { gate: never, text: "never" } : "Yes."),
			{},
			journal,
		);
		void (await session.send("one")).result();
		journal.submit = async (key, input) => {
			arriving.open();
			await stored.promise;
			return submit(key, input);
		};
		const second = session.send("two").then(
			(run) => run.result(),
			(error: { code: string }) => ({ outcome: error.code }),
		);
		await arriving.promise;
		let isKilled = false;
		const killing = session.kill().then(() => {
			isKilled = true;
		});
		await settled();
		expect(isKilled).toBe(false);
		stored.open();
		await killing;
		working.open();
		expect(["killed", "session_killed"]).toContain((await second).outcome);
		expect(journal.inbox("s")).toEqual([]);
		expect(await agent.session("s").resume()).toBeNull();
	});

	test("leaves a handle that shows no waiting inputs either", async () => {
		const { session, agent } = play([{ toolCalls: [{ name: "ask" }] }, "Yes."], {
			tools: [{ name: "ask", description: "Asks somebody." }],
		});
		await (await session.send("go")).result();
		expect(await session.pending()).toHaveLength(1);
		await session.kill();
		await expect(session.pending()).rejects.toMatchObject({ code: "session_killed" });
		expect(await agent.session("s").pending()).toEqual([]);
	});
});
