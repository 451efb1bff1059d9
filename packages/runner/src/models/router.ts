// One list of providers, from which each model call gets a capable one; if that fails with a transient error, the next
// one is called.
import type { Timers } from "holdfast/host";
import type {
	AgentConfig,
	HealthCheck,
	ModelCall,
	ModelRequest,
	ModelResponse,
	ResultError,
	RoutedCall,
	ScoreProvider,
} from "../contract/index.ts";
import { callClient } from "./call-client.ts";
import { type ModelFailure, readFailure } from "./model-error.ts";
import { type KnownProvider, readProviders } from "./read-provider.ts";
import { costOf, estimateTokens, selectProviders } from "./select.ts";

/** The longest wait for a provider that asks clients to wait, in milliseconds. */
const longestWait = 30_000;

/** Options of a router. */
export interface RouterOptions {
	readonly score?: ScoreProvider | undefined;
	/** Time limit of a call in milliseconds. Default: no limit. */
	readonly timeoutMs?: number | undefined;
	readonly timers: Timers;
	readonly clock: { now(): number };
}

/** The context of one call. */
export interface RoutingContext {
	readonly signal: AbortSignal;
	/** Receives each piece of a streamed answer, or a whole answer that was not streamed. */
	onTokens(text: string): void;
	/** Called for each failed call. */
	failed(error: ResultError): void;
}

/** The providers of an agent. */
export interface ModelRouter {
	/** The number of providers. */
	readonly size: number;
	/** Whether every client is marked as deterministic. */
	readonly deterministic: boolean;
	/** Rejects only if the run was aborted. */
	call(request: ModelRequest, context: RoutingContext): Promise<RoutedCall>;
	/** Initialises every client that requires it. */
	start(): Promise<void>;
	/** Never rejects. */
	check(): Promise<readonly HealthCheck[]>;
	/** Closes every client once, even if one throws. Never rejects. */
	close(): Promise<void>;
}

/** @throws HoldfastError `CONFIG_INVALID` for an invalid provider. */
export function createRouter(given: AgentConfig["modelProviders"], options: RouterOptions): ModelRouter {
	const providers = readProviders(given);
	const clients = new Set(providers.map(({ client }) => client));
	return {
		size: providers.length,
		deterministic: providers.every(({ client }) => client.deterministic === true),
		call: (request, context) => route(providers, options, request, context),
		start: async () => {
			for (const client of clients) await client.start?.();
		},
		check: () => Promise.all(providers.map((provider) => provider.check())),
		close: async () => {
			await Promise.allSettled([...clients].map(async (client) => client.close?.()));
		},
	};
}

async function route(
	providers: readonly KnownProvider[],
	options: RouterOptions,
	request: ModelRequest,
	context: RoutingContext,
): Promise<RoutedCall> {
	const { candidates, unmet } = await selectProviders(providers, request, options.score);
	context.signal.throwIfAborted();
	if (candidates.length === 0) {
		const reasons = unmet.map(({ id, unmet: what }) => `${id} (${what})`).join(", ");
		const message = `No provider supports this call${reasons === "" ? ": none is configured" : `: ${reasons}`}.`;
		const error = { code: "NO_PROVIDER", message, info: { providers: unmet } };
		context.failed(error);
		return { calls: [], retries: 0, error };
	}
	const calls: ModelCall[] = [];
	const failures: { readonly id: string; readonly failure: ModelFailure }[] = [];
	for (const provider of candidates) {
		await leftAlone(provider, options, context.signal);
		const { call, response, failure } = await callProvider(provider, options, request, context);
		calls.push(call);
		if (response !== undefined) return { response, calls, retries: calls.length - 1 };
		if (failure === undefined) continue;
		context.failed(failure.error);
		failures.push({ id: provider.id, failure });
		if (!failure.retriable) return { calls, retries: calls.length - 1, error: fatal(provider.id, failure) };
	}
	return { calls, retries: calls.length - 1, error: allFailed(failures) };
}

/** Waits as long as a provider asks, up to the limit. */
async function leftAlone(
	provider: KnownProvider,
	{ clock, timers }: RouterOptions,
	signal: AbortSignal,
): Promise<void> {
	const wait = Math.min(provider.notBefore - clock.now(), longestWait);
	if (wait > 0) {
		await new Promise<void>((resolve) => {
			const callOff = timers.after(wait, resolve);
			signal.addEventListener(
				"abort",
				() => {
					callOff();
					resolve();
				},
				{ once: true },
			);
		});
	}
	signal.throwIfAborted();
}

interface Called {
	readonly call: ModelCall;
	readonly response?: ModelResponse;
	readonly failure?: ModelFailure;
}

async function callProvider(
	provider: KnownProvider,
	{ clock, timers, timeoutMs }: RouterOptions,
	request: ModelRequest,
	{ signal, onTokens }: RoutingContext,
): Promise<Called> {
	const { messages, model, maxTokens, promptRef, purpose = "call" } = request;
	const began = clock.now();
	const info = await provider.info();
	const about = {
		provider: provider.id,
		promptRef: promptRef === undefined ? purpose : `${promptRef.id}@${promptRef.version}`,
	};
	const named = model ?? info?.name;
	const took = (): number => Math.max(0, clock.now() - began);
	try {
		const response = await callClient({
			client: provider.client,
			messages,
			options: {
				...(model === undefined ? {} : { model }),
				...(maxTokens === undefined ? {} : { maxTokens }),
			},
			signal,
			timeoutMs,
			timers,
			streams: info?.supportsStreaming !== false,
			onTokens,
		});
		const usage = response.usage ?? {
			inputTokens: estimateTokens(messages),
			outputTokens: estimateTokens(response.text),
		};
		const answered = response.model ?? named;
		const call: ModelCall = {
			...about,
			...(answered === undefined ? {} : { model: answered }),
			inputTokens: usage.inputTokens,
			outputTokens: usage.outputTokens,
			...(response.usage === undefined ? { estimated: true } : {}),
			duration: took(),
			outcome: "ok",
			...(provider.price === undefined ? {} : { cost: costOf(provider.price, usage) }),
		};
		return { call, response };
	} catch (thrown) {
		signal.throwIfAborted();
		const failure = readFailure(thrown);
		if (failure.retryAfterMs !== undefined) provider.notBefore = clock.now() + failure.retryAfterMs;
		const call: ModelCall = {
			...about,
			...(named === undefined ? {} : { model: named }),
			duration: took(),
			outcome: "failed",
			error: failure.error,
			...(provider.price === undefined ? {} : { cost: 0 }),
		};
		return { call, failure };
	}
}

function fatal(id: string, { error }: ModelFailure): ResultError {
	return { ...error, info: { providers: [{ id, ...error }] } };
}

function allFailed(
	failures: readonly { readonly id: string; readonly failure: ModelFailure }[],
): ResultError {
	const providers = failures.map(({ id, failure }) => ({ id, ...failure.error }));
	const info = { providers };
	if (providers.every(({ code }) => code === "MODEL_TIMEOUT"))
		return {
			code: "MODEL_TIMEOUT",
			message: providers[0]?.message ?? "The model did not answer in time.",
			info,
		};
	const said = providers.map(({ id, message }) => `${id}: ${message}`).join("; ");
	return { code: "MODEL_FAILED", message: `Every provider failed. ${said}`, info };
}
