// concurrentStrategy(): a strategy that requests tool calls while earlier ones run (keeps I1, I2, I3). It is asked after each
// result, and decides only from recorded facts.
import { HoldfastError } from "@holdfast/upp";
import {
	CodeRound,
	checkedCalls,
	type FinishAction,
	invalidAction,
	type QuestionContext,
	type RequestedCall,
	type Run,
	Waits,
} from "../engine/index.ts";
import { type Entry, type Fact, finalOutputTag } from "../facts/index.ts";
import type { AgentState } from "../state/index.ts";
import type { DecidingStrategy } from "./execution-strategy.ts";
import { strategy } from "./strategy.ts";

/** The next action of a `ConcurrentDecider`. */
export type ConcurrentAction =
	/** Starts these calls, at least one. The decision is recorded with them. */
	| {
			readonly kind: "calls";
			readonly calls: readonly RequestedCall[];
			readonly decision?: { readonly topic: string; readonly answer: unknown };
	  }
	/** Waits for the next result. */
	| { readonly kind: "results" }
	/** Ends the run. Calls that still run are cancelled. */
	| FinishAction;

/** A strategy that is asked after each result of a call, while other calls run. */
export interface ConcurrentDecider<Own = unknown> {
	/** Names the strategy in errors. */
	readonly name: string;
	/** The state before the first fact of a run. */
	initial(): Own;
	/** Returns the state after one more fact, without changing the given one. If it throws, the run fails. */
	evolve(own: Own, entry: Entry): Own;
	/**
	 * Returns the next action, at once or as a promise. It is called again after an action, and after each result. Its
	 * decisions must follow from `own`: after a crash, it is called with the same facts.
	 */
	next(own: Own, state: AgentState, context: QuestionContext): ConcurrentAction | Promise<ConcurrentAction>;
}

/**
 * Creates a strategy that decides after each result of a tool call, while other calls run. A strategy created by
 * `strategy()` decides once all calls have their results.
 *
 * Such a strategy calls no model. The options `maxSteps` and `output` of an agent have no effect on it and are refused.
 *
 * @throws HoldfastError `invalid_strategy` without a name or one of the functions.
 * @example
 * ```ts
 * import { agent, tool } from "holdfast";
 * import { concurrentStrategy } from "holdfast/execution";
 * import { scriptedModel } from "@holdfast/testing";
 *
 * const ping = tool({
 * 	name: "ping",
 * 	description: "Asks a mirror for its name.",
 * 	parameters: { type: "object", properties: { mirror: { type: "string" } } },
 * 	run: ({ mirror }: { mirror: string }) => mirror,
 * });
 * // Asks two mirrors at once and ends with the first answer.
 * const first = concurrentStrategy<{ asked: boolean; answer?: string }>({
 * 	name: "first",
 * 	initial: () => ({ asked: false }),
 * 	evolve(own, { fact }) {
 * 		if (fact.kind === "tools.requested") return { ...own, asked: true };
 * 		if (fact.kind === "tool.settled" && own.answer === undefined) return { ...own, answer: String(fact.result) };
 * 		return own;
 * 	},
 * 	next({ asked, answer }) {
 * 		if (answer !== undefined) return { kind: "finish", text: answer };
 * 		if (asked) return { kind: "results" };
 * 		return { kind: "calls", calls: ["a", "b"].map((mirror) => ({ toolName: "ping", arguments: { mirror } })) };
 * 	},
 * });
 * const turn = await agent({ model: scriptedModel([]), tools: [ping], execution: first }).query("Go.");
 * console.log(turn.response.text); // a
 * ```
 */
export function concurrentStrategy<Own = unknown>(decider: ConcurrentDecider<Own>): DecidingStrategy {
	const { name, initial, evolve, next } = (decider ?? {}) as Partial<ConcurrentDecider<Own>>;
	const functions = [initial, evolve, next];
	if (typeof name !== "string" || !functions.every((each) => typeof each === "function"))
		throw new HoldfastError(
			"invalid_strategy",
			"concurrentStrategy() takes {name, initial, evolve, next}: a string and three functions.",
		);
	return strategy({
		name,
		decide: () => ({ kind: "finish" }),
		initial: () => decider.initial(),
		evolve: (own, entry) => decider.evolve(own as Own, entry),
		code: (run) => carryOut(run, decider as ConcurrentDecider),
	});
}

async function carryOut(run: Run, decider: ConcurrentDecider): Promise<void> {
	// The process may have died between the final text and the end of the run.
	const last = run.state.run?.last;
	if (last?.kind === "assistant" && last.tag === finalOutputTag) return;
	const wake = new Wake();
	const calls = new CodeRound(run, () => wake.up());
	run.inputs.whenOffered = () => wake.up();
	try {
		await calls.resume();
		for (let ended = false; !ended; ) {
			await run.agent.fairness.pause();
			run.checkStopped();
			calls.check();
			wake.reset();
			if (run.inputs.any) await run.inputs.take("step-end");
			ended = await act(run, { decider, calls, wake });
		}
	} catch (error) {
		throw error instanceof Waits ? error : await calls.cutShort(error);
	} finally {
		run.inputs.whenOffered = undefined;
	}
}

interface Acting {
	readonly decider: ConcurrentDecider;
	readonly calls: CodeRound;
	readonly wake: Wake;
}

/** Takes the next action. Returns true if it ended the run. */
async function act(run: Run, { decider, calls, wake }: Acting): Promise<boolean> {
	const { signal, runId, sessionKey, state } = run;
	const context = sessionKey === undefined ? { signal, runId } : { signal, runId, sessionKey };
	const action = await run.untilStopped(decider.next(state.run?.own, state.agent, context));
	switch (action?.kind) {
		case "calls": {
			const { decision } = action;
			const step = state.run?.step ?? 0;
			const before: readonly Fact[] = decision === undefined ? [] : [{ kind: "decision", step, ...decision }];
			await calls.add(checkedCalls(run, action.calls), before);
			return false;
		}
		case "results":
			// A result that arrived while the strategy decided may be recorded before the round reports it.
			if (wake.isUp || run.state.seq !== state.seq) return false;
			if (!calls.isOpen) throw invalidAction(decider.name, "waits for results, and no call is open.");
			if (calls.isUnderWay) await run.untilStopped(wake.next());
			else await calls.leave(undefined);
			return false;
		case "finish":
			if (action.error !== undefined) throw action.error;
			await calls.close();
			run.lastWords = action.text;
			return true;
		default:
			action satisfies never;
			throw invalidAction(decider.name, 'returned no {kind: "calls" | "results" | "finish", ...}.');
	}
}

/** Whether something has happened since the last reset. */
class Wake {
	isUp = false;
	#resolve: (() => void) | undefined;

	reset(): void {
		this.isUp = false;
	}

	up(): void {
		this.isUp = true;
		this.#resolve?.();
		this.#resolve = undefined;
	}

	/** Resolves the next time that something happens. */
	next(): Promise<void> {
		return new Promise((resolve) => {
			this.#resolve = resolve;
		});
	}
}
