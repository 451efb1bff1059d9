// Routes of the messages of a thread.
import type { Route } from "@holdfast/server";
import { HoldfastError } from "holdfast";
import type { Message, MessageUpdates, QueueMessageInput } from "../types/index.ts";
import { checkChange, checkRole } from "./client-fields.ts";
import { idOfRequest, once } from "./once.ts";
import { countIn, flagIn, invalid, neededText, objectIn, onlyFields, textIn } from "./read-requests.ts";
import { schemas } from "./schemas.ts";
import {
	answerJson,
	answerOf,
	requestedThread,
	statuses,
	type ThreadRoutesOptions,
} from "./served-threads.ts";

const bodyErrors = ["invalid_input", "invalid_json", "unsupported_media_type", "body_too_large"] as const;
const roles = ["system", "user", "assistant"] as const;

/** Returns the routes. */
export function messageRoutes(options: ThreadRoutesOptions): readonly Route[] {
	const { threads, clientsMaySet } = options;
	const list: Route = {
		method: "GET",
		path: "/api/threads/:id/messages",
		name: "listMessages",
		summary: "The messages of a thread, including queued ones.",
		statuses,
		parameters: [
			{
				in: "query",
				name: "limit",
				description: "Messages of a page.",
				schema: { type: "integer", maximum: 1_000, default: 100 },
			},
			{
				in: "query",
				name: "offset",
				description: "Number of messages to skip.",
				schema: { type: "integer", default: 0 },
			},
			{
				in: "query",
				name: "order",
				description: "Oldest or newest first.",
				schema: { type: "string", enum: ["asc", "desc"] },
			},
			{
				in: "query",
				name: "silent",
				description: "`1` also lists silent ones.",
				schema: { type: "string", enum: ["0", "1"] },
			},
		],
		answers: { 200: schemas.json("A page of messages.", schemas.messages) },
		errors: ["invalid_input"],
		async handle(exchange) {
			const found = await requestedThread(options, exchange);
			const order = exchange.query("order") ?? "asc";
			if (order !== "asc" && order !== "desc") throw invalid("order", "asc or desc");
			const page = await found.state.getMessages({
				limit: countIn(exchange.query("limit"), "limit", 1_000, 100),
				offset: countIn(exchange.query("offset"), "offset", 999_999_999, 0),
				order,
				includeSilent: exchange.query("silent") === "1",
			});
			return answerOf(options, found, page);
		},
	};
	const queue: Route = {
		method: "POST",
		path: "/api/threads/:id/messages",
		name: "queueMessage",
		summary:
			"Queues a message: it starts an execution, or is added to the active one. Responds before any model is called.",
		parameters: [schemas.idempotencyKey],
		statuses,
		body: schemas.newMessage,
		answers: {
			202: schemas.json("The message, which is durable.", schemas.message),
			200: schemas.json("It was already queued, under the same key.", schemas.message),
		},
		errors: [...bodyErrors, "field_not_allowed", "idempotency_key_reused"],
		async handle(exchange) {
			const found = await requestedThread(options, exchange);
			const { id: threadId } = found.record;
			const message = readMessage(await exchange.readJson());
			checkRole(message.role ?? "user", clientsMaySet);
			const id = idOfRequest(exchange, `message ${threadId}`);
			if (id === undefined)
				return answerOf(options, found, await threads.queueMessage(threadId, message), 202);
			const { made, isNew } = await once<Message>(
				threads.host,
				{ storeKey: threads.storeKeyOf(threadId), id },
				() => found.state.getMessage(id),
				() => threads.queueMessage(threadId, message, { id }),
			);
			if (!isNew && (made.content !== message.content || made.role !== (message.role ?? "user")))
				throw new HoldfastError(
					"idempotency_key_reused",
					"This `Idempotency-Key` queued another message. Use a new key for a new request.",
				);
			return answerOf(options, found, made, isNew ? 202 : 200);
		},
	};
	const one = { path: "/api/threads/:id/messages/:messageId", statuses } as const;
	const update: Route = {
		...one,
		method: "PATCH",
		name: "updateMessage",
		summary: "Changes the fields of a message that are sent.",
		body: schemas.messageChange,
		answers: { 200: schemas.json("The updated message.", schemas.message) },
		errors: [...bodyErrors, "field_not_allowed"],
		async handle(exchange) {
			const found = await requestedThread(options, exchange);
			const body = await exchange.readJson();
			onlyFields(body, ["content", "silent", "metadata"]);
			const silent = flagIn(body, "silent");
			const metadata = objectIn(body, "metadata");
			const updates: MessageUpdates = {
				...("content" in body ? { content: textIn(body, "content") ?? null } : {}),
				...(silent === undefined ? {} : { silent }),
				...(metadata === undefined ? {} : { metadata }),
			};
			const id = exchange.parameter("messageId") ?? "";
			checkChange(await found.state.getMessage(id), clientsMaySet);
			return answerOf(options, found, await found.state.updateMessage(id, updates));
		},
	};
	const remove: Route = {
		...one,
		method: "DELETE",
		name: "deleteMessage",
		summary: "Removes a message and the results of its calls.",
		answers: { 200: schemas.json("It is removed.", schemas.deleted) },
		errors: ["field_not_allowed"],
		async handle(exchange) {
			const { state } = await requestedThread(options, exchange);
			const id = exchange.parameter("messageId") ?? "";
			checkChange(await state.getMessage(id), clientsMaySet);
			if (!(await state.deleteMessage(id)))
				throw new HoldfastError("message_not_found", "The thread has no such message. Check its id.");
			return answerJson({ id, deleted: true });
		},
	};
	return [list, queue, update, remove];
}

function readMessage(body: Readonly<Record<string, unknown>>): QueueMessageInput {
	onlyFields(body, ["content", "role", "silent", "metadata", "attachments"]);
	const role = roles.find((each) => each === (textIn(body, "role") ?? "user"));
	if (role === undefined) throw invalid("role", "system, user or assistant");
	const silent = flagIn(body, "silent");
	const metadata = objectIn(body, "metadata");
	const { attachments } = body;
	if (attachments !== undefined && !(Array.isArray(attachments) && attachments.every(isAttachment)))
		throw invalid(
			"attachments",
			"a list of attachments, each with `name`, `mimeType` and `data`, or a `path`",
		);
	return {
		content: neededText(body, "content"),
		role,
		...(silent === undefined ? {} : { silent }),
		...(metadata === undefined ? {} : { metadata }),
		...(attachments === undefined ? {} : { attachments }),
	};
}

function isAttachment(given: unknown): boolean {
	const { name, mimeType, data, path } = (given ?? {}) as Record<string, unknown>;
	return typeof name === "string" && typeof mimeType === "string" && typeof (data ?? path) === "string";
}
