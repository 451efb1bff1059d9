// The end of a round of tool calls. A promise is created only if a caller has to wait.
import type { ToolCall } from "@holdfast/upp";
import type { PendingCall, WaitingChild } from "../facts/index.ts";
import type { MaybePromise } from "../host/index.ts";
import type { ToolsAction } from "./action.ts";
import type { CallInRound } from "./call-in-round.ts";
import { pendingFact } from "./check-again.ts";
import type { CallSetting } from "./check-call.ts";
import type { Run } from "./run.ts";

/** The calls that a round leaves unsettled; none if the round is complete. */
export interface LeftOver {
	readonly calls: readonly PendingCall[];
	readonly children?: readonly WaitingChild[];
}

/** Options of a round that change its end. */
export interface RoundOptions {
	/** The decision that follows from the result of the only call. */
	readonly concludes?: ToolsAction["concludes"] | undefined;
	/** Fires when the results of running calls are no longer needed. Default: only the end of the run ends them. */
	readonly ends?: AbortSignal | undefined;
	/** Called when calls have progressed. The round then stays open while all its calls wait; default: it ends there. */
	readonly moved?: (() => void) | undefined;
}

export class RoundEnd {
	#end: { readonly pending: LeftOver } | { readonly error: unknown } | undefined;
	/** Set while a caller waits for the end. */
	#waiting: PromiseWithResolvers<LeftOver> | undefined;

	get isOver(): boolean {
		return this.#end !== undefined;
	}

	/**
	 * Returns the calls left for others to settle; a promise until the round ends. Throws or rejects if the round failed.
	 */
	get(): MaybePromise<LeftOver> {
		if (this.#end === undefined) {
			this.#waiting ??= Promise.withResolvers();
			return this.#waiting.promise;
		}
		if ("error" in this.#end) throw this.#end.error;
		return this.#end.pending;
	}

	done(pending: LeftOver): void {
		this.#end ??= { pending };
		this.#waiting?.resolve(pending);
	}

	failed(error: unknown): void {
		this.#end ??= { error };
		this.#waiting?.reject(error);
	}
}

/** Returns the calls left over once each call has its result or waits. */
export function leftOver(run: Run, round: Iterable<CallInRound>): LeftOver {
	const calls: PendingCall[] = [];
	const children: WaitingChild[] = [];
	const now = run.agent.ports.clock.now();
	const before = new Map(run.state.run?.pending?.map((each) => [each.callId, each]));
	for (const { call, phase, pending, child, shown } of round) {
		if (phase === "running" && shown !== undefined) children.push({ callId: call.toolCallId, ...shown });
		if (phase !== "pending") continue;
		if (child !== undefined) children.push({ callId: call.toolCallId, ...child.child });
		if (pending !== undefined)
			calls.push(pendingFact(settingOf(run, undefined), call, pending, before.get(call.toolCallId), now));
	}
	return children.length === 0 ? { calls } : { calls, children };
}

/** Returns the context in which a run's calls are checked. */
export function settingOf(
	{ agent, interceptors, processKey, mayWait, sessionKey, caller }: Run,
	offered: CallSetting["offered"],
): CallSetting {
	return { agent, interceptors, processKey, mayWait, sessionKey, caller, offered };
}

/** Returns the recorded state of a call that waits or has waited. */
export function pendingBefore({ state }: Run, { toolCallId }: ToolCall): PendingCall | undefined {
	const pending = state.run?.pending;
	if (pending === undefined) return undefined;
	for (const each of pending) if (each.callId === toolCallId) return each;
	return undefined;
}
