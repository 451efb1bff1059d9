// Hooks: points at which a project can observe or change what a thread does.
import type { Message } from "./message.ts";
import type { ContentPart } from "./provider-message.ts";
import type { ThreadState } from "./thread-state.ts";
import type { ToolResult } from "./tool.ts";

/** A tool call in the form of hooks and stored messages. */
export interface HookToolCall {
	/** Unique in the thread. */
	id: string;
	/** Always `function`. */
	type: "function";
	/** Name of the tool, and its arguments as JSON. */
	function: { name: string; arguments: string };
}

/** A message in the form that hooks receive. */
export type HookMessage = Message;
/** A result in the form that hooks receive. */
export type HookToolResult = ToolResult;

/** A message of a request that is about to be sent to a model. */
export interface LLMMessage {
	/** The role of its author. */
	role: "system" | "user" | "assistant" | "tool";
	/** Its content. */
	content: string | ContentPart[] | null;
	/** Name of the tool whose result this is. */
	name?: string;
	/** The calls of an assistant's message. */
	tool_calls?: HookToolCall[];
	/** The call that this result answers. */
	tool_call_id?: string;
	/** Additional data that the runtime carries along. */
	[field: string]: unknown;
}

/** All hooks with their arguments and return values. */
export interface HookSignatures<
	State = ThreadState,
	Msg = HookMessage,
	ToolCall = HookToolCall,
	Result = HookToolResult,
> {
	/** Runs after a thread was created, before anything else in it. */
	after_thread_created: (state: State) => Promise<void> | void;
	/** Runs on the parent after a sub-agent's thread was created. */
	after_subagent_created: (state: State, childState: State) => Promise<void> | void;
	/** Runs after the system message was rendered; a string replaces it. */
	after_system_message: (
		state: State,
		systemMessage: string,
	) => string | Promise<string | null | undefined> | null | undefined;
	/** Chooses the stored messages from which a request is assembled. */
	filter_messages: (state: State, messages: Msg[]) => Promise<Msg[]> | Msg[];
	/** Changes the messages of a request before they are sent to the model. */
	prefilter_llm_history: (state: State, messages: LLMMessage[]) => Promise<LLMMessage[]> | LLMMessage[];
	/** Changes a message before it is stored. */
	before_create_message: (state: State, message: Msg) => Promise<Msg> | Msg;
	/** Runs after a message was stored. */
	after_create_message: (state: State, message: Msg) => Promise<void> | void;
	/** Modifies the updates to a message. */
	before_update_message: (
		state: State,
		messageId: string,
		updates: Record<string, unknown>,
	) => Promise<Record<string, unknown>> | Record<string, unknown>;
	/** Runs after a message was changed. */
	after_update_message: (state: State, message: Msg) => Promise<void> | void;
	/** Changes a tool's result before it is stored. */
	before_store_tool_result: (
		state: State,
		toolCall: ToolCall,
		toolResult: Result,
	) => Promise<Result> | Result;
	/** Runs after a tool succeeded; null keeps the result, another result replaces it. */
	after_tool_call_success: (
		state: State,
		toolCall: ToolCall,
		toolResult: Result,
	) => Promise<Result | null> | Result | null;
	/** Runs after a tool failed; null keeps the result, another result replaces it. */
	after_tool_call_failure: (
		state: State,
		toolCall: ToolCall,
		toolResult: Result,
	) => Promise<Result | null> | Result | null;
}

/** Name of a hook. */
export type HookName = keyof HookSignatures;

/** The context of a hook. */
export interface HookContext<State = ThreadState> {
	/** The thread. */
	state: State;
	/** The hook's ID. */
	id: string;
	/** The hook's name. */
	hook: HookName;
}

/** Options of {@link defineHook}. */
export interface HookDefinitionOptions<Name extends HookName = HookName, Id extends string = string> {
	/** The hook to implement. */
	hook: Name;
	/** The id by which agents and prompts refer to it: unique, in snake_case. */
	id: Id;
	/** The function of the hook. If it throws, the error is logged and the original data is used. */
	execute: HookSignatures[Name];
}

/** A defined hook. */
export interface HookDefinition<Name extends HookName = HookName, Id extends string = string>
	extends HookDefinitionOptions<Name, Id> {}

/** The result of {@link defineHook}. */
export type HookDefinitionResult<
	Name extends HookName = HookName,
	Id extends string = string,
> = HookDefinition<Name, Id>;
