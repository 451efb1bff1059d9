// Document 3's own face in this process: `createSession` and `execute`, over the same served sessions as any server's.
import { HoldfastError } from "@holdfast/upp";
import { type AgentOptions, modelIdOf } from "../agent/index.ts";
import { type Host, memoryHost, sessionPlace } from "../host/index.ts";
import { localStore, processKey } from "../sessions/index.ts";
import { normaliseTools, type ToolSet } from "../tools/index.ts";
import type { PendingSessionCall, SessionStatus } from "./execute-event.ts";
import { readInput, readOptions } from "./execute-request.ts";
import { ExecuteEvents, type ExecuteStream } from "./execute-stream.ts";
import { ServedSession, type ServingParts } from "./served-session.ts";
import type { SessionMessage, UserSessionMessage } from "./session-message.ts";
import { storedTool } from "./session-tools.ts";

/** What a session begins with. @see document 3, "New API Design" */
export interface AgentContext {
	readonly systemPrompt?: string;
	/** Copied; never changed. Default: none. */
	readonly messages?: readonly SessionMessage[];
	/** One without a function is remote: the run waits for its result. Default: none. */
	readonly tools?: ToolSet;
}

/** Options of an execution, and of all that follow. */
export interface ExecuteOptions {
	readonly model?: AgentOptions["model"];
	/** Sampling temperature, as the provider takes it. Default: the provider's. */
	readonly temperature?: number;
	/** Tokens an answer may have. Default: the provider's limit. */
	readonly maxTokens?: number;
	/** Ends the execution when it fires. */
	readonly signal?: AbortSignal;
}

/** Options of a session. */
export interface PromptOptions extends Omit<ExecuteOptions, "signal"> {
	/** Where the session is kept. Default: in memory, for the life of this object. */
	readonly host?: Host;
	/** US dollars for a million tokens, by model id. Default: none. */
	readonly prices?: AgentOptions["prices"];
	/** Policy around every execution, as in the options of an agent. Default: none. */
	readonly middleware?: AgentOptions["middleware"];
	/** Policy at turns, steps and tool calls, as in the options of an agent. Default: none. */
	readonly plugins?: AgentOptions["plugins"];
	/** How many steps an execution may take, over all its suspensions. Default: no limit. */
	readonly maxSteps?: number;
	/** Milliseconds that somebody outside has for the result of a remote tool. Default: no limit. */
	readonly remoteToolTimeoutMs?: number;
	/** How many events may wait unread before the model's stream waits. Default 1,000. */
	readonly bufferLimit?: number;
	/** Time and ids. Default: the system's. */
	readonly ports?: AgentOptions["ports"];
}

/** A tool result or an approval as `execute` takes it. */
export type ToolAnswerMessage =
	| {
			readonly role: "tool";
			readonly toolCallId: string;
			/** The run it is for. Default: whichever waits. */
			readonly runId?: string;
			readonly output: unknown;
			readonly isError?: boolean;
			readonly details?: unknown;
	  }
	| {
			readonly role: "approval";
			readonly toolCallId: string;
			/** The run it is for. Default: whichever waits. */
			readonly runId?: string;
			readonly approved: boolean;
			readonly reason?: string;
	  };

/** A session that can wait for tools that run elsewhere, and go on. @see document 3, "Agent Sessions" */
export class AgentSession {
	readonly id: string;
	/** Settles when the session was restored, or found to be new; `execute` waits for it. Rejects with what went wrong. */
	readonly ready: Promise<void>;
	readonly #parts: ServingParts;
	readonly #context: AgentContext;
	readonly #options: PromptOptions;
	#served: ServedSession | undefined;
	#status: SessionStatus = "idle";
	#messages: readonly SessionMessage[];
	/** The model an execution was given. */
	#model: AgentOptions["model"];
	#unwatch: (() => void) | undefined;

	/** @internal */
	constructor(id: string, context: AgentContext, options: PromptOptions) {
		const { bufferLimit = 1 } = options;
		if (!Number.isInteger(bufferLimit) || bufferLimit < 1) throw invalidBufferLimit();
		this.id = id;
		this.#messages = structuredClone(context.messages ?? []);
		this.#context = { ...context, messages: this.#messages };
		this.#options = options;
		this.#parts = partsOf(context, options);
		this.ready = this.#restore();
		this.ready.catch(() => {}); // executions hear of it
	}

	get status(): SessionStatus {
		return this.#status;
	}

	/** Id of the model that was used last, else of the one that will be; empty where there is none. */
	get model(): string {
		return modelIdOf(this.#model) ?? this.#served?.view.model ?? modelIdOf(this.#options.model) ?? "";
	}

	/** The whole conversation. */
	get messages(): readonly SessionMessage[] {
		return this.#messages;
	}

	/** US dollars of all answers whose price is known. */
	get totalCost(): number {
		return this.#served?.view.totalCost ?? 0;
	}

	/** The calls that wait for somebody outside; undefined while there are none. */
	get pendingToolCalls(): readonly PendingSessionCall[] | undefined {
		return this.#status === "awaiting_tool_execution" ? this.#served?.view.pendingToolCalls : undefined;
	}

	/**
	 * Ends the execution that is under way or waits: its calls without a result get one that says so. Resolves when that is
	 * on record: false when there is none.
	 */
	async stop(): Promise<boolean> {
		await this.ready;
		const stopped = (await this.#served?.stop()) ?? false;
		await this.#look();
		return stopped;
	}

	/** @internal */
	execute(input: unknown, options: ExecuteOptions): ExecuteStream {
		const events = new ExecuteEvents(this.id, {
			limit: this.#options.bufferLimit,
			place: processKey(localStore(this.#parts.host.journal), sessionPlace(undefined, this.id)),
			begun: () => {
				this.#model = options.model ?? this.#model;
				this.#status = "running";
			},
		});
		const wanted = this.#status === "awaiting_tool_execution" ? "answers" : "message";
		const isExpected = this.#status !== "running" && Array.isArray(input) === (wanted === "answers");
		if (isExpected) this.#status = "running";
		this.#execute(events, input, options).catch(async (error) => {
			if (isExpected) await this.#look().catch(() => {}); // it stands as it stood
			events.fail(error);
		});
		return events;
	}

	async #execute(events: ExecuteEvents, given: unknown, options: ExecuteOptions): Promise<void> {
		const { signal, model, temperature, maxTokens } = options;
		const input = readInput(given);
		const chosen = readOptions({ temperature, maxTokens });
		await this.ready;
		const served = await this.#made(model);
		await served.goOn();
		const { run } = await served.execute(input, { options: chosen, model, watcher: events });
		const stop = (): void => run?.interrupt();
		if (signal?.aborted) stop();
		else signal?.addEventListener("abort", stop, { once: true });
		const result = await run?.result();
		signal?.removeEventListener("abort", stop);
		await events.keptUp();
		await this.#look();
		events.close(result?.error);
	}

	async #restore(): Promise<void> {
		this.#served = await ServedSession.load(this.#parts, undefined, this.id);
		if (this.#served === undefined) return;
		await this.#look();
		if (this.#mayChange) await this.#served.resume().catch(() => {}); // without a model nothing can go on
	}

	async #made(model: AgentOptions["model"]): Promise<ServedSession> {
		const { systemPrompt, messages = [], tools } = this.#context;
		const context = {
			messages,
			tools: [...normaliseTools(tools).values()].map(storedTool),
			...(systemPrompt === undefined ? {} : { systemPrompt }),
		};
		this.#served ??= await ServedSession.create(this.#parts, undefined, this.id, context, model);
		return this.#served;
	}

	async #look(): Promise<void> {
		await this.#served?.view.refresh();
		const view = this.#served?.view;
		if (view === undefined) {
			this.#status = "idle";
			return;
		}
		this.#status = view.status;
		this.#messages = view.messages;
		if (this.#mayChange) this.#unwatch ??= this.#watch();
		else {
			this.#unwatch?.();
			this.#unwatch = undefined;
		}
	}

	/** Whether the session goes on by itself when the time of a call is over, or has done so and is not done. */
	get #mayChange(): boolean {
		if (this.#status === "running") return this.#unwatch !== undefined;
		return this.pendingToolCalls?.some(({ deadline }) => deadline !== undefined) === true;
	}

	#watch(): () => void {
		const place = sessionPlace(undefined, this.id);
		return this.#parts.host.journal.watch(place, () => void this.#look().catch(() => {}));
	}
}

/**
 * Makes a session, or restores the one of that id from the host: then of the context only the functions of its tools are
 * used, bound again by name. Returns at once; `ready` tells when it is restored.
 *
 * @throws TypeError for an id that is none; HoldfastError for tools that are none.
 * @see document 3, "New API Design"
 * @example
 * import { createSession, execute } from "holdfast";
 * import { scriptedModel } from "@holdfast/testing";
 *
 * const locate = { name: "locate", description: "Where the user is.", parameters: { type: "object" } };
 * const model = scriptedModel([{ toolCalls: [{ name: "locate", id: "1" }] }, "You are in Rome."]);
 * const session = createSession("trip", { tools: [locate] }, { model });
 * const { pendingToolCalls } = await execute(session, { role: "user", content: "Where am I?" }).result();
 * console.log(pendingToolCalls); // [{ id: "1", name: "locate", arguments: {} }]
 * const answer = [{ role: "tool", toolCallId: "1", output: "Rome" }] as const;
 * for await (const event of execute(session, answer)) {
 * 	if (event.type === "text_delta") process.stdout.write(event.delta);
 * }
 */
export function createSession(id: string, context: AgentContext, options: PromptOptions = {}): AgentSession {
	if (typeof id !== "string" || id === "") throw new TypeError("createSession(id) takes a non-empty string.");
	return new AgentSession(id, context, options);
}

/**
 * Executes a user's message, or goes on with the results of the calls the session waits for. Leaving the events does not
 * end the execution; `signal` does.
 *
 * The events and the result reject with `session_busy`, `pending_tool_calls`, `no_pending_tool_calls` and the other codes
 * of `session.answer()`, `invalid_input`, `model_missing`.
 *
 * @see document 3, "New API Design"
 */
export function execute(
	session: AgentSession,
	input: string | UserSessionMessage | readonly ToolAnswerMessage[],
	options: ExecuteOptions = {},
): ExecuteStream {
	return session.execute(input, options);
}

function invalidBufferLimit(): HoldfastError {
	return new HoldfastError("invalid_option", "The option `bufferLimit` must be a whole number above 0.");
}

/** What the session is served with: all of its tools are kept with it, and their functions bound by name. */
function partsOf({ tools }: AgentContext, options: PromptOptions): ServingParts {
	const { host = memoryHost(), model, temperature, maxTokens, bufferLimit: _, ...rest } = options;
	if (typeof host?.journal !== "object")
		throw new TypeError(
			"The option `host` of createSession() must be a host: what `sqliteHost()` or `memoryHost()` returned.",
		);
	const agent = rest as AgentOptions;
	const params = {
		...(temperature === undefined ? {} : { temperature }),
		...(maxTokens === undefined ? {} : { maxOutputTokens: maxTokens }),
	};
	return {
		host,
		agent: { ...agent, model, ...(Object.keys(params).length === 0 ? {} : { params }) },
		bound: normaliseTools(tools),
		model: () => model,
	};
}
