// A remote A2A agent as a tool: a sub-agent that works elsewhere. A call sends one message, under an id that is the same for every
// attempt, and waits for the task that it becomes. After a crash the task is looked for before the message is sent again.
import { createHash } from "node:crypto";
import type { AgentCard, Message, SendMessageRequest, StreamResponse, Task } from "@a2a-js/sdk";
import { Role, TaskState } from "@a2a-js/sdk";
import {
	type Client,
	ClientFactory,
	DefaultAgentCardResolver,
	JsonRpcTransportFactory,
} from "@a2a-js/sdk/client";
import { HoldfastError, type JSONSchema } from "@holdfast/upp";
import { type AnyTool, type ToolContext, tool } from "holdfast";
import { textPart } from "../parts.ts";
import { readTask, stateName } from "./read-task.ts";

/** Options of `remoteAgent`. */
export interface RemoteAgentOptions {
	/** Where its card is: the address of the agent, below which `/.well-known/agent-card.json` lies. */
	readonly url: string | URL;
	/** What the model calls it by. Default: made of the name in its card. */
	readonly name?: string;
	/** When the model should use it. Default: what its card says, which the model then believes. */
	readonly description?: string;
	/** Sent with every request, and with the one for the card. */
	readonly headers?: Readonly<Record<string, string>>;
	/** Makes the requests, for example one that reaches public addresses only. Default: the global `fetch`. */
	readonly fetch?: typeof globalThis.fetch;
	/** Whether somebody has to let each call run. Default false. */
	readonly needsApproval?: boolean;
	/** Milliseconds between two looks at a task whose agent does not stream, or whose stream broke. Default 1,000. */
	readonly pollEveryMs?: number;
	/** How many looks in a row may fail before the call does. Default 10. */
	readonly maxFailures?: number;
}

/** A remote agent as a tool, for `tools` of an agent. */
export interface RemoteAgent extends AnyTool {
	readonly name: string;
	readonly description: string;
	readonly parameters: JSONSchema;
	run(params: RemoteCall, context: ToolContext): Promise<unknown>;
	/** What the agent says of itself, when it was asked. */
	readonly card: AgentCard;
}

/** What the model gives. */
export interface RemoteCall {
	readonly prompt: string;
	/** A task that waits for input, to be given it. */
	readonly task?: string;
}

const parameters = {
	type: "object",
	properties: {
		prompt: { type: "string", minLength: 1, description: "The task, with all that is needed to do it." },
		task: {
			type: "string",
			description: "Only to answer a task that asked for input: its id. The prompt is then the answer.",
		},
	},
	required: ["prompt"],
} as const satisfies JSONSchema;

/**
 * Makes a tool of a remote agent. Its card is read once, now.
 *
 * Rejects with `a2a_unreachable` where there is no card, or none that can be used.
 *
 * @example
 * import { openai } from "@ai-sdk/openai";
 * import { agent } from "holdfast";
 *
 * const researcher = await remoteAgent({ url: "https://research.example" }).catch(() => undefined);
 * const clerk = agent({ model: openai("gpt-5.2"), tools: researcher === undefined ? [] : [researcher] });
 * console.log(clerk.id);
 */
export async function remoteAgent(options: RemoteAgentOptions): Promise<RemoteAgent> {
	const { client, card } = await connect(options);
	const { name = nameOf(card), description = describe(card), needsApproval } = options;
	const made = tool<RemoteCall, string, Promise<unknown>>({
		name,
		label: card.name,
		description,
		parameters,
		retryPolicy: "idempotent",
		...(needsApproval === undefined ? {} : { needsApproval }),
		run: (params, context) => new Call(client, card, options, params, context).run(),
	});
	return { ...(made as unknown as RemoteAgent), card };
}

async function connect({ url, headers, fetch = globalThis.fetch }: RemoteAgentOptions): Promise<{
	readonly client: Client;
	readonly card: AgentCard;
}> {
	const fetchImpl: typeof globalThis.fetch = (input, init = {}) =>
		fetch(input, { ...init, headers: { ...Object.fromEntries(new Headers(init.headers)), ...headers } });
	const factory = new ClientFactory({
		transports: [new JsonRpcTransportFactory({ fetchImpl })],
		cardResolver: new DefaultAgentCardResolver({ fetchImpl }),
	});
	try {
		const client = await factory.createFromUrl(`${url}`.replace(/\/?$/, "/"));
		return { client, card: await client.getAgentCard() };
	} catch (error) {
		const why = error instanceof Error ? error.message : String(error);
		throw new HoldfastError("a2a_unreachable", `There is no A2A agent that can be used at ${url}: ${why}`, {
			cause: error,
			retryable: true,
			data: { url: `${url}` },
		});
	}
}

function nameOf({ name }: AgentCard): string {
	const plain = name
		.toLowerCase()
		.replace(/[^a-z0-9]+/g, "_")
		.replace(/^_+|_+$/g, "")
		.slice(0, 52);
	return `ask_${plain === "" ? "agent" : plain}`;
}

function describe({ description, skills }: AgentCard): string {
	const list = skills.map((skill) => `- ${skill.name}: ${skill.description}`);
	return [`A remote agent. ${description}`, ...list].join("\n").slice(0, 4000);
}

/** One call of the tool. */
class Call {
	readonly #client: Client;
	readonly #streams: boolean;
	readonly #options: RemoteAgentOptions;
	readonly #params: RemoteCall;
	readonly #context: ToolContext;
	readonly #messageId: string;
	#taskId: string | undefined;

	constructor(
		client: Client,
		card: AgentCard,
		options: RemoteAgentOptions,
		params: RemoteCall,
		context: ToolContext,
	) {
		this.#client = client;
		this.#streams = card.capabilities?.streaming === true;
		this.#options = options;
		this.#params = params;
		this.#context = context;
		this.#messageId = digest(context.idempotencyKey);
	}

	async run(): Promise<unknown> {
		const { signal } = this.#context;
		try {
			let task = this.#context.attempt > 1 ? await this.#begunBefore(signal) : undefined;
			task ??= await this.#send();
			while (isUnderWay(task)) task = await this.#follow(task);
			return readTask(task);
		} catch (error) {
			if (signal.aborted) await this.#cancel();
			throw error;
		}
	}

	/** The task that an earlier attempt has begun, which died before it was over. */
	async #begunBefore(signal?: AbortSignal): Promise<Task | undefined> {
		if (this.#params.task !== undefined) return undefined;
		try {
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
			return undefined; // it keeps no list: then it recognises the message by its id, or begins anew
		}
	}

	/** Sends the message. Where the agent streams, until it is over; else until it is accepted. */
	async #send(): Promise<Task> {
		const { prompt, task } = this.#params;
		const message: Message = {
			messageId: this.#messageId,
			// A context of its own, by which the task is found again. One that is answered has its own already.
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
		const { signal } = this.#context;
		const answer = this.#streams
			? await this.#drain(this.#client.sendMessageStream(request, { signal }))
			: await this.#client.sendMessage(request, { signal });
		return this.#taskOf(answer);
	}

	/** Waits for a task that is under way. */
	async #follow(task: Task): Promise<Task> {
		this.#taskId = task.id;
		const { pollEveryMs = 1000, maxFailures = 10 } = this.#options;
		const { signal } = this.#context;
		let failures = 0;
		for (;;) {
			try {
				if (this.#streams && failures === 0) {
					const stream = this.#client.resubscribeTask({ tenant: "", id: task.id }, { signal });
					const answer = await this.#drain(stream).catch(() => undefined);
					signal.throwIfAborted();
					if (answer !== undefined && "status" in answer && !isUnderWay(answer)) return answer;
				}
				const now = await this.#client.getTask({ tenant: "", id: task.id }, { signal });
				if (!isUnderWay(now)) return now;
				failures = 0;
			} catch (error) {
				signal.throwIfAborted();
				failures++;
				if (failures > maxFailures) throw lost(task.id, error);
			}
			await wait(pollEveryMs, signal);
		}
	}

	/** Reads a stream to its end; gives the task as it is then, or the message that was all there is. */
	async #drain(stream: AsyncGenerator<StreamResponse, void, undefined>): Promise<Task | Message> {
		let task: Task | undefined;
		try {
			for await (const { payload } of stream) {
				if (payload?.$case === "message") return payload.value;
				if (payload?.$case === "task") task = payload.value;
				if (payload?.$case === "artifactUpdate") {
					const { artifact, append, lastChunk } = payload.value;
					for (const { content } of append || !lastChunk ? (artifact?.parts ?? []) : [])
						if (content?.$case === "text" && content.value !== "") this.#context.emit(content.value);
				}
				if (task !== undefined) this.#taskId = task.id;
			}
		} catch (error) {
			// What was begun continues without the stream.
			if (task === undefined || this.#context.signal.aborted) throw error;
		}
		if (task === undefined) throw lost(this.#taskId, undefined);
		const { signal } = this.#context;
		// Updates are told in pieces that differ between agents; the task itself has the whole.
		return this.#client.getTask({ tenant: "", id: task.id }, { signal }).catch(() => {
			signal.throwIfAborted();
			return task; // it is looked at again
		});
	}

	/** Some agents answer at once, without a task. */
	#taskOf(answer: Task | Message): Task {
		if ("status" in answer) {
			this.#taskId = answer.id;
			return answer;
		}
		const artifact = { artifactId: "", name: "", description: "", metadata: undefined, extensions: [] };
		return {
			id: "",
			contextId: answer.contextId,
			status: { state: TaskState.TASK_STATE_COMPLETED, message: undefined, timestamp: undefined },
			artifacts: [{ ...artifact, parts: answer.parts }],
			history: [],
			metadata: undefined,
		};
	}

	/** Cancels the task, also where it was begun and nobody here has heard of it yet. */
	async #cancel(): Promise<void> {
		const id = this.#taskId ?? (await this.#begunBefore())?.id;
		if (id === undefined) return;
		await this.#client.cancelTask({ tenant: "", id, metadata: undefined }).catch(() => {}); // it is over, or out of reach
	}
}

function isUnderWay({ status }: Task): boolean {
	const name = stateName(status?.state);
	return name === "submitted" || name === "working";
}

function lost(taskId: string | undefined, cause: unknown): HoldfastError {
	return new HoldfastError(
		"a2a_task_lost",
		"The remote agent cannot be reached any more, and what became of the task is not known.",
		{ cause, retryable: true, data: { ...(taskId === undefined ? {} : { taskId }) } },
	);
}

function wait(milliseconds: number, signal: AbortSignal): Promise<void> {
	return new Promise((resolve, reject) => {
		const stop = (): void => {
			clearTimeout(timer);
			reject(signal.reason);
		};
		const timer = setTimeout(() => {
			signal.removeEventListener("abort", stop);
			resolve();
		}, milliseconds);
		if (signal.aborted) stop();
		else signal.addEventListener("abort", stop, { once: true });
	});
}

function digest(text: string): string {
	return createHash("sha256").update(text).digest("hex").slice(0, 32);
}
