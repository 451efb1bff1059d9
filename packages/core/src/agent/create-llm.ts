// createLlm: one step of a managed model as a function, for code that drives the steps itself. The model is asked once,
// and its tool calls run.
import {
	checkOptions,
	HoldfastError,
	HoldfastTypeError,
	type Message,
	optionNames,
	ToolResultMessage,
	UserMessage,
} from "@holdfast/upp";
import { acceptInput, type SendInput } from "../facts/index.ts";
import { AgentState } from "../state/index.ts";
import { strategy } from "../strategies/index.ts";
import { Agent } from "./agent.ts";
import { type ModelMessage, toModelMessages } from "./model-messages.ts";
import type { AgentOptions } from "./options.ts";
import { readModelOutput } from "./read-model-output.ts";
import type { RuntimeLlmContext, RuntimeLlmOutput } from "./runtime-llm.ts";

/** Options of `createLlm`. */
export type RuntimeCreateLlmOptions = Required<Pick<AgentOptions, "model">> &
	Pick<AgentOptions, "instructions" | "tools" | "toolChoice">;

const createLlmNames = optionNames<RuntimeCreateLlmOptions>({
	model: true,
	instructions: "text",
	tools: true,
	toolChoice: true,
});

/** The model is asked once. By then, its calls have run. */
const oneStep = strategy({
	name: "one step",
	decide: ({ step }) => (step === 0 ? { kind: "model", tag: "act", step: "next" } : { kind: "finish" }),
});

/**
 * Creates a model function from a model: each call asks it once, runs the tools it calls, and returns the messages of
 * that step. Use it in code that drives the steps: pass the function as `model`, or call it directly. With an empty
 * history, the model answers its instructions. The tools it runs are not recorded individually. They receive the
 * `toolExecution` of the call as `context.parentContext`; an agent provides it.
 *
 * Its calls reject with the provider's UPPError, and with `invalid_input` for an unreadable history.
 *
 * @throws HoldfastError `invalid_option` naming the missing or invalid option.
 * @example
 * import { openai } from "@ai-sdk/openai";
 * import { Agent } from "holdfast";
 * import { createLlm } from "holdfast/compat";
 *
 * const model = createLlm({ model: openai("gpt-5.2"), instructions: "Answer briefly." });
 * const clerk = new Agent({ model: async (context) => (await model(context)).slice(0, 2) });
 * console.log(clerk.id);
 */
export function createLlm(
	options: RuntimeCreateLlmOptions,
): (
	context: Omit<RuntimeLlmContext, "signal"> & Partial<Pick<RuntimeLlmContext, "signal">>,
) => Promise<RuntimeLlmOutput> {
	checkOptions(options, createLlmNames, { of: "createLlm()" });
	const { model, instructions, tools, toolChoice } = options;
	if (Object.values(tools ?? {}).some(({ loadedBy }) => loadedBy !== undefined))
		throw new HoldfastTypeError(
			"invalid_option",
			"A tool of createLlm() has `loadedBy`. Loaded tools are kept by sessions and states, and the function has neither: leave `loadedBy` out.",
		);
	const agent = new Agent({
		model,
		execution: oneStep,
		...(instructions === undefined ? {} : { instructions }),
		...(tools === undefined ? {} : { tools }),
		...(toolChoice === undefined ? {} : { toolChoice }),
	});
	return async ({ history, signal, toolExecution }) => {
		const given = readHistory(history);
		// Without a history, the model has its instructions only. Providers require a message, even an empty one.
		const messages = given.length === 0 ? [new UserMessage("")] : given;
		const before = AgentState.initial().withMessages(messages.slice(0, -1));
		const { state } = await agent.generate(messages.at(-1) as Message, before, {
			...(signal === undefined ? {} : { signal }),
			...(toolExecution === undefined ? {} : { parentContext: toolExecution }),
		});
		return toModelMessages(state.messages.slice(messages.length));
	};
}

/** Reads the messages of a history that has the format of model functions. */
function readHistory(history: readonly ModelMessage[]): readonly Message[] {
	if (!Array.isArray(history)) throw invalid("It is not a list of messages.");
	const messages: Message[] = [];
	let said: ModelMessage[] = [];
	const takeSaid = (): void => {
		if (said.length > 0) messages.push(...readSaid(said));
		said = [];
	};
	for (const message of history as readonly (ModelMessage | null | undefined)[]) {
		switch (message?.role) {
			case "assistant":
			case "tool":
				said.push(message);
				break;
			case "user":
				takeSaid();
				messages.push(readUser(message));
				break;
			default:
				throw invalid(
					`It has a message of the role ${JSON.stringify(message?.role)}. Roles are user, assistant and tool; a system prompt is given as \`instructions\`.`,
				);
		}
	}
	takeSaid();
	return messages;
}

function readUser({ content }: ModelMessage): Message {
	try {
		return acceptInput({ type: "user-message", content } as SendInput).message;
	} catch (cause) {
		throw invalid((cause as Error).message, cause);
	}
}

/** Reads answers with their results. The last calls may still lack theirs. */
function readSaid(said: readonly ModelMessage[]): readonly Message[] {
	try {
		return readModelOutput(said).flatMap(({ message, results }) =>
			results.length === 0 ? [message] : [message, new ToolResultMessage(results)],
		);
	} catch (cause) {
		throw invalid((cause as Error).message, cause);
	}
}

function invalid(what: string, cause?: unknown): HoldfastError {
	return new HoldfastError(
		"invalid_input",
		`The history given to the function of createLlm() cannot be used. ${what}`,
		cause === undefined ? {} : { cause },
	);
}
