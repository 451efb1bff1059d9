// Converts a run to a task: the state according to its log, and the updates since.
import {
	type Message,
	type Part,
	Role,
	type StreamResponse,
	type Task,
	TaskState,
	type TaskStatus,
} from "@a2a-js/sdk";
import { type RunProgress, type RunView, waitText } from "@holdfast/server";
import { dataPart, filePart, textPart } from "../parts.ts";
import { howToAnswer } from "./read-message.ts";
import { type TaskPlace, taskIdOf } from "./task-id.ts";

const states = {
	working: TaskState.TASK_STATE_WORKING,
	input_required: TaskState.TASK_STATE_INPUT_REQUIRED,
	completed: TaskState.TASK_STATE_COMPLETED,
	failed: TaskState.TASK_STATE_FAILED,
	cancelled: TaskState.TASK_STATE_CANCELED,
} as const;

const inBackground =
	"Background tasks are waiting. This task does not wait for them, but accepts the answers.";

/** Id of the one artifact of a task: the agent's answer. */
const artifactId = "answer";

export class TaskLog {
	readonly taskId: string;
	readonly #contextId: string;
	readonly #history: Message[] = [];
	/** Files of the last answer. */
	#files: readonly Part[] = [];
	view: RunView = { status: "working", text: "" };

	constructor(place: TaskPlace) {
		this.taskId = taskIdOf(place);
		this.#contextId = place.contextId;
	}

	/** Adds progress; returns the updates for clients that have seen everything before it. */
	add({ events, view }: RunProgress): readonly StreamResponse[] {
		const updates: StreamResponse[] = [];
		for (const { event } of events) {
			if (event.type === "text_start") updates.push(this.#artifact("", false, false));
			if (event.type === "text_delta") updates.push(this.#artifact(event.delta, true, false));
			if (event.type !== "message_end") continue;
			const { message } = event;
			if (message.role === "user") this.#say(Role.ROLE_USER, textOfUser(message.content));
			if (message.role !== "assistant") continue;
			this.#files = message.content.flatMap((part) =>
				part.type === "file" ? [filePart(part.data, part.mediaType)] : [],
			);
			const text = message.content.map((part) => (part.type === "text" ? part.text : "")).join("");
			if (text !== "") this.#say(Role.ROLE_AGENT, text);
		}
		const before = this.view.status;
		const hasWaited = this.view.waiting;
		this.view = view;
		if (view.status === "completed") updates.push(this.#artifact(view.text, false, true));
		const isNew = view.status !== before || view.waiting !== hasWaited;
		if (isNew || view.status === "input_required") updates.push(this.#statusUpdate());
		return updates;
	}

	/** @param historyLength the maximum number of messages, the latest ones; undefined: all. */
	task(historyLength?: number): Task {
		const { view } = this;
		const artifact = { artifactId, name: "answer", description: "", metadata: undefined, extensions: [] };
		return {
			id: this.taskId,
			contextId: this.#contextId,
			status: this.#status(),
			artifacts: view.status === "completed" ? [{ ...artifact, parts: this.#answer() }] : [],
			history: historyLength === 0 ? [] : this.#history.slice(-(historyLength ?? this.#history.length)),
			metadata: undefined,
		};
	}

	#answer() {
		const { text, output } = this.view;
		return [textPart(text), ...(output === undefined ? [] : [dataPart(output)]), ...this.#files];
	}

	#status(): TaskStatus {
		const { status, error, pending = [], background = [], updatedAt, waiting } = this.view;
		const said: Part[] =
			status === "failed"
				? [textPart(error?.message ?? "It failed.")]
				: status === "input_required"
					? [textPart(howToAnswer(pending)), dataPart({ pendingCalls: pending.map(callOf) })]
					: waiting === undefined
						? []
						: [textPart(`${waitText(waiting)}.`), dataPart({ waiting })];
		if (background.length > 0)
			said.push(
				textPart(`${inBackground} ${howToAnswer(background)}`),
				dataPart({ backgroundCalls: background.map(callOf) }),
			);
		return {
			state: states[status],
			message: said.length === 0 ? undefined : this.#message(Role.ROLE_AGENT, `${this.taskId}.status`, said),
			timestamp: updatedAt === undefined ? undefined : new Date(updatedAt).toISOString(),
		};
	}

	#statusUpdate(): StreamResponse {
		const value = {
			taskId: this.taskId,
			contextId: this.#contextId,
			status: this.#status(),
			metadata: undefined,
		};
		return { payload: { $case: "statusUpdate", value } };
	}

	/** Returns the update for a piece of the answer, or for all of it. */
	#artifact(text: string, append: boolean, lastChunk: boolean): StreamResponse {
		const parts = lastChunk ? this.#answer() : [textPart(text)];
		const artifact = {
			artifactId,
			name: "answer",
			description: "",
			parts,
			metadata: undefined,
			extensions: [],
		};
		const { taskId } = this;
		const value = { taskId, contextId: this.#contextId, artifact, append, lastChunk, metadata: undefined };
		return { payload: { $case: "artifactUpdate", value } };
	}

	#say(role: Role, text: string): void {
		this.#history.push(this.#message(role, `${this.taskId}.${this.#history.length}`, [textPart(text)]));
	}

	#message(role: Role, messageId: string, parts: Message["parts"]): Message {
		const { taskId } = this;
		const contextId = this.#contextId;
		return {
			messageId,
			contextId,
			taskId,
			role,
			parts,
			metadata: undefined,
			extensions: [],
			referenceTaskIds: [],
		};
	}
}

function callOf({
	id,
	name,
	arguments: input,
	approval,
	deadline,
	mayEdit,
	path,
	taskId,
}: NonNullable<RunView["pending"]>[number]): object {
	const awaits = approval === true ? "approval" : "result";
	const due = deadline === undefined ? {} : { deadline };
	const edit = mayEdit === true ? { mayEdit } : {};
	return {
		toolCallId: id,
		name,
		arguments: input,
		awaits,
		...due,
		...edit,
		...(path === undefined ? {} : { path }),
		...(taskId === undefined ? {} : { taskId }),
	};
}

function textOfUser(content: string | readonly { readonly type: string; readonly text?: string }[]): string {
	if (typeof content === "string") return content;
	return content.map(({ type, text }) => (type === "text" ? text : `[${type}]`)).join("\n");
}
