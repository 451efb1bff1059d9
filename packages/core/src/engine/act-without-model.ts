// Executes strategy actions that need no model call: tool calls and waits (keeps I3, I6).
import { HoldfastError, type ToolCall } from "@holdfast/upp";
import type { Fact, PendingWait, ToolsRequested } from "../facts/index.ts";
import type { RequestedCall, ToolsAction, WaitAction } from "./action.ts";
import { CallIds } from "./call-ids.ts";
import { carryOutCalls, commitAnyway } from "./carry-out-calls.ts";
import { withReadableArguments } from "./deep-arguments.ts";
import { commit, stepOf } from "./end-run.ts";
import type { Run } from "./run.ts";
import { beginStep, endStep } from "./step.ts";
import { Waits } from "./stopped.ts";

/** The longest delay of a timer in milliseconds. */
const longestTimer = 2 ** 31 - 1;

/**
 * Executes the calls of the strategy. Returns true if the run must end. The facts in `held` are already admitted and
 * share the first append.
 */
export async function toolsStep(run: Run, action: ToolsAction, held: Fact[] = []): Promise<boolean> {
	const { tag = "act", concludes } = action;
	let calls: readonly ToolCall[];
	let step: number;
	try {
		calls = callsOf(run, action);
		step = action.step === "next" ? await beginStep(run, held) : stepOf(run);
	} catch (error) {
		await commitAnyway(run, held);
		throw error;
	}
	const requested: ToolsRequested = { kind: "tools.requested", step, tag, calls };
	const continues = action.afterwards === "continues";
	await carryOutCalls(run, continues ? { ...requested, continues } : requested, { before: held, concludes });
	return continues ? false : endStep(run);
}

/** Leaves the run until an input arrives or the time comes, or waits in place. Returns false if the run continues. */
export async function waitStep(run: Run, { tag = "wait", until }: WaitAction): Promise<false> {
	if (until !== undefined && !Number.isFinite(until))
		throw refused(run, "waits with an `until` that is not a number of milliseconds since the epoch");
	if (run.inputs.any && (await run.inputs.take("step-end"))) return false;
	if (until !== undefined && (!run.mayWait || until <= run.agent.ports.clock.now()))
		return waitInPlace(run, tag, until);
	if (until === undefined && !receivesInputs(run))
		throw refused(
			run,
			"waits for an input, which cannot be sent to this run: give it `until`, or use a session",
		);
	const wait: PendingWait = until === undefined ? { tag } : { tag, until };
	const waiting = { kind: "waiting", step: stepOf(run), calls: [], wait } as const;
	// A message that arrives at the last moment ends the wait before it begins.
	if (!(await run.commit([waiting], { onlyIfNothingWaits: true }))) {
		await run.inputs.fetch();
		if (await run.inputs.take("step-end")) return false;
		await commit(run, [waiting]);
	}
	throw new Waits([]);
}

/**
 * Whether inputs can be sent to the run. A sub-agent's inputs are the prompts of its parent, which waits for the one that
 * it gave.
 */
export function receivesInputs({ mayWait, state }: Run): boolean {
	return mayWait && state.run?.started.parent === undefined;
}

async function waitInPlace(run: Run, tag: string, until: number): Promise<false> {
	await waitUntil(run, until);
	await commit(run, [{ kind: "wait.ended", step: stepOf(run), tag, until }]);
	return false;
}

/** Waits without leaving the run. A stop ends the wait. */
export async function waitUntil(run: Run, until: number): Promise<void> {
	const { clock, timers } = run.agent.ports;
	for (let left = until - clock.now(); left > 0; left = until - clock.now()) {
		let callOff = (): void => {};
		const due = new Promise<void>((resolve) => {
			callOff = timers.after(Math.min(left, longestTimer), resolve);
		});
		await run.untilStopped(due).finally(callOff);
	}
}

function callsOf(run: Run, { calls, concludes }: ToolsAction): readonly ToolCall[] {
	if (concludes !== undefined && Array.isArray(calls) && calls.length > 1)
		throw refused(run, "gave `concludes` with several calls: it follows from the result of one");
	return new CallIds(run).named(checkedCalls(run, calls), run.agent.decider.name);
}

/** Returns the calls of a strategy, with ids. @throws HoldfastError `invalid_action`. */
export function checkedCalls(run: Run, calls: readonly RequestedCall[]): readonly ToolCall[] {
	if (!Array.isArray(calls) || calls.length === 0)
		throw refused(run, "called no tools: give at least one of `calls`");
	const { uuid } = run.agent.ports.ids;
	const ids = new Set<string>();
	return (calls as ToolsAction["calls"]).map((call) => {
		const { toolName, arguments: input, toolCallId = uuid() } = call ?? {};
		if (typeof toolName !== "string" || typeof input !== "object" || input === null || Array.isArray(input))
			throw refused(run, "called a tool without `toolName`, or with `arguments` that are not an object");
		if (typeof toolCallId !== "string" || toolCallId === "" || ids.has(toolCallId))
			throw refused(run, "gave two calls of one action the same `toolCallId`, or one that is not a string");
		ids.add(toolCallId);
		return withReadableArguments({ toolCallId, toolName, arguments: input });
	});
}

function refused(run: Run, what: string): HoldfastError {
	return invalidAction(run.agent.decider.name, `${what}.`);
}

/** The error for an invalid answer: a user-defined decider may return anything. */
export function invalidAction(strategy: string, what: string): HoldfastError {
	return new HoldfastError("invalid_action", `The strategy "${strategy}" ${what}`, { data: { strategy } });
}
