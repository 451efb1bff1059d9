// What must be true of the journal of a world of workflows when its run has ended.
import type { Entry } from "holdfast/host";
import {
	type Circumstances,
	certainParts,
	failsToUndo,
	mayReturn,
	mayThrow,
	type Program,
	partsOf,
} from "./workflow-program.fixture.ts";

interface Note {
	readonly id: string;
	readonly does?: string;
	readonly message?: string;
	readonly data?: unknown;
	readonly error?: unknown;
}

/** The end of the parent's run. */
export interface End {
	readonly outcome: string;
	readonly output?: unknown;
	readonly error?: { readonly code: string; readonly message?: string };
}

/** Returns what is wrong with the end; undefined if nothing is. */
export function endProblem(program: Program, end: End, about: Circumstances): string | undefined {
	const { outcome, output, error } = end;
	if (outcome === "completed")
		return mayReturn(program, output, about)
			? undefined
			: `the result is ${JSON.stringify(output)} of ${JSON.stringify(program)}`;
	if (outcome !== "error" || error === undefined) return `the workflow ended: ${JSON.stringify(end)}`;
	const { code, message = "" } = error;
	const cannotUndo = partsOf(program).some(
		({ does, ...part }) =>
			does === "undoable" && failsToUndo(String((part as { readonly name?: string }).name)),
	);
	if (code === "undo_failed" && cannotUndo) return undefined;
	return mayThrow(program, code, about) ? undefined : `the workflow failed with ${code}: ${message}`;
}

/** Returns what is wrong with the entries of all sessions; undefined if nothing is. */
export function recordProblem(
	program: Program,
	entries: readonly Entry[],
	{ end, rounds }: { readonly end: End; readonly rounds: number },
): string | undefined {
	const runs = Map.groupBy(entries, ({ runId }) => runId);
	for (const own of runs.values()) {
		const problem = runProblem(own);
		if (problem !== undefined) return problem;
	}
	const logs = entries.flatMap(({ fact }) =>
		fact.kind === "note" && fact.topic === "workflow-log" ? [fact.value as Note] : [],
	);
	const winners = winnersProblem(end.output, logs, rounds - 1);
	if (winners !== undefined) return winners;
	if (end.outcome !== "completed") return undefined;
	for (const part of certainParts(program)) {
		if (part.does !== "log") continue;
		const count = logs.filter(({ message }) => message === part.name).length;
		if (count !== rounds) return `${part.name} is logged ${count} times, not ${rounds}`;
	}
	const states = entries.filter(({ fact }) => fact.kind === "note" && fact.topic === "workflow-state");
	return states.length === rounds ? undefined : `${states.length} states are published, not ${rounds}`;
}

/** Checks the entries of a run. */
function runProblem(entries: readonly Entry[]): string | undefined {
	const ends = entries.filter(({ fact }) => fact.kind === "run.ended").length;
	const first = entries[0]?.runId;
	if (ends !== 1) return `the run ${first} ends ${ends} times`;
	let settled = new Set<string>();
	let begun = new Set<string>();
	const results = new Set<string>();
	for (const { fact } of entries) {
		if (fact.kind === "tool.settled") {
			if (results.has(fact.callId)) return `${fact.callId} has two results`;
			results.add(fact.callId);
		}
		if (fact.kind !== "note" || !fact.topic.startsWith("workflow-")) continue;
		const { id } = fact.value as Note;
		if (fact.topic === "workflow-continued") {
			settled = new Set();
			begun = new Set();
		} else if (fact.topic === "workflow-settled") {
			if (settled.has(id)) return `${id} is settled twice`;
			if (!begun.has(id)) return `${id} is settled and not on record`;
			settled.add(id);
		} else if (fact.topic !== "workflow-retried" && fact.topic !== "workflow-started") {
			if (begun.has(id)) return `${id} is recorded twice`;
			begun.add(id);
		}
	}
	return undoProblem(entries);
}

/** Steps are undone if and only if the code fails, once each, the last one first. */
function undoProblem(entries: readonly Entry[]): string | undefined {
	const completed: string[] = [];
	let undone = 0;
	for (const { fact } of entries) {
		if (fact.kind !== "note") continue;
		const { id, error } = fact.value as Note;
		const name = nameIn(id ?? "");
		if (fact.topic === "workflow-continued") completed.length = 0;
		if (fact.topic === "workflow-settled" && error === undefined && undoableNames.test(name))
			completed.push(name);
		if (fact.topic !== "workflow-called" || !name.startsWith("undo ")) continue;
		undone++;
		const last = completed.pop();
		if (`undo ${last}` !== name) return `${name} comes in place of undo ${last}`;
	}
	const end = entries.find(({ fact }) => fact.kind === "run.ended")?.fact as { readonly outcome?: string };
	if (end?.outcome === "completed" && undone > 0) return "steps of a completed run are undone";
	if (end?.outcome === "error" && completed.length > 0) return `${completed.join(", ")} is not undone`;
	return undefined;
}

/** Steps that can be undone have names of this form. */
const undoableNames = /^undoable /;

/** Returns the name in the id of a call. */
function nameIn(id: string): string {
	return id.split("/").at(-1)?.replace(/#\d+$/, "") ?? "";
}

/** Each winner in the result must be the one that the code logged when the race of that round ended. */
function winnersProblem(output: unknown, logs: readonly Note[], round: number): string | undefined {
	if (typeof output !== "object" || output === null) return undefined;
	const { wonBy, value } = output as { readonly wonBy?: unknown; readonly value?: unknown };
	if (wonBy !== undefined) {
		const won = logs.flatMap(({ message, data }) => {
			const { won: winner, round: of } = (data ?? {}) as { readonly won?: unknown; readonly round?: unknown };
			return message === `won ${String(wonBy)}` && of === `${round}` ? [winner] : [];
		})[0];
		if (JSON.stringify(won) !== JSON.stringify(value))
			return `${String(wonBy)} is won by ${JSON.stringify(value)}, and was by ${JSON.stringify(won)}`;
	}
	for (const each of Object.values(output)) {
		const problem = winnersProblem(each, logs, round);
		if (problem !== undefined) return problem;
	}
	return undefined;
}
