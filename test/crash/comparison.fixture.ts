// Holds a run that was killed and resumed against the one that was left alone.
import type { Entry, Fact } from "holdfast/host";
import { expect } from "vitest";
import type { SeenRequest } from "./planned-model.fixture.ts";
import type { World } from "./world.fixture.ts";

/** What a run left. */
export interface Trace {
	readonly entries: readonly Entry[];
	readonly requests: readonly SeenRequest[];
	readonly text: string;
}

type Kind<K extends Fact["kind"]> = Extract<Fact, { kind: K }>;

/** The facts of a kind, in order. */
export function factsOf<K extends Fact["kind"]>(entries: readonly Entry[], kind: K): readonly Kind<K>[] {
	return entries.map(({ fact }) => fact).filter((fact): fact is Kind<K> => fact.kind === kind);
}

/** Reads what the runs of a world left. */
export async function traceOf(world: World): Promise<Trace> {
	const entries = await world.entries();
	const text = factsOf(entries, "assistant").at(-1)?.message.text ?? "";
	return { entries, requests: world.requests(), text };
}

/** Calls of manual-recovery tools that were started and had no result when the process died. */
export function cutOff(entries: readonly Entry[]): readonly string[] {
	const settled = new Set(factsOf(entries, "tool.settled").map(({ callId }) => callId));
	return factsOf(entries, "tool.started")
		.filter(({ name, callId }) => name.startsWith("record") && !settled.has(callId))
		.map(({ callId }) => callId);
}

/** Entries are numbered without gaps, and each run has one start and one end, which is its last fact. */
export function expectWellFormed(entries: readonly Entry[]): void {
	expect(entries.map(({ seq }) => seq)).toEqual(entries.map((_, index) => index + 1));
	for (const runId of new Set(entries.map((entry) => entry.runId))) {
		const kinds = entries.filter((entry) => entry.runId === runId).map(({ fact }) => fact.kind);
		expect(kinds[0]).toBe("run.started");
		expect(kinds.at(-1)).toBe("run.ended");
		for (const once of ["run.started", "run.ended", "input"]) {
			expect(kinds.filter((kind) => kind === once)).toHaveLength(1);
		}
	}
	const settled = factsOf(entries, "tool.settled").map(({ callId }) => callId);
	expect(new Set(settled).size).toBe(settled.length);
}

/** No request shows a call without its result or a result without its call. */
export function expectNoOpenCalls(requests: readonly SeenRequest[]): void {
	for (const { messages } of requests) {
		const open: string[] = [];
		for (const { calls = [], results = [] } of messages) {
			expect(results.map(({ id }) => id)).toEqual(open.splice(0));
			open.push(...calls.map(({ id }) => id));
		}
		expect(open).toEqual([]);
	}
}

/**
 * The model was asked the same questions as in the run left alone, each at least once and never one before an earlier
 * one was answered, but for the results of the calls in `unknown`, which say that nobody knows.
 */
export function expectSameRequests(
	found: readonly SeenRequest[],
	reference: readonly SeenRequest[],
	unknown: readonly string[],
): void {
	const steps = found.map(({ messages }) =>
		reference.findIndex((each) => each.messages.length === messages.length),
	);
	expect(steps).toEqual(steps.toSorted((one, other) => one - other));
	expect([...new Set(steps)]).toEqual(reference.map((_, index) => index));
	for (const [index, request] of found.entries()) {
		const expected = reference[steps[index] as number] as SeenRequest;
		expect(withoutResults(request, unknown)).toEqual(withoutResults(expected, unknown));
		for (const { id, result, isError } of request.messages.flatMap(({ results = [] }) => results)) {
			if (!unknown.includes(id)) continue;
			expect(isError).toBe(true);
			expect(result).toMatch(/outcome of this call is unknown/);
		}
	}
}

function withoutResults(request: SeenRequest, ids: readonly string[]): SeenRequest {
	const messages = request.messages.map((message) => {
		if (message.results === undefined) return message;
		const results = message.results.map((each) =>
			ids.includes(each.id) ? { id: each.id, result: "", isError: false } : each,
		);
		return { ...message, results };
	});
	return { ...request, messages };
}
