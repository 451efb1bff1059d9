// Hooks: those of the active prompt, otherwise those of the agent, in order. An error or an invalid return value is
// logged, and the hook's input is used instead.
import { messageOf } from "@holdfast/upp";
import type {
	HookDefinition,
	HookName,
	HookSignatures,
	LLMMessage,
	Message,
	ThreadState,
	ToolResult,
} from "../types/index.ts";
import type { Flow } from "./flow.ts";
import type { ThreadLogger } from "./logs.ts";
import type { ProjectIndex } from "./project-index.ts";

/** Whose hooks to call, and with which state. */
export interface HookScope {
	readonly index: ProjectIndex;
	readonly flow: Pick<Flow, "agent" | "side">;
	/** The running prompt, if it differs from the side's. */
	readonly prompt?: Parameters<ProjectIndex["callables"]>[0] | undefined;
	readonly threadId: string;
	readonly log: ThreadLogger;
	/** Creates the state; called for the first hook. */
	state(): Promise<ThreadState>;
}

type Execute<Name extends HookName> = HookSignatures[Name];

/** Returns the active hooks of a kind in their order. */
function activeHooks<Name extends HookName>(
	{ index, flow, prompt: given }: Pick<HookScope, "index" | "flow" | "prompt">,
	name: Name,
): readonly HookDefinition<Name>[] {
	const { project } = index;
	if (project.hooks.size === 0) return [];
	const agent = project.agents.get(flow.agent);
	const side = flow.side === "a" ? agent?.definition.sideA : agent?.definition.sideB;
	const own = agent && side && project.visible(agent.namespace, "prompt", side.prompt);
	const prompt = given ?? own;
	const declaring = prompt?.definition.hooks === undefined ? agent : prompt;
	const ids: readonly string[] = declaring?.definition.hooks ?? [];
	return ids.flatMap((id) => {
		const found = declaring && project.visible(declaring.namespace, "hook", id)?.definition;
		return found?.hook === name ? [found as HookDefinition<Name>] : [];
	});
}

/** Calls each hook of a kind with the result of the previous one. */
async function chain<Name extends HookName, Value>(
	scope: HookScope,
	name: Name,
	value: Value,
	call: (execute: Execute<Name>, state: ThreadState, value: Value) => unknown,
	read: (given: unknown, value: Value) => Value | undefined,
): Promise<Value> {
	let current = value;
	for (const { id, execute } of activeHooks(scope, name)) {
		try {
			const given = await call(execute as Execute<Name>, await scope.state(), current);
			const next = read(given, current);
			if (next === undefined) report(scope, id, name, "It returned an invalid value for this hook.");
			else current = next;
		} catch (error) {
			report(scope, id, name, messageOf(error));
		}
	}
	return current;
}

function report({ log, threadId }: HookScope, id: string, name: HookName, why: string): void {
	const message = `The hook "${id}" (${name}) failed, and its input is used unchanged: ${why}`;
	log({ threadId, level: "error", topic: "hook", message, data: { id, hook: name, error: why } });
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
	typeof value === "object" && value !== null && !Array.isArray(value);

/** Runs the hooks after a thread was created. */
export async function afterThreadCreated(scope: HookScope): Promise<void> {
	await chain(
		scope,
		"after_thread_created",
		true,
		(execute, state) => execute(state),
		() => true,
	);
}

/** Runs the hooks of a parent after its sub-agent was created. */
export async function afterSubagentCreated(
	scope: HookScope,
	child: () => Promise<ThreadState>,
): Promise<void> {
	await chain(
		scope,
		"after_subagent_created",
		true,
		async (execute, state) => execute(state, await child()),
		() => true,
	);
}

/** Applies the hooks to the system message; it may become empty. */
export function systemMessage(scope: HookScope, text: string): Promise<string> {
	return chain(
		scope,
		"after_system_message",
		text,
		(execute, state, value) => execute(state, value),
		(given, value) =>
			given === undefined || given === null ? value : typeof given === "string" ? given : undefined,
	);
}

/** Applies the hooks to the messages from which a request is assembled. */
export function filterMessages(scope: HookScope, messages: Message[]): Promise<Message[]> {
	return chain(
		scope,
		"filter_messages",
		messages,
		(execute, state, value) => execute(state, [...value]),
		(given) => (Array.isArray(given) && given.every(isRecord) ? (given as unknown as Message[]) : undefined),
	);
}

/** Applies the hooks to the messages of a request just before it is sent. */
export function prefilterHistory(scope: HookScope, messages: LLMMessage[]): Promise<LLMMessage[]> {
	return chain(
		scope,
		"prefilter_llm_history",
		messages,
		(execute, state, value) => execute(state, [...value]),
		(given) =>
			Array.isArray(given) && given.every((each) => isRecord(each) && typeof each.role === "string")
				? (given as unknown as LLMMessage[])
				: undefined,
	);
}

/** Applies the hooks to a message before it is stored. Its id, role and calls stay. */
export function beforeCreateMessage(scope: HookScope, message: Message): Promise<Message> {
	return chain(
		scope,
		"before_create_message",
		message,
		(execute, state, value) => execute(state, { ...value }),
		(given, value) => {
			if (!isRecord(given)) return undefined;
			const { content } = given;
			if (content !== undefined && content !== null && typeof content !== "string") return undefined;
			const { id, role, created_at } = value;
			return { ...value, ...given, id, role, created_at } as Message;
		},
	);
}

/** Runs the hooks after a message was stored. */
export async function afterCreateMessage(scope: HookScope, message: Message): Promise<void> {
	await chain(
		scope,
		"after_create_message",
		true,
		(execute, state) => execute(state, { ...message }),
		() => true,
	);
}

/** Applies the hooks to a message update. */
export function beforeUpdateMessage(
	scope: HookScope,
	id: string,
	updates: Record<string, unknown>,
): Promise<Record<string, unknown>> {
	return chain(
		scope,
		"before_update_message",
		updates,
		(execute, state, value) => execute(state, id, { ...value }),
		(given) => (isRecord(given) ? given : undefined),
	);
}

/** Runs the hooks after a message was changed. */
export async function afterUpdateMessage(scope: HookScope, message: Message): Promise<void> {
	await chain(
		scope,
		"after_update_message",
		true,
		(execute, state) => execute(state, { ...message }),
		() => true,
	);
}

/** Prepares a result for storage: applies the hooks of its outcome; null leaves it unchanged. */
export async function toolResult(
	scope: HookScope,
	call: Parameters<Execute<"before_store_tool_result">>[1],
	given: ToolResult,
): Promise<ToolResult> {
	const read = (result: unknown): ToolResult | undefined => {
		const { status } = (result ?? {}) as Partial<ToolResult>;
		return isRecord(result) && (status === "success" || status === "error")
			? (result as unknown as ToolResult)
			: undefined;
	};
	const name = given.status === "error" ? "after_tool_call_failure" : "after_tool_call_success";
	const after = await chain(
		scope,
		name,
		given,
		(execute, state, value) => execute(state, call, { ...value }),
		(result, value) => (result === null || result === undefined ? value : read(result)),
	);
	return chain(
		scope,
		"before_store_tool_result",
		after,
		(execute, state, value) => execute(state, call, { ...value }),
		read,
	);
}

/** Whether any hook of these kinds is active. */
export function hasHooks(scope: Pick<HookScope, "index" | "flow" | "prompt">, ...names: HookName[]): boolean {
	return names.some((name) => activeHooks(scope, name).length > 0);
}
