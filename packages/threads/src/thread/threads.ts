// The threads of a project over one host: sessions whose agent, prompt and model are those that the project says (keeps I1). There
// is no loop, no lock and no store here.
import { createSandbox, type Sandbox } from "@holdfast/sandbox";
import {
	type AgentRun,
	HoldfastError,
	type Host,
	type Ports,
	type RecoverOptions,
	type Session,
	type WorkOptions,
} from "holdfast";
import { AgentSessions, readStoreKey, storeKeyOf, type TurnOptions } from "holdfast/execute";
import { systemPorts } from "holdfast/host";
import type { MiddlewareEntry } from "holdfast/middleware";
import type { Plugin } from "holdfast/plugins";
import type { ThreadEffects } from "../effects/index.ts";
import type { EnvGiven, Redaction } from "../environment/index.ts";
import type { Message, Project, ProjectSource, QueueMessageInput, ThreadState } from "../types/index.ts";
import { type KeyValue, ThreadValues } from "../values/index.ts";
import { threadStrategy } from "./decider.ts";
import { defaultParts, valuesOwner } from "./default-parts.ts";
import { engineTools } from "./engine-tools.ts";
import { afterThreadCreated, type HookScope } from "./hooks.ts";
import type { LiveRun } from "./live-run.ts";
import type { ThreadLogger } from "./logs.ts";
import { queueMessage } from "./messages.ts";
import { callsShelf, type ModelCall, modelCalls } from "./model-calls.ts";
import { threadNotFound } from "./not-found.ts";
import type { ThreadParts, ThreadPlace } from "./parts.ts";
import { threadPolicy } from "./policy.ts";
import { ProjectIndex } from "./project-index.ts";
import { type ListThreads, type RecordChange, type ThreadRecord, ThreadRecords } from "./records.ts";
import { requestsShelf } from "./requests.ts";
import { beginThread, reportToParent } from "./session-bounds.ts";
import { childCreated } from "./subagents.ts";
import type { ThreadSystem } from "./system.ts";
import { EffectsOfThreads } from "./thread-effects.ts";
import { threadModel } from "./thread-model.ts";
import { askControl, type StateScope, threadState } from "./thread-state.ts";
import { ThreadViews } from "./thread-views.ts";

/** Options of `threads()`. */
export interface ThreadsOptions {
	/** What the threads' agents are. One that changes counts from the next turn on. */
	readonly project: ProjectSource;
	/** Where they live: a host with records, such as `sqliteHost()` or `memoryHost()`. */
	readonly host: Host;
	/** Values of the environment for all threads: a text alone is a secret. Default: none. */
	readonly env?: EnvGiven;
	/** Values of a user's account. Default: none. */
	readonly userEnv?: (userId: string) => EnvGiven | undefined | Promise<EnvGiven | undefined>;
	/** Model calls after which a turn ends whose side has no `maxSteps`. Default 250. */
	readonly stepCap?: number;
	/** Gets what is worth saying: failed hooks and models, limits. Must not throw. Default: nobody does. */
	readonly onLog?: ThreadLogger;
	/** Whether each request to a model is logged, without keys. Default false. */
	readonly logRequests?: boolean;
	/** Handles of the program, which tools find as `_notPackableRuntimeContext`. Default: none. */
	readonly runtimeContext?: Record<string, unknown>;
	/** In place of the house's own files, key-values, environment and effects. */
	readonly parts?: Partial<ThreadParts>;
	/** Policy around every execution, as of any agent. */
	readonly middleware?: readonly MiddlewareEntry[];
	readonly plugins?: readonly Plugin[];
	/** Keeps the threads of several projects in one store apart. Default: none. */
	readonly namespace?: string;
	/** Milliseconds for which what a model says is gathered before it is kept for those who follow. Default: not kept. */
	readonly keepDeltasMs?: number;
	/** Time and ids. Default: the system's. */
	readonly ports?: Partial<Ports>;
}

/** What a thread is created with. */
export interface CreateThreadOptions {
	/** Name of its agent. */
	readonly agentId: string;
	/** Whose it is. Default: nobody's. */
	readonly userId?: string | null;
	/** Whose server it is on. Default: nobody's in particular. */
	readonly tenant?: string;
	readonly tags?: readonly string[];
	/** Default: a new UUID. */
	readonly id?: string;
	/** Said to it at once. */
	readonly message?: string | QueueMessageInput;
}

/** Gets the events that threads send, in their order. */
export type ThreadListener = (event: {
	readonly threadId: string;
	readonly event: string;
	readonly data: unknown;
}) => void;

/** The threads of a project. */
export class Threads {
	/** Where they live. */
	readonly host: Host;
	readonly #system: ThreadSystem;
	readonly #sessions: AgentSessions;
	readonly #source: ProjectSource;
	readonly #stepCap: number;
	readonly #turns = new WeakMap<Project, TurnOptions>();
	readonly #indices = new WeakMap<Project, ProjectIndex>();
	readonly #lives = new Map<string, LiveRun>();
	readonly #listeners = new Map<string, Set<ThreadListener>>();
	#sandbox: Sandbox | undefined;

	constructor(options: ThreadsOptions) {
		const { host, project, env, userEnv, namespace, onLog, runtimeContext } = options;
		if (typeof host?.journal !== "object")
			throw new TypeError(
				"The option `host` must be a host: what `sqliteHost()` or `memoryHost()` returned.",
			);
		if (typeof project !== "object" || project === null)
			throw new TypeError("The option `project` must be a project, such as `loadProject()` returns.");
		this.host = host;
		this.#source = project;
		this.#stepCap = options.stepCap ?? 250;
		const ports: Ports = { ...systemPorts, ...options.ports };
		const newId = (): string => ports.ids.uuid();
		const records = new ThreadRecords(host, namespace);
		const place = (record: ThreadRecord): ThreadPlace => ({
			threadId: record.id,
			storeKey: this.storeKeyOf(record.id),
			record,
		});
		let last = 0;
		const now = (): number => {
			last = Math.max(last + 1, ports.clock.now() * 1_000);
			return last;
		};
		const parts: ThreadParts = {
			...defaultParts({
				host,
				newId,
				env,
				userEnv,
				async place(threadId) {
					const record = await records.get(threadId);
					return record === undefined ? undefined : place(record);
				},
				effects: (thread, namespace) => this.#effects.part(thread, namespace),
				isScoped: ({ record }, name) => isScoped(this.#index(), record, name),
			}),
			...options.parts,
		};
		this.#effects = new EffectsOfThreads({
			host,
			ports,
			project: () => this.project,
			isOurs: (storeKey) => readStoreKey(storeKey).namespace === namespace,
			threadOf: (storeKey) => records.get(readStoreKey(storeKey).key),
			system: () => this.#system,
		});
		const views = new ThreadViews(host.journal, (threadId) => this.storeKeyOf(threadId));
		this.#namespace = namespace;
		const threads = this;
		this.#system = {
			host,
			records,
			parts,
			log: onLog ?? (() => {}),
			logsRequests: options.logRequests === true && onLog !== undefined,
			runtimeContext,
			get index() {
				return threads.#index();
			},
			newId,
			now,
			session: (threadId) => this.session(threadId),
			storeKeyOf: (threadId) => this.storeKeyOf(threadId),
			place,
			live: (threadId) => this.#lives.get(threadId),
			view: (threadId) => views.get(threadId),
			emit: (threadId, event, data) => this.#emit(threadId, event, data),
			state: (record, scope) => this.#state(record, scope),
			create: (record, scope) => this.#create(record, scope?.parent),
			terminate: (threadId) => this.#terminate(threadId),
		};
		const { middleware = [], plugins, keepDeltasMs } = options;
		const indexOf = (): ProjectIndex => this.#index();
		this.#sessions = new AgentSessions(
			newId(),
			{
				host,
				name: "threads",
				middleware: [threadPolicy(this.#system, this.#lives, indexOf), ...middleware],
				// A failing provider ends the execution, and the next message runs normally (SA-137).
				modelWait: "never",
				maxSteps: Number.POSITIVE_INFINITY,
				...(plugins === undefined ? {} : { plugins }),
				...(namespace === undefined ? {} : { namespace }),
				...(keepDeltasMs === undefined ? {} : { keepDeltasMs }),
				...(options.ports === undefined ? {} : { ports: options.ports }),
			},
			{ agentFor: () => this.#turnOptions() },
		);
	}

	readonly #namespace: string | undefined;
	readonly #effects: EffectsOfThreads;

	/** The project as it is now. */
	get project(): Project {
		return "current" in this.#source ? this.#source.current : this.#source;
	}

	/** The session that a thread is. */
	session(threadId: string): Session {
		return this.#sessions.session(threadId);
	}

	/** Under which key a thread's session is in the host's journal. */
	storeKeyOf(threadId: string): string {
		return storeKeyOf(this.#namespace, threadId);
	}

	/**
	 * Creates a thread, and runs the hooks of its creation.
	 * @throws HoldfastError `item_not_found`, `thread_exists`.
	 */
	async createThread({
		agentId,
		userId = null,
		tenant,
		tags = [],
		id,
		message,
	}: CreateThreadOptions): Promise<ThreadState> {
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
			throw new HoldfastError("thread_exists", `There is a thread ${JSON.stringify(record.id)} already.`);
		const made = await this.#create(record, undefined);
		if (message !== undefined)
			await this.queueMessage(record.id, typeof message === "string" ? { content: message } : message);
		return this.#state(made);
	}

	/** A thread; null where there is none of that id. */
	async get(threadId: string): Promise<ThreadState | null> {
		const record = await this.#system.records.get(threadId);
		return record === undefined ? null : this.#state(record);
	}

	/** What is known of a thread beside its messages; undefined where there is none. */
	record(threadId: string): Promise<ThreadRecord | undefined> {
		return this.#system.records.get(threadId);
	}

	/** What is known of threads, the newest first. */
	list(options?: ListThreads): Promise<readonly ThreadRecord[]> {
		return this.#system.records.list(options);
	}

	/** Changes what is known of a thread. @throws HoldfastError `thread_not_found`. */
	async update(
		threadId: string,
		change: Pick<RecordChange, "userId" | "tags" | "name">,
	): Promise<ThreadRecord> {
		const record = await this.#system.records.change(threadId, () => change);
		if (record === undefined) throw threadNotFound(threadId);
		return record;
	}

	/**
	 * Queues a message: it starts an execution, or enters the one under way before its next step. Resolves with the message once
	 * it is durable.
	 * @throws HoldfastError `thread_not_found`, `thread_terminated`.
	 */
	async queueMessage(
		threadId: string,
		message: QueueMessageInput,
		{ id }: { /** Of the message. Default: a new one. */ readonly id?: string } = {},
	): Promise<Message> {
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

	/** Ends the execution under way, wherever it is. False where none was. */
	async stop(threadId: string): Promise<boolean> {
		await this.#require(threadId);
		return this.session(threadId).stop();
	}

	/** Starts an execution without saying anything. */
	async continue(threadId: string): Promise<void> {
		const record = await this.#require(threadId);
		if (record.terminated === null) await askControl(this.#system, threadId, { kind: "continue" });
	}

	/** Ends a thread and its sub-agents for good; what was said stays. */
	async terminate(threadId: string): Promise<void> {
		await this.#require(threadId);
		await this.#terminate(threadId);
	}

	/** Removes a thread and its sub-agents with all that is kept of them. False where there is none. */
	async delete(threadId: string): Promise<boolean> {
		const { records } = this.#system;
		const record = await records.get(threadId);
		if (record === undefined) return false;
		for (const child of await records.childrenOf(threadId)) await this.delete(child.id);
		await this.session(threadId).delete();
		await records.delete(record);
		await this.#forget(this.storeKeyOf(threadId));
		return true;
	}

	/** Forgets what lies beside a session and does not go with it. */
	async #forget(storeKey: string): Promise<void> {
		const { records, timers } = this.host;
		if (timers !== undefined) await this.#effects.of({ storeKey }).forget();
		for (const shelf of [callsShelf(storeKey), requestsShelf(storeKey)])
			for (;;) {
				const found = (await records?.list(shelf, { limit: 500 })) ?? [];
				if (found.length === 0) break;
				await records?.commit(
					[],
					found.map(({ name }) => ({ shelf, name, value: undefined })),
				);
			}
	}

	/** The effects of a thread: pending ones, and those that are over. */
	effects(threadId: string): ThreadEffects {
		return this.#effects.of({ storeKey: this.storeKeyOf(threadId) });
	}

	/** The calls of models that a thread has made, in the order in which they were over. */
	modelCalls(threadId: string): Promise<readonly ModelCall[]> {
		return modelCalls(this.host, this.storeKeyOf(threadId));
	}

	/** The key-values of a thread, in the order of their keys. */
	async values(threadId: string): Promise<readonly KeyValue[]> {
		const kept = this.host.values.values(this.storeKeyOf(threadId), valuesOwner);
		return new ThreadValues(kept).listValues();
	}

	/** Masks every secret value of a thread's environment. @throws HoldfastError `thread_not_found`. */
	async redaction(threadId: string): Promise<Redaction> {
		const record = await this.#require(threadId);
		const index = this.#index();
		const agent = index.agent(record.agentId);
		const prompt = index.promptOf({ agent: record.agentId, side: "a" }).definition.env;
		const { parts, place } = this.#system;
		const environment = parts.environment(place(record), { agent: agent?.env, prompt });
		const asItIs = { push: (text: string): string => text, flush: (): string => "" };
		return (await environment.redaction?.()) ?? { redact: (data) => data, stream: () => asItIs };
	}

	/** Gets the events that a thread sends in this process. Returns the way to leave. */
	subscribe(threadId: string, listener: ThreadListener): () => void {
		const known = this.#listeners.get(threadId) ?? new Set();
		this.#listeners.set(threadId, known.add(listener));
		return () => {
			known.delete(listener);
			if (known.size === 0 && this.#listeners.get(threadId) === known) this.#listeners.delete(threadId);
		};
	}

	/** Finds executions that nobody alive works on, and continues them. */
	recover(options?: RecoverOptions): AsyncGenerator<AgentRun, void, void> {
		this.#effects.start();
		return this.#sessions.recover(options);
	}

	/** Works on what is due until the signal fires or the threads are closed. */
	work(options?: WorkOptions): AsyncGenerator<AgentRun, void, void> {
		this.#effects.start();
		return this.#sessions.work(options);
	}

	/** Works in the background until the threads are closed. Resolves after the first look at what is due. */
	supervise(options?: Pick<WorkOptions, "lookEveryMs">): Promise<void> {
		this.#effects.start();
		return this.#sessions.supervise(options);
	}

	/** Resolves when no execution is under way in this process. */
	quiet(): Promise<void> {
		return this.#sessions.quiet();
	}

	/** Suspends what is under way, to be continued elsewhere. The host stays open. */
	async close(): Promise<void> {
		await this.#effects.stop();
		await this.#sessions.close();
		await this.#sandbox?.close();
	}

	#index(): ProjectIndex {
		const { project } = this;
		const known = this.#indices.get(project) ?? new ProjectIndex(project, this.#stepCap);
		this.#indices.set(project, known);
		return known;
	}

	/** The same project gives the same object, so its agent is made once. */
	#turnOptions(): TurnOptions {
		const { project } = this;
		const known = this.#turns.get(project);
		if (known !== undefined) return known;
		const index = this.#index();
		const system = this.#system;
		const made: TurnOptions = {
			model: threadModel(system),
			tools: engineTools(system, index),
			execution: threadStrategy({
				agent: (name) => index.agent(name),
				stepCap: this.#stepCap,
				begin: (context) => beginThread(system, context),
				report: (context) => reportToParent(system, context),
			}),
		};
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

	/** Makes a thread where it is not there, and runs the hooks of its creation where they were not run. */
	async #create(given: ThreadRecord, parent: LiveRun | undefined): Promise<ThreadRecord> {
		const { records } = this.#system;
		await records.create(given); // false where it is there
		const record = await this.#require(given.id);
		if (record.isReady) return record;
		await afterThreadCreated(this.#hookScope(record));
		if (parent !== undefined) await childCreated(parent, () => this.#state(record));
		return (await records.change(given.id, () => ({ isReady: true }))) ?? record;
	}

	async #terminate(threadId: string): Promise<void> {
		const { records, now } = this.#system;
		const at = now();
		const before = await records.get(threadId);
		if (before === undefined || before.terminated !== null) return;
		await records.change(threadId, ({ terminated }) =>
			terminated === null ? { terminated: at } : undefined,
		);
		if (this.host.timers !== undefined) await this.effects(threadId).cancelAll();
		const session = this.session(threadId);
		// A tool of its own execution would wait for itself.
		if (this.#lives.has(threadId)) session.interrupt();
		else await session.stop();
		for (const child of await records.childrenOf(threadId)) await this.#terminate(child.id);
	}

	#emit(threadId: string, event: string, data: unknown): void {
		for (const listener of this.#listeners.get(threadId) ?? []) listener({ threadId, event, data });
	}

	async #require(threadId: string): Promise<ThreadRecord> {
		const record = await this.#system.records.get(threadId);
		if (record === undefined) throw threadNotFound(threadId);
		return record;
	}
}

function isScoped(index: ProjectIndex, { agentId }: ThreadRecord, name: string): boolean {
	const { project } = index;
	const declared = [...project.tools.values(), ...project.prompts.values()].flatMap(
		({ definition }) => definition.variables ?? [],
	);
	return (
		project.agents.has(agentId) &&
		declared.some((variable) => variable.name === name && variable.scoped === true)
	);
}

/**
 * Makes the threads of a project over a host.
 *
 * @throws TypeError for options that make no sense; HoldfastError `host_without_records`.
 * @see SA surface, Runtime
 */
export function threads(options: ThreadsOptions): Threads {
	return new Threads(options);
}
