// How a round of tool calls ends, for whoever waits for it: a promise is made only where somebody has to wait.
import type { PendingCall, WaitingChild } from "../facts/index.ts";
import type { MaybePromise } from "../host/index.ts";
import type { CallInRound } from "./call-in-round.ts";
import type { Run } from "./run.ts";

/** What a round leaves for others to settle: nothing when it is over. */
export interface LeftOver {
	readonly calls: readonly PendingCall[];
	readonly children?: readonly WaitingChild[];
}

export class RoundEnd {
	#end: { readonly pending: LeftOver } | { readonly error: unknown } | undefined;
	/** Set where somebody waits for the end. */
	#waiting: PromiseWithResolvers<LeftOver> | undefined;

	/** What is left for others to settle; a promise until the end. Throws or rejects as the round failed. */
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

/** What is left of these calls once each of them has its result or waits. A deadline that was set once stays. */
export function leftOver({ agent, state }: Run, round: readonly CallInRound[]): LeftOver {
	const calls: PendingCall[] = [];
	const children: WaitingChild[] = [];
	for (const { call, tool, phase, awaits, child } of round) {
		if (phase !== "pending") continue;
		const callId = call.toolCallId;
		if (child !== undefined) children.push({ callId, ...child.child });
		if (awaits === undefined) continue;
		const before = state.run?.pending?.find((each) => each.callId === callId && each.awaits === awaits);
		const timeout = awaits === "result" ? (tool?.timeoutMs ?? agent.remoteToolTimeoutMs) : undefined;
		const since = agent.ports.clock.now();
		const deadline = timeout === undefined ? {} : { deadline: since + timeout };
		calls.push(before ?? { callId, awaits, since, ...deadline });
	}
	return children.length === 0 ? { calls } : { calls, children };
}
