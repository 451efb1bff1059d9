// Data stored with the session of a thread: read, masked, and deleted with it.
import type { Host } from "holdfast";
import type { Redaction } from "../environment/index.ts";
import { type KeyValue, ThreadValues } from "../values/index.ts";
import { valuesOwner } from "./default-parts.ts";
import { callsShelf } from "./model-calls.ts";
import type { ThreadRecord } from "./records.ts";
import { requestsShelf } from "./requests.ts";
import type { ThreadSystem } from "./system.ts";

/** How many records are deleted at a time. */
const atATime = 500;
const asItIs: Redaction = {
	redact: (data) => data,
	redactWithin: (made) => made,
	stream: () => ({ push: (text) => text, flush: () => "" }),
};

/** Deletes the records of a thread, which are not deleted with its session. */
export async function forgetBeside({ records }: Pick<Host, "records">, storeKey: string): Promise<void> {
	for (const shelf of [callsShelf(storeKey), requestsShelf(storeKey)])
		for (;;) {
			const found = (await records?.list(shelf, { limit: atATime })) ?? [];
			if (found.length === 0) break;
			await records?.commit(
				[],
				found.map(({ name }) => ({ shelf, name, value: undefined })),
			);
		}
}

/** Returns the key-value pairs of a thread, sorted by key. */
export function listValues({ values }: Pick<Host, "values">, storeKey: string): Promise<readonly KeyValue[]> {
	return new ThreadValues(values.values(storeKey, valuesOwner)).listValues();
}

/** Returns the redaction of the secrets in a thread's environment, including all definitions of its agent. */
export async function redactionOf(
	{ index, parts, place }: Pick<ThreadSystem, "index" | "parts" | "place">,
	record: ThreadRecord,
): Promise<Redaction> {
	const environment = parts.environment(place(record), { masked: index.envsOf(record.agentId) });
	return (await environment.redaction?.()) ?? asItIs;
}
