// The usage of a conversation: tokens, money, working time. It is stored in the state's metadata under "budget", so it
// persists from call to call, branches with the state and is saved with it.
import type { TokenUsage } from "@holdfast/upp";
import { costOf, type ModelPrice } from "../../facts/index.ts";
import type { AgentState } from "../../state/index.ts";

/** The usage. */
export interface Spending {
	/** Input and output tokens. */
	readonly tokens: number;
	/** In US dollars; absent if no price is known. */
	readonly cost?: number;
	/** Milliseconds of working time. */
	readonly duration: number;
}

/** The key in a state's metadata. */
export const spendingKey = "budget";

/** Returns the usage of the calls that led to a state. For a state without recorded usage, only its last call counts. */
export function spendingOf(state: AgentState, price: ModelPrice | undefined): Spending {
	const noted = state.metadata[spendingKey] as Partial<Spending> | undefined;
	if (typeof noted !== "object" || noted === null) return spendingOfCall(state.usage, price, 0);
	const { tokens, cost, duration } = noted;
	return {
		tokens: numberOf(tokens),
		...(price === undefined ? {} : { cost: numberOf(cost) }),
		duration: numberOf(duration),
	};
}

/** Returns the usage of a run at the time it was interrupted, if recorded. */
export function spendingOfRun({ metadata }: AgentState, runId: string): Spending {
	const { run } = (metadata[spendingKey] ?? {}) as {
		readonly run?: Partial<Spending> & { readonly id?: unknown };
	};
	if (run?.id !== runId) return { tokens: 0, duration: 0 };
	const { tokens, cost, duration } = run;
	const known = { tokens: numberOf(tokens), duration: numberOf(duration) };
	return cost === undefined ? known : { ...known, cost: numberOf(cost) };
}

/** Returns the usage of one call. */
export function spendingOfCall(
	usage: TokenUsage | undefined,
	price: ModelPrice | undefined,
	duration: number,
): Spending {
	const tokens = usage?.totalTokens ?? 0;
	return price === undefined
		? { tokens, duration }
		: { tokens, cost: usage === undefined ? 0 : costOf(usage, price), duration };
}

/** Adds two usages. */
export function addSpending(a: Spending, b: Spending): Spending {
	const cost = a.cost === undefined && b.cost === undefined ? {} : { cost: (a.cost ?? 0) + (b.cost ?? 0) };
	return { tokens: a.tokens + b.tokens, ...cost, duration: a.duration + b.duration };
}

/** Metadata may come from an untrusted source. */
function numberOf(value: unknown): number {
	return typeof value === "number" && value > 0 ? value : 0;
}
