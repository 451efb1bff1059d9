// One model call: sends the request, emits its stream, and returns its answer as a fact.
import {
	type AssistantMessage,
	checkCachedParts,
	type LLMRequest,
	type Message,
	setSystem,
	UserMessage,
} from "@holdfast/upp";
import type { AssistantSaid, Fact, Mutable } from "../facts/index.ts";
import { costOf, errorData, modelRetryNote, textHash } from "../facts/index.ts";
import type { MaybePromise } from "../host/index.ts";
import { AssembledRequest } from "../policy/index.ts";
import type { List } from "../state/index.ts";
import type { EngineTool } from "../tools/index.ts";
import type { ModelAction } from "./action.ts";
import { contextOfFunction } from "./call-context.ts";
import { CallIds } from "./call-ids.ts";
import { withinCall } from "./call-scope.ts";
import type { EngineModel, EngineResponse } from "./engine-agent.ts";
import { fingerprintOfSent, type SentTools, sentTools } from "./loaded-tools.ts";
import { recordPreceding, settledResults } from "./preceding-answers.ts";
import type { EngineStep } from "./prepared-step.ts";
import { headTokens, messageTokens } from "./request-size.ts";
import type { Run } from "./run.ts";
import { prefixOf, promptCacheOf, type RequestPrefix } from "./sent-prefix.ts";
import { CommitFailed } from "./stopped.ts";
import { StreamedAnswer } from "./streamed-answer.ts";
import { systemOf } from "./system-request.ts";
import { withoutCalls, withUsableCalls } from "./usable-calls.ts";

/** Up to this number of messages, a copy is cheaper than the alternative. */
const copiedAtOnce = 256;

/** The model's answer. */
export interface ModelAnswer {
	readonly answer: AssistantSaid;
	/** The results of the answer's calls, if the model executed them itself. */
	readonly results: readonly Fact[] | undefined;
}

/** A model call. It is made once, and then either has its answer or is cut off. */
export class ModelCall {
	/** Notes about earlier attempts that failed. */
	readonly retries: Fact[] = [];
	readonly #run: Run;
	readonly #action: ModelAction;
	readonly #step: number;
	readonly #changes: EngineStep | undefined;
	/** Set if the tools of the request can differ from call to call. */
	readonly #tools: SentTools | undefined;
	/** Set once the model was called. */
	#asked: EngineModel | undefined;
	#startedAt = 0;
	#ids: CallIds | undefined;
	/** Set if the beginning of the request is not that of the run's requests. */
	#fingerprint: string | undefined;
	/** Set if the answer records something about the beginning of its request. */
	#prefix: RequestPrefix | undefined;
	/** Set if policy assembles the request. */
	#request: AssembledRequest | undefined;
	/** The estimated tokens of the request. Set if policy has asked about its size. */
	#estimate: number | undefined;
	/** Set while the answer is streaming. */
	#streamed: StreamedAnswer | undefined;

	/** `changes` are those of this call only. */
	constructor(run: Run, action: ModelAction, step: number, changes: EngineStep | undefined) {
		this.#run = run;
		this.#action = action;
		this.#step = step;
		this.#changes = changes;
		this.#tools = run.agent.loadable && sentTools(run);
	}

	/** Calls the model. Throws or rejects with the provider's own error, `Stopped` or `CommitFailed`. */
	ask(): Promise<EngineResponse> {
		const run = this.#run;
		const engineModel = this.#changes?.model ?? run.agent.model();
		run.checkStopped();
		if (run.watched) {
			const { seq, sub } = run.at;
			const { modelId } = engineModel.model;
			run.emit({ type: "model_start", seq, sub, step: this.#step, tag: this.#action.tag, modelId });
		}
		const marked = run.mark({ phase: "before-model" });
		if (marked === undefined && run.interceptors.assemble === undefined) return this.#send(engineModel);
		return this.#assembled(marked).then((messages) => this.#send(engineModel, messages));
	}

	async #assembled(marked: MaybePromise<void>): Promise<readonly Message[] | undefined> {
		const run = this.#run;
		const { assemble } = run.interceptors;
		if (marked !== undefined) await run.untilStopped(marked);
		if (assemble === undefined) return undefined;
		const { context: history, sent } = run.state;
		const given = historyFor(history, this.#action);
		this.#request = new AssembledRequest(given, { history, sent, head: () => this.#headTokens() });
		return run.untilStopped(assemble(given, this.#request));
	}

	/** Returns the estimated tokens of the request's instructions and tools. */
	#headTokens(): number {
		const { agent } = this.#run;
		const tools = this.#changes?.tools ?? this.#tools?.list ?? agent.toolList;
		const system = this.#changes?.instructions ?? systemOf(this.#run) ?? agent.system;
		return headTokens(system, this.#action.tools === "withheld" ? [] : tools);
	}

	#send(engineModel: EngineModel, assembled?: readonly Message[]): Promise<EngineResponse> {
		const run = this.#run;
		const request = requestFor(
			run,
			engineModel,
			this.#action,
			this.#step,
			assembled,
			this.#tools?.list,
			this.retries,
		);
		if (this.#changes !== undefined) applyChanges(request, this.#changes);
		if (request.systemParts !== undefined) checkCachedParts(request.systemParts, engineModel.model);
		this.#fingerprint =
			this.#changes === undefined ? fingerprintOfSent(run, this.#tools) : this.#changes.fingerprint;
		const isHistory = assembled !== undefined && this.#request?.isHistory(assembled) === true;
		this.#prefix = prefixOf(run, assembled, this.#action.prompt, this.#fingerprint, isHistory);
		if (assembled !== undefined && this.#request?.isCounted === true)
			this.#estimate = Math.round(
				this.#headTokens() + messageTokens(run, assembled, this.#request.historyOf(assembled)),
			);
		run.checkLease();
		run.checkStopped(); // a watcher may have stopped the run
		this.#startedAt = run.agent.ports.clock.monotonic();
		this.#asked = engineModel;
		const { modelCall } = run.interceptors;
		if (modelCall === undefined) return run.untilStopped(this.#answering(engineModel, request));
		const { modelId } = engineModel.model;
		const about = { step: this.#step, tag: this.#action.tag, modelId, signal: run.signal };
		const answering = modelCall(about, () => this.#answering(engineModel, request));
		return run.untilStopped(answering) as Promise<EngineResponse>;
	}

	#answering({ model, isFunction }: EngineModel, request: LLMRequest): Promise<EngineResponse> {
		const run = this.#run;
		if (run.streams && model.capabilities.streaming) {
			this.#streamed = new StreamedAnswer(run, this.#step, this.#action.tag, () => this.#callIds());
			return this.#streamed.read(model.stream(request));
		}
		return isFunction ? withinCall(run.processKey, () => model.complete(request)) : model.complete(request);
	}

	#callIds(): CallIds {
		this.#ids ??= new CallIds(this.#run);
		return this.#ids;
	}

	/** Returns the answer as a fact. The model's earlier messages are recorded first. */
	answer(response: EngineResponse): MaybePromise<ModelAnswer> {
		this.#streamed = undefined;
		if (response.preceding === undefined) return this.#answer(response);
		const { modelId } = (this.#asked as EngineModel).model;
		const recorded = recordPreceding(
			this.#run,
			this.#step,
			this.#action.tag,
			modelId,
			response,
			this.#callIds(),
		);
		return recorded.then(() => this.#answer(response));
	}

	#answer(response: EngineResponse): ModelAnswer {
		const run = this.#run;
		const step = this.#step;
		const duration = run.agent.ports.clock.monotonic() - this.#startedAt;
		const { toolCalls } = response.message;
		const ids = toolCalls === undefined || toolCalls.length === 0 ? undefined : this.#callIds();
		const answer: Mutable<AssistantSaid> = answerOf(
			run,
			this.#asked as EngineModel,
			this.#action,
			step,
			response,
			duration,
			ids,
		);
		if (this.#changes !== undefined) answer.prepared = this.#changes.prepared;
		if (this.#fingerprint !== undefined) answer.fingerprint = this.#fingerprint;
		if (this.#prefix !== undefined) run.shown = recordPrefix(answer, this.#prefix);
		if (this.#request?.moved !== undefined) answer.cuts = this.#request.moved;
		// A model that runs tools itself reports the sum of several requests.
		const isOne = response.preceding === undefined && response.results === undefined;
		if (this.#estimate !== undefined && isOne && this.#asked?.isFunction !== true)
			answer.estimate = this.#estimate;
		return { answer, results: response.results && settledResults(step, answer.message, response.results) };
	}

	/**
	 * Returns the partial text of a failed model call; undefined before the first piece. Notifies observers of the run.
	 */
	async cutOff(error: unknown): Promise<AssistantMessage | undefined> {
		const { stopReason, observer } = this.#run;
		if (this.#asked !== undefined && stopReason === undefined && !(error instanceof CommitFailed))
			observer?.modelFailed({ modelId: this.#asked.model.modelId, error });
		return this.#streamed?.cutOff();
	}
}

/** Returns the history that a model call contains. */
function historyFor(context: List<Message>, { prompt }: ModelAction): readonly Message[] {
	const history = context.from(0);
	if (prompt !== undefined) history.push(new UserMessage(prompt));
	return history;
}

// These two are separate from the call itself so that few objects stay alive while it waits.

function requestFor(
	run: Run,
	engineModel: EngineModel,
	action: ModelAction,
	step: number,
	assembled: readonly Message[] | undefined,
	tools: readonly EngineTool[] = run.agent.toolList,
	retries: Fact[],
): LLMRequest {
	const { context } = run.state;
	// A short history is copied at once; a long one only when the model reads it (keeps I5).
	const messages =
		assembled ??
		(context.length <= copiedAtOnce ? historyFor(context, action) : () => historyFor(context, action));
	const extra: Parameters<EngineModel["request"]>[1] = {
		signal: run.signal,
		tools: action.tools === "withheld" ? [] : tools,
		onRetry: (info) => {
			if (run.stopReason !== undefined) return;
			const { attempt, delayMs, error } = info;
			run.observer?.modelFailed({ modelId: engineModel.model.modelId, error, retry: { attempt, delayMs } });
			const retry = { step, attempt, delay: delayMs, error: errorData(error) };
			retries.push(modelRetryNote(retry));
			// Events that policy may change are emitted later.
			if (run.watched && run.admission === undefined) run.emit({ type: "model_retry", ...run.at, ...retry });
		},
	};
	if (typeof action.structure === "object") extra.structure = action.structure;
	// An answer that is not JSON is returned to the model like any other invalid answer.
	if (action.structure !== undefined && action.structure === run.agent.output?.structure)
		extra.unparsed = "keep";
	const system = systemOf(run);
	if (system !== undefined) extra.system = system;
	if (engineModel.isFunction === true) extra.toolExecution = contextOfFunction(run, engineModel, step);
	const request = engineModel.request(messages, extra);
	// A tool choice has no meaning if the model sees no tools.
	if (action.tools === "withheld" && request.params?.toolChoice !== undefined)
		request.params = { ...request.params, toolChoice: undefined };
	if (action.structure === "none" && request.structure !== undefined) delete request.structure;
	if (engineModel.cache !== undefined) request.cache = promptCacheOf(run, engineModel.cache, action.prompt);
	return request;
}

/** Changes a request. A request without tools gets neither tools nor a tool choice. */
function applyChanges(request: LLMRequest, { instructions, params, tools }: EngineStep): void {
	if (instructions !== undefined) setSystem(request, instructions);
	if (params !== undefined) request.params = { ...request.params, ...params };
	if (tools !== undefined) request.tools = tools;
}

function answerOf(
	run: Run,
	engineModel: EngineModel,
	action: ModelAction,
	step: number,
	response: EngineResponse,
	duration: number,
	ids: CallIds | undefined,
): AssistantSaid {
	const { uuid } = run.agent.ports.ids;
	const { stopReason } = response;
	const offered = (action.tools ?? "offered") === "offered";
	const message =
		stopReason === "content_filter"
			? withoutCalls(response.message)
			: withUsableCalls(response.message, ids, engineModel.model.modelId, offered);
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
		resultsId: message.hasToolCalls ? uuid() : undefined,
		marks: undefined, // Set up front to keep V8's object shape stable.
	};
	if (action.afterwards === "continues") answer.continues = true;
	if (action.prompt !== undefined || !offered) answer.strategy = strategyRequest(action);
	if (cost !== undefined) answer.cost = cost;
	if (response.data !== undefined) answer.data = response.data;
	return answer;
}

function strategyRequest({ prompt, tools }: ModelAction): NonNullable<AssistantSaid["strategy"]> {
	return {
		...(prompt === undefined ? {} : { prompt: textHash(prompt) }),
		...(tools === "shown" || tools === "withheld" ? { tools } : {}),
	};
}

/** Adds what is recorded about the request's beginning; returns the history that policy showed. */
function recordPrefix(answer: Mutable<AssistantSaid>, prefix: RequestPrefix): readonly Message[] | undefined {
	const { cacheBreak, view, shown } = prefix;
	if (cacheBreak !== undefined) answer.cacheBreak = cacheBreak;
	if (view !== undefined) answer.view = view;
	return shown;
}
