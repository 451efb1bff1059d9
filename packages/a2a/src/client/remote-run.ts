// One call of a remote agent. It sends one message, with an id that is the same for every attempt, and waits for the
// resulting task. After a crash it looks for the task before it sends the message again (keeps I3).
//
// A run starts (looks for the task of an earlier attempt, or sends), follows, and ends with the task; an abort cancels
// the task.
import { createHash } from "node:crypto";
import type { AgentCard, Message, SendMessageRequest, StreamResponse, Task } from "@a2a-js/sdk";
import { Role, TaskState } from "@a2a-js/sdk";
import type { Client } from "@a2a-js/sdk/client";
import { delay, HoldfastError } from "@holdfast/upp";
import type { ToolContext } from "holdfast";
import { textPart } from "../parts.ts";
import type { KeptTasks } from "./kept-tasks.ts";
import { readTask, stateName } from "./read-task.ts";

/** The arguments that the model provides. */
export interface RemoteCall {
	/** The message to the remote agent. */
	readonly prompt: string;
	/** The id of a task that waits for input, to answer it. */
	readonly task?: string;
}

/** Options for following a task. */
export interface FollowTaskOptions {
	/** Milliseconds between two polls of a task whose agent does not stream, or whose stream broke. Default 1,000. */
	readonly pollEveryMs?: number;
	/** How many polls in a row may fail before the call does. Default 10. */
	readonly maxFailures?: number;
	/**
	 * The time limit of a call in milliseconds, regardless of progress reports by its agent; then its task is cancelled.
	 * A call that continues after a crash starts over. `Infinity`: no limit. Default 3,600,000, which is one hour.
	 */
	readonly deadlineMs?: number;
}

/** The default time limit of a call in milliseconds: one hour. */
const standardDeadlineMs = 3_600_000;

/** The longest delay of a timer in milliseconds: 24 days, in effect no limit. */
const longestTimerMs = 2 ** 31 - 1;

/** Maximum number of characters that a call may emit over all its streams, because they are stored with the session. */
const mostEmitted = 8 * 1024 * 1024;

export class RemoteRun {
	readonly #client: Client;
	readonly #streams: boolean;
	readonly #options: FollowTaskOptions;
	readonly #params: RemoteCall;
	readonly #context: ToolContext;
	readonly #messageId: string;
	/** Fires when the call is aborted, or takes too long. */
	#signal: AbortSignal;
	readonly #kept: KeptTasks | undefined;
	#taskId: string | undefined;
	/** Number of characters emitted. */
	#emitted = 0;

	constructor(
		client: Client,
		card: AgentCard,
		options: FollowTaskOptions,
		params: RemoteCall,
		context: ToolContext,
		kept?: KeptTasks,
	) {
		this.#kept = kept;
		this.#client = client;
		this.#streams = card.capabilities?.streaming === true;
		this.#options = options;
		this.#params = params;
		this.#context = context;
		this.#signal = context.signal;
		this.#messageId = digest(context.idempotencyKey);
	}

	async run(): Promise<unknown> {
		const { signal: aborted } = this.#context;
		const late = this.#deadline();
		const signal = late === undefined ? aborted : AbortSignal.any([aborted, late.signal]);
		this.#signal = signal;
		try {
			let task = this.#context.attempt > 1 ? await this.#again(signal) : undefined;
			task ??= await this.#send();
			while (isUnderWay(task)) task = await this.#follow(task);
			return readTask(task);
		} catch (error) {
			if (signal.aborted || this.#isTooLong) await this.#cancel();
			throw error;
		} finally {
			late?.clear();
			// If the end of the process cuts the call off, the next process looks for it.
			if (!aborted.aborted) this.#kept?.over(this.#messageId);
		}
	}

	/** Fires when the call has reached its time limit. */
	#deadline(): { readonly signal: AbortSignal; clear(): void } | undefined {
		const { deadlineMs = standardDeadlineMs } = this.#options;
		if (deadlineMs > longestTimerMs) return undefined;
		const late = new AbortController();
		const timer = setTimeout(() => late.abort(tooLate(deadlineMs, this.#taskId)), deadlineMs);
		return { signal: late.signal, clear: () => clearTimeout(timer) };
	}

	/**
	 * Returns the task that an earlier attempt started. If its id was stored, the task is followed without looking for it
	 * first.
	 */
	async #again(signal: AbortSignal): Promise<Task | undefined> {
		const id = await this.#kept?.find(this.#messageId);
		return id === undefined ? this.#begunBefore(signal) : begun(id);
	}

	/** Stores the id of the task, so that it is known even after a crash. */
	async #know(id: string): Promise<void> {
		if (this.#taskId === id) return;
		this.#taskId = id;
		await this.#kept?.keep(this.#messageId, id);
	}

	/** Returns the task that an earlier attempt started before it died. */
	async #begunBefore(signal?: AbortSignal): Promise<Task | undefined> {
		const { task: answered } = this.#params;
		try {
			if (answered !== undefined) {
				const task = await this.#client.getTask(
					{ tenant: "", id: answered },
					signal === undefined ? {} : { signal },
				);
				// A task that still waits has not received the answer.
				return stateName(task.status?.state) === "input-required" ? undefined : task;
			}
			const { tasks } = await this.#client.listTasks(
				{
					tenant: "",
					contextId: this.#messageId,
					status: TaskState.TASK_STATE_UNSPECIFIED,
					pageToken: "",
					statusTimestampAfter: undefined,
					includeArtifacts: true,
				},
				signal === undefined ? {} : { signal },
			);
			return tasks.find(({ contextId }) => contextId === this.#messageId);
		} catch {
			signal?.throwIfAborted();
			return undefined; // it keeps no list: then it recognises the message by its id, or starts a new task
		}
	}

	/** Sends the message. If the agent streams, resolves at the end, otherwise on acceptance. */
	async #send(): Promise<Task> {
		const { prompt, task } = this.#params;
		const message: Message = {
			messageId: this.#messageId,
			// A new context, by which the task can be found again. A task that receives an answer has its own.
			contextId: task === undefined ? this.#messageId : "",
			taskId: task ?? "",
			role: Role.ROLE_USER,
			parts: [textPart(prompt)],
			metadata: undefined,
			extensions: [],
			referenceTaskIds: [],
		};
		const request: SendMessageRequest = {
			tenant: "",
			message,
			configuration: {
				acceptedOutputModes: [],
				taskPushNotificationConfig: undefined,
				returnImmediately: !this.#streams,
			},
			metadata: undefined,
		};
		const signal = this.#signal;
		const answer = this.#streams
			? await this.#drain(this.#client.sendMessageStream(request, { signal }))
			: await this.#client.sendMessage(request, { signal });
		if ("status" in answer) await this.#know(answer.id);
		return taskOf(answer);
	}

	#emit(delta: string): void {
		this.#emitted += delta.length;
		if (this.#isTooLong)
			throw new HoldfastError(
				"answer_too_large",
				`The remote agent has streamed more than ${mostEmitted} characters. Its task is cancelled.`,
			);
		this.#context.emit(delta);
	}

	get #isTooLong(): boolean {
		return this.#emitted > mostEmitted;
	}

	/** Waits for a task in progress. */
	async #follow(task: Task): Promise<Task> {
		this.#taskId = task.id;
		const { pollEveryMs = 1000, maxFailures = 10 } = this.#options;
		const signal = this.#signal;
		let failures = 0;
		for (;;) {
			try {
				if (this.#streams && failures === 0) {
					const stream = this.#client.resubscribeTask({ tenant: "", id: task.id }, { signal });
					const answer = await this.#drain(stream).catch((error: unknown) => {
						if (this.#isTooLong) throw error;
						return undefined;
					});
					signal.throwIfAborted();
					if (answer !== undefined && "status" in answer && !isUnderWay(answer)) return answer;
				}
				const now = await this.#client.getTask({ tenant: "", id: task.id }, { signal });
				if (!isUnderWay(now)) return now;
				failures = 0;
			} catch (error) {
				signal.throwIfAborted();
				if (this.#isTooLong) throw error;
				failures++;
				if (failures > maxFailures) throw lost(task.id, error);
			}
			await delay(pollEveryMs, signal);
		}
	}

	/** Reads a stream to its end; returns the final task, or the message if there was nothing else. */
	async #drain(stream: AsyncGenerator<StreamResponse, void, undefined>): Promise<Task | Message> {
		let task: Task | undefined;
		try {
			for await (const { payload } of stream) {
				if (payload?.$case === "message") return payload.value;
				if (payload?.$case === "task") task = payload.value;
				if (payload?.$case === "artifactUpdate") {
					const { artifact, append, lastChunk } = payload.value;
					for (const { content } of append || !lastChunk ? (artifact?.parts ?? []) : [])
						if (content?.$case === "text" && content.value !== "") this.#emit(content.value);
				}
				if (task !== undefined) await this.#know(task.id);
			}
		} catch (error) {
			// A started task continues without the stream, unless it sent more than the limit.
			if (task === undefined || this.#signal.aborted || this.#isTooLong) throw error;
		}
		if (task === undefined) throw lost(this.#taskId, undefined);
		const signal = this.#signal;
		// Agents split their updates differently; the task itself has the complete result.
		return this.#client.getTask({ tenant: "", id: task.id }, { signal }).catch(() => {
			signal.throwIfAborted();
			return task; // it is polled
		});
	}

	/** Cancels the task, even if it was started but not confirmed yet. */
	async #cancel(): Promise<void> {
		const id = this.#taskId ?? (await this.#begunBefore())?.id;
		if (id === undefined) return;
		await this.#client.cancelTask({ tenant: "", id, metadata: undefined }).catch(() => {}); // it has ended, or is unreachable
	}
}

/** Creates a task from its id alone. */
function begun(id: string): Task {
	const status = { state: TaskState.TASK_STATE_SUBMITTED, message: undefined, timestamp: undefined };
	return { id, contextId: "", status, artifacts: [], history: [], metadata: undefined };
}

/** Returns the answer as a task: some agents answer at once, without one. */
function taskOf(answer: Task | Message): Task {
	if ("status" in answer) return answer;
	const artifact = { artifactId: "", name: "", description: "", metadata: undefined, extensions: [] };
	return {
		...begun(""),
		contextId: answer.contextId,
		status: { state: TaskState.TASK_STATE_COMPLETED, message: undefined, timestamp: undefined },
		artifacts: [{ ...artifact, parts: answer.parts }],
	};
}

function isUnderWay({ status }: Task): boolean {
	const name = stateName(status?.state);
	return name === "submitted" || name === "working";
}

function lost(taskId: string | undefined, cause: unknown): HoldfastError {
	return new HoldfastError(
		"a2a_task_lost",
		"The remote agent can no longer be reached, so the state of the task is unknown.",
		{ cause, retryable: true, data: { ...(taskId === undefined ? {} : { taskId }) } },
	);
}

function tooLate(deadlineMs: number, taskId: string | undefined): HoldfastError {
	return new HoldfastError(
		"a2a_task_timeout",
		`The remote agent has not finished within ${deadlineMs} ms, and its task is cancelled. Raise \`deadlineMs\` for tasks that take longer.`,
		{ data: { deadlineMs, ...(taskId === undefined ? {} : { taskId }) } },
	);
}

function digest(text: string): string {
	return createHash("sha256").update(text).digest("hex").slice(0, 32);
}
