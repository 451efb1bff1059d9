// The operations of A2A over the sessions of a service. A context is a session, and a task is one of its runs. Nothing is
// stored here, so any process over the same host can answer for any task.
import { createHash } from "node:crypto";
import {
	type AgentCard,
	type CancelTaskRequest,
	type GetTaskRequest,
	type ListTasksRequest,
	type ListTasksResponse,
	type Message,
	type SendMessageRequest,
	type StreamResponse,
	type SubscribeToTaskRequest,
	type Task,
	TaskState,
} from "@a2a-js/sdk";
import {
	A2AError,
	ExtendedAgentCardNotConfiguredError,
	PushNotificationNotSupportedError,
	RequestMalformedError,
	TaskNotCancelableError,
	TaskNotFoundError,
	UnsupportedOperationError,
} from "@a2a-js/sdk/errors";
import type { A2ARequestHandler, ServerCallContext } from "@a2a-js/sdk/server";
import { followRun, type RunView, refusalOf, type ServedCaller, type SessionService } from "@holdfast/server";
import { answersOf, inputOf, readMessage } from "./read-message.ts";
import {
	contextOfSession,
	isContextId,
	readTaskId,
	sessionIdOf,
	sessionPrefix,
	type TaskPlace,
} from "./task-id.ts";
import { TaskLog } from "./task-log.ts";

/** The context of a client's request in addition to its parameters. */
export interface CallState {
	readonly caller: ServedCaller;
	/** Fires when the client disconnects. A task continues without it. */
	readonly signal: AbortSignal;
}

const callState = "holdfast";

/** Adds the caller to the context of a call. */
export function withCallState(context: ServerCallContext, state: CallState): ServerCallContext {
	context.state.set(callState, state);
	return context;
}

const mostTasks = 100;

export class AgentHandler implements A2ARequestHandler {
	readonly #service: SessionService;
	readonly #card: AgentCard;

	constructor(service: SessionService, card: AgentCard) {
		this.#service = service;
		this.#card = card;
	}

	async getAgentCard(): Promise<AgentCard> {
		return this.#card;
	}

	async getAuthenticatedExtendedAgentCard(): Promise<AgentCard> {
		throw new ExtendedAgentCardNotConfiguredError("There is no other card.");
	}

	async sendMessage(
		{ message, configuration }: SendMessageRequest,
		context: ServerCallContext,
	): Promise<Task> {
		return this.#asked(context, async (state) => {
			const place = await this.#send(readMessage(message), state);
			const until = configuration?.returnImmediately === true ? "now" : "rest";
			return (await this.#read(place, state, until)).task(configuration?.historyLength);
		});
	}

	async *sendMessageStream(
		{ message, configuration }: SendMessageRequest,
		context: ServerCallContext,
	): AsyncGenerator<StreamResponse, void, undefined> {
		const place = await this.#asked(context, (state) => this.#send(readMessage(message), state));
		yield* this.#stream(place, stateOf(context), configuration?.historyLength);
	}

	async getTask({ id, historyLength }: GetTaskRequest, context: ServerCallContext): Promise<Task> {
		return this.#asked(context, async (state) =>
			(await this.#read(placeOf(id), state, "now")).task(historyLength),
		);
	}

	async cancelTask({ id }: CancelTaskRequest, context: ServerCallContext): Promise<Task> {
		return this.#asked(context, async (state) => {
			const place = placeOf(id);
			const { view } = await this.#read(place, state, "now");
			if (isOver(view)) throw new TaskNotCancelableError(`The task is already ${view.status}.`);
			await this.#service.stop(state.caller, sessionIdOf(place.contextId));
			return (await this.#read(place, state, "now")).task();
		});
	}

	async *resubscribe(
		{ id }: SubscribeToTaskRequest,
		context: ServerCallContext,
	): AsyncGenerator<StreamResponse, void, undefined> {
		const place = await this.#asked(context, async (state) => {
			const found = placeOf(id);
			const { view } = await this.#read(found, state, "now");
			if (isOver(view)) throw new UnsupportedOperationError(`The task is already ${view.status}.`);
			return found;
		});
		yield* this.#stream(place, stateOf(context));
	}

	async listTasks(request: ListTasksRequest, context: ServerCallContext): Promise<ListTasksResponse> {
		return this.#asked(context, async (state) => {
			const { contextId, pageToken, historyLength = 0, pageSize = 50 } = request;
			if (contextId !== "" && !isContextId(contextId)) return page([], "");
			const limit = Math.min(mostTasks, Math.max(1, pageSize));
			const wanted = (log: TaskLog) => isWanted(log, request);
			if (contextId !== "") {
				const tasks = (await this.#tasksOf(contextId, state)).filter(wanted).reverse();
				const from = pageToken === "" ? 0 : Number.parseInt(pageToken, 10);
				if (!Number.isSafeInteger(from) || from < 0)
					throw new RequestMalformedError("`pageToken` does not come from this server.");
				const next = from + limit < tasks.length ? String(from + limit) : "";
				const shown = tasks.slice(from, from + limit).map((log) => log.task(historyLength));
				return { ...page(shown, next), totalSize: tasks.length };
			}
			const after = pageToken.startsWith(sessionPrefix) ? pageToken : sessionPrefix;
			const { sessions, next = "" } = await this.#service.list(state.caller, { after, limit });
			const tasks: Task[] = [];
			for (const { sessionId } of sessions) {
				const each = contextOfSession(sessionId);
				if (each === undefined) continue;
				const found = (await this.#tasksOf(each, state)).filter(wanted).reverse();
				tasks.push(...found.map((log) => log.task(historyLength)));
			}
			return page(tasks, next.startsWith(sessionPrefix) ? next : "");
		});
	}

	async createTaskPushNotificationConfig(): Promise<never> {
		throw noPushNotifications();
	}
	async getTaskPushNotificationConfig(): Promise<never> {
		throw noPushNotifications();
	}
	async listTaskPushNotificationConfigs(): Promise<never> {
		throw noPushNotifications();
	}
	async deleteTaskPushNotificationConfig(): Promise<never> {
		throw noPushNotifications();
	}

	/** Starts a task, or passes its answers to the waiting one. A repeated `messageId` is accepted once. */
	async #send(message: Message, { caller, signal }: CallState): Promise<TaskPlace> {
		const { messageId, taskId } = message;
		if (taskId !== "") {
			const place = placeOf(taskId);
			const { view } = await this.#read(place, { caller, signal }, "now");
			const sessionId = sessionIdOf(place.contextId);
			if (message.contextId !== "" && message.contextId !== place.contextId)
				throw new RequestMalformedError("The task belongs to another context.");
			const { backgroundToolCalls = [] } = (await this.#service.get(caller, sessionId)) ?? {};
			if (view.pending === undefined && backgroundToolCalls.length === 0)
				throw new UnsupportedOperationError(
					`The task is ${view.status}; it accepts a message only while it waits. To start another task in its context, send a message without \`taskId\`.`,
				);
			const { pending = backgroundToolCalls } = view;
			const calls = pending === backgroundToolCalls ? pending : [...pending, ...backgroundToolCalls];
			const input = pending.length === 0 ? inputOf(message) : answersOf(message, calls);
			await this.#service.submit(caller, sessionId, { input }, { idempotencyKey: messageId });
			return place;
		}
		const contextId = message.contextId === "" ? digest(messageId) : message.contextId;
		if (!isContextId(contextId))
			throw new RequestMalformedError("`contextId` must be at most 64 letters, digits, `_` or `-`.");
		const sessionId = sessionIdOf(contextId);
		const request = { input: inputOf(message), context: {}, whilePending: "queue" } as const;
		const submitted = await this.#service.submit(caller, sessionId, request, { idempotencyKey: messageId });
		// One task at a time per context: this one starts once the earlier ones have ended.
		const after = submitted.begun === undefined ? submitted.after : await submitted.begun(signal);
		signal.throwIfAborted();
		for await (const batch of this.#service.follow(caller, sessionId, { after, until: "never", signal }))
			for (const { id, event } of batch) if (event.type === "session_start") return { contextId, start: id };
		throw new TaskNotFoundError("The context was deleted before its task started.");
	}

	async #read(place: TaskPlace, { caller, signal }: CallState, until: "now" | "rest"): Promise<TaskLog> {
		const log = new TaskLog(place);
		for await (const progress of this.#progress(place, { caller, signal })) {
			log.add(progress);
			if (until === "now" && progress.isLive) break;
		}
		return log;
	}

	/** Yields the current state of a task, followed by its updates until it ends or waits. */
	async *#stream(
		place: TaskPlace,
		state: CallState,
		historyLength?: number,
	): AsyncGenerator<StreamResponse, void, undefined> {
		const log = new TaskLog(place);
		let isShown = false;
		for await (const progress of this.#progress(place, state)) {
			const updates = log.add(progress);
			if (isShown) yield* updates;
			else if (progress.isLive || isAtRest(log.view)) {
				isShown = true;
				yield { payload: { $case: "task", value: log.task(historyLength) } };
			}
		}
	}

	#progress({ contextId, start }: TaskPlace, { caller, signal }: CallState) {
		return followRun(this.#service, {
			owner: caller,
			sessionId: sessionIdOf(contextId),
			after: start,
			signal,
		});
	}

	/** Returns all tasks of a context, oldest first. */
	async #tasksOf(contextId: string, { caller, signal }: CallState): Promise<readonly TaskLog[]> {
		const sessionId = sessionIdOf(contextId);
		if ((await this.#service.get(caller, sessionId)) === undefined) return [];
		const starts: string[] = [];
		let isOpen = false;
		for await (const batch of this.#service.follow(caller, sessionId, { until: "never", signal })) {
			if (batch.length === 0) break;
			for (const { id, event } of batch) {
				if (event.type === "session_start" && !isOpen) starts.push(id);
				if (event.type === "session_start") isOpen = true;
				if (event.type === "execute_complete") isOpen = event.status === "awaiting_tool_execution";
			}
		}
		const logs: TaskLog[] = [];
		for (const start of starts) logs.push(await this.#read({ contextId, start }, { caller, signal }, "now"));
		return logs;
	}

	/** Converts errors to those of A2A. */
	async #asked<Value>(context: ServerCallContext, ask: (state: CallState) => Promise<Value>): Promise<Value> {
		try {
			return await ask(stateOf(context));
		} catch (error) {
			throw error instanceof A2AError ? error : refused(error);
		}
	}
}

/** Returns the part of an error that clients may see. */
function refused(error: unknown): Error {
	const { code, message, status } = refusalOf(error);
	if (code === "session_not_found" || code === "invalid_event_id" || code === "events_expired")
		return new TaskNotFoundError("The task does not exist.");
	return status < 500 ? new RequestMalformedError(message) : new Error(message, { cause: error });
}

function stateOf(context: ServerCallContext): CallState {
	return context.state.get(callState) as CallState;
}

function placeOf(taskId: string): TaskPlace {
	const place = readTaskId(taskId);
	if (place === undefined) throw new TaskNotFoundError("The task does not exist.");
	return place;
}

function isOver({ status }: RunView): boolean {
	return status !== "working" && status !== "input_required";
}

function isAtRest({ status }: RunView): boolean {
	return status !== "working";
}

function isWanted(log: TaskLog, { status, statusTimestampAfter }: ListTasksRequest): boolean {
	const now = log.task(0).status;
	if (
		status !== TaskState.TASK_STATE_UNSPECIFIED &&
		status !== TaskState.UNRECOGNIZED &&
		now?.state !== status
	)
		return false;
	if (statusTimestampAfter === undefined) return true;
	return Date.parse(now?.timestamp ?? "") >= Date.parse(statusTimestampAfter);
}

function page(tasks: Task[], nextPageToken: string): ListTasksResponse {
	return { tasks, nextPageToken, pageSize: tasks.length, totalSize: tasks.length };
}

function noPushNotifications(): PushNotificationNotSupportedError {
	return new PushNotificationNotSupportedError("Push notifications are not sent. Subscribe to the task.");
}

function digest(text: string): string {
	return createHash("sha256").update(text).digest("hex").slice(0, 32);
}
