// The activity of a session by agent, model and tool, per minute (keeps I5 and I7).
import type { Entry } from "holdfast/host";
import { addLatency, joinLatencies, type Latencies } from "./latencies.ts";

/** The dimensions by which activity is grouped. `all` is one group with all answers. */
export type GroupKind = "all" | "agent" | "model" | "tool";

/** The activity of one agent, model or tool in one minute, or in many. */
export interface Group {
	readonly kind: GroupKind;
	readonly name: string;
	/** The start of the minute, in milliseconds since the epoch. */
	readonly at: number;
	/** Answers of models; calls of a tool. */
	readonly count: number;
	readonly inputTokens: number;
	readonly outputTokens: number;
	readonly cachedTokens: number;
	/** US dollars of the answers with a known price, and the number of the others. */
	readonly cost: number;
	readonly unpriced: number;
	readonly errors: number;
	readonly latencies: Latencies;
}

/** The groups so far, which the next entries extend. */
export interface Grouped {
	readonly groups: ReadonlyMap<string, Group>;
	/** Agent of the open run. */
	readonly agent: string;
	/** Names of the tools of open calls. */
	readonly calls: ReadonlyMap<string, string>;
}

export const noGroups: Grouped = { groups: new Map(), agent: "", calls: new Map() };

/** Maximum number of groups kept per session; those with the oldest minutes are discarded. */
const mostGroups = 3_000;
const minute = 60_000;

const nothing = {
	...{ count: 0, inputTokens: 0, outputTokens: 0, cachedTokens: 0, cost: 0, unpriced: 0, errors: 0 },
	latencies: {},
};

/** Adds two groups; the sum has the names of the first. */
export function joinGroups(left: Group, right: Partial<Group>): Group {
	const { count = 0, inputTokens = 0, outputTokens = 0, cachedTokens = 0 } = right;
	const { cost = 0, unpriced = 0, errors = 0, latencies = {} } = right;
	return {
		kind: left.kind,
		name: left.name,
		at: left.at,
		count: left.count + count,
		inputTokens: left.inputTokens + inputTokens,
		outputTokens: left.outputTokens + outputTokens,
		cachedTokens: left.cachedTokens + cachedTokens,
		cost: left.cost + cost,
		unpriced: left.unpriced + unpriced,
		errors: left.errors + errors,
		latencies: joinLatencies(left.latencies, latencies),
	};
}

/** Creates an empty group. */
export function emptyGroup(kind: GroupKind, name: string, at: number): Group {
	return { kind, name, at, ...nothing };
}

/** Adds entries to the groups of a session. */
export function groupEntries(before: Grouped, entries: readonly Entry[]): Grouped {
	const groups = new Map(before.groups);
	const calls = new Map(before.calls);
	let { agent } = before;
	const add = (kind: GroupKind, name: string, time: number, more: Partial<Group>): void => {
		const at = Math.floor(time / minute) * minute;
		const key = `${at} ${kind} ${name}`;
		groups.set(key, joinGroups(groups.get(key) ?? emptyGroup(kind, name, at), more));
	};
	for (const { fact, at } of entries) {
		if (fact.kind === "run.started") agent = fact.agentName ?? "";
		if (fact.kind === "tool.started") calls.set(fact.callId, fact.name);
		if (fact.kind === "assistant") {
			const { inputTokens, outputTokens, cacheReadTokens: cachedTokens = 0 } = fact.usage;
			const price = fact.cost === undefined ? { unpriced: 1 } : { cost: fact.cost };
			const latencies = addLatency({}, fact.duration);
			const more = { count: 1, inputTokens, outputTokens, cachedTokens, latencies, ...price };
			add("all", "", at, more);
			add("agent", agent, at, more);
			add("model", fact.modelId, at, more);
		}
		if (fact.kind === "tool.settled") {
			const name = calls.get(fact.callId);
			calls.delete(fact.callId);
			const failed = fact.outcome === "error" || fact.outcome === "unknown";
			if (name !== undefined)
				add("tool", name, at, {
					count: 1,
					errors: failed ? 1 : 0,
					latencies: addLatency({}, fact.duration),
				});
		}
		if (fact.kind === "run.ended") {
			calls.clear();
			if (fact.outcome === "error") add("agent", agent, at, { errors: 1 });
		}
	}
	for (const oldest of groups.keys()) {
		if (groups.size <= mostGroups) break;
		groups.delete(oldest);
	}
	return { groups, agent, calls };
}
