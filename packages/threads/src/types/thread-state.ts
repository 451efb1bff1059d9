// The interface of a thread for tools, hooks, effects and endpoints.
import type { CodeExecution, CodeExecutionOptions } from "@holdfast/sandbox";
import type { AgentDefinition } from "./agent.ts";
import type { ScheduledEffect } from "./effect.ts";
import type {
	FileChunk,
	FileRecord,
	FileStats,
	FindResult,
	GrepResult,
	ReaddirResult,
	ReadFileStreamOptions,
	WriteFileOptions,
} from "./files.ts";
import type {
	GetMessagesOptions,
	InjectMessageInput,
	Message,
	MessagesResult,
	MessageUpdates,
	QueueMessageInput,
} from "./message.ts";
import type { ModelDefinition } from "./model.ts";
import type { PromptDefinition } from "./prompt.ts";
import type { SubagentRegistryEntry } from "./subagent.ts";
import type { ToolResult } from "./tool.ts";

/** How an environment value is displayed: `secret` values are redacted everywhere. */
export type EnvValueType = "text" | "secret";

/** Options for setting an environment value. */
export interface SetEnvOptions {
	/** How it is displayed; by default like the existing value, or `secret` for a new one. */
	type?: EnvValueType;
}

/** The identity of a thread. */
export interface ThreadMetadata {
	/** Unique in the store. */
	id: string;
	/** The agent that acts in it. */
	agent_id: string;
	/** The user who owns the thread; null for none. */
	user_id: string | null;
	/** When it was created, in microseconds since 1970. */
	created_at: number;
	/** Labels that were set when it was created. */
	tags?: string[];
}

/** The state of an execution; a thread has one while its agent is active. */
export interface ExecutionState {
	/** Unique for this execution. */
	readonly flowId: string;
	/** The acting side. */
	readonly currentSide: "a" | "b";
	/** Number of model calls in this execution. */
	readonly stepCount: number;
	/** Number of model calls of side A. */
	readonly sideAStepCount: number;
	/** Number of model calls of side B. */
	readonly sideBStepCount: number;
	/** Whether it was asked to stop. */
	readonly stopped: boolean;
	/** The side that asked it to stop. */
	readonly stoppedBy?: "a" | "b";
	/** Its messages so far. */
	readonly messageHistory: readonly Message[];
	/** Fires when the thread is stopped or terminated. */
	readonly abortSignal: AbortSignal;
	/** Names of the prompts from the side's own to the running one. */
	readonly promptPath: readonly string[];
	/**
	 * Makes a side take the next step.
	 *
	 * @throws HoldfastError in an `ai_human` agent
	 */
	forceTurn(side: "a" | "b"): void;
	/** Ends the execution once the results of this step are stored. */
	stop(): void;
}

/** A thread: everything that tools, hooks, effects and endpoints can use. */
export interface ThreadState {
	/** Unique in the store. */
	readonly threadId: string;
	/** The agent that acts in it. */
	readonly agentId: string;
	/** The user who owns the thread; null for none. */
	readonly userId: string | null;
	/** When it was created, in microseconds since 1970. */
	readonly createdAt: number;
	/** Its sub-agents. */
	readonly children: readonly SubagentRegistryEntry[];
	/** When it was terminated, in microseconds since 1970; null while it is active. */
	readonly terminated: number | null;
	/** Data of this execution; the next one starts without it. */
	context: Record<string, unknown>;
	/** The running execution; null outside one. */
	execution: ExecutionState | null;

	/** Lists messages, oldest first by default. */
	getMessages(options?: GetMessagesOptions): Promise<MessagesResult>;
	/** Returns the message with that ID, or null. */
	getMessage(messageId: string): Promise<Message | null>;
	/** Stores a message without starting an execution. */
	injectMessage(message: InjectMessageInput): Promise<Message>;
	/** Queues a message for the next step, and starts an execution if none is running. */
	queueMessage(message: QueueMessageInput): Promise<void>;
	/** Changes a message. */
	updateMessage(messageId: string, updates: MessageUpdates): Promise<Message>;
	/** Deletes a message and the results of its calls; returns false if it is unknown. */
	deleteMessage(messageId: string): Promise<boolean>;

	/** Loads the model with that name. */
	loadModel<T = ModelDefinition>(name: string): Promise<T>;
	/** Loads the prompt with that name. */
	loadPrompt<T = PromptDefinition>(name: string): Promise<T>;
	/** Loads the agent with that name. */
	loadAgent<T = AgentDefinition>(name: string): Promise<T>;
	/** Returns the names that `loadPrompt` accepts. */
	getPromptNames(): Promise<string[]>;
	/** Returns the names that `loadAgent` accepts. */
	getAgentNames(): Promise<string[]>;
	/** Returns the names that `loadModel` accepts. */
	getModelNames(): Promise<string[]>;
	/** Returns the thread of one of its sub-agents, or null. */
	getChildThread(reference: string): Promise<ThreadState | null>;
	/** Returns the parent thread, or null if this is not a sub-agent's thread. */
	getParentThread(): Promise<ThreadState | null>;

	/**
	 * Returns a value of the environment: of the thread, the agent, the prompt, the user, or the instance, in this order.
	 *
	 * @throws HoldfastError if none of them has it
	 */
	env(propertyName: string): Promise<string>;
	/** Returns how that value is displayed; `secret` by default. */
	envType(propertyName: string): Promise<EnvValueType>;
	/** Sets a value for the thread and its active descendants. */
	setEnv(propertyName: string, value: string, options?: SetEnvOptions): Promise<void>;

	/** Queues a silent message to the parent; does nothing without a parent. */
	notifyParent(message: string | QueueMessageInput): Promise<void>;
	/** Sets the status that the parent sees. */
	setStatus(status: string): Promise<void>;
	/** Calls a tool at the start of the next step. */
	queueTool(toolName: string, args?: Record<string, unknown>): Promise<void>;
	/** Calls a tool now. */
	invokeTool(toolName: string, args?: Record<string, unknown>): Promise<ToolResult>;

	/**
	 * Schedules an effect.
	 *
	 * @param delay milliseconds to wait; 0 by default
	 * @returns its ID
	 */
	scheduleEffect(name: string, args?: Record<string, unknown>, delay?: number): Promise<string>;
	/** Returns the pending effects, all or those with a name. */
	getScheduledEffects(name?: string): Promise<ScheduledEffect[]>;
	/** Cancels a pending effect; returns false if it is not pending. */
	removeScheduledEffect(id: string): Promise<boolean>;
	/** Sends a custom event to the thread's watchers. */
	emit(event: string, data?: unknown): void | Promise<void>;

	/** Returns a value of the thread's own store, or null. */
	getValue<T = unknown>(key: string): Promise<T | null>;
	/** Stores a value; null and undefined delete it. */
	setValue(key: string, value: unknown): Promise<void>;

	/** Writes a complete file. */
	writeFile(
		path: string,
		data: ArrayBuffer | Uint8Array | string | AsyncIterable<Uint8Array>,
		mimeType?: string,
		options?: WriteFileOptions,
	): Promise<FileRecord>;
	/** Returns a file's bytes, or null. */
	readFile(path: string): Promise<ArrayBuffer | null>;
	/** Returns a file's bytes in chunks, or null. */
	readFileStream(path: string, options?: ReadFileStreamOptions): Promise<AsyncIterable<FileChunk> | null>;
	/** Returns the record of a file or folder, or null. */
	statFile(path: string): Promise<FileRecord | null>;
	/** Returns the direct entries of a folder. */
	readdirFile(path: string): Promise<ReaddirResult>;
	/** Deletes a file. */
	unlinkFile(path: string): Promise<void>;
	/** Creates a folder and its parents. */
	mkdirFile(path: string): Promise<FileRecord>;
	/** Deletes an empty folder. */
	rmdirFile(path: string): Promise<void>;
	/** Returns the totals of all files. */
	getFileStats(): Promise<FileStats>;
	/** Returns the lines that match a regular expression. */
	grepFiles(pattern: string): Promise<GrepResult[]>;
	/** Returns the files whose paths match a glob. */
	findFiles(pattern: string): Promise<FindResult>;
	/** Returns a thumbnail of an image, or null. */
	getFileThumbnail(path: string): Promise<ArrayBuffer | null>;

	/** Runs code in a sandbox that can access only what you pass to it. */
	runCode(source: string, options?: CodeExecutionOptions): CodeExecution;
	/** Terminates the thread permanently; repeating it has no effect. */
	terminate(): Promise<void>;

	/**
	 * Resources of the program that runs the project, available only in this runtime. A tool that reads it cannot be
	 * packed.
	 */
	_notPackableRuntimeContext?: Record<string, unknown>;
}
