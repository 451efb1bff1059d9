// Hooks: where a project may look at or change what a thread does.
import type { Message } from "./message.ts";
import type { ContentPart } from "./provider-message.ts";
import type { ThreadState } from "./thread-state.ts";
import type { ToolResult } from "./tool.ts";

/** A call of a tool as hooks and stored messages have it. */
export interface HookToolCall {
	/** Unique in the thread. */
	id: string;
	/** Always `function`. */
	type: "function";
	/** Name of the tool, and its arguments as JSON. */
	function: { name: string; arguments: string };
}

/** A message as hooks have it. */
export type HookMessage = Message;
/** A result as hooks have it. */
export type HookToolResult = ToolResult;

/** A message of the request that a model is about to get. */
export interface LLMMessage {
	/** Who said it. */
	role: "system" | "user" | "assistant" | "tool";
	/** What it says. */
	content: string | ContentPart[] | null;
	/** Name of the tool whose result this is. */
	name?: string;
	/** The calls of an assistant's message. */
	tool_calls?: HookToolCall[];
	/** The call that this result answers. */
	tool_call_id?: string;
	/** Further data that the runtime carries along. */
	[field: string]: unknown;
}

/**
 * All hooks: what they get and may return.
 */
export interface HookSignatures<
	State = ThreadState,
	Msg = HookMessage,
	ToolCall = HookToolCall,
	Result = HookToolResult,
> {
	/** After a thread was created, before anything else in it. */
	after_thread_created: (state: State) => Promise<void> | void;
	/** On the parent, after a sub-agent's thread was created. */
	after_subagent_created: (state: State, childState: State) => Promise<void> | void;
	/** After the system message was rendered; a string replaces it. */
	after_system_message: (
		state: State,
		systemMessage: string,
	) => string | Promise<string | null | undefined> | null | undefined;
	/** Chooses the stored messages that a request is assembled from. */
	filter_messages: (state: State, messages: Msg[]) => Promise<Msg[]> | Msg[];
	/** Changes the messages of a request as they go to the model. */
	prefilter_llm_history: (state: State, messages: LLMMessage[]) => Promise<LLMMessage[]> | LLMMessage[];
	/** Changes a message before it is stored. */
	before_create_message: (state: State, message: Msg) => Promise<Msg> | Msg;
	/** After a message was stored. */
	after_create_message: (state: State, message: Msg) => Promise<void> | void;
	/** Changes what is changed in a message. */
	before_update_message: (
		state: State,
		messageId: string,
		updates: Record<string, unknown>,
	) => Promise<Record<string, unknown>> | Record<string, unknown>;
	/** After a message was changed. */
	after_update_message: (state: State, message: Msg) => Promise<void> | void;
	/** Changes a tool's result before it is stored. */
	before_store_tool_result: (
		state: State,
		toolCall: ToolCall,
		toolResult: Result,
	) => Promise<Result> | Result;
	/** After a tool succeeded; null keeps the result, another replaces it. */
	after_tool_call_success: (
		state: State,
		toolCall: ToolCall,
		toolResult: Result,
	) => Promise<Result | null> | Result | null;
	/** After a tool failed; null keeps the result, another replaces it. */
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
	/** Where it runs. */
	hook: Name;
	/** The id by which agents and prompts refer to it: unique, in snake_case. */
	id: Id;
	/** What it does. A throw is logged and the original data is used. */
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
