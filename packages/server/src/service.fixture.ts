// A session service in memory that a test controls: nothing durable, and every event at the test's moment.

import { HoldfastError } from "holdfast";
import type { LoggedEvent } from "holdfast/execute";
import { recovery } from "holdfast/execute";
import type { ExecuteRequest, SessionOwner, SessionService, Submitted } from "./service/index.ts";

type Event = LoggedEvent["event"];

/** A session of the fake. */
export interface FakeSession {
	readonly sessionId: string;
	readonly log: LoggedEvent[];
	status: "idle" | "running";
	readonly waiting: Set<() => void>;
}

/** The fake, with what tests hold it by. */
export interface FakeService extends SessionService {
	/** Requests that were submitted. */
	readonly submitted: (ExecuteRequest & { tenant: string; sessionId: string })[];
	/** How many followers there are, and how many were ever opened. */
	readonly followers: { open: number; ever: number };
	/** Appends events to a session's log; the ids continue from the last. */
	emit(tenant: string, sessionId: string, events: readonly Event[]): void;
	/** Ends the session's run. */
	complete(tenant: string, sessionId: string): void;
	/** The session, which must be there. */
	session(tenant: string, sessionId: string): FakeSession;
}

/** What a run does by itself: events at once, ended or left open. */
export interface FakeOptions {
	readonly say?: (request: ExecuteRequest) => readonly Event[];
	/** Leaves runs open until `complete`. */
	readonly holds?: boolean;
	/** Events a batch has at most. */
	readonly batch?: number;
}

/** Makes the fake. */
export function fakeService({ say, holds = false, batch = 64 }: FakeOptions = {}): FakeService {
	const sessions = new Map<string, FakeSession>();
	const keys = new Map<string, Submitted>();
	const submitted: FakeService["submitted"] = [];
	const followers = { open: 0, ever: 0 };
	let isClosed = false;
	const tenantOf = (owner: string | SessionOwner): string =>
		typeof owner === "string" ? owner : owner.tenant;
	const keyOf = (owner: string | SessionOwner, sessionId: string): string =>
		`${tenantOf(owner)}/${sessionId}`;
	const find = (tenant: string | SessionOwner, sessionId: string): FakeSession => {
		const found = sessions.get(keyOf(tenant, sessionId));
		if (found === undefined) throw new HoldfastError("session_not_found", "Session not found");
		return found;
	};
	const lastIdOf = ({ log }: FakeSession): string => log.at(-1)?.id ?? "0.0.0";
	const append = (session: FakeSession, events: readonly Event[]): void => {
		for (const event of events) session.log.push({ id: `${session.log.length + 1}.0.0`, event });
		for (const wake of [...session.waiting]) wake();
	};
	const complete = (session: FakeSession): void => {
		session.status = "idle";
		append(session, [{ type: "execute_complete", status: "completed" }]);
	};

	return {
		submitted,
		followers,
		session: find,
		emit: (tenant, sessionId, events) => append(find(tenant, sessionId), events),
		complete: (tenant, sessionId) => complete(find(tenant, sessionId)),
		async submit(caller, sessionId, request, { idempotencyKey } = {}) {
			const tenant = tenantOf(caller);
			if (isClosed) throw new HoldfastError("shutting_down", "The server is shutting down.");
			const named = idempotencyKey === undefined ? undefined : `${tenant}/${idempotencyKey}`;
			const earlier = named === undefined ? undefined : keys.get(named);
			if (earlier !== undefined) return { ...earlier, attached: true };
			const key = keyOf(tenant, sessionId);
			const created = !sessions.has(key);
			if (created && request.context === undefined)
				throw new HoldfastError("context_required", "Context required for new session");
			const session: FakeSession = sessions.get(key) ?? {
				sessionId,
				log: [],
				status: "idle",
				waiting: new Set(),
			};
			if (session.status === "running") throw new HoldfastError("session_busy", "The session is busy.");
			sessions.set(key, session);
			submitted.push({ ...request, tenant, sessionId });
			const answer: Submitted = {
				sessionId,
				runId: `run-${submitted.length}`,
				after: lastIdOf(session),
				created,
				attached: false,
			};
			if (named !== undefined) keys.set(named, answer);
			session.status = "running";
			append(session, [{ type: "session_start", sessionId }, ...(say?.(request) ?? [])]);
			if (!holds) complete(session);
			return answer;
		},
		async get(tenant, sessionId) {
			const session = sessions.get(keyOf(tenant, sessionId));
			if (session === undefined) return undefined;
			const { status } = session;
			return { sessionId, status, messages: [], totalCost: 0, model: "fake", lastEventId: lastIdOf(session) };
		},
		async list(owner, { after = "", limit = 50 } = {}) {
			const tenant = tenantOf(owner);
			const all = [...sessions]
				.filter(([key, { sessionId }]) => key.startsWith(`${tenant}/`) && sessionId > after)
				.map(([, { sessionId, status }]) => ({
					sessionId,
					createdAt: 0,
					updatedAt: 0,
					isOpen: status === "running",
				}))
				.sort((left, right) => (left.sessionId < right.sessionId ? -1 : 1));
			const page = all.slice(0, limit);
			const next = page.at(-1)?.sessionId;
			return { sessions: page, ...(all.length > limit && next !== undefined ? { next } : {}) };
		},
		async *follow(tenant, sessionId, { after, until = "idle", signal } = {}) {
			const session = find(tenant, sessionId);
			let at = after === undefined ? 0 : Number(after.split(".")[0]);
			if (at > session.log.length) throw new HoldfastError("invalid_event_id", "There is no such event.");
			followers.open++;
			followers.ever++;
			try {
				let hasSaidSo = false;
				for (;;) {
					if (signal?.aborted === true || isClosed) return;
					const events = session.log.slice(at, at + batch);
					at += events.length;
					const end =
						until === "complete" ? events.findIndex(({ event }) => event.type === "execute_complete") : -1;
					if (events.length > 0) {
						yield end < 0 ? events : events.slice(0, end + 1);
						if (end >= 0) return;
						continue;
					}
					if (until === "idle" && session.status !== "running") return;
					if (!hasSaidSo) {
						hasSaidSo = true;
						yield [];
						continue;
					}
					await new Promise<void>((resolve) => {
						const wake = (): void => {
							session.waiting.delete(wake);
							signal?.removeEventListener("abort", wake);
							resolve();
						};
						session.waiting.add(wake);
						signal?.addEventListener("abort", wake);
					});
				}
			} finally {
				followers.open--;
			}
		},
		async stop(tenant, sessionId) {
			const session = find(tenant, sessionId);
			const stopped = session.status === "running";
			if (stopped) complete(session);
			return { stopped };
		},
		async delete(tenant, sessionId) {
			find(tenant, sessionId);
			sessions.delete(keyOf(tenant, sessionId));
		},
		recover: () => recovery(async function* () {}),
		async supervise() {},
		async *work() {},
		async close() {
			isClosed = true;
			for (const { waiting } of sessions.values()) for (const wake of [...waiting]) wake();
		},
	};
}

/** Deltas of some length. */
export function deltas(count: number, text = "word "): readonly Event[] {
	return Array.from({ length: count }, () => ({ type: "text_delta", delta: text }));
}
