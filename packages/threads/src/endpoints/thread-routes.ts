// Routes that create, list, change and delete threads.
import type { Route, ServedCaller } from "@holdfast/server";
import { HoldfastError, isHoldfastError } from "holdfast";
import { isUnreadable } from "holdfast/host";
import { deleteThread, systemOf, type ThreadRecord, type Threads } from "../thread/index.ts";
import { idOfRequest } from "./once.ts";
import { countIn, neededText, onlyFields, textIn, textsIn } from "./read-requests.ts";
import { schemas } from "./schemas.ts";
import {
	answerJson,
	answerOf,
	isVisibleTo,
	noThread,
	requestedThread,
	statuses,
	type ThreadRoutesOptions,
	tenantOf,
} from "./served-threads.ts";

const mostThreads = 100;

/** Returns a thread in the form of a response. */
function threadJson(record: ThreadRecord): Record<string, unknown> {
	const { id, agentId, userId, createdAt, tags, terminated, parent, status } = record;
	return {
		id,
		agent_id: agentId,
		user_id: userId,
		created_at: createdAt,
		tags,
		terminated,
		...(parent === undefined ? {} : { parent_id: parent.threadId }),
		...(record.name === undefined ? {} : { name: record.name }),
		...(status === undefined ? {} : { status }),
	};
}

/** Whether a thread is the caller's, even if its record is damaged. Then its user is unknown. */
async function mayDelete(threads: Threads, caller: ServedCaller, id: string): Promise<boolean> {
	try {
		const record = await threads.record(id);
		return record !== undefined && isVisibleTo(caller, record);
	} catch (error) {
		if (!isUnreadable(error)) throw error;
		return caller.user === undefined && (await systemOf(threads).records.isListed(id, tenantOf(caller)));
	}
}

/** Returns the routes. */
export function threadRoutes(options: ThreadRoutesOptions): readonly Route[] {
	const { threads } = options;
	const list: Route = {
		method: "GET",
		path: "/api/threads",
		name: "listThreads",
		summary: "The threads of the caller, the newest first.",
		parameters: [
			{ in: "query", name: "limit", description: "Threads of a page.", schema: schemas.limit },
			{ in: "query", name: "before", description: "`next` of the previous page.", schema: schemas.text },
			{ in: "query", name: "agent_id", description: "Only those of this agent.", schema: schemas.text },
			{ in: "query", name: "user_id", description: "Only those of this user.", schema: schemas.text },
			{ in: "query", name: "tag", description: "Only those with this tag.", schema: schemas.text },
		],
		answers: { 200: schemas.json("A page of threads.", schemas.threadPage) },
		errors: ["invalid_input"],
		async handle(exchange) {
			const { caller } = exchange;
			const limit = Math.max(1, countIn(exchange.query("limit"), "limit", mostThreads, 50));
			const before = exchange.query("before");
			const userId = caller.user ?? exchange.query("user_id");
			const agentId = exchange.query("agent_id");
			const tag = exchange.query("tag");
			const tenant = tenantOf(caller);
			const found = await threads.list({
				limit: limit + 1,
				...(tenant === undefined ? {} : { tenant }),
				...(before === undefined ? {} : { before }),
				...(userId === undefined ? {} : { userId }),
				...(agentId === undefined ? {} : { agentId }),
				...(tag === undefined ? {} : { tag }),
			});
			const page = found.slice(0, limit);
			return answerJson({
				threads: page.map(threadJson),
				...(found.length > limit ? { next: page.at(-1)?.id } : {}),
			});
		},
	};
	const create: Route = {
		method: "POST",
		path: "/api/threads",
		name: "createThread",
		summary: "Creates a thread of an agent. The same `Idempotency-Key` creates one thread.",
		parameters: [schemas.idempotencyKey],
		body: schemas.newThread,
		answers: {
			201: schemas.json("The new thread.", schemas.thread),
			200: schemas.json("It already existed.", schemas.thread),
		},
		errors: [
			"invalid_input",
			"invalid_json",
			"unsupported_media_type",
			"body_too_large",
			"field_not_allowed",
			"idempotency_key_reused",
		],
		statuses: { item_not_found: 400 },
		async handle(exchange) {
			const { caller } = exchange;
			const body = await exchange.readJson();
			onlyFields(body, ["agent_id", "user_id", "tags"]);
			const agentId = neededText(body, "agent_id");
			const named = textIn(body, "user_id");
			if (caller.user !== undefined && named !== undefined && named !== caller.user)
				throw new HoldfastError("field_not_allowed", "`user_id` must be your own user.", {
					data: { field: "user_id" },
				});
			const userId = caller.user ?? named ?? null;
			const tags = textsIn(body, "tags") ?? [];
			const id = idOfRequest(exchange, "create");
			const tenant = tenantOf(caller);
			try {
				const made = await threads.createThread({
					agentId,
					userId,
					tags,
					...(tenant === undefined ? {} : { tenant }),
					...(id === undefined ? {} : { id }),
				});
				const record = await threads.record(made.threadId);
				if (record === undefined) throw noThread();
				return answerJson(threadJson(record), 201);
			} catch (error) {
				if (id === undefined || !isHoldfastError(error) || error.code !== "thread_exists") throw error;
			}
			const record = await threads.record(id);
			if (record?.agentId !== agentId || record.userId !== userId)
				throw new HoldfastError(
					"idempotency_key_reused",
					"This `Idempotency-Key` created another thread. Use a new key for a new request.",
				);
			return answerJson(threadJson(record));
		},
	};
	const one = { path: "/api/threads/:id", statuses } as const;
	const get: Route = {
		...one,
		method: "GET",
		name: "getThread",
		summary: "A thread.",
		answers: { 200: schemas.json("The thread.", schemas.thread) },
		async handle(exchange) {
			const found = await requestedThread(options, exchange);
			return answerOf(options, found, threadJson(found.record));
		},
	};
	const update: Route = {
		...one,
		method: "PATCH",
		name: "updateThread",
		summary: "Changes the fields of a thread that are sent.",
		body: schemas.threadChange,
		answers: { 200: schemas.json("The updated thread.", schemas.thread) },
		errors: [
			"invalid_input",
			"invalid_json",
			"unsupported_media_type",
			"body_too_large",
			"field_not_allowed",
		],
		async handle(exchange) {
			const found = await requestedThread(options, exchange);
			const body = await exchange.readJson();
			onlyFields(body, ["user_id", "tags", "name"]);
			if (exchange.caller.user !== undefined && body.user_id !== undefined)
				throw new HoldfastError("field_not_allowed", "You cannot assign your threads to another user.", {
					data: { field: "user_id" },
				});
			const tags = textsIn(body, "tags");
			const name = textIn(body, "name");
			const record = await threads.update(found.record.id, {
				...("user_id" in body ? { userId: textIn(body, "user_id") ?? null } : {}),
				...(tags === undefined ? {} : { tags }),
				...(name === undefined ? {} : { name }),
			});
			return answerOf(options, { record }, threadJson(record));
		},
	};
	const remove: Route = {
		...one,
		method: "DELETE",
		name: "deleteThread",
		summary: "Removes a thread with its messages, files, values, effects and sub-agents.",
		answers: { 200: schemas.json("It is removed.", schemas.deleted) },
		async handle(exchange) {
			const id = exchange.parameter("id") ?? "";
			exchange.notes.sessionId = id;
			if (id === "" || !(await mayDelete(threads, exchange.caller, id))) throw noThread();
			await deleteThread(threads, systemOf(threads), id, { tenant: tenantOf(exchange.caller) });
			return answerJson({ id, deleted: true });
		},
	};
	return [list, create, get, update, remove];
}
