// A running execution in this process: its progress, the state that its tools share, and their requests. It mirrors the
// journal: a run that is resumed elsewhere rebuilds it from the entries (keeps I2).
//
//   loading  reads the earlier messages and, for a resumed run, its entries; new commits wait
//   ready    folds each committed entry as it arrives
import type { Message } from "@holdfast/upp";
import type { Entry } from "holdfast/host";
import type { PolicyRun } from "holdfast/middleware";
import type { HookName, ProjectItem, ThreadState } from "../types/index.ts";
import { type Flow, initialFlow } from "./flow.ts";
import { type HookScope, hasHooks } from "./hooks.ts";
import { dataOf } from "./message-data.ts";
import { threadNotFound } from "./not-found.ts";
import type { EnvironmentPart, ThreadPlace } from "./parts.ts";
import type { ProjectIndex } from "./project-index.ts";
import type { CallSignals, StoredResult } from "./row.ts";
import type { ThreadSystem } from "./system.ts";
import type { ThreadView } from "./thread-view.ts";

type Mutable<T> = { -readonly [Name in keyof T]: T[Name] };

/** The requests of one call to its execution. */
export interface CollectedSignals {
	/** Undefined if it made no requests. */
	readonly signals: CallSignals | undefined;
	/** The call has ended. */
	end(): void;
}

export class LiveRun {
	readonly threadId: string;
	readonly runId: string;
	readonly index: ProjectIndex;
	/** State that the tools of this execution share. */
	readonly context: Record<string, unknown> = {};
	/** Names of the prompts from the side's own to the running one. */
	promptPath: readonly string[] = [];
	/** Prompts whose sub-agents were started. */
	readonly activated: Set<string> = new Set();
	/** Whether the thread has sub-agents; undefined until known. */
	hasChildren: boolean | undefined;
	/** The states of tools, by their list entries: created once while the thread has no sub-agents. */
	readonly states: Map<object, ThreadState> = new Map();
	/** Bytes of images in base64, by their path. */
	readonly images: Map<string, string> = new Map();
	/** The messages of the next request as no other policy has changed them; undefined if there is no other policy. */
	unchanged: readonly Message[] | undefined;
	flow: Flow = initialFlow;
	readonly #system: ThreadSystem;
	readonly #run: PolicyRun;
	#view: ThreadView | undefined;
	#place: ThreadPlace | undefined;
	#ready: Promise<void> | undefined;
	#waiting: Entry[] | undefined = [];
	/** Whether it has seen the run from its start, so that no entries have to be read. */
	#isWhole = false;
	/** Entries added since the list was last read. */
	readonly #unseen: Entry[] = [];
	#seq = 0;
	/** The last requested environment. */
	#environment:
		| {
				readonly agent: object | undefined;
				readonly prompt: object | undefined;
				readonly part: EnvironmentPart;
		  }
		| undefined;
	#mayHaveFiles = false;
	/** The requests of the current call. */
	#signals: Mutable<CallSignals> | undefined;
	/** Hooks that are running for stored messages. */
	#hooks: Promise<unknown> = Promise.resolve();

	constructor(system: ThreadSystem, run: PolicyRun, index: ProjectIndex) {
		this.#system = system;
		this.#run = run;
		this.threadId = run.sessionKey;
		this.runId = run.runId;
		this.index = index;
	}

	/** Fires when the execution is stopped. */
	get signal(): AbortSignal {
		return this.#run.signal;
	}

	/** The committed messages of the thread. Available once ready. The list is built on first access. */
	get view(): ThreadView {
		const view = this.#view as ThreadView;
		for (const entry of this.#unseen.splice(0)) view.apply(entry);
		return view;
	}

	/** Seq of the last committed entry. */
	get seq(): number {
		return this.#seq;
	}

	/** Whether any message of the thread may have files. */
	get mayHaveFiles(): boolean {
		return this.#mayHaveFiles;
	}

	/** The thread at the start of the execution in this process. Available once ready. */
	get place(): ThreadPlace {
		return this.#place as ThreadPlace;
	}

	/** Returns the environment of the thread for the agent with a prompt. Available once ready. */
	environment(prompt: ProjectItem<"prompt"> | undefined): EnvironmentPart {
		const agent = this.index.agent(this.flow.agent);
		const known = this.#environment;
		if (known !== undefined && known.agent === agent && known.prompt === prompt) return known.part;
		const masked = this.index.envsOf(this.flow.agent);
		const scope = { agent: agent?.env, prompt: prompt?.definition.env, masked };
		const part = this.#system.parts.environment(this.place, scope);
		this.#environment = { agent, prompt, part };
		return part;
	}

	/** Whether hooks of any of these kinds are active for the side. */
	hasHooks(...names: HookName[]): boolean {
		return this.index.project.hooks.size > 0 && hasHooks(this, ...names);
	}

	/** The side whose call asked this execution to stop, committed or not. */
	get stoppedBy(): Flow["stoppedBy"] {
		return this.flow.stoppedBy ?? this.#signals?.stop;
	}

	/** Resolves when all earlier commits have been read. */
	ready(): Promise<void> | undefined {
		if (this.#waiting === undefined) return undefined;
		this.#ready ??= this.#load();
		return this.#ready;
	}

	async #load(): Promise<void> {
		const view = await this.#system.view(this.threadId);
		const record = await this.#system.records.get(this.threadId);
		if (record === undefined) throw threadNotFound(this.threadId);
		this.#place = this.#system.place(record);
		this.hasChildren ??= (await this.#system.records.childrenOf(this.threadId)).length > 0;
		if (!this.#isWhole) {
			let seen = 0;
			for (const entry of await this.#run.entries()) {
				this.flow = this.index.flowAfter(this.flow, entry);
				seen = entry.seq;
			}
			for (const entry of this.#waiting ?? [])
				if (entry.seq > seen) this.flow = this.index.flowAfter(this.flow, entry);
		}
		for (const entry of this.#waiting ?? []) view.apply(entry);
		this.#view = view;
		this.#seq = view.seq;
		this.#mayHaveFiles = view.withFiles.length > 0;
		this.#waiting = undefined;
	}

	/** Folds one more committed entry of the run. */
	committed(entry: Entry): void {
		if (entry.fact.kind === "run.started") this.#isWhole = true;
		// Folded right after the decider's fold, whose result is reused if it started from the same state.
		if (this.#isWhole || this.#waiting === undefined) this.flow = this.index.flowAfter(this.flow, entry);
		if (this.#waiting !== undefined) {
			this.#waiting.push(entry);
			return;
		}
		this.#seq = entry.seq;
		this.#mayHaveFiles ||= hasFiles(entry);
		this.#unseen.push(entry);
	}

	/** Starts a call: its requests to the execution are stored with its result. */
	collect(): CollectedSignals {
		const outer = this.#signals;
		const given: Mutable<CallSignals> = {};
		this.#signals = given;
		return {
			end: () => {
				this.#signals = outer;
			},
			get signals() {
				return Object.keys(given).length === 0 ? undefined : given;
			},
		};
	}

	/** Makes a request to the execution. Returns false outside a call: then the request becomes an input. */
	signalled(signals: CallSignals): boolean {
		if (this.#signals === undefined) return false;
		Object.assign(this.#signals, signals);
		return true;
	}

	/** Runs a hook for a stored message, after earlier ones. */
	after(hook: () => Promise<unknown>): void {
		this.#hooks = this.#hooks.then(hook).catch(() => {});
	}

	/** Resolves when the hooks for stored messages have finished. */
	hooksDone(): Promise<unknown> {
		return this.#hooks;
	}

	/** Returns whose hooks to call now. */
	hookScope(prompt?: HookScope["prompt"]): HookScope {
		const { threadId, index, flow } = this;
		let state: Promise<ThreadState> | undefined;
		return {
			index,
			flow,
			prompt,
			threadId,
			log: this.#system.log,
			state: () => {
				state ??= this.#state();
				return state;
			},
		};
	}

	async #state(): Promise<ThreadState> {
		const record = await this.#system.records.get(this.threadId);
		if (record === undefined) throw new Error("The thread was deleted.");
		return this.#system.state(record, { live: this });
	}
}

function hasFiles({ fact }: Entry): boolean {
	switch (fact.kind) {
		case "input":
		case "assistant":
		case "message.added":
		case "message.updated":
			return dataOf(fact.message).attachments !== undefined;
		case "tool.settled":
			return (fact.result as Partial<StoredResult> | null)?.attachments !== undefined;
		case "run.started":
		case "run.resumed":
		case "run.parked":
		case "tools.requested":
		case "tool.started":
		case "decision":
		case "note":
		case "tools.pending":
		case "waiting":
		case "wait.ended":
		case "message.deleted":
		case "history.cut":
		case "run.ended":
		case "folded":
			return false;
		default:
			fact satisfies never;
			return false;
	}
}
