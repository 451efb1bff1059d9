// The messages of a thread: list, send and change them. Queued messages are listed in their later position, and marked
// until a run accepts them (keeps I4).
import {
	type AnyMessage,
	AssistantMessage,
	type MessageJSON,
	messageFromJSON,
	type ToolCall,
	ToolResultMessage,
	UserMessage,
} from "@holdfast/upp";
import { HoldfastError } from "holdfast";
import { type Entry, readEdit, type StoredInput } from "holdfast/host";
import type { MessageEdit } from "holdfast/types";
import type {
	AttachmentRef,
	GetMessagesOptions,
	InjectMessageInput,
	Message,
	MessagesResult,
	MessageUpdates,
	QueueMessageInput,
	ToolAttachment,
} from "../types/index.ts";
import { askSession } from "./ask-session.ts";
import { readArguments, readCalls } from "./history.ts";
import {
	afterCreateMessage,
	afterUpdateMessage,
	beforeCreateMessage,
	beforeUpdateMessage,
	type HookScope,
} from "./hooks.ts";
import { dataOf, type MessageData, plainData, withData } from "./message-data.ts";
import { threadNotFound } from "./not-found.ts";
import { changedData } from "./policy.ts";
import type { Row } from "./row.ts";
import type { ThreadSystem } from "./system.ts";
import type { ThreadView } from "./thread-view.ts";

/** Returns the messages that the caller may see: committed ones, followed by queued ones. */
async function seen(system: ThreadSystem, threadId: string): Promise<ThreadView> {
	// Reads the queue first: a message that is accepted in between then appears among the committed ones, and is never
	// missing from both.
	const inbox = await system.host.journal.inbox(system.storeKeyOf(threadId));
	const view = await system.view(threadId);
	if (inbox.length === 0) return view;
	const copy = view.copy();
	for (const input of inbox) {
		const fact = factOf(input);
		if (fact === undefined || isIn(copy, fact)) continue;
		copy.apply({ seq: copy.seq + 1, at: input.at, runId: input.runId ?? "", fact });
	}
	return copy;
}

/** Whether the content of a fact is included already. */
function isIn(view: ThreadView, fact: Entry["fact"]): boolean {
	if (fact.kind !== "input" && fact.kind !== "message.added") return false;
	return view.get(fact.message.id) !== undefined || view.partsOf(fact.message.id).length > 0;
}

function factOf({ kind, id, body }: StoredInput): Entry["fact"] | undefined {
	if (kind === "edit") return readEdit(body);
	if (kind !== "message" && kind !== "steer" && kind !== "notice") return undefined;
	const message = messageFromJSON((body as { readonly message: MessageJSON }).message) as UserMessage;
	const data = dataOf(message);
	const marked = new UserMessage(message.content, {
		id: message.id,
		timestamp: message.timestamp,
		metadata: withData({ ...data, metadata: { ...data.metadata, queued: true } }, message.metadata),
	});
	return { kind: "input", inputId: id, placement: "turn", shape: "message", message: marked };
}

/** Lists messages. */
export async function getMessages(
	system: ThreadSystem,
	threadId: string,
	{ limit = 100, offset = 0, order = "asc", includeSilent = false, maxDepth }: GetMessagesOptions = {},
): Promise<MessagesResult> {
	for (const [name, value] of Object.entries({ limit, offset }))
		if (!(Number.isSafeInteger(value) && value >= 0))
			throw new HoldfastError("invalid_value", `\`${name}\` must be a whole number, 0 or more.`);
	if (order !== "asc" && order !== "desc")
		throw new HoldfastError("invalid_value", 'The `order` must be "asc" or "desc".');
	const view = await seen(system, threadId);
	const all = includeSilent ? view.rows : view.shown;
	const rows = maxDepth === undefined ? all : all.filter(({ message }) => (message.depth ?? 0) <= maxDepth);
	const total = rows.length;
	const [from, to] =
		order === "asc"
			? [offset, Math.min(total, offset + limit)]
			: [Math.max(0, total - offset - limit), Math.max(0, total - offset)];
	const page = rows.slice(from, Math.max(from, to)).map(({ message }) => structuredClone(message));
	if (order === "desc") page.reverse();
	return { messages: page, total, hasMore: offset + page.length < total };
}

/** Returns the message with an id, or null. */
export async function getMessage(
	system: ThreadSystem,
	threadId: string,
	id: string,
): Promise<Message | null> {
	const row = (await seen(system, threadId)).get(id);
	return row === undefined ? null : structuredClone(row.message);
}

/** The context for sending messages to a thread. */
export interface Speaking {
	readonly system: ThreadSystem;
	readonly threadId: string;
	readonly scope: HookScope;
	/** Stores attachments. */
	storeAttachments(attachments: readonly ToolAttachment[]): Promise<AttachmentRef[]>;
}

/** Stores a message without starting an execution. */
export async function injectMessage(speaking: Speaking, input: InjectMessageInput): Promise<Message> {
	const { system, threadId } = speaking;
	const made = await created(speaking, input);
	await askSession(system, threadId, (session) => session.edit({ kind: "add", message: made }));
	return announced(speaking, made.id);
}

/** Queues a message, and starts an execution if none is running. */
export async function queueMessage(
	speaking: Speaking,
	input: QueueMessageInput,
	id?: string,
): Promise<Message> {
	const { system, threadId } = speaking;
	if (typeof input?.content !== "string")
		throw new HoldfastError("invalid_input", "A message needs a `content`, which must be a string.");
	const { role = "user" } = input;
	const made = await created(speaking, { ...input, role }, role === "assistant" ? { to: "b" } : {}, id);
	const run = await askSession(system, threadId, (session) => session.steer(made as UserMessage));
	// This caller does not watch the run, which continues by itself.
	void run.result().catch(() => {});
	return announced(speaking, made.id);
}

const roles: readonly string[] = ["system", "user", "assistant", "tool"];

async function created(
	{ system, scope, storeAttachments }: Speaking,
	input: InjectMessageInput,
	more: Pick<MessageData, "to"> = {},
	id: string = system.newId(),
): Promise<AnyMessage> {
	const { role, content = null, metadata, silent, attachments = [], tool_calls, tool_call_id, name } = input;
	if (!roles.includes(role))
		throw new HoldfastError("invalid_input", `The \`role\` of a message must be one of ${roles.join(", ")}.`);
	if (content !== null && typeof content !== "string")
		throw new HoldfastError("invalid_input", "The `content` of a message must be a string or null.");
	const files: AttachmentRef[] = [];
	for (const each of attachments) {
		if ("path" in each) files.push(each);
		else files.push(...(await storeAttachments([each])));
	}
	const at = system.now();
	const given: Message = {
		id,
		role,
		content,
		name: name ?? null,
		tool_calls: tool_calls ?? null,
		tool_call_id: tool_call_id ?? null,
		created_at: at,
		parent_id: null,
		depth: 0,
		silent: silent === true,
		metadata: metadata ?? {},
		status: "completed",
		attachments: files,
	};
	const stored = await beforeCreateMessage(scope, given);
	return messageOf(stored, { ...more, ...changedData({}, extra(stored)) });
}

/** Returns the columns of a message that are not its own. */
function extra({ silent, metadata, status, attachments, name, ...columns }: Message): object {
	const known: Record<string, unknown> = { ...columns };
	if (silent === true) known.silent = true;
	if (metadata !== undefined && Object.keys(metadata).length > 0) known.metadata = metadata;
	if (status !== undefined && status !== "completed") known.status = status;
	if (attachments !== undefined && attachments.length > 0) known.attachments = attachments;
	if (typeof name === "string") known.name = name;
	return known;
}

/** Converts a stored message to the engine's form. */
function messageOf(message: Message, data: MessageData): AnyMessage {
	const { id, role, content, created_at, tool_calls, tool_call_id } = message;
	const timestamp = new Date(Math.floor(created_at / 1_000));
	const about: MessageData = { ...data, ...(content === null ? { noContent: true } : {}) };
	if (role === "tool") {
		const result = { toolCallId: tool_call_id ?? "", result: content ?? "" };
		return new ToolResultMessage([result], { id, timestamp, metadata: withData(plainData(about)) });
	}
	const calls = readCalls(tool_calls).map(
		({ id: toolCallId, function: { name, arguments: args } }): ToolCall => ({
			toolCallId,
			toolName: name,
			arguments: readArguments(args),
		}),
	);
	if (role === "assistant" && data.to === undefined)
		return new AssistantMessage(content ?? "", calls.length === 0 ? undefined : calls, {
			id,
			timestamp,
			metadata: withData(plainData({ ...about, side: "a" })),
		});
	const as = role === "user" ? about : { ...about, role };
	return new UserMessage(content ?? "", { id, timestamp, metadata: withData(plainData(as)) });
}

/** Returns the message in its stored form, after the hooks have run. */
async function announced({ system, threadId, scope }: Speaking, sourceId: string): Promise<Message> {
	const view = await seen(system, threadId);
	const row = view.get(sourceId) ?? view.partsOf(sourceId)[0];
	if (row === undefined) {
		const record = await system.records.get(threadId);
		const isThere = record !== undefined && record.terminated === null;
		throw isThere ? notFound(sourceId) : threadNotFound(threadId);
	}
	await afterCreateMessage(scope, structuredClone(row.message));
	return structuredClone(row.message);
}

/** Changes a message. */
export async function updateMessage(
	speaking: Speaking,
	id: string,
	updates: MessageUpdates,
): Promise<Message> {
	const { system, threadId, scope } = speaking;
	const row = requireSettled(await seen(system, threadId), id);
	const given = await beforeUpdateMessage(scope, id, { ...updates });
	const {
		metadata,
		id: _id,
		role: _role,
		created_at: _at,
		...rest
	} = given as MessageUpdates & Partial<Message>;
	const { message: before } = row;
	const after: Message = {
		...before,
		...rest,
		...(metadata === undefined ? {} : { metadata: { ...before.metadata, ...metadata } }),
	};
	const message = changed(await seen(system, threadId), row, after);
	await askSession(system, threadId, (session) => session.edit({ kind: "update", message }));
	const updated = await getMessage(system, threadId, id);
	if (updated === null) throw notFound(id);
	await afterUpdateMessage(scope, updated);
	return updated;
}

/** Returns the engine's message that a changed row is a part of. */
function changed(view: ThreadView, row: Row, after: Message): AnyMessage {
	const { source, message: before, sourceId } = row;
	const timestamp = new Date(Math.floor(before.created_at / 1_000));
	const change = changedData(before, after);
	if (source === undefined || source.type === "tool_result") {
		const parts = view.partsOf(sourceId);
		const results = parts.map(({ message: { tool_call_id, id }, result, isError }) => {
			const isThis = id === before.id;
			const stored = isThis ? { ...result, ...resultOf(after, isError === true) } : result;
			return { toolCallId: tool_call_id ?? "", result: stored, ...(isError ? { isError } : {}) };
		});
		const { attachments: _, ...data } = change;
		return new ToolResultMessage(results, { id: sourceId, timestamp, metadata: withData(plainData(data)) });
	}
	const data: MessageData = { ...dataOf(source), ...change };
	const { noContent: _, ...said } = data;
	const about = after.content === null ? { ...said, noContent: true as const } : said;
	const options = {
		id: source.id,
		timestamp: source.timestamp,
		metadata: withData(plainData(about), source.metadata),
	};
	const isSame = after.content === before.content;
	if (source.type === "user")
		return new UserMessage(isSame ? source.content : (after.content ?? ""), options);
	const others = source.content.filter(({ type }) => type !== "text");
	const text = after.content === null ? [] : [{ type: "text" as const, text: after.content }];
	const calls = after.tool_calls === before.tool_calls ? source.toolCalls : callsOf(after);
	return new AssistantMessage(isSame ? source.content : [...others, ...text], calls, options);
}

function callsOf({ tool_calls }: Message): readonly ToolCall[] | undefined {
	const calls = readCalls(tool_calls);
	return calls.length === 0
		? undefined
		: calls.map(({ id, function: { name, arguments: args } }) => ({
				toolCallId: id,
				toolName: name,
				arguments: readArguments(args),
			}));
}

function resultOf({ content, attachments = [] }: Message, isError: boolean): object {
	const said = isError
		? { status: "error", error: content ?? "" }
		: { status: "success", result: content ?? "" };
	return attachments.length === 0 ? said : { ...said, attachments };
}

/** Removes a message with the results of its calls. Returns false if it does not exist. */
export async function deleteMessage({ system, threadId }: Speaking, id: string): Promise<boolean> {
	const view = await seen(system, threadId);
	if (view.get(id) === undefined) return false;
	const row = requireSettled(view, id);
	const edit = (change: MessageEdit): Promise<void> =>
		askSession(system, threadId, (session) => session.edit(change));
	if (row.message.role === "tool") {
		const rest = view.partsOf(row.sourceId).filter(({ message }) => message.id !== id);
		if (rest.length === 0) await edit({ kind: "delete", messageId: row.sourceId });
		else await edit({ kind: "update", message: resultsOf(row, rest) });
		return true;
	}
	const calls = new Set(readCalls(row.message.tool_calls).map((call) => call.id));
	const results = view.rows.filter(
		({ seq, message }) => seq >= row.seq && message.role === "tool" && calls.has(message.tool_call_id ?? ""),
	);
	await edit({ kind: "delete", messageId: row.sourceId });
	for (const sourceId of new Set(results.map((each) => each.sourceId)))
		await edit({ kind: "delete", messageId: sourceId });
	return true;
}

function resultsOf({ message, sourceId }: Row, rest: readonly Row[]): AnyMessage {
	const timestamp = new Date(Math.floor(message.created_at / 1_000));
	const results = rest.map(({ message: { tool_call_id }, result, isError }) => ({
		toolCallId: tool_call_id ?? "",
		result,
		...(isError ? { isError } : {}),
	}));
	return new ToolResultMessage(results, { id: sourceId, timestamp });
}

function requireSettled(view: ThreadView, id: string): Row {
	const row = view.get(id);
	if (row === undefined) throw notFound(id);
	if (isWaiting(row))
		throw new HoldfastError(
			"message_queued",
			`The message ${JSON.stringify(id)} is queued. Change it once it is part of the thread.`,
			{ retryable: true, data: { id } },
		);
	return row;
}

/** The mark was set when it was listed: the project's own data of a message is stored with it. */
function isWaiting({ source }: Row): boolean {
	return source !== undefined && dataOf(source).metadata?.queued === true;
}

function notFound(id: string): HoldfastError {
	return new HoldfastError("message_not_found", `The thread has no message ${JSON.stringify(id)}.`, {
		data: { id },
	});
}
