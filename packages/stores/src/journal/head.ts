// The head of a session: the one document that is ever replaced, and so the one place where writers meet (keeps I4).
// Its size does not grow with the session: what was said is in segments, only waiting inputs are here (keeps I5).
import { HoldfastError } from "@holdfast/upp";
import type { StoredInput } from "holdfast";
import { journalCorrupt, named } from "holdfast/host";

/** What is written today. A changed head or segment gets a new number, never a changed meaning. */
export const storeFormat = 1;

/** The segments that one lease wrote. They are numbered without gaps, so each can be found by its number. */
export interface Span {
	readonly leaseId: string;
	/** Numbers of its first and last segment. */
	readonly from: number;
	readonly to: number;
	/** Seq of the last entry before it. */
	readonly seq: number;
}

export interface Head {
	readonly format: typeof storeFormat;
	/** Made anew with the session: a session deleted and begun again is another one. */
	readonly generation: string;
	readonly epoch: number;
	/** Seq of the last entry. */
	readonly seq: number;
	readonly openRunId: string | null;
	/** Whether the last entry parked the open run. */
	readonly parked?: boolean;
	/** When somebody has to look at the open run; null or absent while it is worked on. */
	readonly lookAt?: number | null;
	/** The lease that appended last, and its worker; empty before the first append. */
	readonly leaseId: string;
	readonly workerId: string;
	/** How often leases have replaced this head. Inputs that are submitted leave it as it is. */
	readonly appends: number;
	/** Whether that lease was not given up. */
	readonly held: boolean;
	/** The newest segments; the first of them names those before. */
	readonly span: Span | null;
	/** Order of the last input. */
	readonly inputs: number;
	readonly inbox: readonly StoredInput[];
	/** How many dedupe keys of drained inputs, and of appends, are kept beside it. */
	readonly claims: number;
	/** The dedupe key of the last append that had one: it is kept beside the head once the next one comes. */
	readonly claimed?: string;
	readonly createdAt: number;
	readonly updatedAt: number;
}

const numbers = ["epoch", "seq", "appends", "inputs", "claims", "createdAt", "updatedAt"] as const;
const texts = ["generation", "leaseId", "workerId"] as const;

/** The head of a session that has nothing yet. */
export function newHead(generation: string, epoch: number, at: number): Head {
	return {
		format: storeFormat,
		generation,
		epoch,
		seq: 0,
		openRunId: null,
		leaseId: "",
		workerId: "",
		appends: 0,
		held: false,
		span: null,
		inputs: 0,
		inbox: [],
		claims: 0,
		createdAt: at,
		updatedAt: at,
	};
}

/**
 * A head as it was loaded, checked.
 * @throws HoldfastError `journal_newer`, `journal_corrupt`.
 */
export function readHead(key: string, state: unknown): Head {
	checkFormat(`the head of session ${named(key)}`, state);
	const head = state as Partial<Record<keyof Head, unknown>>;
	const isWhole =
		numbers.every((name) => typeof head[name] === "number") &&
		texts.every((name) => typeof head[name] === "string") &&
		(head.openRunId === null || typeof head.openRunId === "string") &&
		typeof head.held === "boolean" &&
		(head.span === null || isSpan(head.span)) &&
		(head.seq === 0 || head.span !== null) &&
		Array.isArray(head.inbox) &&
		head.inbox.every((input) => typeof input?.id === "string" && typeof input.order === "number");
	if (!isWhole) throw journalCorrupt(`the head of session ${named(key)} lacks a part`);
	return state as Head;
}

export function isSpan(value: unknown): value is Span {
	const span = value as Partial<Span> | null | undefined;
	return (
		typeof span?.leaseId === "string" &&
		Number.isSafeInteger(span.from) &&
		Number.isSafeInteger(span.to) &&
		Number.isSafeInteger(span.seq)
	);
}

/** Refuses what this release cannot read. */
export function checkFormat(what: string, state: unknown): void {
	const given = (state as { format?: unknown } | null | undefined)?.format;
	if (given === storeFormat) return;
	if (typeof given === "number" && given > storeFormat) {
		throw new HoldfastError(
			"journal_newer",
			`In the session store, ${what} has format ${given}, which this release does not know. ` +
				"A newer release wrote it: upgrade, and nothing is lost.",
			{ data: { format: given } },
		);
	}
	if ((state as { schemaVersion?: unknown } | null | undefined)?.schemaVersion !== undefined) {
		throw new HoldfastError(
			"session_foreign",
			`In the session store, ${what} has a \`schemaVersion\`: another runtime of keyed sessions wrote it as one whole history, not as a journal. Give Holdfast a store or a key prefix of its own, and begin the session there with the old messages as its history.`,
		);
	}
	throw journalCorrupt(`${what} is invalid`);
}
