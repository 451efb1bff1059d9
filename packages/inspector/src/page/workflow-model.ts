// The calls of a workflow's code, built from the entries of its runs: steps, waits, tools, approvals and undo, by branch.
import type { ShownEntry } from "../wire/index.ts";

export type FlowState = "running" | "waiting" | "retrying" | "done" | "failed";

/** A call that the code made. */
export interface FlowCall {
	readonly runId: string;
	readonly id: string;
	readonly name: string;
	/** Its number among the calls of that name in its branch, from 1. */
	readonly occurrence: number;
	/** Names of the concurrent branches that it was made in, the outermost first. */
	readonly branches: readonly string[];
	/** `step`, `sleep`, `event`, `tool`, `agent`, `approve`, `ask`, `undo`, or a recorded value such as `now`. */
	readonly does: string;
	readonly state: FlowState;
	readonly seq: number;
	readonly start: number;
	/** Absent while it runs or waits. */
	readonly end?: number;
	/** When its wait or the delay before the next attempt ends. */
	readonly until?: number;
	/** The event that it waits for. */
	readonly event?: string;
	readonly attempts: number;
	readonly value?: unknown;
	readonly error?: { readonly code: string; readonly message: string };
	/** An earlier attempt failed with this. */
	readonly lastError?: { readonly code: string; readonly message: string };
	/** The tool call in the trace. */
	readonly callId?: string;
}

/** A run of a workflow. */
export interface FlowRun {
	readonly runId: string;
	readonly start: number;
	readonly outcome: string | undefined;
	readonly error?: { readonly code: string; readonly message: string };
	readonly calls: readonly FlowCall[];
	/** Events that came and were not taken yet. */
	readonly events: readonly { readonly name: string; readonly at: number; readonly payload: unknown }[];
}

type Draft = { -readonly [Name in keyof FlowCall]: FlowCall[Name] };

/** Kinds of calls that wait rather than run. */
const waits: ReadonlySet<string> = new Set(["sleep", "event", "approve", "ask"]);

interface Note {
	readonly id?: unknown;
	readonly does?: unknown;
	readonly until?: number;
	readonly event?: string;
	readonly value?: unknown;
	readonly error?: FlowCall["error"];
	readonly attempt?: number;
	readonly inputId?: string;
}

/** Whether the entries are of a workflow. */
export function hasWorkflow(entries: readonly ShownEntry[]): boolean {
	return entries.some(({ kind, body }) => kind === "note" && String(body.topic).startsWith("workflow-"));
}

/** Returns the runs of workflows in the order of their starts. Unknown notes are ignored. */
export function flowRuns(entries: readonly ShownEntry[]): readonly FlowRun[] {
	const runs = new Map<string, { -readonly [Name in keyof FlowRun]: FlowRun[Name] }>();
	const calls = new Map<string, Draft>();
	const events = new Map<string, { run: string; name: string; at: number; payload: unknown }>();
	/** Runs that have taken their input: further messages are events. */
	const started = new Set<string>();
	for (const { seq, at, runId, kind, body } of entries) {
		if (kind === "run.started")
			runs.set(runId, { runId, start: at, outcome: undefined, calls: [], events: [] });
		const run = runs.get(runId);
		if (run === undefined) continue;
		if (kind === "run.ended") {
			run.outcome = String(body.outcome);
			if (body.error !== undefined) run.error = body.error as NonNullable<FlowRun["error"]>;
		}
		if (kind === "input") {
			if (started.has(runId)) events.set(String(body.inputId), { run: runId, at, ...eventOf(body.message) });
			started.add(runId);
		}
		if (kind === "tool.settled" && String(body.callId).startsWith(`${runId}:`)) {
			const call = calls.get(`${runId} ${String(body.callId).slice(runId.length + 1)}`);
			if (call !== undefined) settle(call, at, body);
		}
		if (kind !== "note") continue;
		const note = (body.value ?? {}) as Note;
		if (typeof note.id !== "string") continue;
		const key = `${runId} ${note.id}`;
		const call = calls.get(key);
		switch (body.topic) {
			case "workflow-called":
			case "workflow-value": {
				const made = newCall(runId, seq, at, note.id, String(note.does), note);
				if (body.topic === "workflow-value")
					Object.assign(made, { state: "done", end: at, value: note.value });
				calls.set(key, made);
				(run.calls as FlowCall[]).push(made);
				break;
			}
			case "workflow-settled":
				if (note.inputId !== undefined) events.delete(note.inputId);
				if (call === undefined) break;
				call.end = at;
				call.state = note.error === undefined ? "done" : "failed";
				if (note.error !== undefined) call.error = note.error;
				else call.value = note.value;
				break;
			case "workflow-retried":
				if (call === undefined) break;
				call.state = "retrying";
				call.attempts = Number(note.attempt ?? call.attempts);
				if (note.until !== undefined) call.until = note.until;
				call.lastError = note.error ?? {
					code: "process_died",
					message: "The process died during the attempt.",
				};
				break;
			case "workflow-started":
				if (call === undefined) break;
				call.state = "running";
				call.attempts = Number(note.attempt ?? call.attempts);
				break;
		}
	}
	for (const { run, ...event } of events.values())
		(runs.get(run)?.events as object[] | undefined)?.push(event);
	return [...runs.values()].filter((run) => run.calls.length > 0 || run.events.length > 0);
}

function newCall(runId: string, seq: number, at: number, id: string, does: string, note: Note): Draft {
	const parts = id.split("/");
	const [name, occurrence] = partOf(parts.at(-1) ?? "");
	const isTool = ["tool", "agent", "approve", "ask"].includes(does);
	return {
		...{ runId, id, name, occurrence, does, seq, start: at, attempts: 1 },
		branches: parts.slice(0, -1).map((part) => partOf(part)[0]),
		state: waits.has(does) ? "waiting" : "running",
		...(note.until === undefined ? {} : { until: note.until }),
		...(note.event === undefined ? {} : { event: note.event }),
		...(isTool ? { callId: `${runId}:${id}` } : {}),
	};
}

/** Splits `name#2`; special characters of the name are escaped. */
function partOf(part: string): readonly [name: string, occurrence: number] {
	const at = part.lastIndexOf("#");
	const name = at === -1 ? part : part.slice(0, at);
	try {
		return [decodeURIComponent(name), Number(part.slice(at + 1)) || 1];
	} catch {
		return [name, 1];
	}
}

function settle(call: Draft, at: number, body: ShownEntry["body"]): void {
	call.end = at;
	call.state = body.outcome === "done" ? "done" : "failed";
	if (body.outcome === "done") call.value = body.result;
	else {
		const message = typeof body.result === "string" ? body.result : JSON.stringify(body.result ?? "");
		call.error = { code: String(body.outcome), message };
	}
}

/** A message that names no event is the event `message`. */
function eventOf(message: unknown): { readonly name: string; readonly payload: unknown } {
	const { content = [] } = (message ?? {}) as { content?: readonly { type: string; text?: string }[] };
	const text = content.map((part) => part.text ?? "").join("");
	try {
		const { event, payload } = JSON.parse(text) as { event?: unknown; payload?: unknown };
		if (typeof event === "string") return { name: event, payload };
	} catch {
		// It is text.
	}
	return { name: "message", payload: text };
}
