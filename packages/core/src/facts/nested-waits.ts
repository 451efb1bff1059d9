// Waits of sub-agents as their parent's run records and shows them. Pure.
import { sumUsage } from "@holdfast/upp";
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

/** Where a call has its session that waits for a time by itself, and for no sub-agent: nowhere. */
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
 * The id under which a call of a sub-agent is known in the sessions above it: the ids of the delegations, then its own. It is
 * unique there because each of its parts is unique in its own session.
 */
function nestedCallId(path: readonly CallPathStep[], callId: string): string {
	return [...path.map(({ toolCallId }) => toolCallId), callId].map(escaped).join("/");
}

/** The earliest time at which any of this is due, in milliseconds since the epoch; undefined when nothing ever is. */
export function earliestDue({ calls, children = [], wait }: WaitsFor): number | undefined {
	const waiting = children.filter(({ status }) => status !== "running");
	const due = [...calls, ...waiting.flatMap((child) => child.calls)].flatMap(({ deadline = [] }) => deadline);
	for (const each of [wait, ...waiting.map((child) => child.wait)])
		if (each?.until !== undefined) due.push(each.until);
	return due.length === 0 ? undefined : due.reduce((one, other) => Math.min(one, other));
}

/** The wait of a run other than for answers: its own, else that of a sub-agent which ends first. */
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
 * Whether a run with this wait continues by itself, and its execution is in progress: it waits for a time, its model or a
 * sub-agent, and not for an outside answer.
 */
export function continuesByItself(calls: readonly unknown[], wait: PendingWait | undefined): boolean {
	return calls.length === 0 && (wait === undefined || wait.until !== undefined);
}

/** The same of the run of a session. */
export function isUnderWay(run: RunState): boolean {
	if (run.status !== "waiting") return run.status === "running";
	return hasWaitedByItself(run);
}

/** Whether a run's wait, or the wait from which it resumes, needed no outside answer. */
export function hasWaitedByItself({ pending = [], children, wait }: RunState): boolean {
	return continuesByItself([...pending, ...nestedCalls(children)], waitOf({ wait, children }));
}

/** The wait of a run as the run above it records it; `delegation` is the call of that run. */
export function asChild(
	run: RunState,
	delegation: CallPathStep,
): Pick<WaitingChild, "calls" | "wait" | "status"> {
	const { calls: own, pending = [], children = [], wait, status } = run;
	const isRunning = status === "running";
	// A running child lists only the waits that it has announced.
	if (isRunning && (run.shows !== "pending" || run.parked !== undefined)) return { calls: [], status };
	const calls: NestedCall[] = pending.flatMap((waiting) => {
		const call = own.find((each) => each.call.toolCallId === waiting.callId);
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

/** The nested calls of a fact or run, each with the sub-agent of this session on the way to it. */
export function nestedCalls(
	children: Waiting["children"] = [],
): readonly { readonly call: NestedCall; readonly child: WaitingChild }[] {
	return children.flatMap((child) => child.calls.map((call) => ({ call, child })));
}

/** The run with the usage of sub-agents added, for its call or in the background. */
export function withSpent(run: RunState, { spent }: Pick<ToolSettled, "spent">): RunState {
	if (spent === undefined) return run;
	const usage = sumUsage(run.usage, spent.usage);
	return { ...run, usage, cost: run.cost + spent.cost, unpriced: run.unpriced + spent.unpriced };
}

/** The run once it waits. */
export function waitingRun(run: RunState, { calls: pending, children, wait }: Waiting): RunState {
	return { ...run, status: "waiting", pending, children, wait, calls: askedAgain(run.calls, pending) };
}

/** The run when calls wait while others run. The terms of an approval stay known until the call has its result. */
export function withPending(run: RunState, { calls, children }: ToolsPending): RunState {
	const isKept = ({ callId }: PendingCall): boolean =>
		calls.every((each) => each.callId !== callId) &&
		run.calls.some(({ call, approval, settled }) => {
			const isAnswered = approval !== undefined && settled === undefined;
			return call.toolCallId === callId && isAnswered;
		});
	const kept = (run.pending ?? []).filter(isKept);
	const pending = [...kept, ...calls];
	return { ...run, shows: "pending", pending, children, calls: askedAgain(run.calls, calls) };
}

/** An approval does not outlive the question: a call that is asked about again has none. */
function askedAgain(calls: readonly CallState[], pending: readonly PendingCall[]): readonly CallState[] {
	const isAsked = ({ call, approval }: CallState): boolean =>
		approval !== undefined &&
		pending.some(({ callId, awaits }) => callId === call.toolCallId && awaits === "approval");
	if (!calls.some(isAsked)) return calls;
	return calls.map((each) => {
		if (!isAsked(each)) return each;
		const { approval: _, ...asked } = each;
		return asked;
	});
}

/** The run once a call of it no longer waits for its sub-agent. */
export function withoutChild(run: RunState, callId: string): RunState {
	if (run.children?.some((child) => child.callId === callId) !== true) return run;
	return { ...run, children: run.children.filter((child) => child.callId !== callId) };
}

function escaped(id: string): string {
	return id.replaceAll("%", "%25").replaceAll("/", "%2F");
}
