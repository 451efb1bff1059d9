// Data from models, clients and stores is processed in linear time (keeps I7).
import { expect, test } from "vitest";
import { expectProportion } from "../../../test/shared/in-proportion.fixture.ts";
import { readModelOutput } from "./agent/read-model-output.ts";
import { placeItems } from "./checkpoint/sqlite/place-items.ts";
import { OpenAnswer } from "./execute/open-answer.ts";
import { memoryHost } from "./host/index.ts";
import { DeltaGate } from "./policy/delta-gate.ts";
import type { Delta, DeltaStage } from "./policy/interceptor.ts";
import { splitAnswers } from "./sessions/early-answers.ts";
import { SessionQueue } from "./sessions/session-queue.ts";
import { readPlan } from "./strategies/read-plan.ts";

const list = <T>(length: number, of: (index: number) => T): T[] =>
	Array.from({ length }, (_, index) => of(index));

const piece = (index: number, id: string, argumentsJson: string) =>
	({ type: "tool_call_delta", index, delta: { toolCallId: id, toolName: "t", argumentsJson } }) as const;

const plan = (steps: object[]): (() => unknown) => {
	return () => {
		try {
			return readPlan({ steps }, "", { maxSteps: 10, tools: [], completed: [] });
		} catch (error) {
			expect(error).toMatchObject({ code: "plan_invalid" });
			return undefined;
		}
	};
};
const step = (id: string, ...dependsOn: string[]): object => ({ id, description: "d", dependsOn });

const deltaOf = (text: string): Delta =>
	({ type: "model", step: 1, tag: "t", event: { type: "text_delta", index: 0, delta: { text } } }) as Delta;

/** Holds everything back until the end, then passes it to an asynchronous stage. */
function heldBack(count: number): () => Promise<void> {
	return async () => {
		const held: Delta[] = [];
		const hold = (delta: Delta): readonly Delta[] => {
			held.push(delta);
			return [];
		};
		const holds: DeltaStage = { push: hold, flush: () => held };
		const waits: DeltaStage = { push: async (delta) => [delta], flush: () => [] };
		const gate = new DeltaGate([holds, waits]);
		for (let at = 0; at < count; at++) gate.push(deltaOf("x"), () => {});
		let released = 0;
		await gate.flush({ model: true }, () => released++);
		expect(released).toBe(count);
	};
}

function answerOf(events: readonly Parameters<OpenAnswer["add"]>[0][]): () => void {
	return () => {
		const answer = new OpenAnswer();
		for (const event of events) answer.add(event);
		answer.cut();
	};
}

/** This many inputs wait for a session and are accepted at once. */
function inbox(count: number): () => Promise<void> {
	return async () => {
		const { journal } = memoryHost();
		const taken = await journal.acquire("s", { mode: "seize" });
		if (!taken.ok) throw new Error("the session is not held");
		const ids = list(count, (index) => `i${index}`);
		for (const id of ids) await journal.submit("s", { id, kind: "steer", body: {} });
		await taken.lease.append({ at: 0, runId: "r", facts: [], drain: ids });
		expect(taken.lease.inbox?.()).toEqual([]);
	};
}

/** This many requests are queued for a session. */
function inLine(count: number): () => Promise<void> {
	return async () => {
		const fence = Promise.withResolvers<void>();
		const actor = { isIdle: true, ownWork() {}, ensureUsable() {} };
		const table = { isDraining: false, makeActor: () => actor, moment() {}, rested() {} };
		const queue = new SessionQueue(table as never, "s", "s", fence.promise);
		const asked = list(count, (index) => queue.ask("look", () => index));
		fence.resolve();
		expect((await Promise.all(asked)).at(-1)).toBe(count - 1);
	};
}

/** Work of a given size. */
const shapes: Readonly<Record<string, (n: number) => () => unknown>> = {
	"calls that grow by turns": (n) => answerOf(list(n * 4, (index) => piece(index % n, `${index % n}`, "x"))),
	"calls that come from the last to the first": (n) =>
		answerOf(list(n, (index) => piece(n - 1 - index, `${n - 1 - index}`, "x"))),
	"calls at one place": (n) => answerOf(list(n, (index) => piece(0, `${index}`, "x"))),
	"steps that free one each": (n) =>
		plan([...list(n, (index) => step(`a${index}`)), ...list(n, (index) => step(`b${index}`, `a${index}`))]),
	"a step that frees all others": (n) => plan([step("a"), ...list(n, (index) => step(`b${index}`, "a"))]),
	"steps that wait for each other": (n) =>
		plan([...list(n, (index) => step(`a${index}`)), ...list(n, (index) => step(`b${index}`, `b${index}`))]),
	"deltas that are held back": heldBack,
	"a model function that calls much, and answers it all": (n) => {
		const toolName = "t";
		const calls = list(Math.min(n, 1_000), (index) => ({
			type: "tool-call",
			toolCallId: `${index}`,
			toolName,
		}));
		const result = { type: "text", value: "x" };
		const results = calls.map(({ toolCallId }) => ({
			type: "tool-result",
			toolCallId,
			toolName,
			output: result,
		}));
		const said = list(n / 1_000, () => [
			{ role: "assistant", content: calls },
			{ role: "tool", content: results },
		]).flat();
		return () => readModelOutput(said);
	},
	"answers of sub-agents": (n) => {
		const calls = list(n, (index) => ({ id: `${index}` }));
		const run = { children: [{ callId: "c", calls }], calls: [] };
		const answers = list(n, (index) => ({ toolCallId: `${index}`, output: 1 }));
		return () => splitAnswers(run as never, answers);
	},
	"inputs that wait": inbox,
	"requests in line": inLine,
	"items that are all the same, after the first is gone": (n) => {
		const numbers = list(n, (index) => index + 1);
		const digests = list(n, (index) => (index === 0 ? "first" : "same"));
		return () => placeItems({ numbers, digests }, digests.slice(1));
	},
};

test.each(Object.entries(shapes))("%s", async (_, workOf) => {
	await expectProportion(64_000, workOf);
});
