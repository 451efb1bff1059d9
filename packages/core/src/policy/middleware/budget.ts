// Limits the usage of a conversation. A run does not start if nothing is left. A running one ends after the step in which
// it reaches the limit, and keeps its results. The usage of a session is recorded with each answer.
import { checkOptions, HoldfastError, optionNames, type TokenUsage } from "@holdfast/upp";
import type { ModelPrice } from "../../facts/index.ts";
import { type Clock, systemPorts } from "../../host/index.ts";
import type { Admission, Interceptor, Stages } from "../interceptor.ts";
import type { PolicyAgent, PolicyRun } from "../policy-run.ts";
import type { Middleware, MiddlewareContext } from "./middleware-face.ts";
import { readNumber } from "./read-options.ts";
import {
	addSpending,
	type Spending,
	spendingKey,
	spendingOf,
	spendingOfCall,
	spendingOfRun,
} from "./spending.ts";

/** Options of `budget`: at least one limit. */
export interface BudgetOptions {
	/** Input and output tokens together. Default: no limit. */
	readonly maxTokens?: number;
	/** In US dollars. Requires a price. Default: no limit. */
	readonly maxCost?: number;
	/** Milliseconds of working time. Default: no limit. */
	readonly maxDuration?: number;
	/** The price per million tokens. Default: the agent's `prices` for its model. */
	readonly price?: ModelPrice;
	/**
	 * What the limits apply to. `conversation` (the default): all calls that led to a state together, or all turns of a
	 * session. `call`: each call or turn separately, which then always starts.
	 */
	readonly scope?: "conversation" | "call";
	/** The clock. Default: the system's. */
	readonly clock?: Pick<Clock, "monotonic">;
}

type Limit = "maxTokens" | "maxCost" | "maxDuration";

/** The usage at the start of a call. */
interface Opening {
	readonly at: number;
	readonly spent: Spending;
	readonly price: ModelPrice | undefined;
	exceeded?: Limit;
}

const budgetNames = optionNames<BudgetOptions>({
	maxTokens: "number",
	maxCost: true,
	maxDuration: true,
	price: "object",
	scope: ["conversation", "call"],
	clock: "object",
});

/**
 * Limits the usage of a conversation. A call rejects with code `budget_exceeded` before it starts if nothing is left
 * (`data` contains the limit, the usage and the allowance). A running call ends after the step that reaches a limit. The
 * totals are in the metadata of each resulting state under `budget`, with `exceeded` naming the limit that ended the
 * call. A failing call leaves no state, and so does not count towards the totals.
 *
 * The totals of a session are recorded with each model answer, so they persist across restarts and failures. A turn of a
 * session that has nothing left fails with `budget_exceeded` before the model is called.
 *
 * @throws HoldfastError `invalid_option` without a limit. Calls reject with `invalid_option` if there is a `maxCost` but
 * no known price.
 * @example
 * import { openai } from "@ai-sdk/openai";
 * const clerk = agent({ model: openai("gpt-5.2"), middleware: [budget({ maxTokens: 200_000 })] });
 */
export function budget(options: BudgetOptions): Middleware & Interceptor {
	checkOptions(options, budgetNames, { of: "budget()" });
	const limits = limitsOf(options);
	const { scope = "conversation", clock = systemPorts.clock, price } = options;
	const openings = new WeakMap<object, Opening>();
	const open = (context: MiddlewareContext): Opening => {
		const price = options.price ?? priceOf(context.agent);
		if (limits.maxCost !== undefined && price === undefined) throw priceUnknown();
		return { at: clock.monotonic(), spent: spendingOf(context.state, price), price };
	};
	const ofCall = (opening: Opening, usage: TokenUsage | undefined): Spending =>
		spendingOfCall(usage, opening.price, clock.monotonic() - opening.at);
	return {
		name: "budget",
		before(context) {
			const opening = open(context);
			openings.set(context.metadata, opening);
			const full = scope === "call" ? undefined : reached(limits, opening.spent);
			if (full !== undefined) throw exceeded(full);
		},
		stop(context, state) {
			const opening = openings.get(context.metadata);
			if (opening === undefined) return false;
			const call = ofCall(opening, state.usage);
			const full = reached(limits, scope === "call" ? call : addSpending(opening.spent, call));
			if (full !== undefined) opening.exceeded = full.limit;
			return full !== undefined;
		},
		after(context, result) {
			const opening = openings.get(context.metadata);
			if (opening === undefined) return result;
			const total = addSpending(opening.spent, ofCall(opening, result.turn.usage));
			const said = opening.exceeded === undefined ? total : { ...total, exceeded: opening.exceeded };
			return { ...result, state: result.state.withMetadata(spendingKey, said) };
		},
		admitWaiting: "as-is",
		// A call's totals are in its state; those of a session are in its journal.
		begin: (run) =>
			run.kind === "session" ? sessionBudget(run, { limits, scope, clock, price }) : undefined,
	};
}

interface SessionLimits {
	readonly limits: Limits;
	readonly scope: "conversation" | "call";
	readonly clock: Pick<Clock, "monotonic">;
	readonly price: ModelPrice | undefined;
}

/**
 * Returns the stages of a turn. They add its totals to the state with each answer, so they are restored after a restart.
 */
function sessionBudget(run: PolicyRun, { limits, scope, clock, price: given }: SessionLimits): Stages {
	const { agent, state } = run.context;
	const price = given ?? priceOf(agent);
	const counts = limits.maxCost !== undefined || price !== undefined;
	let total = spendingOf(state, price ?? (counts ? unpriced : undefined));
	let ofRun = spendingOfRun(state, run.runId);
	let since = clock.monotonic();
	let exceededBy: Limit | undefined;
	const left = scope === "call" ? undefined : reached(limits, total);
	const check = (): void => {
		if (left !== undefined) throw exceeded(left);
		if (limits.maxCost !== undefined && price === undefined && !hasPrices(agent)) throw priceUnknown();
	};
	const add = (usage: TokenUsage | undefined, recordedCost: number | undefined): void => {
		const now = clock.monotonic();
		const spent = spendingOfCall(usage, price, now - since);
		since = now;
		if (limits.maxCost !== undefined && usage !== undefined && (spent.cost ?? recordedCost) === undefined)
			throw priceUnknown();
		const cost = spent.cost ?? recordedCost;
		const known = counts && cost !== undefined ? { ...spent, cost } : spent;
		total = addSpending(total, known);
		ofRun = addSpending(ofRun, known);
	};
	const notes = (): Admission => {
		const said = exceededBy === undefined ? total : { ...total, exceeded: exceededBy };
		// The turn's own usage is restored after a restart.
		const value = scope === "call" ? { ...said, run: { id: run.runId, ...ofRun } } : said;
		return { notes: [{ topic: "metadata", value: { key: spendingKey, value } }] };
	};
	return {
		before: check,
		// A resumed turn does not call `before` again.
		modelCall(_, next) {
			check();
			return next();
		},
		admits: ["assistant", "tool.settled", "input", "run.ended"],
		admit(fact) {
			if (fact.kind === "assistant") add(fact.usage, fact.cost);
			else if ((fact.kind === "tool.settled" || fact.kind === "input") && fact.spent !== undefined)
				add(fact.spent.usage, fact.spent.unpriced > 0 ? undefined : fact.spent.cost);
			else if (fact.kind !== "run.ended" || left !== undefined) return;
			else add(undefined, undefined);
			return notes();
		},
		deltas: "as-is",
		stop({ usage }) {
			// The usage of a turn is restored after a restart.
			const call = { ...ofRun, ...spendingOfCall(usage, price, ofRun.duration) };
			const full = reached(limits, scope === "call" ? call : total);
			exceededBy = full?.limit;
			return full !== undefined;
		},
	};
}

/** Used to count money if the price of each answer is recorded with it. */
const unpriced: ModelPrice = { input: 0, output: 0 };

function hasPrices(agent: PolicyAgent): boolean {
	const { prices } = agent as { prices?: object };
	return prices !== undefined && Object.keys(prices).length > 0;
}

interface Reached {
	readonly limit: Limit;
	readonly used: number;
	readonly allowed: number;
	readonly unit: string;
}

type Limits = Partial<Record<Limit, number>>;

const measures: readonly (readonly [Limit, keyof Spending, string])[] = [
	["maxTokens", "tokens", "tokens"],
	["maxCost", "cost", "US dollars"],
	["maxDuration", "duration", "ms"],
];

function limitsOf(options: BudgetOptions): Limits {
	const limits: Limits = {};
	for (const [limit] of measures) {
		const value = options[limit];
		if (value !== undefined) limits[limit] = readNumber(value, limit, 0);
	}
	if (Object.keys(limits).length > 0) return limits;
	throw new HoldfastError(
		"invalid_option",
		"A budget needs a limit. Set `maxTokens`, `maxCost` or `maxDuration`.",
	);
}

/** Returns the first exhausted limit. */
function reached(limits: Limits, spent: Spending): Reached | undefined {
	for (const [limit, measure, unit] of measures) {
		const allowed = limits[limit];
		const used = spent[measure] ?? 0;
		if (allowed !== undefined && used >= allowed) return { limit, used, allowed, unit };
	}
	return undefined;
}

function exceeded({ limit, used, allowed, unit }: Reached): HoldfastError {
	return new HoldfastError(
		"budget_exceeded",
		`The budget of this conversation is used up: ${used} of ${allowed} ${unit}. Raise \`${limit}\`, or continue from an earlier state.`,
		{ data: { limit, used, allowed } },
	);
}

/** Returns the agent's price for its model. */
function priceOf(agent: MiddlewareContext["agent"]): ModelPrice | undefined {
	const { prices, model } = agent as {
		prices?: Readonly<Record<string, ModelPrice>>;
		model?: { modelId?: string };
	};
	return model?.modelId === undefined ? undefined : prices?.[model.modelId];
}

function priceUnknown(): HoldfastError {
	return new HoldfastError(
		"invalid_option",
		"The budget has a `maxCost`, but the model's price is unknown. Give `price`, or `prices` to the agent.",
	);
}
