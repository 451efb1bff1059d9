// The head of a session: the only document that is ever replaced, and so the single point of contention between writers
// (keeps I4). Its size does not grow with the session: messages are in segments, and only queued inputs are here (keeps
// I5).
import { HoldfastError } from "@holdfast/upp";
import { journalCorrupt, named, type StoredInput } from "holdfast/host";

/** The current format. A changed head or segment gets a new number, never a changed meaning. */
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
	/** A new value for each incarnation: a session that is deleted and created again is a different one. */
	readonly generation: string;
	readonly epoch: number;
	/** Seq of the last entry. */
	readonly seq: number;
	readonly openRunId: string | null;
	/** Whether the last entry parked the open run. */
	readonly parked?: boolean;
	/** When the open run is next due; null or absent while it is in progress. */
	readonly lookAt?: number | null;
	/** The lease that appended last, and its worker; empty before the first append. */
	readonly leaseId: string;
	readonly workerId: string;
	/** How often leases have replaced this head. Submitted inputs do not change it. */
	readonly appends: number;
	/** Whether that lease has not been released. */
	readonly held: boolean;
	/** The newest segments; the first of them refers to the previous span. */
	readonly span: Span | null;
	/** Order of the last input. */
	readonly inputs: number;
	readonly inbox: readonly StoredInput[];
	/** The number of dedupe keys of drained inputs and appends that are stored with it. */
	readonly claims: number;
	/** The dedupe key of the last append that had one: it is stored separately once the next one arrives. */
	readonly claimed?: string;
	readonly createdAt: number;
	readonly updatedAt: number;
}

const numbers = ["epoch", "seq", "appends", "inputs", "claims", "createdAt", "updatedAt"] as const;
const texts = ["generation", "leaseId", "workerId"] as const;

/** Creates the head of an empty session. */
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
 * Validates a loaded head.
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

/** Rejects documents of a later format. */
export function checkFormat(what: string, state: unknown): void {
	const given = (state as { format?: unknown } | null | undefined)?.format;
	if (given === storeFormat) return;
	if (typeof given === "number" && given > storeFormat) {
		throw new HoldfastError(
			"journal_newer",
			`In the session store, ${what} has format ${given}, which this release does not support. ` +
				"A newer release wrote it. Upgrade to read it.",
			{ data: { format: given } },
		);
	}
	if ((state as { schemaVersion?: unknown } | null | undefined)?.schemaVersion !== undefined) {
		throw new HoldfastError(
			"session_foreign",
			`In the session store, ${what} has a \`schemaVersion\`: another runtime of keyed sessions wrote it as one whole history, not as a journal. Give Holdfast its own store or key prefix, and start the session there with the old messages as its history.`,
		);
	}
	throw journalCorrupt(`${what} is invalid`);
}
