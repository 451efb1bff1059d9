// How many input tokens the provider's prompt cache served, per model call, and what broke the beginning of requests.
import type { AssistantSaid, Entry } from "./fact.ts";
import type { Cycle } from "./run-state.ts";
import type { CacheBreak } from "./sent-prefix.ts";

/** The input tokens of model calls, by how the provider's prompt cache served them. */
export interface CachedInput {
	/** All input tokens. */
	readonly inputTokens: number;
	/** Tokens read from the cache. */
	readonly cachedTokens: number;
	/** Tokens read in full, including those written to the cache. */
	readonly uncachedTokens: number;
	/** Tokens written to the cache. */
	readonly writtenTokens: number;
}

/** One model call. */
export interface CachedCall extends CachedInput {
	/** Number of the step within its run. */
	readonly step: number;
	/** Set if the request did not begin like the previous one. */
	readonly cacheBreak?: CacheBreak;
}

/** How the provider's prompt cache served the model calls of a run or session, in order. */
export interface CacheReport extends CachedInput {
	/** The share of input tokens that were read from the cache, from 0 to 1; 0 without any input. */
	readonly cachedShare: number;
	/** One entry per model call. */
	readonly calls: readonly CachedCall[];
}

/**
 * Returns how the provider's prompt cache served the model calls of a session.
 *
 * @param entries the entries of its journal, in order.
 * @example
 * import { Agent } from "holdfast";
 * import { cacheReportOf } from "holdfast/host";
 * import { sqliteHost } from "holdfast/sqlite";
 *
 * const host = sqliteHost("agents.db");
 * const report = cacheReportOf(await host.journal.read("ada"));
 * console.log(report.cachedShare, report.calls.filter(({ cacheBreak }) => cacheBreak !== undefined));
 */
export function cacheReportOf(entries: readonly Entry[]): CacheReport {
	return reportOf(entries.flatMap(({ fact }) => (fact.kind === "assistant" ? [callOf(fact)] : [])));
}

/**
 * Adds the report of a run's model calls to its result; `last` is the last call. The report takes time proportional to the
 * number of calls, so it is computed on access (keeps I5).
 */
export function withCacheReport<Result extends object>(result: Result, last: Cycle | undefined): Result {
	let report: CacheReport | undefined;
	const get = (): CacheReport => (report ??= reportOfRun(last));
	return Object.defineProperty(result, "cacheReport", { get });
}

type CallSoFar = Pick<AssistantSaid, "step" | "usage"> & Partial<Pick<Cycle, "cacheBreak">>;

function reportOfRun(last: Cycle | undefined): CacheReport {
	const calls: CachedCall[] = [];
	for (let cycle = last; cycle !== undefined; cycle = cycle.before) calls.push(callOf(cycle));
	return reportOf(calls.reverse());
}

function callOf({ step, usage, cacheBreak }: CallSoFar): CachedCall {
	const { inputTokens, cacheReadTokens = 0, cacheWriteTokens = 0 } = usage;
	return {
		step,
		inputTokens,
		cachedTokens: cacheReadTokens,
		uncachedTokens: Math.max(0, inputTokens - cacheReadTokens),
		writtenTokens: cacheWriteTokens,
		...(cacheBreak === undefined ? {} : { cacheBreak }),
	};
}

function reportOf(calls: readonly CachedCall[]): CacheReport {
	const sum = { inputTokens: 0, cachedTokens: 0, uncachedTokens: 0, writtenTokens: 0 };
	for (const call of calls) for (const name of sumNames) sum[name] += call[name];
	return { ...sum, cachedShare: sum.inputTokens === 0 ? 0 : sum.cachedTokens / sum.inputTokens, calls };
}

const sumNames = ["inputTokens", "cachedTokens", "uncachedTokens", "writtenTokens"] as const;
