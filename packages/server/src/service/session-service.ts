// Sessions served to others, by tenant and id, over one host (keeps I1, I7): one table of sessions for all tenants; a tenant
// sees its own only. What a dead process left is resumed.
//
// open: executions are accepted. closing: no more are, and runs may end. closed: runs are suspended, streams have ended;
// sessions can still be looked at.
import type { FollowOptions, Host } from "holdfast";
import {
	type ChosenOptions,
	type ExecuteInput,
	type ExecuteSession,
	ExecuteSessions,
	followLog,
	type LoggedEvent,
	readInput,
	readOptions,
	type SessionSetup,
} from "holdfast/execute";
import { acceptExecution } from "./accept-execution.ts";
import { contextRequired, forCaller, sessionNotFound, shuttingDown } from "./client-errors.ts";
import { withoutPatterns } from "./client-schema.ts";
import { OneAtATime } from "./one-at-a-time.ts";
import { readContext } from "./read-context.ts";
import { RecentViews } from "./recent-views.ts";
import type { Accepted } from "./seen-requests.ts";
import { readServedKey, servedKey, servedKeys, sessionKeyOf } from "./served-key.ts";
import type {
	ExecuteRequest,
	SessionInfo,
	SessionPage,
	SessionService,
	SessionServiceOptions,
	Submitted,
	WhileRunning,
} from "./service-types.ts";
import { whenBegun } from "./when-begun.ts";

/**
 * Serves sessions over a host: what `createHandler`, `createServer` and `listen` put on HTTP.
 * @throws TypeError naming the option that is missing, unknown or wrong, as `new Agent()` does; HoldfastError
 * `invalid_tool`, `duplicate_tool`.
 * @see document 3, "HTTP Transport Layer"
 */
export function sessionService(options: SessionServiceOptions): SessionService {
	return new Service(options);
}

class Service implements SessionService {
	readonly #host: Host;
	readonly #sessions: ExecuteSessions;
	readonly #views = new RecentViews();
	readonly #lookEveryMs: number | undefined;
	readonly #following = new Set<() => void>();
	readonly #whileRunning: WhileRunning;
	/** Executions are accepted one after the other in each session. */
	readonly #accepting = new OneAtATime();
	/** Requests that are not answered yet. */
	readonly #asked = new Set<Promise<unknown>>();
	#isClosing = false;

	constructor({ host, agent, models, ...options }: SessionServiceOptions) {
		if (typeof agent !== "object" || agent === null)
			throw new TypeError("The option `agent` must be an agent, or the options of one.");
		const { maxSteps, remoteToolTimeoutMs, deltaFlushMs = 20, recoverEveryMs } = options;
		this.#whileRunning = checkedWhileRunning(options.whileRunning);
		this.#host = host;
		this.#lookEveryMs = recoverEveryMs;
		this.#sessions = new ExecuteSessions({
			host,
			keys: servedKeys,
			agent: {
				...agent,
				keepDeltasMs: deltaFlushMs,
				...(maxSteps === undefined ? {} : { maxSteps }),
				...(remoteToolTimeoutMs === undefined ? {} : { remoteToolTimeoutMs }),
			},
			models,
			checkedSchema: ({ name, parameters }) => withoutPatterns(parameters, `the parameters of ${name}`),
		});
	}

	async submit(
		tenant: string,
		sessionId: string,
		request: ExecuteRequest,
		{ idempotencyKey }: { readonly idempotencyKey?: string } = {},
	): Promise<Submitted> {
		if (this.#isClosing) throw shuttingDown();
		const session = this.#session(tenant, sessionId);
		return this.#answer(session, sessionId, () =>
			this.#accepting.do(session.key, async () => {
				const { created, waitsFor, ...accepted } = await this.#accept(session, request, idempotencyKey);
				const submitted = { sessionId, created, ...accepted };
				return waitsFor === undefined
					? submitted
					: { ...submitted, begun: this.#begun(session, waitsFor, accepted) };
			}),
		);
	}

	async #accept(
		session: ExecuteSession,
		request: ExecuteRequest,
		idempotencyKey: string | undefined,
	): Promise<Accepted & { readonly created: boolean }> {
		const input = readInput(request.input);
		const options = readOptions(request.options);
		const { messageId, insteadOf, neverSteers } = request;
		const found = await session.setup();
		if (found === undefined && insteadOf !== undefined) throw sessionNotFound();
		const { setup, created } =
			found === undefined
				? await this.#create(session, request.context, input, options)
				: { setup: found, created: false };
		const whileRunning =
			neverSteers === true && this.#whileRunning === "steer" ? "queue" : this.#whileRunning;
		const accepted = await acceptExecution(this.#host, session, {
			input,
			options,
			setup,
			idempotencyKey,
			messageId,
			insteadOf,
			whileRunning,
		});
		return { ...accepted, created };
	}

	/** When a message that waits is taken in. */
	#begun(
		{ storeKey }: ExecuteSession,
		waitsFor: string,
		{ after }: Pick<Accepted, "after">,
	): NonNullable<Submitted["begun"]> {
		return async (given) => {
			const { signal, over } = this.#leaving(given);
			try {
				return await whenBegun(this.#host, { storeKey, waitsFor, after }, signal);
			} finally {
				over();
			}
		};
	}

	async #create(
		session: ExecuteSession,
		given: unknown,
		input: ExecuteInput,
		{ model }: ChosenOptions,
	): Promise<{ readonly setup: SessionSetup; readonly created: boolean }> {
		if (given === undefined || given === null) throw contextRequired();
		const context = readContext(given);
		if (input.kind === "answers") throw contextRequired();
		// An invalid first execution is refused before a session is created.
		if (model !== undefined) await this.#sessions.agents.model(model);
		try {
			return { setup: await session.create(context), created: true };
		} catch (error) {
			// Another server may have created it meanwhile, and begun.
			const setup = codeOf(error) === "session_exists" ? await session.setup() : undefined;
			if (setup === undefined) throw error;
			return { setup, created: false };
		}
	}

	async get(tenant: string, sessionId: string): Promise<SessionInfo | undefined> {
		const session = this.#session(tenant, sessionId);
		const setup = await session.setup();
		if (setup === undefined) return undefined;
		const view = this.#views.of(session);
		await view.refresh();
		const { status, messages, totalCost, pendingToolCalls, lastRun } = view;
		const lastEventId = await view.lastEventId();
		return {
			sessionId,
			status,
			messages,
			totalCost,
			model: view.model ?? setup.model ?? this.#sessions.agents.modelId ?? "",
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
		const heads = await this.#host.journal.list({
			prefix: servedKey(tenant, ""),
			limit: limit + 1,
			...(options.after === undefined ? {} : { after: servedKey(tenant, options.after) }),
		});
		const sessions = heads.slice(0, limit).map(({ key, createdAt, updatedAt, openRunId }) => {
			const { sessionId = "" } = readServedKey(key) ?? {};
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
		const { signal: left, over, leave } = this.#leaving(signal);
		const events = this.#events(tenant, sessionId, { ...options, signal: left });
		return {
			async next() {
				try {
					const next = await events.next();
					if (next.done) over();
					return next;
				} catch (error) {
					over();
					throw error;
				}
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

	/** A signal that fires with the given one, when `leave` is called, and when the service closes. */
	#leaving(signal: AbortSignal | undefined): {
		readonly signal: AbortSignal;
		readonly over: () => void;
		readonly leave: () => void;
	} {
		const left = new AbortController();
		const over = (): void => {
			this.#following.delete(leave);
			signal?.removeEventListener("abort", leave);
		};
		const leave = (): void => {
			over();
			left.abort("left"); // without a reason it would make an error each time
		};
		this.#following.add(leave);
		signal?.addEventListener("abort", leave);
		if (this.#isClosing || signal?.aborted) leave();
		return { signal: left.signal, over, leave };
	}

	async *#events(
		tenant: string,
		sessionId: string,
		options: FollowOptions,
	): AsyncGenerator<readonly LoggedEvent[], void, void> {
		const { storeKey } = await this.#found(tenant, sessionId);
		yield* followLog(this.#host.journal, storeKey, sessionId, options);
	}

	async stop(tenant: string, sessionId: string): Promise<{ readonly stopped: boolean }> {
		const session = await this.#found(tenant, sessionId);
		return this.#answer(session, sessionId, async () => ({ stopped: await session.stop() }));
	}

	async delete(tenant: string, sessionId: string): Promise<void> {
		const session = await this.#found(tenant, sessionId);
		await this.#answer(session, sessionId, () => session.delete());
		this.#views.forget(session);
	}

	recover(): Promise<void> {
		return this.#sessions.supervise({ lookEveryMs: this.#lookEveryMs });
	}

	async close({ drainMs = 0 }: { readonly drainMs?: number } = {}): Promise<void> {
		this.#isClosing = true;
		let timer: ReturnType<typeof setTimeout> | undefined;
		const over = new Promise<void>((resolve) => {
			timer = setTimeout(resolve, drainMs);
		});
		// Requests from before the close may still finish.
		await Promise.race([Promise.allSettled(this.#asked), over]);
		await Promise.race([this.#sessions.quiet(), over]);
		clearTimeout(timer);
		await this.#sessions.close();
		for (const leave of [...this.#following]) leave();
	}

	/** Runs a request on a session, unless the service closes. */
	async #answer<T>({ key }: ExecuteSession, sessionId: string, act: () => Promise<T>): Promise<T> {
		const answering = act();
		this.#asked.add(answering);
		try {
			return await answering;
		} catch (error) {
			throw this.#isClosing && codeOf(error) === "agent_closed"
				? shuttingDown()
				: forCaller(error, key, sessionId);
		} finally {
			this.#asked.delete(answering);
		}
	}

	#session(tenant: string, sessionId: string): ExecuteSession {
		return this.#sessions.session(sessionKeyOf(tenant, sessionId));
	}

	async #found(tenant: string, sessionId: string): Promise<ExecuteSession> {
		const session = this.#session(tenant, sessionId);
		if ((await session.setup()) === undefined) throw sessionNotFound();
		return session;
	}
}

function checkedWhileRunning(given: WhileRunning = "queue"): WhileRunning {
	if (["queue", "steer", "refuse"].includes(given)) return given;
	throw new TypeError('The option `whileRunning` must be "queue", "steer" or "refuse".');
}

function codeOf(error: unknown): unknown {
	return (error as { code?: unknown } | null)?.code;
}
