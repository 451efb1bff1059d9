// The threads of a project over one host: sessions whose agent, prompt and model the project names. It has no loop or
// store of its own (keeps I1).

import { createSandbox, type Sandbox } from "@holdfast/sandbox";
import { type AgentRun, HoldfastError, type Host, type Session } from "holdfast";
import { AgentSessions, Lifecycle, readStoreKey, storeKeyOf, type TurnOptions } from "holdfast/execute";
import { type Ports, type Recovery, systemPorts } from "holdfast/host";
import type { DrainOptions, RecoverOptions, SuperviseOptions, WorkOptions } from "holdfast/types";
import type { ThreadEffects } from "../effects/index.ts";
import type { Redaction } from "../environment/index.ts";
import type { Message, Project, ProjectSource, QueueMessageInput, ThreadState } from "../types/index.ts";
import type { KeyValue } from "../values/index.ts";
import { askSession, stopThread } from "./ask-session.ts";
import { listValues, redactionOf } from "./beside-session.ts";
import { checkChange, checkFilter, checkNewThread, checkQueueOptions } from "./check-requests.ts";
import { defaultParts } from "./default-parts.ts";
import { deleteThread } from "./delete-thread.ts";
import { EffectsOfThreads } from "./effects-of-threads.ts";
import { afterThreadCreated, type HookScope } from "./hooks.ts";
import { ThreadListeners } from "./listeners.ts";
import type { LiveRun } from "./live-run.ts";
import { askControl, type StateScope, threadState } from "./make-thread-state.ts";
import { MaskedLog } from "./masked-log.ts";
import { queueMessage } from "./messages.ts";
import { type ModelCall, modelCalls } from "./model-calls.ts";
import { ModelLists } from "./model-lists.ts";
import { threadNotFound } from "./not-found.ts";
import type { ThreadParts, ThreadPlace } from "./parts.ts";
import { threadPolicy } from "./policy.ts";
import { ProjectIndex } from "./project-index.ts";
import { type PromptEdits, promptEdits } from "./prompt-edits.ts";
import {
	ascending,
	type ListThreads,
	type RecordChange,
	type ThreadRecord,
	ThreadRecords,
} from "./records.ts";
import { childCreated } from "./subagents.ts";
import { keepSystem, type ThreadSystem } from "./system.ts";
import { ThreadViews } from "./thread-views.ts";
import {
	type CreateThreadOptions,
	checkThreadsOptions,
	isScoped,
	type ThreadListener,
	type ThreadsOptions,
} from "./threads-options.ts";
import { agentOf, turnOf } from "./turn.ts";

/** The threads of a project. */
export class Threads {
	/** The host that stores the threads. */
	readonly host: Host;
	/** The project's models, and what their providers offer. */
	readonly models: ModelLists;
	/** Versions of the project's prompts, if `editablePrompts` is set. */
	readonly prompts: PromptEdits | undefined;
	readonly #system: ThreadSystem;
	readonly #sessions: AgentSessions;
	readonly #life: Lifecycle;
	readonly #source: ProjectSource;
	readonly #options: ThreadsOptions;
	readonly #turns = new WeakMap<Project, TurnOptions>();
	readonly #indices = new WeakMap<Project, ProjectIndex>();
	readonly #lives = new Map<string, LiveRun>();
	readonly #listeners = new ThreadListeners();
	readonly #log: MaskedLog;
	readonly #effects: EffectsOfThreads;
	#sandbox: Sandbox | undefined;

	/**
	 * Checks the options and creates the threads of a project. @throws HoldfastError `invalid_option`,
	 * `host_without_records`, `mcp_tools_missing`.
	 */
	constructor(options: ThreadsOptions) {
		const { host, project, env, userEnv, namespace, onLog, runtimeContext } = options;
		checkThreadsOptions(options);
		this.host = host;
		this.#source = project;
		this.models = new ModelLists(() => this.project, env);
		this.#options = options;
		this.#log = new MaskedLog(onLog, () => this.#system);
		const ports: Ports = { ...systemPorts, ...options.ports };
		this.prompts = promptEdits(options, () => this.project, ports.clock);
		const records = new ThreadRecords(host, namespace);
		const place = (record: ThreadRecord): ThreadPlace => ({
			threadId: record.id,
			storeKey: this.storeKeyOf(record.id),
			record,
		});
		const parts: ThreadParts = {
			...defaultParts({
				host,
				ports,
				env,
				userEnv,
				place: (threadId) => records.get(threadId).then((record) => record && place(record)),
				effects: (thread, namespace) => this.#effects.part(thread, namespace),
				isScoped: ({ record }, name) => isScoped(this.#index(), record, name),
			}),
			...options.parts,
		};
		this.#effects = new EffectsOfThreads({
			host,
			ports,
			project: () => this.project,
			namespace,
			threadOf: (storeKey) => records.get(readStoreKey(storeKey).key),
			system: () => this.#system,
		});
		const views = new ThreadViews(host.journal, (threadId) => this.storeKeyOf(threadId));
		const threads = this;
		this.#system = {
			host,
			records,
			parts,
			log: this.#log.log,
			limits: options.config,
			plugins: options.plugins ?? [],
			hasOtherPolicy: [...(options.plugins ?? []), ...(options.middleware ?? [])].length > 0,
			logsRequests: options.logRequests === true && onLog !== undefined,
			runtimeContext,
			prompts: this.prompts,
			get index() {
				return threads.#index();
			},
			newId: () => ports.ids.uuid(),
			now: ascending(ports.clock),
			session: (threadId) => this.session(threadId),
			storeKeyOf: (threadId) => this.storeKeyOf(threadId),
			place,
			live: (threadId) => this.#lives.get(threadId),
			view: (threadId) => views.get(threadId),
			emit: (threadId, event, data) => this.#listeners.emit({ threadId, event, data }),
			state: (record, scope) => this.#state(record, scope),
			create: (record, scope) => this.#create(record, scope?.parent),
			terminate: (threadId) => this.#terminate(threadId),
		};
		keepSystem(this, this.#system);
		const policy = threadPolicy(this.#system, this.#lives, () => this.#index());
		this.#sessions = new AgentSessions(ports.ids.uuid(), agentOf(options, policy), {
			agentFor: () => this.#turnOptions(),
		});
		const release = (): Promise<void> => this.#log.done().then(() => this.#sandbox?.close());
		this.#life = new Lifecycle(this.#sessions, this.#effects.life(release));
	}

	/** The current project. */
	get project(): Project {
		return "current" in this.#source ? this.#source.current : this.#source;
	}

	/** Returns the session of a thread. */
	session(threadId: string): Session {
		return this.#sessions.session(threadId);
	}

	/** Returns the key of a thread's session in the host's journal. */
	storeKeyOf(threadId: string): string {
		return storeKeyOf(this.#options.namespace, threadId);
	}

	/**
	 * Creates a thread, and runs the hooks of its creation.
	 * @throws HoldfastError `item_not_found`, `thread_exists`, `invalid_input`, `invalid_option`.
	 */
	async createThread(options: CreateThreadOptions): Promise<ThreadState> {
		checkNewThread(options);
		const { agentId, userId = null, tenant, tags = [], id, message } = options;
		const { name } = this.#index().item({ type: "global" }, "agent", agentId);
		const record: ThreadRecord = {
			id: id ?? this.#system.newId(),
			agentId: name,
			userId,
			...(tenant === undefined ? {} : { tenant }),
			createdAt: this.#system.now(),
			tags: [...tags],
			terminated: null,
			isReady: false,
		};
		if (!(await this.#system.records.create(record)))
			throw new HoldfastError("thread_exists", `The thread ${JSON.stringify(record.id)} already exists.`);
		const made = await this.#create(record, undefined);
		if (message !== undefined)
			await this.queueMessage(record.id, typeof message === "string" ? { content: message } : message);
		return this.#state(made);
	}

	/** Returns a thread, or null. */
	async get(threadId: string): Promise<ThreadState | null> {
		const record = await this.#system.records.get(threadId);
		return record === undefined ? null : this.#state(record);
	}

	/** Returns the record of a thread, or undefined. */
	record(threadId: string): Promise<ThreadRecord | undefined> {
		return this.#system.records.get(threadId);
	}

	/** Returns the records of threads, newest first. */
	async list(options?: ListThreads): Promise<readonly ThreadRecord[]> {
		checkFilter(options);
		return this.#system.records.list(options);
	}

	/** Changes the record of a thread. @throws HoldfastError `thread_not_found`, `invalid_option`. */
	async update(
		threadId: string,
		change: Pick<RecordChange, "userId" | "tags" | "name">,
	): Promise<ThreadRecord> {
		checkChange(change);
		const record = await this.#system.records.change(threadId, () => change);
		if (record === undefined) throw threadNotFound(threadId);
		return record;
	}

	/**
	 * Queues a message: it starts an execution, or enters the current one before its next step. Resolves with the message
	 * once it is durable.
	 * @throws HoldfastError `thread_not_found`, `thread_terminated`.
	 */
	async queueMessage(
		threadId: string,
		message: QueueMessageInput,
		options: { /** Of the message. Default: a new one. */ readonly id?: string } = {},
	): Promise<Message> {
		checkQueueOptions(options);
		const { id } = options;
		const record = await this.#require(threadId);
		if (record.terminated !== null)
			throw new HoldfastError("thread_terminated", `The thread ${JSON.stringify(threadId)} was terminated.`);
		const { parts, place } = this.#system;
		return queueMessage(
			{
				system: this.#system,
				threadId,
				scope: this.#hookScope(record),
				storeAttachments: (attachments) => parts.files(place(record)).storeAttachments(attachments),
			},
			message,
			id,
		);
	}

	/** Ends the running execution, in any process. Returns false if no execution is running. */
	async stop(threadId: string): Promise<boolean> {
		await this.#require(threadId);
		return stopThread(this.#system, threadId);
	}

	/** Starts an execution without a message. */
	async continue(threadId: string): Promise<void> {
		const record = await this.#require(threadId);
		if (record.terminated === null) await askControl(this.#system, threadId, { kind: "continue" });
	}

	/** Ends a thread and its sub-agents permanently; its messages stay. */
	async terminate(threadId: string): Promise<void> {
		await this.#require(threadId);
		await this.#terminate(threadId);
	}

	/**
	 * Deletes a thread and its sub-agents with all their data, even if its record is damaged. Returns false if the thread
	 * does not exist.
	 */
	delete(threadId: string): Promise<boolean> {
		return deleteThread(this, this.#system, threadId);
	}

	/** Returns the effects of a thread: pending and ended ones. */
	effects(threadId: string): ThreadEffects {
		return this.#effects.of({ storeKey: this.storeKeyOf(threadId) });
	}

	/** Returns the model calls of a thread, in the order in which they ended. */
	modelCalls(threadId: string): Promise<readonly ModelCall[]> {
		return modelCalls(this.host, this.storeKeyOf(threadId));
	}

	/** Returns the key-value pairs of a thread, sorted by key. */
	values(threadId: string): Promise<readonly KeyValue[]> {
		return listValues(this.host, this.storeKeyOf(threadId));
	}

	/** Returns a redaction of every secret value of a thread's environment. @throws HoldfastError `thread_not_found`. */
	async redaction(threadId: string): Promise<Redaction> {
		return redactionOf(this.#system, await this.#require(threadId));
	}

	/** Receives the events that a thread emits in this process. Returns a function that unsubscribes. */
	subscribe(threadId: string, listener: ThreadListener): () => void {
		return this.#listeners.add(threadId, listener);
	}

	/** Finishes the executions and the effects that dead processes left, once. Iterate over it, or await it. */
	recover(options?: RecoverOptions): Recovery {
		return this.#life.recover(options);
	}

	/** Runs due work until the signal fires or the threads are closed. */
	work(options?: WorkOptions): AsyncGenerator<AgentRun, void, void> {
		return this.#life.work(options);
	}

	/** Works in the background until the threads are closed. Resolves after the first check for due work. */
	supervise(options?: SuperviseOptions): Promise<void> {
		return this.#life.supervise(options);
	}

	/** Resolves when no execution is in flight in this process. */
	quiet(): Promise<void> {
		return this.#sessions.quiet().then(() => this.#log.done());
	}

	/** Refuses requests with `agent_closed`, gives executions `drainMs` to end, and suspends the others. The host stays open. */
	close(options?: DrainOptions): Promise<void> {
		return this.#life.close(options);
	}

	#index(): ProjectIndex {
		const { project } = this;
		const { stepCap = 250, mcp } = this.#options;
		const known = this.#indices.get(project) ?? new ProjectIndex(project, stepCap, mcp);
		this.#indices.set(project, known);
		return known;
	}

	/** The same project gives the same object, so its agent is created once. */
	#turnOptions(): TurnOptions {
		const { project } = this;
		const made = this.#turns.get(project) ?? turnOf(this.#system, this.#index(), this.#index().stepCap);
		this.#turns.set(project, made);
		return made;
	}

	#state(record: ThreadRecord, scope: StateScope = {}): Promise<ThreadState> {
		return threadState(this.#system, record, scope, (source, options) => {
			this.#sandbox ??= createSandbox();
			return this.#sandbox.runCode(source, options);
		});
	}

	#hookScope({ id, agentId }: ThreadRecord): HookScope {
		return {
			index: this.#index(),
			flow: { agent: agentId, side: "a" },
			threadId: id,
			log: this.#system.log,
			state: async () => this.#state(await this.#require(id)),
		};
	}

	/** Creates a thread if it does not exist, and runs the hooks of its creation if they have not run. */
	async #create(given: ThreadRecord, parent: LiveRun | undefined): Promise<ThreadRecord> {
		const { records } = this.#system;
		await records.create(given); // false if it exists
		const record = await this.#require(given.id);
		if (record.isReady) return record;
		await afterThreadCreated(this.#hookScope(record));
		if (parent !== undefined) await childCreated(parent, () => this.#state(record));
		return (await records.change(given.id, () => ({ isReady: true }))) ?? record;
	}

	async #terminate(threadId: string): Promise<void> {
		const { records, now } = this.#system;
		const before = await records.get(threadId);
		if (before === undefined || before.terminated !== null) return;
		await records.terminate(threadId, now());
		if (this.host.timers !== undefined) await this.effects(threadId).cancelAll();
		// A tool of this execution may be the caller: awaiting the stop would make it wait for itself.
		if (this.#lives.has(threadId)) this.session(threadId).interrupt();
		else await askSession(this.#system, threadId, (session) => session.stop());
		for (const child of await records.childrenOf(threadId)) await this.#terminate(child.id);
	}

	async #require(threadId: string): Promise<ThreadRecord> {
		const record = await this.#system.records.get(threadId);
		if (record === undefined) throw threadNotFound(threadId);
		return record;
	}
}

/**
 * Creates the threads of a project over a host.
 *
 * @throws HoldfastError `invalid_option` for invalid options; `host_without_records`, `mcp_tools_missing`.
 */
export function threads(options: ThreadsOptions): Threads {
	return new Threads(options);
}
