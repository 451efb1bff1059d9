// Logs and counts the activity of runs: their ends, tokens and cost, and failed model calls with the provider's message.
import type { RunObserver } from "holdfast/execute";
import type { ServedRun } from "../service/index.ts";
import type { RequestLogEntry } from "./log.ts";
import type { Metrics } from "./metrics.ts";

/** Maximum number of characters of a message that are logged. */
const longest = 1_000;

/** Observes the runs of a service. Neither it nor `log` may throw. */
export function observeRuns(
	log: (entry: RequestLogEntry) => void,
	metrics: Metrics,
): (run: ServedRun) => RunObserver {
	return ({ tenant, user, sessionId, runId }) => {
		const about = { tenant, ...(user === undefined ? {} : { user }), sessionId, runId };
		const sums = { answers: 0, retries: 0, inputTokens: 0, outputTokens: 0 };
		let cost: number | undefined = 0;
		const time = (): string => new Date().toISOString();
		const ended = (
			outcome: string,
			error: { readonly code: string; readonly message: string } | undefined,
		) => {
			metrics.countRunEnd(outcome);
			const why = error === undefined ? {} : { code: error.code, error: withoutKeys(error.message) };
			const price = cost === undefined ? {} : { cost };
			log({ type: "run", time: time(), ...about, outcome, ...why, ...sums, ...price });
		};
		return {
			notify(event) {
				if (event.type === "message") {
					const { inputTokens, outputTokens } = event.usage;
					sums.answers++;
					sums.inputTokens += inputTokens;
					sums.outputTokens += outputTokens;
					cost = cost === undefined || event.cost === undefined ? undefined : cost + event.cost;
					metrics.countAnswer(inputTokens, outputTokens, event.cost);
				} else if (event.type === "run_end") ended(event.outcome, event.error);
				else if (event.type === "run_suspended") ended(event.reason, event.error);
			},
			modelFailed({ modelId, error, retry }) {
				const { code, message, status, requestId } = factsOf(error);
				if (retry !== undefined) sums.retries++;
				metrics.countModelError(code, retry === undefined ? "failed" : "retried");
				log({
					type: "model_error",
					time: time(),
					...about,
					model: modelId,
					...(retry === undefined ? { outcome: "failed" } : { outcome: "retried", ...retry }),
					code,
					error: withoutKeys(message),
					...(status === undefined ? {} : { status }),
					...(requestId === undefined ? {} : { requestId }),
				});
			},
		};
	};
}

/** Returns the data of an error from any source: the provider's adapter, or a custom model. */
function factsOf(error: unknown): {
	readonly code: string;
	readonly message: string;
	readonly status: number | undefined;
	readonly requestId: string | undefined;
} {
	const { code, message, statusCode, status, requestId } = (error ?? {}) as Readonly<Record<string, unknown>>;
	const known = [statusCode, status].find((each) => typeof each === "number") as number | undefined;
	return {
		code: typeof code === "string" ? code : "run_failed",
		message: typeof message === "string" ? message : typeof error === "string" ? error : "",
		status: known,
		requestId: typeof requestId === "string" ? requestId : undefined,
	};
}

/** Removes anything that looks like a key from a provider's message: more people read logs than may see keys. */
function withoutKeys(message: string): string {
	return message
		.slice(0, longest)
		.replaceAll(/\b(sk|pk|rk|gsk|xai|AIza|Bearer)[-_ ]?[\w.*-]{5,}[\w*-]/g, "$1…");
}
