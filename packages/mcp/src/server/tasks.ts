// Calls as tasks, in the forms of both protocol versions: of 2025-11-25, where a client requests one, and of the
// extension `io.modelcontextprotocol/tasks`, where a client declares support.
import { type RunView, readRun, type ServedCaller, type SessionService, waitText } from "@holdfast/server";
import { type InputRequests, ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/server";
import { answerCalls, askingView, questionsOf, resultOf } from "./call-agent.ts";
import { readTaskId, sessionPrefix, type TaskPlace, taskIdOf, toolOfSession } from "./task-id.ts";

/** Name of the extension with the newer protocol version. */
export const tasksExtension = "io.modelcontextprotocol/tasks";

/** The protocol version whose types are used. */
export type TaskWire = "2025" | "2026";

/** The description of a task for clients. */
export interface TaskData {
	readonly taskId: string;
	readonly status: RunView["status"];
	readonly statusMessage?: string;
	readonly createdAt: string;
	readonly lastUpdatedAt: string;
	readonly [member: string]: unknown;
}

export class Tasks {
	readonly #service: SessionService;
	readonly #pollEveryMs: number;

	constructor(service: SessionService, pollEveryMs: number) {
		this.#service = service;
		this.#pollEveryMs = pollEveryMs;
	}

	/** Returns a task that was just started. */
	begun(place: TaskPlace, wire: TaskWire): TaskData {
		return this.#data(place, { status: "working", text: "" }, wire);
	}

	/** Returns the current state of a task; with the newer protocol version including its result or its questions. */
	async get(caller: ServedCaller, taskId: unknown, wire: TaskWire): Promise<TaskData> {
		const place = this.#place(taskId);
		const view = askingView(await this.#view(caller, place, "now"));
		const data = this.#data(place, view, wire);
		if (wire === "2025") return data;
		if (view.status === "completed") return { ...data, result: resultOf(view, place.sessionId) };
		if (view.status === "failed") return { ...data, error: { code: -32603, message: messageOf(view) } };
		if (view.pending === undefined) return data;
		return { ...data, inputRequests: questionsOf(view.pending) satisfies InputRequests };
	}

	/** Returns the result of an ended task. */
	async result(
		caller: ServedCaller,
		taskId: unknown,
		signal: AbortSignal,
		ask?: (pending: InputRequests) => Promise<Readonly<Record<string, unknown>> | undefined>,
	): Promise<object> {
		const place = this.#place(taskId);
		for (;;) {
			const view = await this.#view(caller, place, "rest", signal);
			const { pending = [] } = askingView(view);
			if (pending.length === 0) return resultOf(view, place.sessionId);
			const responses = await ask?.(questionsOf(pending));
			// If there is no way to ask, a task ends with its result, which lists the questions of its background tasks.
			if (responses === undefined && view.pending === undefined) return resultOf(view, place.sessionId);
			if (responses === undefined) throw new ProtocolError(ProtocolErrorCode.InvalidRequest, messageOf(view));
			await answerCalls(this.#service, caller, place.sessionId, responses);
		}
	}

	/** Passes answers to a waiting task. */
	async update(caller: ServedCaller, taskId: unknown, responses: unknown): Promise<void> {
		const { sessionId } = this.#place(taskId);
		if (typeof responses !== "object" || responses === null)
			throw new ProtocolError(ProtocolErrorCode.InvalidParams, "`inputResponses` must be an object.");
		await answerCalls(this.#service, caller, sessionId, responses as Record<string, unknown>);
	}

	/** Ends the run of a task. Rejects if it has ended. */
	async cancel(caller: ServedCaller, taskId: unknown, wire: TaskWire): Promise<TaskData> {
		const place = this.#place(taskId);
		const view = await this.#view(caller, place, "now");
		if (view.status !== "working" && view.status !== "input_required")
			throw new ProtocolError(ProtocolErrorCode.InvalidParams, `The task is already ${view.status}.`);
		await this.#service.stop(caller, place.sessionId);
		return this.#data(place, await this.#view(caller, place, "now"), wire);
	}

	/** Returns the last task of each session of a caller. */
	async list(
		caller: ServedCaller,
		cursor: unknown,
		wire: TaskWire,
	): Promise<{ readonly tasks: readonly TaskData[]; readonly nextCursor?: string }> {
		const after = typeof cursor === "string" && cursor.startsWith(sessionPrefix) ? cursor : sessionPrefix;
		const { sessions, next } = await this.#service.list(caller, { after, limit: 20 });
		const tasks: TaskData[] = [];
		for (const { sessionId, createdAt } of sessions) {
			if (toolOfSession(sessionId) === undefined) continue;
			const { lastRun } = (await this.#service.get(caller, sessionId)) ?? {};
			if (lastRun === undefined) continue;
			const place = { sessionId, after: lastRun.after, createdAt };
			tasks.push(this.#data(place, askingView(await this.#view(caller, place, "now")), wire));
		}
		return { tasks, ...(next?.startsWith(sessionPrefix) ? { nextCursor: next } : {}) };
	}

	#place(taskId: unknown): TaskPlace {
		const place = readTaskId(taskId);
		if (place === undefined) throw unknownTask();
		return place;
	}

	async #view(
		caller: ServedCaller,
		{ sessionId, after }: TaskPlace,
		until: "now" | "rest",
		signal?: AbortSignal,
	): Promise<RunView> {
		try {
			const run = { owner: caller, sessionId, after, ...(signal === undefined ? {} : { signal }) };
			return await readRun(this.#service, run, until);
		} catch (error) {
			const { code } = error as { code?: unknown };
			throw code === "session_not_found" || code === "invalid_event_id" || code === "events_expired"
				? unknownTask()
				: error;
		}
	}

	#data(place: TaskPlace, view: RunView, wire: TaskWire): TaskData {
		const { createdAt } = place;
		const message = messageOf(view);
		return {
			taskId: taskIdOf(place),
			status: view.status,
			...(message === "" ? {} : { statusMessage: message }),
			createdAt: new Date(createdAt).toISOString(),
			lastUpdatedAt: new Date(Math.max(createdAt, view.updatedAt ?? 0)).toISOString(),
			// A task is kept as long as its session.
			...(wire === "2025"
				? { ttl: null, pollInterval: this.#pollEveryMs }
				: { ttlMs: null, pollIntervalMs: this.#pollEveryMs }),
		};
	}
}

function messageOf({ status, error, pending = [], waiting }: RunView): string {
	if (status === "failed") return error?.message ?? "It failed.";
	if (waiting !== undefined) return `${waitText(waiting)}.`;
	if (status !== "input_required") return "";
	if (pending.length === 0) return "It waits for a message.";
	return `It waits for ${pending.map(({ name }) => name).join(", ")}.`;
}

function unknownTask(): ProtocolError {
	return new ProtocolError(ProtocolErrorCode.InvalidParams, "The task does not exist.");
}
