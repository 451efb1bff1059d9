// Asks an agent's own model one question, apart from its conversations: for plugins that need text, such as summaries.
import { type BoundLLMModel, type LLMRequest, type Message, UserMessage } from "@holdfast/upp";

/** An object that has a model to ask. */
interface ModelOwner {
	model(): {
		readonly model: BoundLLMModel;
		request(messages: readonly Message[], extra: { signal: AbortSignal; tools: readonly [] }): LLMRequest;
	};
}

/** Asks a model for text. */
export type AskModel = (
	prompt: string,
	options: { readonly instructions?: string; readonly signal: AbortSignal },
) => Promise<string>;

/** Asks the agent's model, without its instructions and tools. Rejects with the model's error. */
export function askModel(agent: ModelOwner): AskModel {
	return async (prompt, { instructions, signal }) => {
		const { model, request } = agent.model();
		const asked = request([new UserMessage(prompt)], { signal, tools: [] });
		delete asked.structure;
		delete asked.systemParts;
		if (instructions === undefined) delete asked.system;
		else asked.system = instructions;
		const { message } = await model.complete(asked);
		return message.text;
	};
}
