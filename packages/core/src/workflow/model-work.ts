// One model call of a workflow: an agent without tools that answers once, under the policy of the workflow's run.
import { HoldfastError, type Message, type TokenUsage, UserMessage } from "@holdfast/upp";
import { type AgentOptions, agent } from "../agent/index.ts";
import { costOf, type Spent } from "../facts/index.ts";
import { AgentState } from "../state/index.ts";
import type { AnyTool, ToolContext } from "../tools/index.ts";
import { modelTool } from "./built-in-tools.ts";
import type { ModelOptions } from "./flow-options.ts";

/** Makes the model call. `context` is that of the tool call that records it. */
export type ModelWork = (prompt: string, context: ToolContext) => Promise<unknown>;

/** The work of open model calls, by the id of their tool call. */
export type ModelWorks = Map<string, ModelWork>;

/** The members of a tool call's context that only tools of the engine use. */
interface OwnContext extends ToolContext {
	spend(spent: Spent): void;
	ownModelCall(
		modelId: string,
		messages: readonly Message[],
		call: (messages: readonly Message[]) => Promise<Answer>,
	): Promise<Answer>;
}

interface Answer {
	readonly message: Message;
	readonly usage: TokenUsage;
	readonly stopReason: string;
	readonly data?: unknown;
}

/** @throws HoldfastError for an invalid model or option, as for an agent. */
export function modelWork(
	model: NonNullable<AgentOptions["model"]>,
	{ output, name: _, ...options }: ModelOptions,
	prices: AgentOptions["prices"],
): { readonly work: ModelWork; readonly modelId: string } {
	const caller = agent({ ...options, ...(output === undefined ? {} : { output }), model } as AgentOptions);
	const modelId = String((model as { readonly modelId?: unknown }).modelId ?? "model");
	const work: ModelWork = async (prompt, given) => {
		const context = given as OwnContext;
		const { message, data } = await context.ownModelCall(
			modelId,
			[new UserMessage(prompt)],
			async (messages) => {
				const before = AgentState.initial().withMessages(messages.slice(0, -1));
				const { turn } = await caller.generate(messages.at(-1) as never, before, { signal: context.signal });
				const price = prices?.[modelId];
				const cost = price && costOf(turn.usage, price);
				context.spend({ usage: turn.usage, cost: cost ?? 0, unpriced: cost === undefined ? 1 : 0 });
				const { response, usage, stopReason = "stop" } = turn;
				return { message: response, usage, stopReason, data: turn.data };
			},
		);
		return output === undefined
			? { text: (message as { text?: string }).text ?? "" }
			: { output: data ?? null };
	};
	return { work, modelId };
}

/** The tool that records model calls. */
export function modelCalls(works: ModelWorks): AnyTool {
	return {
		name: modelTool,
		description: "Calls a model for a workflow.",
		parameters: {
			type: "object",
			properties: { prompt: { type: "string" }, model: { type: "string" } },
			required: ["prompt"],
		},
		retryPolicy: "idempotent",
		run({ prompt }: { readonly prompt: string }, context: ToolContext) {
			const work = works.get(context.toolCallId);
			if (work === undefined)
				throw new HoldfastError(
					"model_missing",
					"Only `flow.model()` of the workflow's code makes this call.",
				);
			return work(prompt, context);
		},
	} as AnyTool;
}
