// The arguments and options of `createSession`, stored with the session's journal. Tools are stored as the model sees
// them; functions are bound again by name.
import { isUnreadable } from "../facts/index.ts";
import type { FirstValue, Host, SessionValues } from "../host/index.ts";

/** A tool in stored form. */
export interface StoredTool {
	/** The name by which the model calls it. */
	readonly name: string;
	/** The display name. */
	readonly label?: string;
	/** Explains the tool to the model. */
	readonly description: string;
	/** The schema of the arguments. */
	readonly parameters: Readonly<Record<string, unknown>>;
	/** Whether the tool runs outside, or by a function that was given with it. */
	readonly kind: "remote" | "local";
	/** Milliseconds that a call to the tool may wait for its outside result. */
	readonly timeoutMs?: number;
	/** Whether every call to the tool requires approval. */
	readonly needsApproval?: true;
	/** The tool that loads this one. */
	readonly loadedBy?: string;
}

/** The initial context of a session, and its current options. */
export interface SessionSetup {
	/** The system prompt. Default: that of the agent. */
	readonly systemPrompt?: string;
	/** The tools that were passed with the context. */
	readonly tools: readonly StoredTool[];
	/** The model name of the last execution that specified one. */
	readonly model?: string;
	/** As last set by an execution. */
	readonly temperature?: number;
	/** As last set by an execution. */
	readonly maxTokens?: number;
}

/** Sessions created by earlier versions use this name too. */
const owner = "holdfast.serving";

/** Returns the access to one session's stored setup. */
export function setupValues({ values }: Host, storeKey: string): SessionValues {
	return values.values(storeKey, owner);
}

/** Returns the initial context of a session as a value to commit with its first entries. */
export function firstSetup(setup: SessionSetup): readonly FirstValue[] {
	return [{ owner, name: "session", value: setup }];
}

/** Deletes a session's setup along with the session, if the store does not do so itself. */
export async function deleteSetup({ values }: Host, storeKey: string): Promise<void> {
	if (values.goWithSession !== true) await values.deleteSession(storeKey);
}

/** Reads the stored setup of a session; undefined if the session does not exist. */
export async function readSetup(host: Host, storeKey: string): Promise<SessionSetup | undefined> {
	return (await setupValues(host, storeKey).get("session")) as SessionSetup | undefined;
}

/** Whether the session exists, even if its stored setup is damaged. */
export async function hasSetup(host: Host, storeKey: string): Promise<boolean> {
	try {
		return (await readSetup(host, storeKey)) !== undefined;
	} catch (error) {
		if (isUnreadable(error)) return true;
		throw error;
	}
}

/** Whether two setups have the same options. */
export function sameOptions(one: SessionSetup, other: SessionSetup): boolean {
	return (["model", "temperature", "maxTokens"] as const).every((name) => one[name] === other[name]);
}
