// A model client with scripted answers for tests.
import { checkOptions, HoldfastError, optionNames } from "@holdfast/upp";
import type {
	ChatMessage,
	LLMClient,
	ModelCallOptions,
	ModelInfo,
	ModelResponse,
	RunnerStep,
} from "../contract/index.ts";

const stubNames = optionNames<StubOptions>({ info: "object", usage: "object" });

/** The answer of a stub: a string, its pieces, a step as JSON, a whole response, or an error to throw. */
export type StubReply = string | readonly string[] | RunnerStep | ModelResponse | Error;

/** A prompt that the stub received. */
export interface StubPrompt {
	/** A copy of the messages; a string becomes one user message. */
	readonly messages: readonly ChatMessage[];
	/** The options of the call. */
	readonly options: Omit<ModelCallOptions, "signal">;
}

/** A stub, and the prompts it received. */
export interface StubClient extends LLMClient {
	/** The prompts so far, in order. */
	readonly prompts: readonly StubPrompt[];
}

/** Options of a stub. */
export interface StubOptions {
	/** The description of its model. Default: the name `stub`, with streaming. */
	readonly info?: Partial<ModelInfo>;
	/** Tokens that it reports for each call. Default: none. */
	readonly usage?: { readonly inputTokens: number; readonly outputTokens: number };
}

/**
 * Returns a client that gives these replies in order, and is marked deterministic. A call after the last reply rejects
 * with `STUB_EXHAUSTED`.
 */
export function stubClient(script: readonly StubReply[], options: StubOptions = {}): StubClient {
	checkOptions(options, stubNames, { of: "stubClient()" });
	const { info, usage } = options;
	const prompts: StubPrompt[] = [];
	let next = 0;
	const ask = (
		prompt: string | readonly ChatMessage[],
		options: ModelCallOptions = {},
	): readonly string[] | ModelResponse => {
		const { signal, ...rest } = options;
		signal?.throwIfAborted();
		const messages = typeof prompt === "string" ? [{ role: "user" as const, content: prompt }] : prompt;
		prompts.push({ messages: structuredClone(messages), options: rest });
		const reply = script[next++];
		if (reply === undefined) {
			const message = `The stub has ${script.length} replies, and the run requested one more.`;
			throw new HoldfastError("STUB_EXHAUSTED", message);
		}
		if (reply instanceof Error) throw reply;
		if (typeof reply === "string") return [reply];
		if (Array.isArray(reply)) return reply;
		return "text" in reply ? (reply as ModelResponse) : [JSON.stringify(reply)];
	};
	return {
		deterministic: true,
		prompts,
		async call(prompt, options) {
			const reply = ask(prompt, options);
			if (!Array.isArray(reply)) return reply as ModelResponse;
			return { text: reply.join(""), ...(usage === undefined ? {} : { usage }) };
		},
		async *stream(prompt, options) {
			const reply = ask(prompt, options);
			const pieces: readonly string[] = Array.isArray(reply) ? reply : [(reply as ModelResponse).text];
			const used = Array.isArray(reply) ? usage : (reply as ModelResponse).usage;
			for (const [at, text] of pieces.entries()) {
				options?.signal?.throwIfAborted();
				yield at === pieces.length - 1 && used !== undefined ? { text, usage: used } : { text };
			}
		},
		getModelInfo: async () => ({ name: "stub", supportsStreaming: true, ...info }),
	};
}
