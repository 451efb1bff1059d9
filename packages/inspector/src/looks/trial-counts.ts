// The requests of the playground, which no session records: they count in the overview as what they cost, since the server
// started (keeps I7).
import type { SessionOwner } from "@holdfast/server";
import type { TokenUsage } from "@holdfast/upp";
import type { UsageBucket } from "../wire/index.ts";
import { addBucket, emptyBucket } from "./counts.ts";
import { emptyGroup, type Group, type GroupKind, joinGroups } from "./groups.ts";
import { addLatency } from "./latencies.ts";

/** What a request cost. */
export interface TrialCost {
	readonly modelId: string;
	/** Milliseconds. */
	readonly duration: number;
	/** Absent if it failed or was stopped: the provider may charge for it, but did not report its usage. */
	readonly usage?: TokenUsage;
	/** US dollars; absent if it is not known. */
	readonly cost?: number;
}

/** The activity of one owner. */
export interface TrialActivity {
	readonly groups: ReadonlyMap<string, Group>;
	readonly minutes: ReadonlyMap<number, UsageBucket>;
}

/** The name under which the overview lists the requests. */
const agentName = "playground";
const minute = 60_000;
/** Maximum numbers of owners, and of minutes of each; the oldest are discarded. */
const mostOwners = 1_000;
const mostMinutes = 1_440;

interface Counted {
	readonly groups: Map<string, Group>;
	readonly minutes: Map<number, UsageBucket>;
}

export class TrialCounts {
	readonly #owners = new Map<string, Counted>();

	/** Counts a request, also one that failed or was stopped. */
	add(owner: SessionOwner, { modelId, duration, usage, cost }: TrialCost, now: number = Date.now()): void {
		const key = keyOf(owner);
		const counted = this.#owners.get(key) ?? { groups: new Map(), minutes: new Map() };
		this.#owners.delete(key);
		this.#owners.set(key, counted);
		for (const oldest of this.#owners.keys()) {
			if (this.#owners.size <= mostOwners) break;
			this.#owners.delete(oldest);
		}
		const at = Math.floor(now / minute) * minute;
		const { inputTokens = 0, outputTokens = 0, cacheReadTokens: cachedTokens = 0 } = usage ?? {};
		const price = cost === undefined ? { unpriced: 1 } : { cost };
		const failed = usage === undefined ? { errors: 1 } : {};
		const tokens = { inputTokens, outputTokens, cachedTokens, ...price, ...failed };
		const { groups, minutes } = counted;
		minutes.set(
			at,
			addBucket(minutes.get(at) ?? emptyBucket(at), {
				...{ answers: 1, modelMs: duration, slowestMs: duration },
				...tokens,
			}),
		);
		const more = { count: 1, latencies: addLatency({}, duration), ...tokens };
		const named: readonly (readonly [GroupKind, string])[] = [
			["all", ""],
			["agent", agentName],
			["model", modelId],
		];
		for (const [kind, name] of named) {
			const of = `${at} ${kind} ${name}`;
			groups.set(of, joinGroups(groups.get(of) ?? emptyGroup(kind, name, at), more));
		}
		for (const oldest of minutes.keys()) {
			if (minutes.size <= mostMinutes) break;
			minutes.delete(oldest);
			for (const [of, group] of groups) if (group.at === oldest) groups.delete(of);
		}
	}

	/** Returns the activity of an owner. */
	of(owner: SessionOwner): TrialActivity {
		return this.#owners.get(keyOf(owner)) ?? { groups: new Map(), minutes: new Map() };
	}
}

function keyOf({ tenant, user }: SessionOwner): string {
	return JSON.stringify([tenant, user]);
}
