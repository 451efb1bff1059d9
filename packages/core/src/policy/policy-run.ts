// A run in the form that policy sees: one object for all stages of one run, in a call or a session.
import type { Message } from "@holdfast/upp";
import type { Caller } from "../caller/index.ts";
import type { Entry, SendInput } from "../facts/index.ts";
import { readChildStoreKey, type SessionKeys, type SessionValues } from "../host/index.ts";
import type { AgentState } from "../state/index.ts";
import type { RunMetadata } from "./run-metadata.ts";

/** The agent in the form that policy sees: the agent object itself. */
export interface PolicyAgent {
	/** The agent's id. */
	readonly id: string;
	/** Its name, if it has one. */
	readonly name?: string;
	/** Its description, if it has one. */
	readonly description?: string;
	/** Its model, as given. */
	readonly model?: unknown;
	/** Its instructions, as given. */
	readonly system?: unknown;
}

/** A run before it reaches the agent. */
export interface RunContext {
	/** The agent that was called. */
	readonly agent: PolicyAgent;
	/** The user's message. */
	readonly input: Message;
	/** The state the run starts from, without the input. */
	readonly state: AgentState;
	/**
	 * One object shared by all functions of a run, writable as an object or as a Map. Every run gets a new one, including
	 * a resumed run.
	 */
	readonly metadata: RunMetadata;
	/** The requester, if known. */
	readonly caller?: Caller;
}

/** A run in the form that a `before` returns. Its metadata may be a plain object, which is merged into the run's own. */
export interface ChangedContext extends Omit<RunContext, "metadata"> {
	/** Notes to merge into those of the run. */
	readonly metadata?: Readonly<Record<string, unknown>>;
}

/** A run in the form that plugins see. */
export interface PluginTurn {
	/** The session's key; in a call, a key that no session has. */
	readonly sessionKey: string;
	/** The requester of the run, if known. */
	readonly caller?: Caller | undefined;
	/** Aborted when the run is stopped. */
	readonly signal: AbortSignal;
	/** Returns the committed conversation. */
	history(): readonly Message[];
	/** Returns the index of the step, from 0. */
	stepIndex(): number;
	/** Adds context that the model sees for the rest of the turn. */
	overlay(input: SendInput): Promise<void>;
	/** Adds an input to the running turn. */
	steer(input: SendInput): Promise<unknown>;
}

/** A run in the form that interceptors see. */
export interface PolicyRun extends PluginTurn {
	/** `call`: a run of `generate`, `stream`, `ask` or `query`. */
	readonly kind: "call" | "session";
	readonly runId: string;
	/** The context after the `before` stages so far. For a resumed run: its initial context. */
	readonly context: RunContext;
	/** Returns the run's committed entries after a position; none for a call. */
	entries(after?: number): Promise<readonly Entry[]>;
	/** Returns the strategy's folded value so far; undefined if it has no fold, or the fold failed. */
	folded(): unknown;
	/**
	 * Returns the key of the session or call that called this run, so many levels up; undefined if that is unknown. `keys`
	 * are those of the agent at that level.
	 */
	above(levels: number, keys: SessionKeys): string | undefined;
	/** Returns an owner's values for the session; in a call, they are kept until its end. */
	values(owner: string): SessionValues;
}

const callPrefix = "\u0000call\u0000";

/** Returns the key that identifies a call to plugins. */
export function callKey(runId: string): string {
	return callPrefix + runId;
}

/** Whether a key identifies a call. */
export function isCallKey(key: string): boolean {
	return key.startsWith(callPrefix);
}

/** Whether a key identifies a call or a sub-agent's session to plugins, so that no caller's session may have it. */
export function isReservedKey(key: string): boolean {
	return isCallKey(key) || readChildStoreKey(key) !== undefined;
}

/** Returns the store key of a session from the key that identifies it to plugins: one-to-one, except for reserved keys. */
export function storeKeyIn({ storeKeyOf }: SessionKeys, key: string): string {
	return readChildStoreKey(key) === undefined ? storeKeyOf(key) : key;
}

/** Returns the key that identifies the session so many levels above a sub-agent's session to plugins. */
export function keyAbove(key: string, levels: number, { keyOf }: SessionKeys): string | undefined {
	if (levels === 0) return key;
	let above: string | undefined = key;
	for (let level = 0; level < levels && above !== undefined; level++)
		above = readChildStoreKey(above)?.parentStoreKey;
	return above === undefined || readChildStoreKey(above) !== undefined ? above : keyOf(above);
}
