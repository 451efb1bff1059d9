// `createSession` and `execute` in this process, over the same sessions that servers use.
import { checkOptions, HoldfastTypeError, optionNames } from "@holdfast/upp";
import { type AgentOptions, checkDependencies, modelIdOf } from "../agent/index.ts";
import { afterEntry, continuesByItself, endsExecution } from "../facts/index.ts";
import { followPages } from "../following/index.ts";
import { type Host, memoryHost } from "../host/index.ts";
import type { OutputOf, OutputSchema } from "../output/index.ts";
import { localStore, processKey } from "../sessions/index.ts";
import { normaliseTools, type Plain, type ToolSet } from "../tools/index.ts";
import { invalidBufferLimit, invalidInput, noContext, noHost, noSession } from "./execute-errors.ts";
import type { ExecuteEvent, PendingSessionCall, SessionStatus, SessionWait } from "./execute-event.ts";
import type { ExecuteSession } from "./execute-session.ts";
import { ExecuteSessions, type ExecuteSessionsOptions } from "./execute-sessions.ts";
import { ExecuteEvents, type ExecuteStream } from "./execute-stream.ts";
import { readInput, readOptions, type ToolAnswerMessage, type UserInputMessage } from "./read-input.ts";
import { followLog } from "./session-log.ts";
import type { SessionMessage } from "./session-message.ts";
import { storedTool, subagentTools } from "./session-tools.ts";
import type { SessionView } from "./session-view.ts";

const contextNames = optionNames<AgentContext>({ systemPrompt: "text", messages: "list", tools: true });
const executeNames = optionNames<ExecuteOptions>({
	model: true,
	temperature: true,
	maxTokens: true,
	signal: "signal",
});
const inContext =
	"It belongs in the context: `createSession(id, { systemPrompt, messages, tools }, options)`.";
const insteadOfSessionOptions = {
	instructions: inContext,
	system: inContext,
	systemPrompt: inContext,
	messages: inContext,
	tools: inContext,
};

/** The initial content of a session. */
export interface AgentContext<Tools extends ToolSet = ToolSet> {
	/** The instructions of the model. Default: none. */
	readonly systemPrompt?: string;
	/** Copied; never modified. Default: none. */
	readonly messages?: readonly SessionMessage[];
	/** A tool without a function is remote: the run waits for its result. Default: none. */
	readonly tools?: Tools;
}

/** Options of an execution. They also apply to all later executions of the session. */
export interface ExecuteOptions {
	/** The model. Default: the session's. */
	readonly model?: AgentOptions["model"];
	/** Sampling temperature, as defined by the provider. Default: the provider's. */
	readonly temperature?: number;
	/** Maximum number of tokens of an answer. Default: the provider's limit. */
	readonly maxTokens?: number;
	/** Ends the execution when it fires. */
	readonly signal?: AbortSignal;
}

/** Options of a session. */
export interface PromptOptions<Schema extends OutputSchema = OutputSchema>
	extends Omit<ExecuteOptions, "signal"> {
	/** Where the session is stored. Default: in memory, for the lifetime of this object. */
	readonly host?: Host;
	/** US dollars per million tokens, by model id. Default: none. */
	readonly prices?: AgentOptions["prices"];
	/** How requests use the provider's prompt cache, as in the options of an agent. Default: `auto`. */
	readonly cache?: AgentOptions["cache"];
	/** Policy around every execution, as in the options of an agent. Default: none. */
	readonly middleware?: AgentOptions["middleware"];
	/** Policy at turns, steps and tool calls, as in the options of an agent. Default: none. */
	readonly plugins?: AgentOptions["plugins"];
	/**
	 * The schema of the answers: a Standard Schema or JSON Schema, as in the options of an agent. It is not stored with
	 * the session: pass it again when you restore the session. Default: any text.
	 */
	readonly output?: Schema;
	/** How many times in a row an invalid answer is returned to the model. Default 2. */
	readonly outputRepairs?: number;
	/** Maximum number of steps of an execution, across suspensions. Default: no limit; only `Infinity` omits the warning. */
	readonly maxSteps?: number;
	/** Milliseconds that a call of a remote tool may wait for its result. Default: no limit. */
	readonly remoteToolTimeoutMs?: number;
	/** How an execution waits if the model cannot be reached, as in the options of an agent. */
	readonly modelWait?: AgentOptions["modelWait"];
	/** Receives warnings, as in the options of an agent. */
	readonly onWarning?: AgentOptions["onWarning"];
	/** Number of unread events at which the model's stream waits. Default 1,000. */
	readonly bufferLimit?: number;
	/** The sources of time and ids. Default: the system's. */
	readonly ports?: AgentOptions["ports"];
}

/** A session that can wait for tools that run elsewhere and resume later. */
export class AgentSession<Output = unknown, Event = ExecuteEvent> {
	/** Never present: carries the types of the session's output and events. */
	declare readonly "~types"?: { readonly output: Output; readonly event: Event };
	/** The id passed to `createSession`. */
	readonly id: string;
	/** Settles when the session is restored or known to be new; `execute` waits for it. Rejects if restoring failed. */
	readonly ready: Promise<void>;
	readonly #host: Host;
	readonly #session: ExecuteSession;
	readonly #view: SessionView;
	readonly #context: AgentContext;
	readonly #options: PromptOptions;
	/** Whether the session exists in the host. */
	#isMade = false;
	#status: SessionStatus = "idle";
	#waiting: SessionWait | undefined;
	#messages: readonly SessionMessage[];
	/** The model that an execution was given. */
	#model: AgentOptions["model"];
	#unwatch: (() => void) | undefined;

	/** @internal */
	constructor(id: string, context: AgentContext, options: PromptOptions) {
		const { bufferLimit = 1 } = options;
		if (!Number.isInteger(bufferLimit) || bufferLimit < 1) throw invalidBufferLimit();
		this.id = id;
		this.#messages = copied(context.messages ?? []);
		this.#context = { ...context, messages: this.#messages };
		this.#options = options;
		const sessions = sessionsOf(context, options);
		this.#host = sessions.host;
		this.#session = new ExecuteSessions(sessions).session(id);
		this.#view = this.#session.view();
		this.ready = this.#restore();
		this.ready.catch(() => {}); // executions report the error
	}

	/** What the session does: whether it is idle, runs, waits for answers, or has ended its last execution. */
	get status(): SessionStatus {
		return this.#status;
	}

	/** Id of the last used model, or of the model to be used next; empty without a model. */
	get model(): string {
		return modelIdOf(this.#model) ?? this.#view.model ?? modelIdOf(this.#options.model) ?? "";
	}

	/** The whole conversation. */
	get messages(): readonly SessionMessage[] {
		return this.#messages;
	}

	/** Total cost in US dollars of all answers whose price is known. */
	get totalCost(): number {
		return this.#view.totalCost;
	}

	/** The wait of the current execution for something other than outside results; undefined while it does not wait. */
	get waiting(): SessionWait | undefined {
		return this.#waiting;
	}

	/** The calls that wait for an outside result; undefined if none do. */
	get pendingToolCalls(): readonly PendingSessionCall[] | undefined {
		return this.#status === "awaiting_tool_execution" ? this.#view.pendingToolCalls : undefined;
	}

	/** Returns the calls of background tasks that wait for an answer by `execute`. The session does not wait for them. */
	async backgroundToolCalls(): Promise<readonly PendingSessionCall[]> {
		await this.ready;
		return this.#isMade ? this.#session.backgroundCalls() : [];
	}

	/** Ends the current execution; its open calls get a result that reports this. Resolves with false if there is none. */
	async stop(): Promise<boolean> {
		await this.ready;
		const stopped = this.#isMade && (await this.#session.stop());
		await this.#look();
		return stopped;
	}

	/** @internal */
	execute(input: unknown, options: ExecuteOptions): ExecuteStream {
		const events = new ExecuteEvents(this.id, {
			limit: this.#options.bufferLimit,
			timers: this.#options.ports?.timers,
			readOn: (after, signal) =>
				followLog(this.#host.journal, this.#session.storeKey, this.id, { after, until: "complete", signal }),
			processKey: processKey(localStore(this.#host.journal), this.#session.storeKey),
			begun: () => {
				this.#model = options.model ?? this.#model;
				this.#status = "running";
			},
		});
		const wanted = this.#status === "awaiting_tool_execution" ? "answers" : "message";
		const isExpected = this.#status !== "running" && Array.isArray(input) === (wanted === "answers");
		if (isExpected) this.#status = "running";
		this.#execute(events, input, options).catch(async (error) => {
			if (isExpected) await this.#look().catch(() => {}); // a failure leaves the session unchanged
			events.fail(error);
		});
		return events;
	}

	async #execute(events: ExecuteEvents, given: unknown, options: ExecuteOptions): Promise<void> {
		const { signal, model, temperature, maxTokens } = options;
		const input = readInput(given);
		const chosen = readOptions({ temperature, maxTokens });
		await this.ready;
		const { run, inBackground } = await this.#session.inTurn(async () => {
			await this.#make(model);
			await this.#finish();
			return this.#session.execute(input, { options: chosen, model, watcher: events });
		});
		if (inBackground === true) {
			events.handedOver();
			await this.#look();
			events.close(undefined, await this.#session.backgroundCalls());
			return;
		}
		let isStopped = false;
		const stop = (): void => {
			isStopped = true;
			run.interrupt();
		};
		if (signal?.aborted) stop();
		else signal?.addEventListener("abort", stop, { once: true });
		const { outcome, error, pending = [], wait } = await run.result();
		// An execution that waits for calls and was stopped at that moment also ends.
		if (outcome === "waiting" && (isStopped || continuesByItself(pending, wait))) {
			await this.#look();
			await this.#afterWait(events);
		}
		signal?.removeEventListener("abort", stop);
		await events.keptUp();
		await this.#look();
		events.close(error, await this.#session.backgroundCalls());
	}

	/** Emits the events of the run after a wait for a time or its model, even if another process continues it. */
	async #afterWait(events: ExecuteEvents): Promise<void> {
		const { seq } = events;
		const pages = followPages(this.#host.journal, this.#session.storeKey, { after: afterEntry(seq) });
		for await (const page of pages)
			for (const { event } of page.events) {
				if (event.seq <= seq) continue;
				await events.full();
				events.notify(event);
				if (endsExecution(event)) return;
			}
	}

	async #restore(): Promise<void> {
		this.#isMade = (await this.#session.setup()) !== undefined;
		if (!this.#isMade) return;
		await this.#look();
		if (this.#mayChange) await this.#session.resume().catch(() => {}); // without a model the session cannot resume
	}

	async #make(model: AgentOptions["model"]): Promise<void> {
		if (this.#isMade) return;
		const { systemPrompt, messages = [], tools } = this.#context;
		const context = {
			messages,
			tools: [...normaliseTools(tools).values()].map(storedTool),
			...(systemPrompt === undefined ? {} : { systemPrompt }),
		};
		await this.#session.create(context, { model });
		this.#isMade = true;
	}

	/** A run that a dead process left is finished first. Nothing happens if another owner works on the session. */
	async #finish(): Promise<void> {
		await this.#view.refresh();
		if (this.#view.status !== "running" || this.#session.isBusy) return;
		const run = await this.#session.resume().catch((error) => {
			if ((error as { code?: unknown }).code !== "session_held") throw error;
		});
		await run?.result();
	}

	async #look(): Promise<void> {
		if (!this.#isMade) {
			this.#status = "idle";
			return;
		}
		const view = this.#view;
		await view.refresh();
		this.#status = view.status;
		this.#waiting = view.waiting;
		this.#messages = view.messages;
		if (this.#mayChange) this.#unwatch ??= this.#watch();
		else {
			this.#unwatch?.();
			this.#unwatch = undefined;
		}
	}

	/** Whether the session will resume by itself (a call expires, or a wait ends), or has resumed and not finished. */
	get #mayChange(): boolean {
		if (this.#status === "running") return this.#waiting !== undefined || this.#unwatch !== undefined;
		return this.pendingToolCalls?.some(({ deadline }) => deadline !== undefined) === true;
	}

	#watch(): () => void {
		return this.#host.journal.watch(this.#session.storeKey, () => void this.#look().catch(() => {}));
	}
}

/**
 * Creates a session, or restores the session of that id from the host. On a restore, only the functions of the context's
 * tools are used, which are bound again by name, and its tools of `createSubAgentTool`. Returns immediately; `ready`
 * settles when the session is restored.
 *
 * @throws HoldfastError `invalid_argument` if the id is empty or the context is missing; `invalid_option`, naming the
 * option, if one is unknown or invalid; HoldfastError if the tools are invalid.
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
export function createSession<
	const Tools extends ToolSet = ToolSet,
	const Schema extends OutputSchema = OutputSchema,
>(
	id: string,
	context: AgentContext<Tools>,
	options: PromptOptions<Schema> = {},
): AgentSession<Plain<OutputOf<Schema>>, ExecuteEvent<Tools>> {
	if (typeof id !== "string" || id === "")
		throw new HoldfastTypeError("invalid_argument", "createSession(id) takes a non-empty string.");
	if (context === undefined) throw noContext();
	checkOptions(context, contextNames, {
		of: "The context of createSession()",
		instead: { instructions: "Write `systemPrompt`.", system: "Write `systemPrompt`." },
	});
	// The session's agent validates the other options.
	const misplaced = Object.entries(options).filter(([name]) => Object.hasOwn(insteadOfSessionOptions, name));
	checkOptions(Object.fromEntries(misplaced), new Set(), {
		of: "createSession()",
		instead: insteadOfSessionOptions,
	});
	return new AgentSession(id, context, options);
}

/**
 * Executes a user's message, or resumes with the results of the calls that the session waits for. If you stop reading the
 * events, the execution continues; only `signal` ends it.
 *
 * The events and the result reject with `session_busy`, `pending_tool_calls`, `no_pending_tool_calls` and the other codes
 * of `session.answer()`, `invalid_input`, `model_missing`.
 */
export function execute<Output, Event>(
	session: AgentSession<Output, Event>,
	input: string | UserInputMessage | readonly ToolAnswerMessage[],
	options: ExecuteOptions = {},
): ExecuteStream<Output, Event> {
	checkOptions(options, executeNames, { of: "execute()" });
	if (typeof (session as Partial<AgentSession> | undefined)?.execute !== "function") throw noSession();
	return session.execute(input, options) as ExecuteStream<Output, Event>;
}

/** @throws HoldfastError `invalid_input` if the messages are not plain data. */
function copied(messages: readonly SessionMessage[]): readonly SessionMessage[] {
	try {
		return structuredClone(messages);
	} catch {
		throw invalidInput("context.messages", "must be plain data");
	}
}

/**
 * All tools are stored with the session, and bound by name. Tools of `createSubAgentTool` are also tools of the agent
 * itself.
 */
function sessionsOf({ tools }: AgentContext, options: PromptOptions): ExecuteSessionsOptions {
	const { host = memoryHost(), model, temperature, maxTokens, bufferLimit: _, ...rest } = options;
	if (typeof host?.journal !== "object") throw noHost();
	const [agent, work] = [rest as AgentOptions, subagentTools(tools)];
	const params = {
		...(temperature === undefined ? {} : { temperature }),
		...(maxTokens === undefined ? {} : { maxOutputTokens: maxTokens }),
	};
	return {
		host,
		agent: {
			...agent,
			model,
			...(work.length === 0 ? {} : { tools: work }),
			...(Object.keys(params).length === 0 ? {} : { params }),
		},
		bound: checkDependencies(normaliseTools(tools), agent.subagents),
		models: () => model,
	};
}
