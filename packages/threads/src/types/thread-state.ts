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

/** How an environment value is shown: `secret` values are redacted wherever they would appear. */
export type EnvValueType = "text" | "secret";

/** Options for setting an environment value. */
export interface SetEnvOptions {
	/** How it is shown: that of the existing value, or `secret` for a new one. */
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
	/** When it was created: microseconds since 1970. */
	created_at: number;
	/** Labels given when it was created. */
	tags?: string[];
}

/** The state of an execution; a thread has one while its agent is active. */
export interface ExecutionState {
	/** Unique for this execution. */
	readonly flowId: string;
	/** The side that acts. */
	readonly currentSide: "a" | "b";
	/** Model calls of this execution. */
	readonly stepCount: number;
	/** Model calls of side A. */
	readonly sideAStepCount: number;
	/** Model calls of side B. */
	readonly sideBStepCount: number;
	/** Whether it was asked to stop. */
	readonly stopped: boolean;
	/** The side that asked it to stop. */
	readonly stoppedBy?: "a" | "b";
	/** Its messages so far. */
	readonly messageHistory: readonly Message[];
	/** Fires when the thread is stopped or terminated. */
	readonly abortSignal: AbortSignal;
	/** Names of the prompts from the side's own to the one that runs. */
	readonly promptPath: readonly string[];
	/**
	 * Makes a side take the next step.
	 *
	 * @throws HoldfastError in an `ai_human` agent
	 */
	forceTurn(side: "a" | "b"): void;
	/** Ends the execution after the results of this step are stored. */
	stop(): void;
}

/**
 * A thread: everything that tools, hooks, effects and endpoints can do.
 */
export interface ThreadState {
	/** Unique in the store. */
	readonly threadId: string;
	/** The agent that acts in it. */
	readonly agentId: string;
	/** The user who owns the thread; null for none. */
	readonly userId: string | null;
	/** When it was created: microseconds since 1970. */
	readonly createdAt: number;
	/** Its sub-agents. */
	readonly children: readonly SubagentRegistryEntry[];
	/** When it was terminated, in microseconds since 1970; null while it is active. */
	readonly terminated: number | null;
	/** Data of this execution, gone in the next one. */
	context: Record<string, unknown>;
	/** The running execution; null outside one. */
	execution: ExecutionState | null;

	/** Lists messages, oldest first by default. */
	getMessages(options?: GetMessagesOptions): Promise<MessagesResult>;
	/** The message of that ID, or null. */
	getMessage(messageId: string): Promise<Message | null>;
	/** Stores a message and starts nothing. */
	injectMessage(message: InjectMessageInput): Promise<Message>;
	/** Queues a message for the next step and starts an execution where none runs. */
	queueMessage(message: QueueMessageInput): Promise<void>;
	/** Changes a message. */
	updateMessage(messageId: string, updates: MessageUpdates): Promise<Message>;
	/** Removes a message and the results of its calls; false if it is unknown. */
	deleteMessage(messageId: string): Promise<boolean>;

	/** The model of that name. */
	loadModel<T = ModelDefinition>(name: string): Promise<T>;
	/** The prompt of that name. */
	loadPrompt<T = PromptDefinition>(name: string): Promise<T>;
	/** The agent of that name. */
	loadAgent<T = AgentDefinition>(name: string): Promise<T>;
	/** Names that `loadPrompt` accepts. */
	getPromptNames(): Promise<string[]>;
	/** Names that `loadAgent` accepts. */
	getAgentNames(): Promise<string[]>;
	/** Names that `loadModel` accepts. */
	getModelNames(): Promise<string[]>;
	/** The thread of one of its sub-agents, or null. */
	getChildThread(reference: string): Promise<ThreadState | null>;
	/** The thread whose sub-agent this is, or null. */
	getParentThread(): Promise<ThreadState | null>;

	/**
	 * A value of the environment: of the thread, the agent, the prompt, the user, or the instance, in this order.
	 *
	 * @throws HoldfastError where none has it
	 */
	env(propertyName: string): Promise<string>;
	/** How that value is shown; `secret` by default. */
	envType(propertyName: string): Promise<EnvValueType>;
	/** Sets a value of the thread and of its active descendants. */
	setEnv(propertyName: string, value: string, options?: SetEnvOptions): Promise<void>;

	/** Queues a silent message to the parent; does nothing without one. */
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
	/** Effects that are pending, all or those of a name. */
	getScheduledEffects(name?: string): Promise<ScheduledEffect[]>;
	/** Cancels a pending effect; false where it is not pending. */
	removeScheduledEffect(id: string): Promise<boolean>;
	/** Sends a custom event to the thread's watchers. */
	emit(event: string, data?: unknown): void | Promise<void>;

	/** A value of the thread's own store, or null. */
	getValue<T = unknown>(key: string): Promise<T | null>;
	/** Stores a value; null and undefined delete it. */
	setValue(key: string, value: unknown): Promise<void>;

	/** Writes a file whole. */
	writeFile(
		path: string,
		data: ArrayBuffer | Uint8Array | string | AsyncIterable<Uint8Array>,
		mimeType?: string,
		options?: WriteFileOptions,
	): Promise<FileRecord>;
	/** A file's bytes, or null. */
	readFile(path: string): Promise<ArrayBuffer | null>;
	/** A file's bytes in chunks, or null. */
	readFileStream(path: string, options?: ReadFileStreamOptions): Promise<AsyncIterable<FileChunk> | null>;
	/** The record of a file or folder, or null. */
	statFile(path: string): Promise<FileRecord | null>;
	/** The direct entries of a folder. */
	readdirFile(path: string): Promise<ReaddirResult>;
	/** Removes a file. */
	unlinkFile(path: string): Promise<void>;
	/** Makes a folder, with those above it. */
	mkdirFile(path: string): Promise<FileRecord>;
	/** Removes an empty folder. */
	rmdirFile(path: string): Promise<void>;
	/** All files in numbers. */
	getFileStats(): Promise<FileStats>;
	/** Lines that a regular expression matches. */
	grepFiles(pattern: string): Promise<GrepResult[]>;
	/** Files whose paths match a glob. */
	findFiles(pattern: string): Promise<FindResult>;
	/** A smaller image of an image, or null. */
	getFileThumbnail(path: string): Promise<ArrayBuffer | null>;

	/** Runs code in a sandbox that has only what it is given. */
	runCode(source: string, options?: CodeExecutionOptions): CodeExecution;
	/** Ends the thread for good; repeating it changes nothing. */
	terminate(): Promise<void>;

	/**
	 * Handles of the program that runs the project, available only in this runtime. A tool that reads it cannot be
	 * packed.
	 */
	_notPackableRuntimeContext?: Record<string, unknown>;
}
