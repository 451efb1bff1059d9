// Overviews of sessions. For each session it reads only what is new since the last access; the least recently read ones
// are dropped and rebuilt when needed (keeps I7).

import type { InspectedHead, SessionInspection, SessionOwner } from "@holdfast/server";
import { cutText } from "@holdfast/upp";
import { isHoldfastError } from "holdfast";
import type { Entry } from "holdfast/host";
import type { InspectedSession, ShownStatus } from "../wire/index.ts";
import { type Counted, countEntries, noCounts } from "./counts.ts";

/** Maximum number of cached sessions. */
const most = 2_000;
/** Characters of a title. */
const longestTitle = 160;

interface Look {
	readonly incarnation: string;
	title: string | undefined;
	agent: string | undefined;
	/** The last entry that was read. */
	last: { readonly seq: number; readonly fact: Entry["fact"] | undefined };
	counted: Counted;
}

export class SessionLooks {
	readonly #looks = new Map<string, Look>();
	readonly #mask: <Value>(value: Value) => Value;

	constructor(mask: <Value>(value: Value) => Value) {
		this.#mask = mask;
	}

	/** Returns the session for a list. */
	async session(
		inspection: SessionInspection,
		owner: SessionOwner,
		head: InspectedHead,
	): Promise<InspectedSession> {
		const look = this.#look(owner, head);
		const { sessionId, seq, createdAt, updatedAt } = head;
		if (look.title === undefined && seq > 0) {
			const first = await inspection.entries(owner, sessionId, { limit: 4 });
			const own = await inspection.maskOf?.(owner, sessionId);
			look.title = this.#titleOf(first, own);
			look.agent = agentOf(first);
		}
		if (look.last.seq < seq) {
			const [last] = await inspection.entries(owner, sessionId, { after: seq - 1, limit: 1 });
			look.last = { seq, fact: last?.fact };
		}
		const agent = head.agent ?? look.agent;
		const status = statusOf(head, look.last.fact);
		return {
			sessionId,
			status,
			...(look.title === undefined ? {} : { title: look.title }),
			seq,
			createdAt,
			updatedAt,
			...(agent === undefined ? {} : { agent }),
			...(head.user === undefined ? {} : { user: head.user }),
			...(status === "error" ? await this.#failureOf(inspection, owner, sessionId, look.last.fact) : {}),
		};
	}

	async #failureOf(
		inspection: SessionInspection,
		owner: SessionOwner,
		sessionId: string,
		last: Entry["fact"] | undefined,
	): Promise<Pick<InspectedSession, "failure">> {
		if (last?.kind !== "run.ended" || last.error === undefined) return {};
		const own = (await inspection.maskOf?.(owner, sessionId)) ?? (<Value>(value: Value) => value);
		const message = this.#mask(own(last.error.message));
		return { failure: { code: last.error.code, message: cutText(message, longestTitle) } };
	}

	/** Returns its totals. */
	async counted(inspection: SessionInspection, owner: SessionOwner, head: InspectedHead): Promise<Counted> {
		const look = this.#look(owner, head);
		let { counted } = look;
		while (counted.seq < head.seq) {
			const page = await this.#after(inspection, owner, head.sessionId, counted.seq);
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
		sessionId: string,
		after: number,
	): Promise<readonly Entry[] | "folded"> {
		try {
			return await inspection.entries(owner, sessionId, { after });
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

function agentOf(entries: readonly Entry[]): string | undefined {
	for (const { fact } of entries) if (fact.kind === "run.started") return fact.agentName;
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
