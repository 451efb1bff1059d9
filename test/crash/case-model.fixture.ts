// A model for many cases at once: it answers from what it is shown and from nothing else. What it was asked is written to
// a file before it answers, with the case it belongs to.
import { appendFileSync } from "node:fs";
import {
	AssistantMessage,
	createProvider,
	type LLMRequest,
	type LLMResponse,
	type LLMStreamResult,
	type Message,
	type ModelReference,
	messageToJSON,
	type ToolCall,
} from "@holdfast/upp";

/** What a user asks for: one call after the other, then an answer. */
export interface CasePlan {
	/** The case's name, and which of its tasks it is: `steer.3 main`. */
	readonly task: string;
	readonly calls: readonly { readonly tool: string; readonly input: Readonly<Record<string, unknown>> }[];
	/** What the strategy calls itself, before it asks the model. */
	readonly requests?: readonly string[];
	/** The answer after the calls waits until the case lets it go, where the case holds it. */
	readonly holdsAnswer?: true;
}

/** What the model was asked, in one line of the file. */
export interface CaseRequest {
	readonly name: string;
	/** What the agent is asked to be: one line for each agent of a case. */
	readonly system: string;
	readonly messages: readonly Readonly<Record<string, unknown>>[];
}

/** The name of the case that a text speaks of. */
export function caseIn(text: string): string {
	return /\b[a-z]+\.\d+\b/.exec(text)?.[0] ?? "";
}

/** Makes the model. An answer that a case holds waits for `held`. */
export function caseModel(file: string, held: (name: string) => Promise<void>): ModelReference {
	async function answer(request: LLMRequest): Promise<LLMResponse> {
		const messages = request.messages.map(shorten);
		const name = caseIn(JSON.stringify(messages));
		const seen: CaseRequest = { name, system: request.system ?? "", messages };
		appendFileSync(file, `${JSON.stringify(seen)}\n`);
		const { message, isHeld } = respond(request.messages);
		if (isHeld) await held(name);
		const usage = { inputTokens: 10, outputTokens: 5, totalTokens: 15 };
		return { message, usage, stopReason: message.hasToolCalls ? "tool_calls" : "stop" };
	}
	const provider = createProvider({
		name: "cases",
		version: "1",
		modalities: {
			llm: {
				bind: (modelId: string) => ({
					modelId,
					capabilities: {
						streaming: true,
						tools: true,
						structuredOutput: false,
						imageInput: false,
						videoInput: false,
						audioInput: false,
					},
					complete: answer,
					stream(request: LLMRequest): LLMStreamResult {
						const response = answer(request);
						const next = async () => ({ done: true, value: await response.then(() => undefined) }) as const;
						return { response, [Symbol.asyncIterator]: () => ({ next }) };
					},
				}),
			},
		},
	});
	return provider("cases-1");
}

/** A message without ids and times. */
function shorten(message: Message): Readonly<Record<string, unknown>> {
	const { type, content, toolCalls, results } = messageToJSON(message) as unknown as Record<string, unknown>;
	return { type, content, toolCalls, results };
}

interface Shown {
	readonly type: string;
	readonly text?: string;
	readonly results?: readonly { readonly result: unknown }[];
}

function respond(messages: readonly Message[]): { message: AssistantMessage; isHeld: boolean } {
	const shown = messages as unknown as readonly Shown[];
	const asked = shown.findLastIndex(({ type, text = "" }) => type === "user" && /^(?:\{|<system)/.test(text));
	const text = shown[asked]?.text ?? "";
	const later = shown.slice(asked + 1);
	if (asked < 0)
		return {
			message: new AssistantMessage(`Summary of ${caseIn(JSON.stringify(messages))}.`),
			isHeld: false,
		};
	const results = later.flatMap((each) => each.results ?? []).map(({ result }) => result);
	const said = later.filter(({ type }) => type === "user").map((each) => each.text);
	const plan = planOf(text);
	const call = plan.calls[results.length];
	if (call !== undefined) {
		const toolCallId = `${plan.task.replaceAll(/[^\w-]/g, "-")}-${results.length + 1}`;
		const calls: ToolCall[] = [{ toolCallId, toolName: call.tool, arguments: { ...call.input } }];
		return {
			message: new AssistantMessage(`Call ${results.length + 1} of ${plan.task}.`, calls),
			isHeld: false,
		};
	}
	const answer = `${plan.task} is done: ${JSON.stringify([results, said])}.`;
	return { message: new AssistantMessage(answer), isHeld: plan.holdsAnswer === true && said.length === 0 };
}

/** A reminder asks for the output of the task it names. */
function planOf(text: string): CasePlan {
	if (text.startsWith("{")) return JSON.parse(text) as CasePlan;
	const task_id = /task_id: ([^,\s]+)/.exec(text)?.[1] ?? "";
	return { task: "reminder", calls: [{ tool: "background_output", input: { task_id } }] };
}
