// One step of a model function: passes it the conversation in its own format, and converts its return value to a
// response.
import {
	emptyUsage,
	type Message,
	type ToolExecution,
	type ToolResult,
	ToolResultMessage,
} from "@holdfast/upp";
import type { EngineResponse } from "../engine/index.ts";
import { toModelMessages } from "./model-messages.ts";
import { type ReadAnswer, readModelOutput } from "./read-model-output.ts";
import type { FunctionRequest, RuntimeLlm } from "./runtime-llm.ts";

/** Rejects with the function's error, or if its output is invalid. */
export async function askRuntimeLlm(
	call: RuntimeLlm,
	{ messages, signal = new AbortController().signal, toolExecution }: FunctionRequest,
): Promise<EngineResponse> {
	const execution = toolExecution === undefined ? {} : { toolExecution };
	const history = toModelMessages(messages);
	const answers = readModelOutput(await call({ history, signal, ...execution }));
	const last = answers.at(-1) as ReadAnswer;
	const before = answers.slice(0, -1);
	return {
		message: last.message,
		usage: emptyUsage(),
		stopReason: last.message.hasToolCalls ? "tool_calls" : "stop",
		...(last.results.length === 0 ? {} : { results: last.results }),
		...(before.length === 0
			? {}
			: { preceding: before.flatMap(messagesOf), executions: before.flatMap(executionsOf) }),
	};
}

function messagesOf({ message, results }: ReadAnswer): readonly Message[] {
	return results.length === 0 ? [message] : [message, new ToolResultMessage(results)];
}

function executionsOf({ message, results }: ReadAnswer): readonly ToolExecution[] {
	return (message.toolCalls ?? []).map(({ toolCallId, toolName, arguments: given }) => {
		const { result, isError = false } = results.find((each) => each.toolCallId === toolCallId) as ToolResult;
		return { toolCallId, toolName, arguments: given, result, isError, duration: 0 };
	});
}
