// Waits of sub-agents, as recorded and shown by their parent's run. Pure.
import { sumUsage } from "@holdfast/upp";
import type { CallStates } from "./call-states.ts";
import type {
	CallPathStep,
	NestedCall,
	PendingCall,
	PendingWait,
	ToolSettled,
	ToolsPending,
	Waiting,
	WaitingChild,
} from "./fact.ts";
import { type CallState, type RunState, shownCall } from "./run-state.ts";

/** For a call that waits for a time by itself, not for a sub-agent, and so has no session. */
export const ofNoSession = { agent: "", storeKey: "", seq: 0 } as const;

/** Whether a call waits for a time by itself. */
export function hasNoSession({ storeKey }: Pick<WaitingChild, "storeKey">): boolean {
	return storeKey === ofNoSession.storeKey;
}

/** The waits of a run, in the form that `Waiting` and `RunState` share. */
export interface WaitsFor {
	readonly calls: readonly PendingCall[];
	readonly children?: readonly WaitingChild[] | undefined;
	readonly wait?: PendingWait | undefined;
}

/**
 * Returns the id of a sub-agent's call in the sessions above it: the ids of the delegations, then its own. It is unique
 * there because each part is unique in its own session.
 */
function nestedCallId(path: readonly CallPathStep[], callId: string): string {
	return [...path.map(({ toolCallId }) => toolCallId), callId].map(escaped).join("/");
}

/**
 * Returns the earliest time at which any of these is due, in milliseconds since the epoch; undefined if none has a time
 * limit.
 */
export function earliestDue({ calls, children = [], wait }: WaitsFor): number | undefined {
	const waiting = children.filter(({ status }) => status !== "running");
	const due = [...calls, ...waiting.flatMap((child) => child.calls)].flatMap(({ deadline = [] }) => deadline);
	for (const each of [wait, ...waiting.map((child) => child.wait)])
		if (each?.until !== undefined) due.push(each.until);
	return due.length === 0 ? undefined : due.reduce((one, other) => Math.min(one, other));
}

/** Returns the wait of a run other than for answers: its own, otherwise the wait of a sub-agent that ends first. */
export function waitOf({
	wait,
	children = [],
}: Pick<WaitsFor, "wait" | "children">): PendingWait | undefined {
	if (wait !== undefined) return wait;
	const waits = children.flatMap((child) => child.wait ?? []);
	const endOf = ({ until = Number.POSITIVE_INFINITY }: PendingWait): number => until;
	return waits.reduce<PendingWait | undefined>(
		(first, each) => (first === undefined || endOf(each) < endOf(first) ? each : first),
		undefined,
	);
}

/**
 * Whether a run with this wait continues by itself, so that its execution counts as in progress. It does if it waits
 * for a time, its model or a sub-agent, and not for an outside answer.
 */
export function continuesByItself(calls: readonly unknown[], wait: PendingWait | undefined): boolean {
	return calls.length === 0 && (wait === undefined || wait.until !== undefined);
}

/** Like `continuesByItself`, for the run of a session. */
export function isUnderWay(run: RunState): boolean {
	if (run.status !== "waiting") return run.status === "running";
	return hasWaitedByItself(run);
}

/** Whether a run's wait, or the wait it resumed from, needed no outside answer. */
export function hasWaitedByItself({ pending = [], children, wait }: RunState): boolean {
	return continuesByItself([...pending, ...nestedCalls(children)], waitOf({ wait, children }));
}

/** Returns the wait of a run in the form that its parent run records. `delegation` is the call of the parent run. */
export function asChild(
	run: RunState,
	delegation: CallPathStep,
): Pick<WaitingChild, "calls" | "wait" | "status"> {
	const { calls: own, pending = [], children = [], wait, status } = run;
	const isRunning = status === "running";
	// A running child lists only the waits that it has announced.
	if (isRunning && (run.shows !== "pending" || run.parked !== undefined)) return { calls: [], status };
	const calls: NestedCall[] = pending.flatMap((waiting) => {
		const call = own.withId(waiting.callId);
		if (call === undefined || call.settled !== undefined) return [];
		if (isRunning && waiting.awaits === "approval" && call.approval !== undefined) return [];
		const { toolName, arguments: input } = shownCall(call.call, waiting);
		const { callId, awaits, since, deadline, mayEdit, noInbox } = waiting;
		const path = [delegation];
		return {
			callId,
			awaits,
			since,
			...(deadline === undefined ? {} : { deadline }),
			...(mayEdit === undefined ? {} : { mayEdit }),
			...(noInbox === undefined ? {} : { noInbox }),
			id: nestedCallId(path, callId),
			path,
			toolName,
			arguments: input,
		};
	});
	for (const child of children)
		for (const call of child.calls) {
			const path = [delegation, ...call.path];
			calls.push({ ...call, id: nestedCallId(path, call.callId), path });
		}
	if (isRunning) return { calls, status };
	const shown = waitOf({ wait, children });
	return shown === undefined ? { calls } : { calls, wait: shown };
}

/** Returns the nested calls of a fact or run, each with the sub-agent of this session that leads to it. */
export function nestedCalls(
	children: Waiting["children"] = [],
): readonly { readonly call: NestedCall; readonly child: WaitingChild }[] {
	return children.flatMap((child) => child.calls.map((call) => ({ call, child })));
}

/** Returns the run with the usage of a call's or a background sub-agent added. */
export function withSpent(run: RunState, { spent }: Pick<ToolSettled, "spent">): RunState {
	if (spent === undefined) return run;
	const usage = sumUsage(run.usage, spent.usage);
	return { ...run, usage, cost: run.cost + spent.cost, unpriced: run.unpriced + spent.unpriced };
}

/** Returns the run in its waiting state. */
export function waitingRun(run: RunState, { calls: pending, children, wait }: Waiting): RunState {
	return { ...run, status: "waiting", pending, children, wait, calls: askedAgain(run.calls, pending) };
}

/**
 * Returns the run with calls that wait while others run. The terms of an approval are kept until the call has its result.
 */
export function withPending(run: RunState, { calls, children }: ToolsPending): RunState {
	const shown = new Set(calls.map(({ callId }) => callId));
	const isKept = ({ callId }: PendingCall): boolean => {
		if (shown.has(callId)) return false;
		const { approval, settled } = run.calls.withId(callId) ?? {};
		return approval !== undefined && settled === undefined;
	};
	const kept = (run.pending ?? []).filter(isKept);
	const pending = [...kept, ...calls];
	return { ...run, shows: "pending", pending, children, calls: askedAgain(run.calls, calls) };
}

/** An approval is valid only for its request: if approval is requested again, the call has none. */
function askedAgain(given: CallStates, pending: readonly PendingCall[]): CallStates {
	let calls = given;
	for (const { callId, awaits } of pending) {
		if (awaits !== "approval") continue;
		const at = calls.indexOf(callId);
		const { approval, ...asked } = calls.at(at) ?? {};
		if (approval !== undefined) calls = calls.with(at, asked as CallState);
	}
	return calls;
}

/** Returns the run after one of its calls stops waiting for its sub-agent. */
export function withoutChild(run: RunState, callId: string): RunState {
	if (run.children?.some((child) => child.callId === callId) !== true) return run;
	return { ...run, children: run.children.filter((child) => child.callId !== callId) };
}

function escaped(id: string): string {
	return id.replaceAll("%", "%25").replaceAll("/", "%2F");
}
