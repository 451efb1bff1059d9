// A run as policy sees it: one object for all stages of one run, in a call as in a session.
import type { Message } from "@holdfast/upp";
import type { Caller } from "../caller/index.ts";
import type { Entry, SendInput } from "../facts/index.ts";
import type { SessionValues } from "../host/index.ts";
import type { AgentState } from "../state/index.ts";
import type { RunMetadata } from "./run-metadata.ts";

/** The agent as policy sees it; it is the agent itself. */
export interface PolicyAgent {
	readonly id: string;
	readonly name?: string;
	readonly description?: string;
	readonly model?: unknown;
	readonly system?: string | undefined;
}

/** A run on its way to the agent. */
export interface RunContext {
	readonly agent: PolicyAgent;
	/** The user's message. */
	readonly input: Message;
	/** The state the run starts from; the input is not in it yet. */
	readonly state: AgentState;
	/** One object for all functions of a run, written to as an object or as a Map. New for every run, and for a run that is resumed. */
	readonly metadata: RunMetadata;
	/** The requester, if known. */
	readonly caller?: Caller;
}

/** A run as a `before` returns it: its metadata may be a plain object, which is added to the run's own. */
export interface ChangedContext extends Omit<RunContext, "metadata"> {
	readonly metadata?: Readonly<Record<string, unknown>>;
}

/** A run as plugins see it. */
export interface PluginTurn {
	/** The session's key; in a call `call:` and the id of the run. */
	readonly sessionKey: string;
	/** The requester of the run, if known. */
	readonly caller?: Caller | undefined;
	/** Fires when the run is stopped. */
	readonly signal: AbortSignal;
	/** The conversation as committed. */
	history(): readonly Message[];
	/** From 0. */
	stepIndex(): number;
	/** Shows the model something for the rest of the turn. */
	overlay(input: SendInput): Promise<void>;
	/** Says something to the turn. */
	steer(input: SendInput): Promise<unknown>;
}

/** A run as interceptors see it. */
export interface PolicyRun extends PluginTurn {
	/** `call`: of `generate`, `stream`, `ask` or `query`. */
	readonly kind: "call" | "session";
	readonly runId: string;
	/** The context after the `before` stages so far. For a resumed run: its initial context. */
	readonly context: RunContext;
	/** The committed entries of the run so far, after a position; none for a call. */
	entries(after?: number): Promise<readonly Entry[]>;
	/** The strategy's folded value so far; undefined if it has no fold, or the fold failed. */
	folded(): unknown;
	/** An owner's values of the session; in a call, until its end. */
	values(owner: string): SessionValues;
}

const callPrefix = "call:";

/** The key under which a call is known to plugins. */
export function callKey(runId: string): string {
	return callPrefix + runId;
}

/** Whether a key is that of a call. */
export function isCallKey(key: string): boolean {
	return key.startsWith(callPrefix);
}
