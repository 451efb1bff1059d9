// The context of the routes, and the threads that a caller may see: those of the tenant and, if the caller is a user, of
// that user. All others do not exist for the caller.
import type { Exchange, ServedCaller } from "@holdfast/server";
import { HoldfastError } from "holdfast";
import type { ThreadRecord, Threads } from "../thread/index.ts";
import type { ThreadState } from "../types/index.ts";
import type { ThreadField } from "./client-fields.ts";

/** Options of the routes of threads. */
export interface ThreadRoutesOptions {
	/** The threads to serve. */
	readonly threads: Threads;
	/** The value of `env` in controllers: resources of the program that runs the project. Default: none. */
	readonly env?: Readonly<Record<string, unknown>>;
	/**
	 * Fields that clients may set in addition to messages with the role `user`. Each listed field is open to every client
	 * that may call. Default: none.
	 */
	readonly clientsMaySet?: readonly ThreadField[];
	/** The maximum size in bytes of a file written over HTTP. Default: the host's limit. */
	readonly maxFileBytes?: number;
}

/** The statuses of errors that callers of these routes may see. */
export const statuses: Readonly<Record<string, number>> = {
	item_not_found: 400,
	invalid_value: 400,
	invalid_path: 400,
	invalid_pattern: 400,
	invalid_attachment: 400,
	thread_not_found: 404,
	message_not_found: 404,
	effect_not_found: 404,
	file_not_found: 404,
	folder_not_found: 404,
	is_folder: 409,
	not_a_folder: 409,
	folder_not_empty: 409,
	message_queued: 409,
	thread_terminated: 409,
	request_under_way: 409,
	file_too_large: 413,
	file_changed: 503,
	disk_full: 507,
};

/** The tenant of every caller if the server does not authenticate. */
const defaultTenant = "default";

/** Returns the tenant in the form that records have: absent for a server without authentication. */
export function tenantOf({ tenant }: Pick<ServedCaller, "tenant">): string | undefined {
	return tenant === defaultTenant ? undefined : tenant;
}

/** Whether a caller may see a thread. */
export function isVisibleTo(
	caller: Pick<ServedCaller, "tenant" | "user">,
	{ tenant, userId }: Pick<ThreadRecord, "userId"> & { readonly tenant?: string | undefined },
): boolean {
	return tenant === tenantOf(caller) && (caller.user === undefined || userId === caller.user);
}

/** Returns the thread that the path of a request names. @throws HoldfastError `thread_not_found`. */
export async function requestedThread(
	{ threads }: ThreadRoutesOptions,
	exchange: Exchange,
): Promise<{ readonly record: ThreadRecord; readonly state: ThreadState }> {
	const id = exchange.parameter("id") ?? "";
	exchange.notes.sessionId = id;
	const record = id === "" ? undefined : await threads.record(id);
	const isVisible = record !== undefined && isVisibleTo(exchange.caller, record);
	const state = isVisible ? await threads.get(id) : null;
	if (!isVisible || state === null) throw noThread();
	return { record, state };
}

/** Returns the error for a thread that does not exist or does not belong to the caller. */
export function noThread(): HoldfastError {
	return new HoldfastError("thread_not_found", "There is no such thread. Check its id.");
}

/** Returns a JSON response; no cache between the server and the caller stores it. */
export function answerJson(value: unknown, status = 200): Response {
	return new Response(JSON.stringify(value), {
		status,
		headers: { "content-type": "application/json; charset=utf-8", "cache-control": "no-store" },
	});
}

/** The same, with the thread's secrets masked. */
export async function answerOf(
	{ threads }: ThreadRoutesOptions,
	{ record }: { readonly record: ThreadRecord },
	value: unknown,
	status = 200,
): Promise<Response> {
	const { redactWithin } = await threads.redaction(record.id);
	return answerJson(redactWithin(value), status);
}
