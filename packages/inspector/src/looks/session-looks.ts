// Overviews of sessions. For each session it reads only what is new since the last access; the least recently read ones
// are dropped and rebuilt when needed (keeps I7).

import type { InspectedHead, SessionInspection, SessionOwner } from "@holdfast/server";
import { cutText } from "@holdfast/upp";
import { type HoldfastError, isHoldfastError } from "holdfast";
import { type Entry, isUnreadable } from "holdfast/host";
import type { InspectedSession, ShownStatus } from "../wire/index.ts";
import { type Counted, countEntries, noCounts } from "./counts.ts";
import { entriesAround, type FoundEntry, isReadable } from "./readable-entries.ts";

/** Maximum number of cached sessions. */
const most = 2_000;
const pageEntries = 1_000;
/** Characters of a title. */
const longestTitle = 160;

type Failure = NonNullable<InspectedSession["failure"]>;

interface Look {
	readonly incarnation: string;
	title: string | undefined;
	agent: string | undefined;
	/** The last entry that was read. */
	last: { readonly seq: number; readonly fact: Entry["fact"] | undefined };
	/** Why the first or the last entries cannot be read. */
	damage: Failure | undefined;
	counted: Counted;
}

export class SessionLooks {
	readonly #looks = new Map<string, Look>();
	readonly #mask: <Value>(value: Value) => Value;

	constructor(mask: <Value>(value: Value) => Value) {
		this.#mask = mask;
	}

	/** Returns the session for a list; `unreadable` if its data is damaged, or if it is incomplete. */
	async session(
		inspection: SessionInspection,
		owner: SessionOwner,
		head: InspectedHead,
	): Promise<InspectedSession> {
		const { sessionId, seq, createdAt, updatedAt, unreadable } = head;
		const of = { sessionId, seq, createdAt, updatedAt };
		if (unreadable !== undefined) return unreadableSession(of, { code: unreadable, message: noRecord });
		try {
			return await this.#session(inspection, owner, head);
		} catch (error) {
			if (!isOfSession(error)) throw error;
			return unreadableSession(of, error);
		}
	}

	async #session(
		inspection: SessionInspection,
		owner: SessionOwner,
		head: InspectedHead,
	): Promise<InspectedSession> {
		const look = this.#look(owner, head);
		const { sessionId, seq, createdAt, updatedAt } = head;
		const from = { inspection, owner, sessionId, last: seq };
		if (look.title === undefined && seq > 0) {
			const first = await entriesAround(from, { after: 0, limit: 4 });
			const own = await inspection.maskOf?.(owner, sessionId);
			look.title = this.#titleOf(first.filter(isReadable), own);
			look.agent = agentOf(first.filter(isReadable));
			look.damage ??= damageOf(first);
		}
		if (look.last.seq < seq) {
			const found = await entriesAround(from, { after: seq - 1, limit: 1 });
			look.last = { seq, fact: found.find(isReadable)?.fact };
			look.damage ??= damageOf(found);
		}
		const agent = head.agent ?? look.agent;
		const status = look.damage === undefined ? statusOf(head, look.last.fact) : "unreadable";
		const failure = look.damage ?? (await this.#failureOf(inspection, owner, sessionId, look.last.fact));
		return {
			sessionId,
			status,
			...(look.title === undefined ? {} : { title: look.title }),
			seq,
			createdAt,
			updatedAt,
			...(agent === undefined ? {} : { agent }),
			...(head.user === undefined ? {} : { user: head.user }),
			...(failure === undefined || (status !== "error" && status !== "unreadable") ? {} : { failure }),
			...(status === "waiting" ? { waitsFor: this.#mask(waitOf(look.last.fact)) } : {}),
		};
	}

	async #failureOf(
		inspection: SessionInspection,
		owner: SessionOwner,
		sessionId: string,
		last: Entry["fact"] | undefined,
	): Promise<Failure | undefined> {
		if (last?.kind !== "run.ended" || last.outcome !== "error" || last.error === undefined) return undefined;
		const own = (await inspection.maskOf?.(owner, sessionId)) ?? (<Value>(value: Value) => value);
		const message = this.#mask(own(last.error.message));
		return { code: last.error.code, message: cutText(message, longestTitle) };
	}

	/** Returns its totals. */
	async counted(inspection: SessionInspection, owner: SessionOwner, head: InspectedHead): Promise<Counted> {
		const look = this.#look(owner, head);
		let { counted } = look;
		while (counted.seq < head.seq) {
			const page = await this.#after(inspection, owner, head, counted.seq);
			if (page === "folded") counted = noCounts;
			else if (page.length === 0) break;
			else counted = countEntries(counted, page);
		}
		// A concurrent count may have reached the same entry, or a later one.
		if (counted.seq > look.counted.seq) look.counted = counted;
		return counted;
	}

	async #after(
		inspection: SessionInspection,
		owner: SessionOwner,
		{ sessionId, seq: last }: InspectedHead,
		after: number,
	): Promise<readonly FoundEntry[] | "folded"> {
		try {
			return await entriesAround({ inspection, owner, sessionId, last }, { after, limit: pageEntries });
		} catch (error) {
			if (after > 0 && isHoldfastError(error) && error.code === "events_expired") return "folded";
			throw error;
		}
	}

	#look({ tenant, user }: SessionOwner, { sessionId, incarnation }: InspectedHead): Look {
		const key = JSON.stringify([tenant, user, sessionId]);
		const known = this.#looks.get(key);
		const look: Look =
			known?.incarnation === incarnation
				? known
				: {
						incarnation,
						title: undefined,
						agent: undefined,
						last: { seq: 0, fact: undefined },
						damage: undefined,
						counted: noCounts,
					};
		this.#looks.delete(key);
		this.#looks.set(key, look);
		for (const oldest of this.#looks.keys()) {
			if (this.#looks.size <= most) break;
			this.#looks.delete(oldest);
		}
		return look;
	}

	#titleOf(
		entries: readonly Entry[],
		own: <Value>(value: Value) => Value = (value) => value,
	): string | undefined {
		for (const { fact } of entries) {
			if (fact.kind !== "input") continue;
			const text = this.#mask(own(fact.message.text)).replaceAll(/\s+/g, " ").trim();
			return text.length > longestTitle ? `${cutText(text, longestTitle)}…` : text;
		}
		return undefined;
	}
}

/** Describes what a run waits for: calls, including those of sub-agents, or else what its strategy named. */
function waitOf(fact: Entry["fact"] | undefined): string {
	if (fact?.kind !== "waiting") return "";
	const calls = [...fact.calls, ...(fact.children ?? []).flatMap((child) => child.calls ?? [])];
	const counts = (["approval", "result"] as const).flatMap((kind) => {
		const count = calls.filter(({ awaits }) => awaits === kind).length;
		return count === 0 ? [] : [count === 1 ? kind : `${count} ${kind}s`];
	});
	if (counts.length > 0) return counts.join(", ");
	return fact.wait?.model === undefined
		? cutText((fact.wait?.tag ?? "").replace(/#1$/, ""), 60)
		: "its model";
}

function agentOf(entries: readonly Entry[]): string | undefined {
	for (const { fact } of entries) if (fact.kind === "run.started") return fact.agentName;
	return undefined;
}

const noRecord = "Its record is damaged.";

/** Whether an error concerns one session, so that others can still be read. */
export function isOfSession(error: unknown): error is HoldfastError {
	return isUnreadable(error) || (isHoldfastError(error) && error.code === "session_not_found");
}

/** Describes a session of which only this is known. */
export function unreadableSession(
	of: Pick<InspectedSession, "sessionId" | "seq" | "createdAt" | "updatedAt">,
	{ code, message }: Failure,
): InspectedSession {
	return { ...of, status: "unreadable", failure: { code, message: cutText(message, longestTitle) } };
}

function damageOf(found: readonly FoundEntry[]): Failure | undefined {
	for (const each of found) {
		if (isReadable(each)) continue;
		const { code, message } = each.error;
		return { code, message: `Entry ${each.seq}: ${cutText(message, longestTitle)}` };
	}
	return undefined;
}

/** Returns the status of a session, from its head and its last fact. */
export function statusOf(
	{ openRunId, parked, isHeld, waiting }: Omit<InspectedHead, "sessionId">,
	last: Entry["fact"] | undefined,
): ShownStatus {
	if (openRunId !== undefined) {
		if (parked === true) return "parked";
		if (last?.kind === "waiting") return "waiting";
		return isHeld === false ? "interrupted" : "running";
	}
	if (waiting > 0) return "queued";
	return last?.kind === "run.ended" ? last.outcome : "idle";
}
