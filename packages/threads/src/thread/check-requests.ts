// Checks the arguments of requests about threads, so that a misspelt field is never ignored or stored (keeps I12).
import { checkOptions, HoldfastError, HoldfastTypeError, optionNames } from "@holdfast/upp";
import type { ListThreads, RecordChange } from "./records.ts";
import type { CreateThreadOptions } from "./threads-options.ts";

const createThreadNames = optionNames<CreateThreadOptions>({
	agentId: "text",
	userId: true,
	tenant: "text",
	tags: "list",
	id: "text",
	message: true,
});
const listNames = optionNames<ListThreads>({
	limit: "number",
	before: "text",
	tenant: "text",
	agentId: "text",
	userId: "text",
	tag: "text",
});
const updateNames = optionNames<Pick<RecordChange, "userId" | "tags" | "name">>({
	userId: true,
	tags: "texts",
	name: "text",
});
const queueMessageNames = optionNames<{ readonly id?: string }>({ id: "text" });

/** @throws HoldfastError `invalid_option`, `invalid_input`. */
export function checkNewThread(options: CreateThreadOptions): void {
	checkOptions(options, createThreadNames, { of: "createThread()", required: true });
	const { userId, message } = options;
	checkUserId(userId, "createThread()");
	if (message !== undefined && typeof message !== "string" && typeof message?.content !== "string")
		throw new HoldfastError(
			"invalid_input",
			"The `message` of createThread() must be a string or a message.",
		);
}

/** @throws HoldfastError `invalid_option`. */
export function checkFilter(filter: ListThreads | undefined): void {
	checkOptions(filter, listNames, { of: "list()" });
}

/** @throws HoldfastError `invalid_option`. */
export function checkChange(change: Pick<RecordChange, "userId" | "tags" | "name">): void {
	checkOptions(change, updateNames, { of: "update()" });
	checkUserId(change?.userId, "update()");
}

/** @throws HoldfastError `invalid_option`. */
export function checkQueueOptions(options: { readonly id?: string }): void {
	checkOptions(options, queueMessageNames, { of: "queueMessage()" });
}

/** Threads without a user have null. */
function checkUserId(userId: string | null | undefined, of: string): void {
	if (typeof userId !== "string" && userId !== null && userId !== undefined)
		throw new HoldfastTypeError("invalid_option", `The option \`userId\` of ${of} must be a string or null.`);
}
