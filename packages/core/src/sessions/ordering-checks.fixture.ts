// The ordering table's predictions for the requests of a schedule: their outcomes, and the order in which inputs are
// accepted.
import type { Agent } from "../agent/agent.ts";
import type { Journal } from "../host/journal.ts";
import { outcomesOf, type SeenState } from "./ordering-table.fixture.ts";

/** A user's request to a session. */
export type Request =
	| "send"
	| "steer"
	| "start"
	| "edit"
	| "answer"
	| "stop"
	| "interrupt"
	| "resume"
	| "fork"
	| "kill"
	| "delete";

/** Errors that any request may encounter: from stores without leases, and from late or missing answers. */
const anywhere = new Set(["session_conflict", "lease_lost"]);
const lateAnswers = [
	"invalid_input",
	"unknown_tool_call_id",
	"tool_call_settled",
	"duplicate_tool_result",
	"tool_result_conflict",
];

export interface Process {
	readonly name: string;
	readonly agent: Agent;
	readonly journal: Journal;
	isDead: boolean;
	isClosed: boolean;
}

export interface Asked {
	readonly number: number;
	readonly kind: Request;
	readonly process: Process;
	readonly text: string;
	/** States of the session while the request ran. */
	states: Set<SeenState>;
	isCarriedOut?: true;
	outcome?: string;
	/** Why the request's run did not end as it should. */
	failure?: string | undefined;
	/** Position among all events, when the request was made and when it was answered. */
	readonly at: number;
	over?: number;
}

/** All requests, by process. */
export interface Happened {
	readonly asked: readonly Asked[];
	readonly processes: readonly Process[];
}

/**
 * Returns what differs from the table's prediction; undefined if nothing does. `texts`: the inputs in the order in which
 * runs accepted them.
 */
export function problemOf({ asked, processes }: Happened, texts: readonly string[]): string | undefined {
	let problem: string | undefined;
	const wrong = (what: string): void => {
		problem ??= what;
	};
	for (const each of asked) if (each.outcome !== undefined) checkOutcome({ asked, processes }, each, wrong);
	const order = new Map(texts.map((text, at) => [text, at] as const));
	if (order.size < texts.length) wrong("an input was taken in twice");
	const inputs = asked.filter(({ text }) => order.has(text));
	for (const first of inputs) {
		for (const second of inputs) {
			if (first.process !== second.process || first.number >= second.number) continue;
			// A steer joins the current run, before waiting turns. Without a run, a steered input is such a turn.
			const isJoined = first.kind === "steer" && [...first.states].every((state) => state === "running");
			const mayPass = second.kind === "steer" && !isJoined;
			if (!mayPass && (order.get(first.text) ?? 0) > (order.get(second.text) ?? 0))
				wrong(`"${second.text}" passes "${first.text}"`);
		}
	}
	const ends = asked.filter(({ kind, over }) => (kind === "kill" || kind === "delete") && over !== undefined);
	for (const each of asked) {
		if (each.outcome !== "accepted" || !["send", "steer", "start"].includes(each.kind)) continue;
		const mayHaveEnded = asked.some(
			({ kind, over = Number.POSITIVE_INFINITY }) => (kind === "kill" || kind === "delete") && over > each.at,
		);
		// Without leases, another writer ends a run.
		const isRefused = each.failure === "session_conflict";
		if (!order.has(each.text) && !mayHaveEnded && !isRefused)
			wrong(`"${each.text}" was accepted and is lost`);
		// After a deletion, the new session contains no earlier request of the same process.
		const isEnded = ends.some(
			(end) => end.process === each.process && end.at > each.at && end.kind === "delete",
		);
		if (isEnded && order.has(each.text)) wrong(`"${each.text}" outlives a deletion asked for after it`);
	}
	return problem;
}

function checkOutcome(
	{ asked, processes }: Happened,
	{ kind, process, states, outcome = "", at, over = 0, isCarriedOut, text }: Asked,
	wrong: (what: string) => void,
): void {
	const isEndedBy = (ends: readonly string[]): boolean =>
		asked.some((end) => ends.includes(end.kind) && end.process === process && end.at > at && end.at < over);
	if (outcome === "session_killed") {
		if (!isEndedBy(["kill", "delete"])) wrong(`"${text}" is refused with session_killed without a kill`);
		return;
	}
	if (anywhere.has(outcome) || kind === "interrupt" || kind === "kill" || kind === "delete") return;
	if (isCarriedOut !== true || states.size === 0) {
		wrong(`"${text}" came to ${outcome} and was not carried out`);
		return;
	}
	const allowed = new Set([...states].flatMap((state) => [...outcomesOf(kind, state)]));
	if (kind === "answer") for (const code of lateAnswers) allowed.add(code);
	if (kind === "answer" && allowed.has("accepted")) allowed.add("session_busy").add("no_pending_tool_calls");
	if (kind === "resume" && allowed.has("null")) allowed.add("accepted").add("session_held");
	if (kind === "fork") for (const code of ["fork_unsettled", "session_exists"]) allowed.add(code);
	// Another process may have accepted a turn before.
	if (processes.length > 1 && kind === "start") allowed.add("session_busy");
	if (!allowed.has(outcome))
		wrong(`"${text}" came to ${outcome} while ${[...states].join(", ")}: ${[...allowed].join(", ")}`);
}
