// The totals of a session, folded from its entries in order, and per minute for charts (keeps I5).
import type { Entry } from "holdfast/host";
import type { SessionCounts, SkillLoad, UsageBucket } from "../wire/index.ts";
import { type Grouped, groupEntries, noGroups } from "./groups.ts";
import { type FoundEntry, isReadable } from "./readable-entries.ts";
import { skillLoads } from "./skill-loads.ts";

/** Maximum number of minutes with activity kept per session; older ones are discarded. */
const mostMinutes = 1_440;
const minute = 60_000;

/** A session's totals up to an entry. */
export interface Counted {
	readonly seq: number;
	readonly counts: SessionCounts;
	/** Names of called tools, and codes of errors. */
	readonly tools: ReadonlySet<string>;
	readonly codes: ReadonlySet<string>;
	/** By agent, model and tool. */
	readonly grouped: Grouped;
	/** The loaded skills, in order. */
	readonly loads: readonly SkillLoad[];
	/** When the open run started. */
	readonly openedAt?: number | undefined;
	/** By start time, in order. */
	readonly minutes: ReadonlyMap<number, UsageBucket>;
}

/** Maximum number of names kept of each kind. */
const mostNames = 50;

type Sums = { -readonly [Name in keyof SessionCounts]: number };

/** Totals of zero. */
export const noCounts: Counted = {
	seq: 0,
	counts: {
		runs: 0,
		steps: 0,
		answers: 0,
		toolCalls: 0,
		inputTokens: 0,
		outputTokens: 0,
		cachedTokens: 0,
		cost: 0,
		unpriced: 0,
		errors: 0,
		modelMs: 0,
		runMs: 0,
		unreadable: 0,
	},
	tools: new Set(),
	codes: new Set(),
	grouped: noGroups,
	loads: [],
	minutes: new Map(),
};

/** Adds entries to the totals. */
export function countEntries(before: Counted, found: readonly FoundEntry[]): Counted {
	const entries = found.filter(isReadable);
	const counts: Sums = { ...before.counts };
	counts.unreadable += found.length - entries.length;
	const minutes = new Map(before.minutes);
	const tools = new Set(before.tools);
	const codes = new Set(before.codes);
	let { openedAt } = before;
	for (const entry of entries) {
		const { fact, at: now } = entry;
		if (fact.kind === "run.started") openedAt = now;
		if (fact.kind === "run.ended") {
			if (openedAt !== undefined) counts.runMs += Math.max(0, now - openedAt);
			openedAt = undefined;
			if (fact.error !== undefined && codes.size < mostNames) codes.add(fact.error.code);
		}
		if (fact.kind === "tool.started" && tools.size < mostNames) tools.add(fact.name);
		const found = numbersOf(entry);
		if (found === undefined) continue;
		for (const name in found) counts[name as keyof Sums] += found[name as keyof Sums] ?? 0;
		const at = Math.floor(entry.at / minute) * minute;
		minutes.set(
			at,
			addBucket(minutes.get(at) ?? emptyBucket(at), { ...found, slowestMs: found.modelMs ?? 0 }),
		);
	}
	for (const oldest of minutes.keys()) {
		if (minutes.size <= mostMinutes) break;
		minutes.delete(oldest);
	}
	const grouped = groupEntries(before.grouped, entries);
	const loads = skillLoads(before.loads, before.grouped.calls, entries);
	return { seq: found.at(-1)?.seq ?? before.seq, counts, tools, codes, grouped, loads, openedAt, minutes };
}

/** Creates an empty bucket. */
export function emptyBucket(at: number): UsageBucket {
	const { runs: _, steps: _steps, runMs: _runMs, unreadable: _unreadable, ...counts } = noCounts.counts;
	return { at, ...counts, slowestMs: 0 };
}

/** Adds numbers to a bucket. */
export function addBucket(bucket: UsageBucket, more: Partial<UsageBucket>): UsageBucket {
	const sum: { -readonly [Name in keyof UsageBucket]: number } = { ...bucket };
	for (const name of Object.keys(sum) as (keyof UsageBucket)[]) {
		if (name === "at") continue;
		if (name === "slowestMs") sum.slowestMs = Math.max(sum.slowestMs, more.slowestMs ?? 0);
		else sum[name] += more[name] ?? 0;
	}
	return sum;
}

/** Returns the numbers that an entry adds. */
function numbersOf({ fact }: Entry): Partial<SessionCounts> | undefined {
	switch (fact.kind) {
		case "run.started":
			return { runs: 1 };
		case "assistant": {
			const { inputTokens, outputTokens, cacheReadTokens: cachedTokens = 0 } = fact.usage;
			const price = fact.cost === undefined ? { unpriced: 1 } : { cost: fact.cost };
			const steps = fact.continues === true || fact.step === 0 ? 0 : 1;
			return { answers: 1, steps, inputTokens, outputTokens, cachedTokens, modelMs: fact.duration, ...price };
		}
		case "tools.requested":
			return fact.continues === true || fact.step === 0 ? undefined : { steps: 1 };
		case "input":
			return ofSubagents(fact);
		case "tool.settled":
			return {
				...ofSubagents(fact),
				toolCalls: 1,
				...(fact.outcome === "error" || fact.outcome === "unknown" ? { errors: 1 } : {}),
			};
		case "run.ended":
			return fact.outcome === "error" ? { errors: 1 } : undefined;
		default:
			return undefined;
	}
}

/** Returns the usage of sub-agents, in a call or in the background. */
function ofSubagents({
	spent,
}: Pick<Extract<Entry["fact"], { kind: "tool.settled" }>, "spent">): Partial<SessionCounts> {
	if (spent === undefined) return {};
	const { usage, cost, unpriced } = spent;
	const { inputTokens, outputTokens, cacheReadTokens: cachedTokens = 0 } = usage;
	return { inputTokens, outputTokens, cachedTokens, cost, unpriced };
}
