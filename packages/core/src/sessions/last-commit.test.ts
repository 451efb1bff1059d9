// The last answer of a run and its end are one append where nobody can step in between.
import { scriptedModel } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { Agent } from "../agent/agent.ts";
import type { AgentOptions } from "../agent/options.ts";
import { acceptInput, saidBy, storedInput } from "../facts/index.ts";
import { journalHost } from "../host/host-port.ts";
import type { AcquireResult } from "../host/journal.ts";
import { type MemoryJournal, memoryJournal } from "../host/memory-journal.ts";
import { loop } from "../strategies/loop.ts";
import { strategy } from "../strategies/strategy.ts";
import { gate, types, upTo } from "./sessions.fixture.ts";

/** A journal, and the kinds of facts of each append that came to it. */
function recorded(): { readonly journal: MemoryJournal; readonly appends: string[] } {
	const journal = memoryJournal();
	const appends: string[] = [];
	const acquire = journal.acquire.bind(journal);
	journal.acquire = (key, options) => {
		const acquired = acquire(key, options) as AcquireResult;
		if (!acquired.ok) return acquired;
		const { lease } = acquired;
		const append = lease.append.bind(lease);
		lease.append = (batch) => {
			appends.push(batch.facts.map(({ kind }) => kind).join("+"));
			return append(batch);
		};
		return acquired;
	};
	return { journal, appends };
}

function sessionOf(journal: MemoryJournal, options: Partial<AgentOptions> = {}) {
	const model = scriptedModel(["Good morning."]);
	return new Agent({ model, host: journalHost(journal), ...options }).session("s");
}

const begin = "run.started+input";

describe("the last answer of a run", () => {
	test("is appended with the end of the run; watchers and followers see the end of the step between them", async () => {
		const { journal, appends } = recorded();
		const session = sessionOf(journal);
		const run = await session.send("Hello");
		const watched: string[] = [];
		for await (const { type } of run.watch()) watched.push(type);
		expect(appends).toEqual([begin, "assistant+run.ended"]);
		const last = ["message", "step_end", "run_end"];
		expect(watched.slice(-3)).toEqual(last);
		const followed: { id: string; type: string }[] = [];
		for await (const { id, event } of session.follow({ until: "complete" }))
			followed.push({ id, type: event.type });
		expect(followed.slice(-3).map(({ type }) => type)).toEqual(last);
		const ids = followed.map(({ id }) => id);
		expect(new Set(ids).size).toBe(ids.length);
	});

	test("is appended alone where something waits by then, and the run takes it in", async () => {
		const { journal, appends } = recorded();
		const [asked, answer] = [gate(), gate()];
		const model = scriptedModel(({ messages }) => {
			asked.open();
			return { text: `to ${messages.length}`, gate: answer.promise };
		});
		const run = await sessionOf(journal, { model }).send("Hello");
		const ended = run.result();
		await asked.promise;
		// By another process: this one has not heard of it.
		const body = storedInput(saidBy(acceptInput("And?"), undefined));
		journal.submit("s", { id: "and", kind: "steer", runId: run.runId, body });
		answer.open();
		expect((await ended).text).toBe("to 3");
		const refused = "assistant+run.ended";
		expect(appends).toEqual([begin, refused, "assistant", "run.ended", "input", "assistant+run.ended"]);
	});

	test("is appended before its end where a consumer reads the events and may steer at the end of the step", async () => {
		const { journal, appends } = recorded();
		const model = scriptedModel(["First.", "Second."]);
		const session = sessionOf(journal, { model });
		const run = await session.send("Hello");
		const events = run.events();
		expect(types(await upTo(events, "step-end")).at(-1)).toBe("step-end");
		await session.steer("And?");
		await upTo(events, "turn-end");
		expect(appends).toEqual([begin, "assistant", "input", "assistant", "run.ended"]);
	});

	test("is on record where the strategy then fails", async () => {
		const { journal, appends } = recorded();
		const own = loop();
		const execution = strategy({
			name: "fails",
			decide: (situation) => {
				if (situation.last.kind === "assistant") throw new Error("no idea");
				return own.decide(situation);
			},
		});
		const run = await sessionOf(journal, { execution }).send("Hello");
		expect(await run.result()).toMatchObject({ outcome: "error", text: "Good morning." });
		expect(appends).toEqual([begin, "assistant", "run.ended"]);
	});
});
