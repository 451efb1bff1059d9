// Faults planted on purpose in worlds of workflows, which the checks must find.
import type { Host } from "holdfast";
import { type Append, type Entry, type Fact, type Journal, journalHost, type Lease } from "holdfast/host";
import type { Flow } from "./workflow-code.fixture.ts";

/** The faults, with what each does. */
export const workflowFaults = {
	"result-not-stored": "the result of a step is acknowledged and not stored",
	"call-not-stored": "a call is performed although it is not on record",
	"result-twice": "a result is stored twice",
	"event-lost": "an event is acknowledged and not stored",
	"event-twice": "an event is stored twice",
	"event-changed": "an event reaches the code with another payload",
	"decision-turned": "the result of an approval is stored as its opposite",
	"round-not-stored": "the beginning of another round is acknowledged and not stored",
	"child-lost": "the work of a child is acknowledged and not stored",
	"end-twice": "the end of a run is stored twice",
	"log-twice": "a line of the log is stored twice",
	"log-lost": "a line of the log is acknowledged and not stored",
	"state-lost": "the published state is acknowledged and not stored",
	"retry-lost": "the failure of an attempt is acknowledged and not stored",
	"attempt-lost": "the next attempt of a step is performed although it is not on record",
	"cancel-lost": "a child is cancelled, and the cancellation is acknowledged and not stored",
	"error-swallowed": "the error of a step is stored as its result",
	"tool-start-lost": "the call of a tool is performed although it is not on record",
	"tool-result-twice": "the result of a tool is stored twice",
	"denial-turned": "the denial of a tool's call is stored as its result",
	"answer-changed": "the answer of a model is stored with another text",
	"agent-changed": "the answer of a sub-agent is stored with another text",
	"order-turned": "results are read in another order than the one in which they were stored",
	"version-turned": "a change of the code is recorded as absent",
	"undo-skipped": "the step that completed first is not undone",
	"undo-forward": "steps are undone in the order in which they completed",
	"undo-twice": "a step is undone twice",
	unfenced: "the commits of a worker that has lost its lease are acknowledged",
	"once-again": "a step that must not be repeated is repeated after the death of its worker",
} as const;

export type WorkflowFault = keyof typeof workflowFaults;

/** The seed of a short world in which the checks detect each fault. The search for another one continues from there. */
export const searchedFrom: Readonly<Record<WorkflowFault, number>> = {
	"result-not-stored": 15,
	"call-not-stored": 2,
	"result-twice": 2,
	"event-lost": 3,
	"event-twice": 8,
	"event-changed": 109,
	"decision-turned": 57,
	"round-not-stored": 9,
	"child-lost": 1,
	"end-twice": 2,
	"log-twice": 3,
	"log-lost": 8,
	"state-lost": 5,
	"retry-lost": 2,
	"attempt-lost": 2,
	"cancel-lost": 158,
	"error-swallowed": 64,
	"tool-start-lost": 3,
	"tool-result-twice": 3,
	"denial-turned": 40,
	"answer-changed": 79,
	"agent-changed": 79,
	"order-turned": 51,
	"version-turned": 79,
	"undo-skipped": 15,
	"undo-forward": 35,
	"undo-twice": 54,
	unfenced: 6,
	"once-again": 23,
};

/** Returns a broken way to undo steps; undefined if the fault is another one. */
export function brokenUndo(
	fault: WorkflowFault | undefined,
): ((flow: Flow, completed: readonly string[]) => Promise<void>) | undefined {
	if (fault !== "undo-skipped" && fault !== "undo-forward" && fault !== "undo-twice") return undefined;
	return async (flow, completed) => {
		const reversed = completed.toReversed();
		const order = {
			"undo-skipped": reversed.slice(0, -1),
			"undo-forward": completed,
			"undo-twice": reversed.flatMap((name) => [name, name]),
		}[fault];
		for (const name of order) await flow.step(`undo ${name}`, () => {});
	};
}

/** Returns a worker's store with the planted fault. */
export function faultyHost(host: Host, fault: WorkflowFault | undefined): Host {
	if (fault === undefined) return host;
	const { journal } = host;
	const alter = (batch: Append): Append => ({
		...batch,
		facts: batch.facts.flatMap((fact) => altered(fault, fact)),
	});
	const leased = (lease: Lease): Lease =>
		new Proxy(lease, {
			get(target, name) {
				const value = Reflect.get(target, name, target);
				if (fault === "unfenced" && name === "isLost") return false;
				if (fault === "unfenced" && name === "whenLost") return () => {};
				if (name === "append")
					return (batch: Append) => {
						if (fault !== "unfenced") return target.append(alter(batch));
						try {
							return target.append(batch);
						} catch {
							return { ok: true, seq: target.seq };
						}
					};
				return typeof value === "function" ? value.bind(target) : value;
			},
		});
	const own: Journal = {
		...journal,
		acquire: (key, options) => {
			const acquired = journal.acquire(key, options) as Awaited<ReturnType<Journal["acquire"]>>;
			return acquired.ok ? { ...acquired, lease: leased(acquired.lease) } : acquired;
		},
		read: (key, options) => {
			const entries = journal.read(key, options) as readonly Entry[];
			return fault === "order-turned" ? turned(entries) : entries;
		},
		submit: (key, input) => {
			const isEvent = input.kind === "notice";
			if (fault === "event-lost" && isEvent) return { duplicate: false } as never;
			if (fault === "child-lost" && key !== "s") return { duplicate: false } as never;
			if (fault === "event-twice" && isEvent)
				void journal.submit(key, {
					...input,
					id: `${input.id}-again`,
					dedupeKey: `${input.dedupeKey}-again`,
				});
			if (fault !== "event-changed" || !isEvent) return journal.submit(key, input);
			const text = JSON.stringify(input.body).replaceAll("payload of", "payload for");
			return journal.submit(key, { ...input, body: JSON.parse(text) });
		},
	};
	return journalHost(own);
}

/** Swaps the facts of two results that follow each other, if both calls were made before the first of them. */
function turned(entries: readonly Entry[]): readonly Entry[] {
	const turnedOnes = [...entries];
	let called: readonly unknown[] = [];
	let before: { readonly at: number; readonly called: readonly unknown[] } | undefined;
	for (const [at, { fact }] of entries.entries()) {
		if (fact.kind !== "note") continue;
		const { id } = (fact.value ?? {}) as { readonly id?: unknown };
		if (fact.topic === "workflow-called") called = [...called, id];
		if (fact.topic !== "workflow-settled") continue;
		const first = before?.called.includes(id) ? before.at : undefined;
		before = first === undefined ? { at, called } : undefined;
		if (first === undefined) continue;
		turnedOnes[at] = { ...(entries[at] as Entry), fact: (entries[first] as Entry).fact };
		turnedOnes[first] = { ...(entries[first] as Entry), fact };
	}
	return turnedOnes;
}

const topicOf: Partial<Record<WorkflowFault, string>> = {
	"result-not-stored": "workflow-settled",
	"call-not-stored": "workflow-called",
	"round-not-stored": "workflow-continued",
	"log-lost": "workflow-log",
	"state-lost": "workflow-state",
	"retry-lost": "workflow-retried",
	"attempt-lost": "workflow-started",
	"cancel-lost": "workflow-cancelled",
};

function altered(fault: WorkflowFault, fact: Fact): readonly Fact[] {
	const topic = fact.kind === "note" ? fact.topic : "";
	const replaced: Fact = { kind: "note", step: 0, topic: "replaced", value: { id: "" } };
	if (topicOf[fault] !== undefined) return topicOf[fault] === topic ? [replaced] : [fact];
	const note = (fact.kind === "note" ? (fact.value ?? {}) : {}) as Record<string, unknown>;
	switch (fault) {
		case "result-twice":
			return topic === "workflow-settled" ? [fact, fact] : [fact];
		case "log-twice":
			return topic === "workflow-log" ? [fact, fact] : [fact];
		case "end-twice":
			return fact.kind === "run.ended" ? [fact, fact] : [fact];
		case "error-swallowed":
			return topic === "workflow-settled" && note.error !== undefined
				? [{ ...fact, value: { id: note.id, value: "swallowed" } } as Fact]
				: [fact];
		case "version-turned":
			return topic === "workflow-value" && note.does === "version"
				? [{ ...fact, value: { ...note, value: false } } as Fact]
				: [fact];
		case "tool-start-lost":
			return fact.kind === "tool.started" ? [replaced] : [fact];
		case "tool-result-twice":
			return fact.kind === "tool.settled" ? [fact, fact] : [fact];
		default:
			return fact.kind === "tool.settled" ? [alteredResult(fault, fact)] : [fact];
	}
}

type ToolSettled = Extract<Fact, { readonly kind: "tool.settled" }>;

function alteredResult(fault: WorkflowFault, fact: ToolSettled): Fact {
	const { result, outcome } = fact;
	const { text } = (result ?? {}) as { readonly text?: unknown };
	const isText = typeof text === "string";
	switch (fault) {
		case "decision-turned":
			return result === true ? { ...fact, result: false } : fact;
		case "denial-turned":
			return outcome !== "done" ? { ...fact, outcome: "done", result: "turned" } : fact;
		case "answer-changed":
			return isText && text.startsWith("said") ? { ...fact, result: { text: "silent" } } : fact;
		case "agent-changed":
			return isText && text.startsWith("wrote")
				? { ...fact, result: { ...(result as object), text: "blank" } }
				: fact;
		default:
			return fact;
	}
}
