// Sessions served to others, by tenant and id, over one host (keeps I1, I7). Those in use are kept at hand; what a dead
// process left is gone on with; nobody sees another tenant's.
import { HoldfastError } from "@holdfast/upp";
import { type AgentOptions, modelIdOf, toolsAsGiven } from "../agent/index.ts";
import type { FollowOptions } from "../following/index.ts";
import type { Host, Timers } from "../host/index.ts";
import { keyOfPlace, readPlace, sessionPlace } from "../host/index.ts";
import { orphanedKeys, WaitingSessions } from "../sessions/index.ts";
import { checkServed } from "./check-served.ts";
import type { PendingSessionCall, SessionStatus } from "./execute-event.ts";
import { type ExecuteRequest, readContext, readInput, readOptions } from "./execute-request.ts";
import {
	ServedSession,
	type ServingParts,
	sessionNotFound,
	shuttingDown,
	unknownModel,
} from "./served-session.ts";
import { followLog, type LoggedEvent } from "./session-log.ts";
import type { SessionMessage } from "./session-message.ts";
import { SessionsAtHand } from "./sessions-at-hand.ts";

/** Options of `sessionService`. */
export interface SessionServiceOptions {
	/** Where the sessions live: `sqliteHost(path)`, or `memoryHost()` for such as need not survive. */
	readonly host: Host;
	/** What the agents of all sessions are made with: model, system prompt, tools, prices and so on. */
	readonly agent: AgentOptions;
	/** The model that clients mean by a name. Default: only the agent's own model, by its id. */
	readonly models?: (name: string) => AgentOptions["model"] | Promise<AgentOptions["model"]>;
	/** How many steps an execution may take, over all its suspensions. Default: no limit. */
	readonly maxSteps?: number;
	/** Milliseconds that clients have for the result of a remote tool. Default: no limit. Approvals never run out. */
	readonly remoteToolTimeoutMs?: number;
	/**
	 * Milliseconds for which deltas are gathered before they are committed and told. Default 20. Less: they are told
	 * earlier; more: fewer commits.
	 */
	readonly deltaFlushMs?: number;
	/** Milliseconds between two looks for runs that a dead process left. Default 500. */
	readonly recoverEveryMs?: number;
}

/** An execution that was accepted: it is durable. */
export interface Submitted {
	readonly sessionId: string;
	readonly runId: string;
	/** Events behind this id are those of the execution, from its `session_start` on. */
	readonly after: string;
	/** Whether the session is new. */
	readonly created: boolean;
	/** Whether the same request was accepted before, under the same idempotency key. */
	readonly attached: boolean;
}

/** A session as its clients see it. */
export interface SessionInfo {
	readonly sessionId: string;
	readonly status: SessionStatus;
	readonly messages: readonly SessionMessage[];
	/** US dollars of all answers whose price is known. */
	readonly totalCost: number;
	readonly pendingToolCalls?: readonly PendingSessionCall[];
	/** The model that answered last, else the one that will. */
	readonly model: string;
	/** Id of the last event; absent while there is none. */
	readonly lastEventId?: string;
	/** The last run; events behind `after` are its own, over all its suspensions. Absent while there is none. */
	readonly lastRun?: { readonly runId: string; readonly after: string };
}

/** A session in a list. */
export interface SessionSummary {
	readonly sessionId: string;
	/** Milliseconds since the epoch. */
	readonly createdAt: number;
	readonly updatedAt: number;
	/** Whether a run is under way or waits. */
	readonly isOpen: boolean;
}

/** A page of sessions; `next` is where the following one begins. */
export interface SessionPage {
	readonly sessions: readonly SessionSummary[];
	readonly next?: string;
}

/** Sessions served to others. */
export interface SessionService {
	/**
	 * Accepts an execution; durable when it resolves.
	 *
	 * Rejects with `invalid_input`, `forbidden_option`, `unknown_model`, `context_required`, `tool_name_conflict`,
	 * `session_busy`, `pending_tool_calls`, `no_pending_tool_calls`, `unknown_tool_call_id`, `tool_call_settled`,
	 * `duplicate_tool_result`, `tool_result_conflict`, `tool_result_expired`, `idempotency_key_reused`, `shutting_down`.
	 */
	submit(
		tenant: string,
		sessionId: string,
		request: ExecuteRequest,
		options?: { readonly idempotencyKey?: string },
	): Promise<Submitted>;
	/** Undefined when there is no such session of this tenant. */
	get(tenant: string, sessionId: string): Promise<SessionInfo | undefined>;
	/** Sessions of a tenant in the order of their ids. At most 100 at a time, 50 by default. */
	list(tenant: string, options?: { readonly after?: string; readonly limit?: number }): Promise<SessionPage>;
	/**
	 * Events of a session in bounded batches; an empty one says, once, that what comes is live. Its iterator rejects with
	 * `session_not_found`, `invalid_event_id`, `events_expired`, and ends at once when it is left or the signal fires.
	 */
	follow(tenant: string, sessionId: string, options?: FollowOptions): AsyncIterable<readonly LoggedEvent[]>;
	/** Ends the run that is under way or waits. Rejects with `session_not_found`. */
	stop(tenant: string, sessionId: string): Promise<{ readonly stopped: boolean }>;
	/**
	 * Ends what a session does and removes all of it, the sessions of its sub-agents included. Whoever follows it is told
	 * nothing more. Rejects with `session_not_found`.
	 */
	delete(tenant: string, sessionId: string): Promise<void>;
	/** Goes on with what dead processes left, and keeps looking for such. */
	recover(): Promise<void>;
	/** Accepts no more; runs may finish for so many milliseconds (default 0), then they are left to be resumed. */
	close(options?: { readonly drainMs?: number }): Promise<void>;
}

/** What the places of all tenants begin with. */
const tenants = sessionPlace("", "").slice(0, 4);
/** Nobody's process lives on for a look. */
const unheldTimers: Timers = {
	after(milliseconds, wake) {
		const timer = setTimeout(wake, milliseconds);
		timer.unref?.();
		return () => clearTimeout(timer);
	},
};

/**
 * Serves sessions over a host: what `@holdfast/server` puts on HTTP.
 * @throws TypeError naming the option that is missing, unknown or wrong, as `new Agent()` does; HoldfastError
 * `invalid_tool`, `duplicate_tool`.
 * @see document 3, "HTTP Transport Layer"
 */
export function sessionService(options: SessionServiceOptions): SessionService {
	return new Service(options);
}

class Service implements SessionService {
	readonly #options: SessionServiceOptions;
	readonly #parts: ServingParts;
	readonly #sessions = new SessionsAtHand();
	readonly #waiting: WaitingSessions;
	readonly #following = new Set<() => void>();
	/** Executions that are being accepted. */
	readonly #accepting = new Set<Promise<Submitted>>();
	readonly #timers: Timers;
	#callOffLook: (() => void) | undefined;
	#closing = false;

	constructor(options: SessionServiceOptions) {
		checkServed(options);
		const { host, agent, models, maxSteps, remoteToolTimeoutMs, deltaFlushMs = 20 } = options;
		this.#options = options;
		this.#waiting = new WaitingSessions(host.journal, agent.ports?.clock ?? { now: () => Date.now() });
		this.#timers = agent.ports?.timers ?? unheldTimers;
		this.#parts = {
			host,
			agent: {
				...agent,
				tools: toolsAsGiven(agent.tools),
				keepDeltasMs: deltaFlushMs,
				...(maxSteps === undefined ? {} : { maxSteps }),
				...(remoteToolTimeoutMs === undefined ? {} : { remoteToolTimeoutMs }),
			},
			model: (name) => (name === modelIdOf(agent.model) ? agent.model : models?.(name)),
		};
	}

	async submit(
		tenant: string,
		sessionId: string,
		request: ExecuteRequest,
		{ idempotencyKey }: { readonly idempotencyKey?: string } = {},
	): Promise<Submitted> {
		if (this.#closing) throw shuttingDown();
		const accepting = this.#accept(tenant, sessionId, request, idempotencyKey);
		this.#accepting.add(accepting);
		try {
			return await accepting;
		} catch (error) {
			if (this.#closing && (error as { code?: unknown }).code === "agent_closed") throw shuttingDown();
			throw error;
		} finally {
			this.#accepting.delete(accepting);
		}
	}

	async #accept(
		tenant: string,
		sessionId: string,
		request: ExecuteRequest,
		idempotencyKey: string | undefined,
	): Promise<Submitted> {
		const input = readInput(request.input);
		const options = readOptions(request.options);
		let created = false;
		const session = await this.#session(tenant, sessionId, async () => {
			if (request.context === undefined || request.context === null) throw contextRequired();
			const context = readContext(request.context);
			if (input.kind === "answers") throw contextRequired();
			if (options.model !== undefined && (await this.#parts.model(options.model)) === undefined)
				throw unknownModel(options.model);
			const tools = context.tools.map((tool) => ({ ...tool, kind: "remote" as const }));
			const made = await ServedSession.create(this.#parts, tenant, sessionId, { ...context, tools });
			created = true;
			return made;
		});
		const { runId, after, attached } = await (session as ServedSession).execute(input, {
			options,
			idempotencyKey,
		});
		return { sessionId, runId, after, created, attached };
	}

	async get(tenant: string, sessionId: string): Promise<SessionInfo | undefined> {
		const session = await this.#session(tenant, sessionId);
		if (session === undefined) return undefined;
		const { view } = session;
		await view.refresh();
		const { status, messages, totalCost, pendingToolCalls, lastRun } = view;
		const lastEventId = await view.lastEventId();
		return {
			sessionId,
			status,
			messages,
			totalCost,
			model: session.model,
			...(pendingToolCalls === undefined ? {} : { pendingToolCalls }),
			...(lastEventId === undefined ? {} : { lastEventId }),
			...(lastRun === undefined ? {} : { lastRun }),
		};
	}

	async list(
		tenant: string,
		options: { readonly after?: string; readonly limit?: number } = {},
	): Promise<SessionPage> {
		const limit = Math.min(100, Math.max(1, options.limit ?? 50));
		const heads = await this.#parts.host.journal.list({
			prefix: sessionPlace(tenant, ""),
			limit: limit + 1,
			...(options.after === undefined ? {} : { after: sessionPlace(tenant, options.after) }),
		});
		const sessions = heads.slice(0, limit).map(({ key, createdAt, updatedAt, openRunId }) => {
			const sessionId = keyOfPlace(tenant, key) ?? "";
			return { sessionId, createdAt, updatedAt, isOpen: openRunId !== undefined };
		});
		const last = sessions.at(-1);
		return heads.length > limit && last !== undefined ? { sessions, next: last.sessionId } : { sessions };
	}

	follow(
		tenant: string,
		sessionId: string,
		{ signal, ...options }: FollowOptions = {},
	): AsyncIterableIterator<readonly LoggedEvent[]> {
		const left = new AbortController();
		const either = signal === undefined ? left.signal : AbortSignal.any([left.signal, signal]);
		const leave = (): void => {
			left.abort();
			this.#following.delete(leave);
		};
		if (this.#closing) left.abort();
		this.#following.add(leave);
		const events = this.#events(tenant, sessionId, { ...options, signal: either });
		return {
			next: async () => {
				const next = await events.next().catch((error) => {
					leave();
					throw error;
				});
				if (next.done) leave();
				return next;
			},
			async return() {
				leave();
				await events.return();
				return { done: true, value: undefined };
			},
			[Symbol.asyncIterator]() {
				return this;
			},
		};
	}

	async *#events(
		tenant: string,
		sessionId: string,
		options: FollowOptions,
	): AsyncGenerator<readonly LoggedEvent[], void, void> {
		if ((await this.#session(tenant, sessionId)) === undefined) throw sessionNotFound();
		yield* followLog(this.#parts.host.journal, sessionPlace(tenant, sessionId), sessionId, options);
	}

	async stop(tenant: string, sessionId: string): Promise<{ readonly stopped: boolean }> {
		const session = await this.#session(tenant, sessionId);
		if (session === undefined) throw sessionNotFound();
		return { stopped: await session.stop() };
	}

	async delete(tenant: string, sessionId: string): Promise<void> {
		const session = await this.#session(tenant, sessionId);
		if (session === undefined) throw sessionNotFound();
		await session.delete();
		await this.#sessions.forget(sessionPlace(tenant, sessionId), session);
	}

	async recover(): Promise<void> {
		await this.#look();
		this.#lookAgain();
	}

	/** Goes on with what nobody alive works on. One session that cannot be gone on with keeps back none of the others. */
	async #look(): Promise<void> {
		const { journal } = this.#parts.host;
		const places = await orphanedKeys(journal, tenants);
		for (const place of [...places, ...(await this.#waiting.withDeadlines("soon", tenants))]) {
			const { key, namespace } = readPlace(place);
			if (namespace === undefined || this.#closing) continue;
			const resumed = this.#session(namespace, key).then((session) => session?.resume());
			// What cannot be gone on with now, another look finds again.
			const run = await resumed.catch(() => this.#waiting.missed(place));
			void run?.result();
		}
	}

	/** Looks again in a while, also after a look that failed. */
	#lookAgain(): void {
		this.#callOffLook?.();
		if (this.#closing) return;
		this.#callOffLook = this.#timers.after(this.#options.recoverEveryMs ?? 500, () => {
			this.#look()
				.catch(() => {})
				.finally(() => this.#lookAgain());
		});
	}

	async close({ drainMs = 0 }: { readonly drainMs?: number } = {}): Promise<void> {
		this.#closing = true;
		this.#callOffLook?.();
		let timer: ReturnType<typeof setTimeout> | undefined;
		const over = new Promise<void>((resolve) => {
			timer = setTimeout(resolve, drainMs);
		});
		// What was asked for before belongs to what may finish.
		await Promise.race([Promise.allSettled(this.#accepting), over]);
		await Promise.race([this.#sessions.quiet(), over]);
		clearTimeout(timer);
		await this.#sessions.close();
		for (const leave of [...this.#following]) leave();
	}

	/** The session, made where it is not kept. */
	async #session(
		tenant: string,
		sessionId: string,
		make: () => Promise<ServedSession | undefined> = () => Promise.resolve(undefined),
	): Promise<ServedSession | undefined> {
		const place = sessionPlace(tenant, sessionId);
		const load = (): Promise<ServedSession | undefined> => ServedSession.load(this.#parts, tenant, sessionId);
		const open = async (): Promise<ServedSession | undefined> => {
			const known = await load();
			if (known !== undefined) return known;
			return make().catch(async (error) => {
				// Another server may have made it meanwhile, and begun.
				const made = (error as { code?: unknown }).code === "session_exists" ? await load() : undefined;
				if (made === undefined) throw error;
				return made;
			});
		};
		for (;;) {
			const session = await this.#sessions.open(place, open);
			if (session === undefined || (await session.stands())) return session;
			await this.#sessions.forget(place, session);
		}
	}
}

function contextRequired(): HoldfastError {
	return new HoldfastError("context_required", "Context required for new session");
}
