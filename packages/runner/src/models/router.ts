// One list of providers, from which each call of a model gets one that can do it.
import type { Timers } from "holdfast";
import type {
	AgentConfig,
	HealthCheck,
	ModelRequest,
	ResultError,
	RoutedCall,
	ScoreProvider,
} from "../contract/index.ts";

/** What a router is made with. */
export interface RouterOptions {
	readonly score?: ScoreProvider | undefined;
	/** Milliseconds a call may take. Default: no limit. */
	readonly timeoutMs?: number | undefined;
	readonly timers: Timers;
	readonly clock: { now(): number };
}

/** What one call is made with. */
export interface RoutingContext {
	readonly signal: AbortSignal;
	/** Hears each piece of a streamed answer, or the whole of one that was not. */
	onTokens(text: string): void;
	/** Hears of each call that failed. */
	failed(error: ResultError): void;
}

/** The providers of an agent. */
export interface ModelRouter {
	/** How many there are. */
	readonly size: number;
	/** Whether every client is marked so. */
	readonly deterministic: boolean;
	/** Rejects only where the run was aborted. */
	call(request: ModelRequest, context: RoutingContext): Promise<RoutedCall>;
	/** Initialises every client that wants it. */
	start(): Promise<void>;
	/** Never rejects. */
	check(): Promise<readonly HealthCheck[]>;
	/** Closes every client once, also where one throws. Never rejects. */
	close(): Promise<void>;
}

/** @throws HoldfastError `CONFIG_INVALID` for a provider that is none. */
export function createRouter(providers: AgentConfig["modelProviders"], _options: RouterOptions): ModelRouter {
	return {
		size: providers.length,
		deterministic: providers.every((each) => (each as { deterministic?: boolean }).deterministic === true),
		call: async () => ({
			calls: [],
			retries: 0,
			error: { code: "NO_PROVIDER", message: "There is no provider." },
		}),
		start: async () => {},
		check: async () => [],
		close: async () => {},
	};
}
