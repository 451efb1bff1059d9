// The record of one script: which calls were requested and how they ended, in the order of the journal (keeps I2, I6). It is a
// linked list, so that one more record costs the same however long the script has run, and earlier values stay valid.

/** A tool call as the script makes it. */
export interface ScriptCall {
	readonly toolName: string;
	readonly arguments: Record<string, unknown>;
}

/** The script's next calls were requested, under these ids. */
export interface CallsRequested {
	readonly kind: "requested";
	readonly calls: readonly { readonly id: string; readonly toolName: string }[];
}

/** A call has its outcome. */
export interface CallSettled {
	readonly kind: "settled";
	readonly id: string;
	readonly isError: boolean;
	/** Set if the end of the script cancelled the call, so that the script did not receive the outcome. */
	readonly isCut?: true;
	readonly result: unknown;
}

export type ScriptRecord = CallsRequested | CallSettled;

/** The seed and the start time of a script. They are recorded, so that each execution of it is the same. */
export interface ScriptStart {
	readonly seed: number;
	readonly now: number;
}

export interface ScriptLog {
	readonly start: ScriptStart | undefined;
	/** The last record; undefined if there is none. */
	readonly last: LoggedRecord | undefined;
}

export interface LoggedRecord {
	readonly record: ScriptRecord;
	readonly before: LoggedRecord | undefined;
}

export const emptyLog: ScriptLog = { start: undefined, last: undefined };

/** Returns the records after `known`, oldest first; undefined if `known` is not part of the log. */
export function recordsAfter(
	{ last }: ScriptLog,
	known: LoggedRecord | undefined,
): readonly ScriptRecord[] | undefined {
	const records: ScriptRecord[] = [];
	let at = last;
	for (; at !== undefined && at !== known; at = at.before) records.push(at.record);
	return at === known ? records.reverse() : undefined;
}
