// The services of a planner or reflector, and a record of their use.
import type { ModelCall, PlannerContext } from "../contract/index.ts";
import type { LiveRun } from "./loop-parts.ts";
import { runnerError } from "./runner-error.ts";

/** The used services. They are recorded with the answer. */
export interface Used {
	readonly calls: readonly ModelCall[];
	readonly templates: readonly { readonly id: string; readonly version: string }[];
	readonly retries?: number;
	readonly lastRetryError?: string;
}

/** Returns a context for one question; its purpose is unique within the run. */
export function plannerContext(
	live: LiveRun,
	signal: AbortSignal,
	purpose: string,
): { readonly context: PlannerContext; used(): Used } {
	const calls: ModelCall[] = [];
	const templates: { id: string; version: string }[] = [];
	let retries = 0;
	let lastRetryError: string | undefined;
	const context: PlannerContext = {
		signal,
		rng: live.random(purpose),
		clock: live.clock,
		async callModel(request) {
			const routed = await live.callModel(request, signal);
			calls.push(...routed.calls);
			retries += routed.retries;
			if (routed.retries > 0) lastRetryError = routed.calls.findLast((call) => call.error)?.error?.message;
			if (routed.response !== undefined) return routed.response;
			throw runnerError(routed.error ?? { code: "MODEL_FAILED", message: "No model answered." });
		},
		async renderPrompt(id, params) {
			const { text, version } = await live.renderPrompt(id, params);
			templates.push({ id, version });
			return { text, version };
		},
	};
	return {
		context,
		used: () => ({
			calls,
			templates,
			...(retries === 0 ? {} : { retries }),
			...(lastRetryError === undefined ? {} : { lastRetryError }),
		}),
	};
}
