import { join } from "node:path";
import { HoldfastError } from "@holdfast/upp";
import { describe, expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/shared/temporary-folder.fixture.ts";
import { anyTool, lines } from "../agent/agent.fixture.ts";
import type { AcquireResult, Lease } from "../host/journal.ts";
import { memoryJournal } from "../host/memory-journal.ts";
import { sqliteHost } from "../sqlite.ts";
import type { AgentRun } from "./agent-run.ts";
import { drain } from "./drain.ts";
import {
	echo,
	eventsOf,
	eventsWhile,
	gate,
	never,
	play,
	settled,
	shown,
	types,
	upTo,
} from "./sessions.fixture.ts";

/** The inputs that the run received while it ran, as its events show them. */
function said(text: string, placement: string) {
	return { type: "runtime-input", input: { type: "user-text", text }, placement };
}

const callLook = { toolCalls: [{ name: "look" }] };

describe("steering", () => {
	test("of a process that died before it was delivered is delivered by the next at its first boundary", async () => {
		const journal = memoryJournal();
		const entered = gate();
		const look = anyTool(
			"look",
			(_, { attempt }) => {
				entered.open();
				return attempt === 1 ? never : "seen";
			},
			{ retryPolicy: "pure" },
		);
		const first = play([callLook], { tools: [look] }, journal);
		const run = await first.session.send("go");
		void run.result();
		await entered.promise;
		await first.session.steer("also");
		await first.agent.close();
		const second = play(["done"], { tools: [look] }, journal);
		await (await second.session.resume())?.result();
		expect(shown(second.model)).toHaveLength(1);
		expect(shown(second.model)[0]?.at(-1)).toBe("user: also");
	});

	test("while another process has the run is not overtaken by later local messages after that process died", async () => {
		const store = memoryJournal();
		const [one, two] = [store.worker("one"), store.worker("two")];
		const entered = gate();
		const resume = gate();
		const look = anyTool(
			"look",
			async (_, { attempt }) => {
				if (attempt === 1) {
					entered.open();
					return never;
				}
				await resume.promise;
				return "seen";
			},
			{ retryPolicy: "pure" },
		);
		const first = play([callLook], { tools: [look] }, one);
		void (await first.session.send("go")).result();
		await entered.promise;
		const second = play(() => "done", { tools: [look] }, two);
		const early = await second.session.steer("early");
		await settled();
		one.die();
		void (await second.session.resume().catch(() => null))?.result();
		await expect.poll(() => store.read("s").filter(({ fact }) => fact.kind === "run.resumed").length).toBe(1);
		const late = await second.session.steer("late");
		resume.open();
		await Promise.all([early.result(), late.result()]);
		const users = (shown(second.model).at(-1) ?? []).filter((line) => line.startsWith("user"));
		expect(users).toEqual(["user: go", "user: early", "user: late"]);
	});

	test("that came too late starts as a turn once the store, which rejected it, is writable again", async () => {
		const journal = memoryJournal();
		const [ending, mayEnd] = [gate(), gate()];
		const timers = new Set<() => void>();
		let ends = 0;
		let refused = 0;
		/** Delays the end of the first run, and refuses the beginning of the second once. */
		const hinder = (lease: Lease): void => {
			const append = lease.append.bind(lease);
			lease.append = (batch) => {
				const kind = batch.facts[0]?.kind;
				if (kind === "run.started" && ends > 0 && refused++ === 0)
					throw new HoldfastError("journal_failed", "No room for a moment.", { retryable: true });
				if (kind !== "run.ended" || ends++ > 0) return append(batch);
				ending.open();
				return mayEnd.promise.then(() => append(batch));
			};
		};
		const acquire = journal.acquire.bind(journal);
		journal.acquire = (key, options) => {
			const acquired = acquire(key, options) as AcquireResult;
			if (acquired.ok) hinder(acquired.lease);
			return acquired;
		};
		const after = (_: number, wake: () => void): (() => void) => {
			timers.add(wake);
			return () => timers.delete(wake);
		};
		const { session, model } = play(
			[{ error: new Error("no line") }, "re: also"],
			{ ports: { timers: { after } } },
			journal,
		);
		const run = await session.send("go");
		const result = run.result();
		await ending.promise;
		expect(await session.steer("also")).toBe(run);
		mayEnd.open();
		await result;
		await settled();
		expect([refused, model.requests.length, journal.head("s")?.waiting]).toEqual([1, 1, 1]);
		for (const wake of timers) wake();
		await settled();
		expect(lines((await session.state()).messages)).toEqual([
			"user: go",
			"user: also",
			"assistant: re: also",
		]);
	});

	test("at turn-start appears before step-start, after the input of the turn [SES-034]", async () => {
		const { session, model } = play(echo);
		const events = await eventsWhile(await session.send("go"), "turn-start", () => session.steer("also"));
		expect(events.slice(1, 4)).toEqual([
			{ type: "turn-start" },
			said("also", "turn-start"),
			{ type: "step-start" },
		]);
		expect(shown(model)).toEqual([["user: go", "user: also"]]);
	});

	test("at step-start is in the model's request of that step, after all earlier messages [SES-035]", async () => {
		const { session, model } = play(echo);
		await drain(await session.send("before"));
		const events = await eventsWhile(await session.send("go"), "step-start", () => session.steer("also"));
		expect(events.slice(2, 4)).toEqual([{ type: "step-start" }, said("also", "step-start")]);
		expect(shown(model).slice(1)).toEqual([
			["user: before", "assistant: re: before", "user: go", "user: also"],
		]);
	});

	test("at step-end after the last text makes the turn continue for a step [SES-036]", async () => {
		const { session, model } = play(echo);
		const events = await eventsWhile(await session.send("go"), "step-end", () => session.steer("also"));
		expect(events.slice(3)).toEqual([
			{ type: "assistant-text", text: "re: go" },
			{ type: "step-end" },
			said("also", "step-end"),
			{ type: "step-start" },
			{ type: "assistant-text", text: "re: also" },
			{ type: "step-end" },
			{ type: "turn-end" },
		]);
		expect(shown(model)[1]).toEqual(["user: go", "assistant: re: go", "user: also"]);
	});

	test.each(["model", "tool"])(
		"while the %s works takes effect after that step, and not in the current call [SES-037]",
		async (at) => {
			const working = gate();
			const held = gate();
			const hold = () => {
				working.open();
				return held.promise;
			};
			const { session, model } = play(
				(_, call) => {
					if (call > 0) return "Done.";
					return at === "model" ? { text: "First.", gate: hold() } : callLook;
				},
				{ tools: [anyTool("look", hold)] },
			);
			const all = eventsOf(await session.send("go"));
			await working.promise;
			await session.steer("also");
			held.open();
			const events = await all;
			const end = events.findIndex(({ type }) => type === "step-end");
			expect(events[end + 1]).toEqual(said("also", "step-end"));
			expect(events.filter(({ type }) => type === "runtime-input")).toHaveLength(1);
			expect(shown(model)[0]).toEqual(["user: go"]);
			expect(shown(model)[1]?.at(-1)).toBe("user: also");
		},
	);

	test("an idle session is a run like any other [SES-038]", async () => {
		const { session } = play(echo);
		await drain(await session.send("before"));
		const events = await eventsOf(await session.steer("go"));
		expect(events[0]).toEqual({ type: "user-text", text: "go" });
		expect(types(events)).not.toContain("runtime-input");
		expect(events.at(-1)).toEqual({ type: "turn-end" });
	});

	test.each(["at turn-end", "at step-end, but is stored when the run has ended"])(
		"that arrives %s starts its own run and returns its handle [SES-041]",
		async (when) => {
			const stored = gate();
			const journal = memoryJournal();
			const submit = journal.submit.bind(journal);
			journal.submit = (key, input) =>
				input.kind === "steer" ? stored.promise.then(() => submit(key, input)) : submit(key, input);
			const { session } = play(echo, {}, journal);
			const first = await session.send("go");
			const events = first.events();
			await upTo(events, when === "at turn-end" ? "turn-end" : "step-end");
			const steering = session.steer("also");
			if (when !== "at turn-end") await upTo(events, "turn-end");
			stored.open();
			const steered = await steering;
			expect(steered.runId).not.toBe(first.runId);
			const emitted = await eventsOf(steered);
			expect(emitted[0]).toEqual({ type: "user-text", text: "also" });
			expect(types(emitted)).not.toContain("runtime-input");
			expect(emitted.at(-3)).toEqual({ type: "assistant-text", text: "re: also" });
			expect(lines((await session.state()).messages)).toHaveLength(4);
		},
	);

	test("resolves at once with the active run, even if others are queued [SES-039]", async () => {
		const { session, model } = play(() => ({ gate: never }));
		const active = await session.send("one");
		const queued = await session.send("two");
		void active.result();
		await settled();
		const steered = await session.steer("also");
		expect(steered).toBe(active);
		expect(steered.runId).not.toBe(queued.runId);
		expect(model.requests).toHaveLength(1);
	});

	test("twice in one window is delivered in order, each emitted, and is present after a reload [SES-040]", async () => {
		const folder = temporaryFolder();
		const path = join(folder, "host.db");
		const host = sqliteHost(path);
		const { session } = play(echo, { host });
		const events = await eventsWhile(await session.send("go"), "step-start", () =>
			Promise.all([session.steer("first"), session.steer("second")]),
		);
		expect(events.filter(({ type }) => type === "runtime-input")).toEqual([
			said("first", "step-start"),
			said("second", "step-start"),
		]);
		await host.close();
		const reopened = sqliteHost(path);
		const reloaded = play(echo, { host: reopened }).session;
		expect(lines((await reloaded.state()).messages)).toEqual([
			"user: go",
			"user: first",
			"user: second",
			"assistant: re: second",
		]);
		await reopened.close();
	});
});

describe("the queue of a session", () => {
	test("runs ten un-awaited turns in order, one at a time, each separately [SES-042]", async () => {
		let atWork = 0;
		let atOnce = 0;
		const { session, model } = play(async ({ messages }) => {
			atOnce = Math.max(atOnce, ++atWork);
			await settled();
			atWork--;
			return `re: ${messages.at(-1)?.text}`;
		});
		const texts = Array.from({ length: 10 }, (_, at) => `turn ${at}`);
		const runs = await Promise.all(texts.map((text) => session.send(text)));
		expect(new Set(runs.map(({ runId }) => runId)).size).toBe(10);
		const ended: string[] = [];
		const follow = async (run: AgentRun): Promise<void> => {
			const events = await eventsOf(run);
			expect(events.filter(({ type }) => type === "user-text")).toHaveLength(1);
			ended.push((events[0] as { text: string }).text);
		};
		await Promise.all(runs.toReversed().map(follow));
		expect(ended).toEqual(texts);
		expect(atOnce).toBe(1);
		expect(shown(model).at(-1)).toEqual([
			...texts.slice(0, 9).flatMap((text) => [`user: ${text}`, `assistant: re: ${text}`]),
			"user: turn 9",
		]);
	});

	test.each(["turn-error", "turn-abort"])(
		"continues after a run that ended with %s, from the committed state [SES-043]",
		async (end) => {
			const asked = gate();
			const { session, model } = play(
				(_, call) => {
					if (call === 0) return { text: "I look.", ...callLook };
					if (call > 1) return "Done.";
					asked.open();
					return end === "turn-error" ? { error: new Error("no line") } : { gate: never };
				},
				{ tools: [anyTool("look", () => 1)] },
			);
			const first = eventsOf(await session.send("one"));
			const second = drain(await session.send("two"));
			const third = drain(await session.send("three"));
			await asked.promise;
			if (end === "turn-abort") session.interrupt();
			expect((await first).at(-1)?.type).toBe(end);
			expect(await Promise.all([second, third])).toEqual([
				{ outcome: "completed", text: "Done." },
				{ outcome: "completed", text: "Done." },
			]);
			expect(shown(model)[2]).toEqual(["user: one", "assistant: I look. [look]", "results: 1", "user: two"]);
		},
	);

	test("ends a turn before the next starts, so that an event loop can send [SES-042]", async () => {
		const { session } = play(echo);
		const events = (await session.send("one")).events();
		const second = await session.send("two");
		await upTo(events, "step-end");
		const begun = second.events().next();
		await upTo(events, "turn-end");
		expect((await begun).value).toEqual({ type: "user-text", text: "two" });
	});
});
