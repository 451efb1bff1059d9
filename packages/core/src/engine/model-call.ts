// One call of the model: the request goes out, its stream is emitted, its answer comes back as a fact.
import {
	type AssistantContent,
	AssistantMessage,
	emptyUsage,
	isAssistantMessage,
	isToolResultMessage,
	type LLMRequest,
	type Message,
	type ToolCall,
	type ToolResult,
	UserMessage,
} from "@holdfast/upp";
import type { AssistantSaid, Fact } from "../facts/index.ts";
import { costOf, errorData, modelRetryNote } from "../facts/index.ts";
import type { List } from "../state/index.ts";
import type { ModelAction } from "./action.ts";
import { withinCall } from "./call-scope.ts";
import { withReadableArguments } from "./deep-arguments.ts";
import type { EngineModel, EngineResponse } from "./engine-agent.ts";
import type { Run } from "./run.ts";
import { CommitFailed } from "./stopped.ts";
import { StreamedAnswer } from "./streamed-answer.ts";
import { untilAnswered } from "./until-answered.ts";

/** Up to so many messages a copy costs less than the way around it. */
const copiedAtOnce = 256;

/** What a call of the model came to. */
export type ModelOutcome = ModelAnswer | ModelFailure;

interface Attempts {
	/** Notes of the attempts that failed before. */
	readonly retries: readonly Fact[];
}

export interface ModelAnswer extends Attempts {
	readonly answer: AssistantSaid;
	/** The results of the answer's calls, where the model has carried them out itself. */
	readonly results: readonly Fact[] | undefined;
}

export interface ModelFailure extends Attempts {
	readonly answer: undefined;
	/** The provider's own error, `Stopped` or `CommitFailed`. */
	readonly error: unknown;
	/** What the model had said when it failed. */
	readonly partial: AssistantMessage | undefined;
}

/** Calls the model for an action of a step. Never rejects. */
export async function callModel(run: Run, action: ModelAction, step: number): Promise<ModelOutcome> {
	const retries: Fact[] = [];
	let streamed: StreamedAnswer | undefined;
	let asked: string | undefined;
	try {
		const engineModel = run.agent.model();
		const { model } = engineModel;
		const { clock } = run.agent.ports;
		const { tag } = action;
		run.checkStopped();
		if (run.watched) {
			const { seq, sub } = run.at;
			run.emit({ type: "model_start", seq, sub, step, tag, modelId: model.modelId });
		}
		const marked = run.mark({ phase: "before-model" });
		if (marked !== undefined) await run.untilStopped(marked);
		const { assemble } = run.interceptors;
		const assembled =
			assemble === undefined
				? undefined
				: await run.untilStopped(assemble(historyFor(run.state.context, action)));
		const request = requestFor(run, engineModel, action, step, assembled, retries);
		run.checkLease();
		run.checkStopped(); // a watcher may have stopped it
		const startedAt = clock.monotonic();
		asked = model.modelId;
		const ask = (): Promise<EngineResponse> => {
			if (run.streams && model.capabilities.streaming) {
				streamed = new StreamedAnswer(run, step, tag);
				return streamed.read(model.stream(request));
			}
			return engineModel.isFunction
				? withinCall(run.processKey, () => model.complete(request))
				: model.complete(request);
		};
		const { modelCall } = run.interceptors;
		const answering =
			modelCall === undefined
				? ask()
				: modelCall({ step, tag, modelId: model.modelId, signal: run.signal }, ask);
		const response = (await run.untilStopped(answering)) as EngineResponse;
		streamed = undefined;
		if (response.preceding !== undefined) await recordPreceding(run, step, tag, model.modelId, response);
		const answer = answerOf(run, engineModel, action, step, response, clock.monotonic() - startedAt);
		return { answer, results: response.results && settledResults(step, response.results), retries };
	} catch (error) {
		if (asked !== undefined && run.stopReason === undefined && !(error instanceof CommitFailed))
			run.observer?.modelFailed({ modelId: asked, error });
		return { answer: undefined, error, partial: await streamed?.cutOff(), retries };
	}
}

/** The history as a call of the model shows it. */
function historyFor(context: List<Message>, { prompt }: ModelAction): readonly Message[] {
	const history = context.from(0);
	if (prompt !== undefined) history.push(new UserMessage(prompt));
	return history;
}

// These two are apart from the call itself so that little is alive while it waits.

function requestFor(
	run: Run,
	engineModel: EngineModel,
	action: ModelAction,
	step: number,
	assembled: readonly Message[] | undefined,
	retries: Fact[],
): LLMRequest {
	const { context } = run.state;
	// A short history is copied at once; a long one only when the model reads it (keeps I5).
	const messages =
		assembled ??
		(context.length <= copiedAtOnce ? historyFor(context, action) : () => historyFor(context, action));
	const request = engineModel.request(messages, {
		signal: run.signal,
		tools: action.tools === "withheld" ? [] : run.agent.toolList,
		...(typeof action.structure === "object" ? { structure: action.structure } : {}),
		// What is not JSON goes back to the model like anything else that is wrong.
		...(action.structure !== undefined && action.structure === run.agent.output?.structure
			? { unparsed: "keep" as const }
			: {}),
		onRetry: (info) => {
			if (run.stopReason !== undefined) return;
			const { attempt, delayMs, error } = info;
			run.observer?.modelFailed({ modelId: engineModel.model.modelId, error, retry: { attempt, delayMs } });
			const retry = { step, attempt, delay: delayMs, error: errorData(error) };
			retries.push(modelRetryNote(retry));
			// What policy may change is emitted once it has.
			if (run.watched && run.admission === undefined) run.emit({ type: "model_retry", ...run.at, ...retry });
		},
	});
	// What the model is to choose among the tools says nothing where it is shown none.
	if (action.tools === "withheld" && request.params?.toolChoice !== undefined)
		request.params = { ...request.params, toolChoice: undefined };
	if (action.structure === "none" && request.structure !== undefined) delete request.structure;
	return request;
}

function answerOf(
	run: Run,
	engineModel: EngineModel,
	action: ModelAction,
	step: number,
	response: EngineResponse,
	duration: number,
): AssistantSaid {
	const { uuid } = run.agent.ports.ids;
	const { stopReason } = response;
	const offered = (action.tools ?? "offered") === "offered";
	const message =
		stopReason === "content_filter"
			? withoutCalls(response.message)
			: withUsableCalls(response.message, uuid, offered);
	const { price } = engineModel;
	const cost = price && costOf(response.usage, price);
	const answer: Mutable<AssistantSaid> = {
		kind: "assistant",
		step,
		tag: action.tag,
		message,
		usage: response.usage,
		stopReason,
		modelId: engineModel.model.modelId,
		duration,
	};
	if (action.afterwards === "goes-on") answer.continues = true;
	if (cost !== undefined) answer.cost = cost;
	if (response.data !== undefined) answer.data = response.data;
	if (message.hasToolCalls) answer.resultsId = uuid();
	return answer;
}

function settledResults(step: number, results: readonly ToolResult[]): readonly Fact[] {
	return results.map(({ toolCallId, result, isError }) =>
		settled(step, toolCallId, isError === true, result, 0),
	);
}

function settled(step: number, callId: string, isError: boolean, result: unknown, duration: number): Fact {
	return { kind: "tool.settled", step, callId, outcome: isError ? "error" : "done", result, duration };
}

type Mutable<T> = { -readonly [Name in keyof T]: T[Name] };

/** A model that runs tools itself has done so by now: its rounds become facts before its answer. */
async function recordPreceding(
	run: Run,
	step: number,
	tag: string,
	modelId: string,
	response: EngineResponse,
): Promise<void> {
	const { preceding } = response;
	if (preceding === undefined) return;
	const own = new Set(response.message.toolCalls?.map(({ toolCallId }) => toolCallId));
	const executions = (response.executions ?? []).filter(({ toolCallId }) => !own.has(toolCallId));
	const { hooks, ports } = run.agent;
	const facts: Fact[] = [];
	const unsaid = new Map(executions.map((each) => [each.toolCallId, each]));
	for (const message of preceding) {
		if (isAssistantMessage(message)) {
			const resultsId = message.hasToolCalls ? { resultsId: ports.ids.uuid() } : {};
			const usage = emptyUsage();
			const answer = {
				kind: "assistant",
				step,
				tag,
				continues: true,
				message,
				usage,
				modelId,
				duration: 0,
			} as const;
			facts.push({ ...answer, stopReason: message.hasToolCalls ? "tool_calls" : "stop", ...resultsId });
			if (message.toolCalls !== undefined)
				await untilAnswered(run, () => hooks.onAct?.(step, message.toolCalls ?? []));
		}
		if (!isToolResultMessage(message)) continue;
		for (const { toolCallId, result, isError } of message.results) {
			const duration = unsaid.get(toolCallId)?.duration ?? 0;
			unsaid.delete(toolCallId);
			facts.push(settled(step, toolCallId, isError === true, result, duration));
		}
	}
	// What was run and is in no message stays out of the history, like calls of a strategy.
	const calls = [...unsaid.values()].map((each) => pick(each));
	if (calls.length > 0) {
		facts.push({ kind: "tools.requested", step, tag, calls, continues: true });
		for (const { toolCallId, isError, result, duration } of unsaid.values())
			facts.push(settled(step, toolCallId, isError === true, result, duration));
		await untilAnswered(run, () => hooks.onAct?.(step, calls));
	}
	if (facts.length === 0) return;
	const committed = run.commit(facts);
	if (committed instanceof Promise) await committed;
	if (executions.length > 0) {
		const observations = executions.map((each) => ({ ...each, isError: each.isError === true }));
		await untilAnswered(run, () => hooks.onObserve?.(step, observations));
	}
}

function pick({ toolCallId, toolName, arguments: input }: ToolCall): ToolCall {
	return { toolCallId, toolName, arguments: input };
}

/** Calls of an answer that the provider refused are not carried out. */
function withoutCalls(message: AssistantMessage): AssistantMessage {
	return message.hasToolCalls
		? new AssistantMessage(message.content, undefined, identityOf(message))
		: message;
}

function identityOf({
	id,
	timestamp,
	metadata,
}: AssistantMessage): Pick<AssistantMessage, "id" | "timestamp"> {
	return { id, timestamp, ...(metadata === undefined ? {} : { metadata }) };
}

/**
 * Calls are addressed by id: a provider that repeats or forgets ids gets new ones; arguments nested too deeply are taken
 * for unreadable; tools not offered are not called.
 */
function withUsableCalls(message: AssistantMessage, uuid: () => string, offered: boolean): AssistantMessage {
	const calls = message.toolCalls;
	if (calls === undefined || calls.length === 0) return message;
	const identity = identityOf(message);
	if (!offered) {
		const readable = calls.map(withReadableArguments);
		return new AssistantMessage(withIntent(message.content, readable), undefined, identity);
	}
	const seen = new Set<string>();
	let usable = true;
	for (const call of calls) {
		if (!call.toolCallId || seen.has(call.toolCallId) || withReadableArguments(call) !== call) usable = false;
		seen.add(call.toolCallId);
	}
	if (usable) return message;
	const used = new Set<string>();
	const renamed = calls.map(withReadableArguments).map((call): ToolCall => {
		const fresh = !call.toolCallId || used.has(call.toolCallId) ? { ...call, toolCallId: uuid() } : call;
		used.add(fresh.toolCallId);
		return fresh;
	});
	return new AssistantMessage(message.content, renamed, identity);
}

/** An answer of nothing but calls that were not offered: what it wanted, in words, for an empty one is refused by providers. */
function withIntent(
	content: readonly AssistantContent[],
	calls: readonly ToolCall[],
): readonly AssistantContent[] {
	if (content.some((block) => block.type === "text" && block.text !== "")) return content;
	const wanted = calls.map((call) => `${call.toolName}(${JSON.stringify(call.arguments)})`);
	return [...content, { type: "text", text: `Next: ${wanted.join(", ")}` }];
}
