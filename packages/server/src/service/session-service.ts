// Sessions served to clients, by owner and id, over one host (keeps I1, I7). All tenants share one table of sessions; a
// tenant, and a user of a tenant, sees only its own. The service resumes the work of dead processes. Sessions stay
// readable after it was closed.
import { checkOptions, HoldfastTypeError, readDuration } from "@holdfast/upp";
import type { AgentRun, Host } from "holdfast";
import {
	type AgentFor,
	type ChosenOptions,
	type ExecuteInput,
	type ExecuteSession,
	ExecuteSessions,
	followLog,
	type LoggedEvent,
	type ObservedRun,
	type RunObserver,
	readCaller,
	readInput,
	readOptions,
	type SessionContext,
	type ShownError,
} from "holdfast/execute";
import type { Recovery, StoreStats } from "holdfast/host";
import type { DrainOptions, RecoverOptions, SuperviseOptions, WorkOptions } from "holdfast/types";
import { acceptExecution, type WantedExecution } from "./accept-execution.ts";
import { acceptWhole } from "./accept-whole.ts";
import { backgroundOf, withBackground } from "./background-calls.ts";
import { contextRequired, forCaller, isGone, sessionNotFound } from "./client-errors.ts";
import { type ClientRules, checkFields, clientRules } from "./client-fields.ts";
import { withoutPatterns } from "./client-schema.ts";
import { executeFirst } from "./execute-first.ts";
import { Followers, followedBy, type Reading, readToEnd } from "./followers.ts";
import { inspectSessions } from "./inspect-sessions.ts";
import type { SessionInspection } from "./inspection.ts";
import { knownModels } from "./named-models.ts";
import { readContext } from "./read-context.ts";
import { RecentViews } from "./recent-views.ts";
import type { Accepted } from "./seen-requests.ts";
import {
	readServedKey,
	readSessionKey,
	type ServedCaller,
	type SessionOwner,
	servedKey,
	servedKeys,
	sessionKeyOf,
} from "./served-key.ts";
import {
	type ExecuteRequest,
	type ServedFollowOptions,
	type ServedRun,
	type SessionInfo,
	type SessionPage,
	type SessionService,
	type SessionServiceOptions,
	type Submitted,
	sessionServiceNames,
	type WhileRunning,
} from "./service-types.ts";
import { shownError } from "./shown-errors.ts";
import { whenBegun } from "./when-begun.ts";

/**
 * Serves sessions over a host; `createHandler`, `createServer` and `listen` serve them over HTTP.
 * @throws HoldfastError `invalid_option` naming the option that is missing, unknown or wrong, as `new Agent()` does;
 * HoldfastError `invalid_tool`, `duplicate_tool`.
 */
export function sessionService(options: SessionServiceOptions): SessionService {
	checkOptions(options, sessionServiceNames, { of: "sessionService()" });
	return new Service(options);
}

class Service implements SessionService {
	readonly inspection: SessionInspection;
	readonly clients?: "bring-context";
	readonly storeStats?: () => Promise<StoreStats>;
	readonly #host: Host;
	readonly #sessions: ExecuteSessions;
	readonly #views: RecentViews;
	readonly #shown: ShownError;
	readonly #rules: ClientRules;
	readonly #sessionsOf: "user" | "tenant";
	readonly #observers = new Set<(run: ServedRun) => RunObserver>();
	readonly #lookEveryMs: number | undefined;
	readonly #followers = new Followers();
	/** How far each follower of a session has read. */
	readonly #readings = new Map<Reading, ExecuteSession>();
	readonly #whileRunning: WhileRunning;
	/** Requests that have not been answered yet. */
	readonly #asked = new Set<Promise<unknown>>();

	constructor({ host, agent, models, agentFor, ...options }: SessionServiceOptions) {
		if (typeof agent !== "object" || agent === null)
			throw new HoldfastTypeError(
				"invalid_option",
				"The option `agent` must be an agent, or the options of one.",
			);
		if (typeof host !== "object" || host === null)
			throw new HoldfastTypeError(
				"invalid_option",
				"The option `host` must be a host, such as the return value of `sqliteHost()` or `memoryHost()`.",
			);
		const { maxSteps, remoteToolTimeoutMs, deltaFlushMs = 20, recoverEveryMs, sessionsOf = "user" } = options;
		if (options.clients !== undefined) this.clients = options.clients;
		this.#whileRunning = options.whileRunning ?? "queue";
		this.#rules = clientRules(options);
		this.#sessionsOf = sessionsOf;
		this.#shown = shownError(options.shownError);
		this.#views = new RecentViews(this.#shown);
		this.#host = host;
		const { find, names } = knownModels(models);
		if (host.stats !== undefined) this.storeStats = host.stats;
		this.#lookEveryMs = readDuration("recoverEveryMs", recoverEveryMs, 500);
		for (const [name, value] of Object.entries({ deltaFlushMs, remoteToolTimeoutMs }))
			readDuration(name, value, 0, { most: Number.POSITIVE_INFINITY });
		this.#sessions = new ExecuteSessions({
			host,
			keys: servedKeys,
			agent: {
				...agent,
				keepDeltasMs: deltaFlushMs,
				...(maxSteps === undefined ? {} : { maxSteps }),
				...(remoteToolTimeoutMs === undefined ? {} : { remoteToolTimeoutMs }),
			},
			models: find,
			...(agentFor === undefined ? {} : { agentFor: agentOf(agentFor) }),
			observe: (run) => this.#observed(run),
			life: { drain: (quiet) => this.#drain(quiet), release: async () => this.#followers.leaveAll() },
			checkedSchema: ({ name, parameters }) => withoutPatterns(parameters, `the parameters of ${name}`),
		});
		this.inspection = inspectSessions({
			host,
			models: names,
			plugins: agent.plugins ?? [],
			ownerOf: (owner) => this.#ownerOf(owner),
			callerOf: (caller) => readCaller(ownerOf(caller)) as ServedCaller,
			session: (owner, sessionId) => this.#session(owner, sessionId),
			found: (owner, sessionId) => this.#found(owner, sessionId),
			answer: (session, sessionId, act) => this.#answer(session, sessionId, act),
			until: (signal) => this.#followers.add(signal, !this.#sessions.lifecycle.isOpen),
		});
	}

	async submit(
		given: string | ServedCaller,
		sessionId: string,
		request: ExecuteRequest,
		{ idempotencyKey }: { readonly idempotencyKey?: string } = {},
	): Promise<Submitted> {
		this.#sessions.lifecycle.ensureOpen();
		const caller = readCaller(ownerOf(given)) as ServedCaller;
		checkFields(request, this.#rules);
		const session = this.#session(caller, sessionId);
		return this.#answer(session, sessionId, () =>
			session.inTurn(async () => {
				const { waitsFor, ...accepted } = await this.#accept(session, caller, request, idempotencyKey);
				const submitted = { sessionId, ...accepted };
				return waitsFor === undefined
					? submitted
					: { ...submitted, waitsFor, begun: this.#begun(session, waitsFor, accepted) };
			}),
		);
	}

	async #accept(
		session: ExecuteSession,
		caller: ServedCaller,
		request: ExecuteRequest,
		idempotencyKey: string | undefined,
	): Promise<Accepted & { readonly created: boolean }> {
		const input = readInput(request.input);
		const options = readOptions(request.options);
		const { messageId, insteadOf, neverSteers, whilePending, isNew } = request;
		const found = isNew === true ? undefined : await session.setup();
		if (found === undefined && insteadOf !== undefined) throw sessionNotFound();
		const whileRunning =
			neverSteers === true && this.#whileRunning === "steer" ? "queue" : this.#whileRunning;
		const during = { whileRunning, whilePending };
		const about = { input, options, idempotencyKey, messageId, insteadOf, caller, ...during };
		const accept = (made: Pick<WantedExecution, "setup" | "isNew">): Promise<Accepted> =>
			acceptExecution(this.#host, session, { ...about, ...made });
		if (found !== undefined)
			return { ...(await acceptWhole(this.#host, session, () => accept({ setup: found }))), created: false };
		const context = await this.#contextOf({ ...request, input, options });
		await session.checkInput(input);
		return executeFirst(session, context, { options, caller }, accept);
	}

	/** Resolves when a waiting message is accepted. */
	#begun(
		{ storeKey }: ExecuteSession,
		waitsFor: string,
		{ after }: Pick<Accepted, "after">,
	): NonNullable<Submitted["begun"]> {
		return async (given) => {
			const { signal, over } = this.#followers.add(given, !this.#sessions.lifecycle.isOpen);
			try {
				return await whenBegun(this.#host, { storeKey, waitsFor, after }, signal);
			} finally {
				over();
			}
		};
	}

	/** Returns the context of a session to create. An invalid first execution is refused before that. */
	async #contextOf({ context: given, input, options: { model } }: NewSession): Promise<SessionContext> {
		if (given === undefined || given === null || input.kind === "answers") throw contextRequired();
		const context = readContext(given);
		if (model !== undefined) await this.#sessions.agents.model(model);
		return context;
	}

	async get(owner: string | SessionOwner, sessionId: string): Promise<SessionInfo | undefined> {
		const session = this.#session(owner, sessionId);
		const setup = await session.setup();
		if (setup === undefined) return undefined;
		const view = this.#views.of(session);
		await view.refresh();
		const { status, messages, totalCost, pendingToolCalls, waiting, lastRun, workflowState } = view;
		const lastEventId = await view.lastEventId();
		return {
			sessionId,
			status,
			messages,
			totalCost,
			model: view.model ?? setup.model ?? this.#sessions.agents.modelId ?? "",
			...(pendingToolCalls === undefined ? {} : { pendingToolCalls }),
			...(await backgroundOf(session)),
			...(waiting === undefined ? {} : { waiting }),
			...(lastEventId === undefined ? {} : { lastEventId }),
			...(lastRun === undefined ? {} : { lastRun }),
			...(workflowState === undefined ? {} : { workflowState }),
		};
	}

	async list(
		owner: string | SessionOwner,
		options: { readonly after?: string; readonly limit?: number } = {},
	): Promise<SessionPage> {
		const limit = Math.min(100, Math.max(1, options.limit ?? 50));
		const whose = this.#ownerOf(owner);
		const heads = await this.#host.journal.list({
			prefix: servedKey(whose, ""),
			limit: limit + 1,
			...(options.after === undefined ? {} : { after: servedKey(whose, options.after) }),
		});
		const sessions = heads.slice(0, limit).map(({ key, createdAt, updatedAt, openRunId }) => {
			const { sessionId = "" } = readServedKey(key) ?? {};
			return { sessionId, createdAt, updatedAt, isOpen: openRunId !== undefined };
		});
		const last = sessions.at(-1);
		return heads.length > limit && last !== undefined ? { sessions, next: last.sessionId } : { sessions };
	}

	follow(
		owner: string | SessionOwner,
		sessionId: string,
		{ signal, ...options }: ServedFollowOptions = {},
	): AsyncIterableIterator<readonly LoggedEvent[]> {
		const follower = this.#followers.add(signal, !this.#sessions.lifecycle.isOpen);
		const events = this.#events(owner, sessionId, { ...options, signal: follower.signal });
		const followed = followedBy(follower, events, () => this.#readings.delete(followed.reading));
		this.#readings.set(followed.reading, this.#session(owner, sessionId));
		return followed;
	}

	async *#events(
		owner: string | SessionOwner,
		sessionId: string,
		{ isKnown = false, ...options }: ServedFollowOptions,
	): AsyncGenerator<readonly LoggedEvent[], void, void> {
		const { storeKey } = isKnown ? this.#session(owner, sessionId) : await this.#found(owner, sessionId);
		const log = followLog(this.#host.journal, storeKey, sessionId, { ...options, shown: this.#shown });
		let hasRead = !isKnown;
		try {
			for await (const events of log) {
				// If nothing was read, the session may have been deleted again.
				if (!hasRead && events.length === 0) await this.#found(owner, sessionId);
				hasRead = true;
				yield await withBackground(this.#host, this.#session(owner, sessionId), events);
			}
		} catch (error) {
			if (!hasRead) await this.#found(owner, sessionId);
			throw error;
		}
	}

	async stop(owner: string | SessionOwner, sessionId: string): Promise<{ readonly stopped: boolean }> {
		const session = await this.#found(owner, sessionId);
		return this.#answer(session, sessionId, async () => ({ stopped: await session.stop() }));
	}

	async delete(owner: string | SessionOwner, sessionId: string): Promise<void> {
		const session = await this.#found(owner, sessionId);
		await this.#answer(session, sessionId, () => session.delete());
		this.#views.forget(session);
	}

	observe(begin: (run: ServedRun) => RunObserver): () => void {
		this.#observers.add(begin);
		return () => this.#observers.delete(begin);
	}

	recover(options?: RecoverOptions): Recovery {
		return this.#sessions.lifecycle.recover(options);
	}

	supervise(options?: SuperviseOptions): Promise<void> {
		return this.#sessions.lifecycle.supervise({ lookEveryMs: this.#lookEveryMs, ...options });
	}

	work(options?: WorkOptions): AsyncIterable<AgentRun> {
		return this.#sessions.lifecycle.work(options);
	}

	close(options?: DrainOptions): Promise<void> {
		return this.#sessions.lifecycle.close(options);
	}

	/** Requests from before the close may still start, and followers of a run may read it to its end. */
	async #drain(quiet: () => Promise<void>): Promise<void> {
		const watched = [...this.#readings].filter(([, session]) => session.isBusy);
		await Promise.allSettled(this.#asked);
		await quiet();
		await readToEnd(this.#host, watched);
	}

	/** Runs a request on a session unless the service closes. */
	async #answer<T>({ key }: ExecuteSession, sessionId: string, act: () => Promise<T>): Promise<T> {
		const answering = act();
		this.#asked.add(answering);
		try {
			return await answering;
		} catch (error) {
			// Another request has deleted the session in the meantime.
			if (isGone(error)) throw sessionNotFound();
			throw forCaller(error, key, sessionId);
		} finally {
			this.#asked.delete(answering);
		}
	}

	#observed({ sessionKey, runId, caller }: ObservedRun): RunObserver | undefined {
		if (this.#observers.size === 0) return undefined;
		const run = {
			...(caller?.user === undefined ? {} : { user: caller.user }),
			...readSessionKey(sessionKey),
			runId,
		};
		const seeing = [...this.#observers].map((begin) => begin(run));
		return {
			notify(event) {
				for (const observer of seeing) observer.notify(event);
			},
			modelFailed(call) {
				for (const observer of seeing) observer.modelFailed(call);
			},
		};
	}

	#ownerOf(given: string | SessionOwner): SessionOwner {
		const { tenant, user } = ownerOf(given);
		return this.#sessionsOf === "tenant" || user === undefined ? { tenant } : { tenant, user };
	}

	#session(owner: string | SessionOwner, sessionId: string): ExecuteSession {
		return this.#sessions.session(sessionKeyOf(this.#ownerOf(owner), sessionId));
	}

	async #found(owner: string | SessionOwner, sessionId: string): Promise<ExecuteSession> {
		const session = this.#session(owner, sessionId);
		if (!(await session.exists())) throw sessionNotFound();
		return session;
	}
}

/** The parts of a new session. */
interface NewSession {
	readonly context?: unknown;
	readonly input: ExecuteInput;
	readonly options: ChosenOptions;
}

/** Adapts the application's function to sessions: the owner of a session is in its key, and the caller is recorded. */
function agentOf(agentFor: NonNullable<SessionServiceOptions["agentFor"]>): AgentFor {
	return ({ sessionKey, caller }) => agentFor({ ...caller, ...readSessionKey(sessionKey) });
}

function ownerOf<Owner extends SessionOwner>(given: string | Owner): SessionOwner | Owner {
	return typeof given === "string" ? { tenant: given } : given;
}
