// The shared context of a host's threads: one system serves all threads of one host and one project.
import { type AnswerLimits, HoldfastTypeError } from "@holdfast/upp";
import type { Host, Session } from "holdfast";
import type { Plugin } from "holdfast/plugins";
import type { ThreadState } from "../types/index.ts";
import type { LiveRun } from "./live-run.ts";
import type { ThreadLogger } from "./logs.ts";
import type { StateScope } from "./make-thread-state.ts";
import type { ThreadParts, ThreadPlace } from "./parts.ts";
import type { ProjectIndex } from "./project-index.ts";
import type { PromptEdits } from "./prompt-edits.ts";
import type { ThreadRecord, ThreadRecords } from "./records.ts";
import type { ThreadView } from "./thread-view.ts";

/** The context that all threads share. */
export interface ThreadSystem {
	readonly host: Host;
	readonly records: ThreadRecords;
	readonly parts: ThreadParts;
	readonly log: ThreadLogger;
	/** Edited prompts, which replace those of the project. */
	readonly prompts: PromptEdits | undefined;
	/** The limits of the models' answers. */
	readonly limits: AnswerLimits | undefined;
	/** Whether requests are logged. */
	readonly logsRequests: boolean;
	readonly plugins: readonly Plugin[];
	/** Whether plugins or middleware take part in the runs of threads. */
	readonly hasOtherPolicy: boolean;
	/** Resources of the program, for tools that are not packed. */
	readonly runtimeContext: Record<string, unknown> | undefined;
	/** The current project; a running execution keeps the one it started with. */
	readonly index: ProjectIndex;
	newId(): string;
	/** Microseconds since 1970. */
	now(): number;
	session(threadId: string): Session;
	storeKeyOf(threadId: string): string;
	place(record: ThreadRecord): ThreadPlace;
	/** Returns the running execution of a thread in this process. */
	live(threadId: string): LiveRun | undefined;
	/** Returns the messages of a thread, including those that other processes added. */
	view(threadId: string): Promise<ThreadView>;
	/** Sends an event to the thread's watchers in this process. */
	emit(threadId: string, event: string, data: unknown): void;
	/** Returns a thread as its tools and hooks see it. */
	state(record: ThreadRecord, scope?: StateScope): Promise<ThreadState>;
	/** Creates a thread with its hooks, or returns the existing one. */
	create(record: ThreadRecord, scope?: { readonly parent?: LiveRun }): Promise<ThreadRecord>;
	/** Terminates a thread and its sub-agents permanently. */
	terminate(threadId: string): Promise<void>;
}

const systems = new WeakMap<object, ThreadSystem>();

/** Stores the internals of threads for other modules of this package. */
export function keepSystem(threads: object, system: ThreadSystem): void {
	systems.set(threads, system);
}

/** Returns the internals of threads. @throws HoldfastError `invalid_argument` for any other object. */
export function systemOf(threads: object): ThreadSystem {
	const system = systems.get(threads);
	if (system === undefined)
		throw new HoldfastTypeError("invalid_argument", "The value is not the return value of `threads()`.");
	return system;
}
