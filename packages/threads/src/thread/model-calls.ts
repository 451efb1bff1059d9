// The model calls of a thread. Calls of its sides are facts of its journal. Calls that prompts make as tools, and failed
// calls, are separate records that are written when they end.
import type { TokenUsage } from "@holdfast/upp";
import type { Host } from "holdfast";
import type { Entry } from "holdfast/host";
import { queuedTag } from "./flow.ts";
import { dataOf } from "./message-data.ts";

/** A model call. */
export interface ModelCall {
	/** The id of its message; absent if it produced none. */
	readonly messageId?: string;
	/** The name of the model in the project. */
	readonly model: string;
	/** The prompt that made the call. */
	readonly prompt?: string;
	/** When the call ended: microseconds since 1970. */
	readonly createdAt: number;
	readonly inputTokens: number;
	readonly outputTokens: number;
	/** US dollars; absent if the price is unknown. */
	readonly cost?: number;
	/** In milliseconds. */
	readonly duration?: number;
	/** The error, if it failed. */
	readonly error?: string;
}

const pageSize = 500;

/** Returns the shelf of the records of a thread. */
export function callsShelf(storeKey: string): string {
	return `thread-calls ${storeKey}`;
}

/** Records a call that is not contained in a fact. */
export async function recordCall(
	{ records }: Pick<Host, "records">,
	storeKey: string,
	id: string,
	call: ModelCall,
): Promise<void> {
	const name = `${String(call.createdAt).padStart(17, "0")}.${id}`;
	await records?.commit([], [{ shelf: callsShelf(storeKey), name, value: call }]);
}

/** Returns all calls of a thread, in the order in which they ended. */
export async function modelCalls(
	{ records, journal }: Pick<Host, "records" | "journal">,
	storeKey: string,
): Promise<readonly ModelCall[]> {
	const calls = ((await records?.list(callsShelf(storeKey))) ?? []).map(({ value }) => value as ModelCall);
	for (let after = 0; ; ) {
		const entries = await journal.read(storeKey, { after, limit: pageSize });
		for (const entry of entries) {
			const call = callOf(entry);
			if (call !== undefined) calls.push(call);
		}
		if (entries.length < pageSize) break;
		after = entries.at(-1)?.seq ?? after;
	}
	return calls.sort((one, other) => one.createdAt - other.createdAt);
}

/** Returns the call that an entry contains. */
export function callOf({ at, fact }: Entry): ModelCall | undefined {
	if (fact.kind !== "assistant" || fact.tag === queuedTag) return undefined;
	const { message, usage, modelId, duration } = fact;
	const { model = modelId, prompt, cost } = dataOf(message);
	return {
		messageId: message.id,
		model,
		...(prompt === undefined ? {} : { prompt }),
		createdAt: at * 1_000,
		...tokensOf(usage),
		...(cost === undefined ? {} : { cost }),
		duration,
	};
}

/** Returns the tokens that a call used. */
export function tokensOf({ inputTokens, outputTokens }: TokenUsage): {
	inputTokens: number;
	outputTokens: number;
} {
	return { inputTokens, outputTokens };
}
