// The sequential model of a session in a journal, for the history check: one writer at a time by the session's epoch, and
// a log that only grows (I4). The first append of a lease takes over the session.
import { createHash } from "node:crypto";
import type { SequentialModel } from "./linearizable.ts";

/** The arguments of an operation on a session. */
export type SessionOperation =
	| {
			readonly kind: "append";
			/** Identifies the lease within the history. */
			readonly lease: string;
			/** Its epoch when it appended; the first append takes the session with this epoch. */
			readonly epoch: number;
			/** One text per fact. */
			readonly facts: readonly string[];
	  }
	| { readonly kind: "read"; readonly after: number };

/** The outcome of an operation. */
export type SessionOutcome =
	| { readonly kind: "appended"; readonly seq: number; readonly epoch: number }
	/** Nothing was appended: the lease was lost, or an input waits. */
	| { readonly kind: "refused" }
	| { readonly kind: "read"; readonly facts: readonly string[] };

/** The state of a session in the model. */
export interface ModelSession {
	/** The current epoch. */
	readonly epoch: number;
	/** The lease that holds it. */
	readonly owner: string;
	/** The appended facts, in order. */
	readonly facts: readonly string[];
	/** Digest of all facts. */
	readonly digest: string;
}

/** The model of a journal's sessions. A refusal is allowed at any time; the model does not report unnecessary ones. */
export const sessionModel: SequentialModel<ModelSession, SessionOperation, SessionOutcome> = {
	initial: { epoch: 0, owner: "", facts: [], digest: "" },
	step(state, input, output) {
		if (output?.kind === "refused") return state;
		if (input.kind === "read") {
			if (output === undefined) return state;
			if (output.kind !== "read" || output.facts.length !== Math.max(0, state.facts.length - input.after))
				return undefined;
			return output.facts.every((fact, at) => fact === state.facts[input.after + at]) ? state : undefined;
		}
		const epoch = output?.kind === "appended" ? output.epoch : input.epoch;
		const isHolder = state.owner === input.lease;
		if (isHolder ? epoch !== state.epoch : epoch <= state.epoch) return undefined;
		const facts = [...state.facts, ...input.facts];
		if (output !== undefined && (output.kind !== "appended" || output.seq !== facts.length)) return undefined;
		const digest = input.facts.reduce(digestAfter, state.digest);
		return { epoch, owner: input.lease, facts, digest };
	},
	keyOf: ({ epoch, owner, digest }) => `${epoch} ${digest} ${owner}`,
};

function digestAfter(before: string, fact: string): string {
	return createHash("sha1").update(before).update(fact).digest("base64");
}
