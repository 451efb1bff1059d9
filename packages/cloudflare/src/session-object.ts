// The object of one session: it stores the session's journal in its own storage and drives its runs.
//
// asleep: holds nothing in memory. awake: host and service are open, runs make progress, followers receive events. idle:
// awake without runs or followers; after a while it closes host and service, and sleeps. An alarm wakes it for unfinished
// work.
import {
	type ServedCaller,
	type SessionOwner,
	type SessionService,
	type SessionServiceOptions,
	sessionService,
	whenBegun,
} from "@holdfast/server";
import { HoldfastError, isHoldfastError } from "holdfast";
import type { SqlHost } from "holdfast/sql";
import { answerWith } from "./answers.ts";
import { batchLines } from "./lines.ts";
import { Listing } from "./listing.ts";
import { objectHost } from "./object-host.ts";
import type { ObjectNamespace, ObjectState, ObjectStorage } from "./platform.ts";

/** The options of a class of session objects. */
export interface SessionObjectOptions extends Omit<SessionServiceOptions, "host"> {
	/** The binding of a `directoryObject()`, which lists sessions. Default: none, and lists are empty. */
	readonly directory?: ObjectNamespace;
	/**
	 * Maximum number of runs in flight per tenant, across all sessions; further requests receive 429. The tenant's
	 * `directory` counts them, and is called before each run. Default: no limit.
	 */
	readonly maxConcurrentRuns?: number;
}

/** Milliseconds after which an evicted object with an unfinished run is woken. */
const watchMs = 20_000;
/** Milliseconds that an idle object stays awake. */
const lingerMs = 5_000;
/** Milliseconds between two scans of an awake object for runs without a driver. */
const lookMs = 5_000;

/** A session's object, as the platform calls it. */
export interface SessionObject {
	/** Answers a request to the session. */
	fetch(request: Request): Promise<Response>;
	/** Resumes work that is due, such as a run whose object was evicted. */
	alarm(): Promise<void>;
}

interface Awake {
	readonly host: SqlHost;
	readonly service: SessionService;
	readonly listing: Listing;
}

/** A request of the Worker to a session. */
export interface SessionQuestion {
	readonly caller: ServedCaller | SessionOwner;
	readonly sessionId: string;
	readonly request?: Parameters<SessionService["submit"]>[2];
	readonly idempotencyKey?: string;
	readonly after?: string;
	readonly until?: "complete" | "idle" | "never";
	/** With `after`: the message whose start to wait for. */
	readonly waitsFor?: string;
}

/**
 * Creates the class of session objects: export it from the Worker under the name of its binding, and list it under
 * `new_sqlite_classes`. `make` returns the sessions' agents, given the Worker's bindings.
 * @throws HoldfastError the same errors as `sessionService`, and `conflicting_options`, with the first request.
 */
export function sessionObject<Env>(
	make: (env: Env) => SessionObjectOptions,
): new (
	state: ObjectState,
	env: Env,
) => SessionObject {
	return class implements SessionObject {
		readonly #state: ObjectState;
		readonly #storage: ObjectStorage;
		readonly #env: Env;
		/** Aborted when the object goes to sleep. */
		#staying = new AbortController();
		#awake: Promise<Awake> | undefined;
		#requests = 0;
		/** Requests in progress that may write to the storage, or that depend on its contents. */
		#acting = 0;
		/** Resolves when no request is in progress. */
		#acted = Promise.withResolvers<void>();
		/** Settles when the object has released its resources. */
		#sleeping: Promise<void> = Promise.resolve();
		#linger: ReturnType<typeof setTimeout> | undefined;
		#unwatch: (() => void) | undefined;
		/** Whether a directory could not be notified. */
		#isUnsaid = false;

		constructor(state: ObjectState, env: Env) {
			this.#state = state;
			this.#storage = state.storage;
			this.#env = env;
		}

		async fetch(request: Request): Promise<Response> {
			const { pathname } = new URL(request.url);
			const question = (await request.json()) as SessionQuestion;
			this.#requests++;
			clearTimeout(this.#linger);
			try {
				return await answerWith(() => this.#answer(pathname, question));
			} finally {
				this.#requests--;
				this.#rest();
			}
		}

		async alarm(): Promise<void> {
			if (!this.#isKnown()) return;
			const { host, listing } = await this.#wake();
			await this.#note(listing);
			await this.#watchOver(host);
			this.#rest();
		}

		async #answer(path: string, question: SessionQuestion): Promise<unknown> {
			const { caller, sessionId } = question;
			await this.#sleeping;
			// A session that was never created leaves nothing behind.
			if (path !== "/submit" && !this.#isKnown()) {
				if (path === "/get") return null;
				throw new HoldfastError("session_not_found", "Session not found");
			}
			const { host, service, listing } = await this.#wake();
			switch (path) {
				case "/submit":
					return this.#act(() => this.#submit(listing, service, question));
				case "/begun":
					return (await this.#whenBegun(host, listing, question)) ?? null;
				case "/get":
					return (await this.#act(() => service.get(caller, sessionId))) ?? null;
				case "/stop":
					return this.#act(() => service.stop(caller, sessionId));
				case "/delete":
					return this.#delete(listing, service, question);
				default:
					return this.#follow(service, question);
			}
		}

		async #submit(listing: Listing, service: SessionService, question: SessionQuestion): Promise<unknown> {
			const { caller, sessionId, request, idempotencyKey } = question;
			await this.#soon(watchMs);
			const {
				begun: _,
				over: __,
				...submitted
			} = await listing.submit(caller, () =>
				service.submit(
					caller as ServedCaller,
					sessionId,
					request as NonNullable<typeof request>,
					idempotencyKey === undefined ? {} : { idempotencyKey },
				),
			);
			return submitted;
		}

		/** Reads the journal, which has the answer even if the object has slept since the message arrived. */
		async #whenBegun(
			host: SqlHost,
			listing: Listing,
			{ waitsFor = "", after = "" }: SessionQuestion,
		): Promise<string | undefined> {
			const storeKey = await listing.key();
			if (storeKey === undefined) return undefined;
			return whenBegun(host, { storeKey, waitsFor, after }, this.#staying.signal);
		}

		async #delete(
			listing: Listing,
			service: SessionService,
			{ caller, sessionId }: SessionQuestion,
		): Promise<void> {
			const gone = await service.delete(caller, sessionId).then(
				() => undefined,
				(error: unknown) => ({ error }),
			);
			if (gone !== undefined && !isUnknown(gone.error)) throw gone.error;
			// A deletion that was interrupted is completed by the next one, which finds no session.
			await listing.remove(caller, sessionId);
			await this.#clear();
			if (gone !== undefined) throw gone.error;
		}

		#follow(service: SessionService, { caller, sessionId, after, until }: SessionQuestion): Response {
			const leaving = new AbortController();
			const batches = service.follow(caller, sessionId, {
				signal: leaving.signal,
				...(after === undefined ? {} : { after }),
				...(until === undefined ? {} : { until }),
			});
			this.#requests++;
			const over = (): void => {
				this.#requests--;
				this.#rest();
			};
			return new Response(batchLines(batches, { leaving, over }));
		}

		/**
		 * Empties the storage, unless the session was created again. Requests during this time wait, and then find an
		 * unused object.
		 */
		async #clear(): Promise<void> {
			while (this.#acting > 0) await this.#acted.promise;
			const awake = this.#awake;
			if (awake === undefined) return;
			const { host } = await awake;
			const isBegunAgain = (await host.journal.list({ limit: 1 })).length > 0;
			if (isBegunAgain || this.#acting > 0 || this.#awake !== awake) return;
			await this.#sleep(async () => {
				await this.#storage.deleteAlarm();
				await this.#storage.deleteAll();
			});
		}

		/** Prevents clearing the storage during a request that may write to it. */
		async #act<Value>(act: () => Promise<Value>): Promise<Value> {
			this.#acting++;
			try {
				return await act();
			} finally {
				this.#acting--;
				if (this.#acting === 0) {
					this.#acted.resolve();
					this.#acted = Promise.withResolvers();
				}
			}
		}

		#wake(): Promise<Awake> {
			this.#awake ??= this.#sleeping
				.then(() => this.#open())
				.catch((error: unknown) => {
					this.#awake = undefined;
					throw error;
				});
			return this.#awake;
		}

		async #open(): Promise<Awake> {
			const host = objectHost(this.#storage);
			try {
				const { directory, maxConcurrentRuns, ...options } = make(this.#env);
				const id = this.#state.id.toString();
				const listing = new Listing({ host, id, directory, maxConcurrentRuns });
				const service = sessionService({ recoverEveryMs: lookMs, ...options, host });
				await service.supervise();
				this.#unwatch = host.changes.watch(() => this.#state.waitUntil(this.#changed(listing)));
				return { host, service, listing };
			} catch (error) {
				await host.close();
				throw error;
			}
		}

		/** Whether a session was ever created here. */
		#isKnown(): boolean {
			const tables = "SELECT 1 FROM sqlite_master WHERE name = 'journal_version'";
			return this.#awake !== undefined || this.#storage.sql.exec(tables).toArray().length > 0;
		}

		async #changed(listing: Listing): Promise<void> {
			await this.#note(listing);
			this.#rest();
		}

		/** Notifies the directory; a failed notification is repeated with the next change, or by the alarm. */
		async #note(listing: Listing): Promise<void> {
			this.#isUnsaid = true;
			try {
				await listing.note();
				this.#isUnsaid = false;
			} catch (error) {
				console.error(error);
			}
		}

		/** Sets the alarm for work that is due without a request. */
		async #watchOver(host: SqlHost): Promise<void> {
			if (this.#isUnsaid || (await isAtWork(host))) return this.#soon(watchMs);
			const due = host.nextDue();
			if (due === undefined) await this.#storage.deleteAlarm();
			else await this.#storage.setAlarm(Math.max(due, Date.now() + 1_000));
		}

		async #soon(milliseconds: number): Promise<void> {
			await this.#storage.setAlarm(Date.now() + milliseconds);
		}

		/** Goes to sleep after a while, unless new work arrives. */
		#rest(): void {
			clearTimeout(this.#linger);
			if (this.#requests > 0 || this.#awake === undefined) return;
			this.#linger = setTimeout(() => this.#state.waitUntil(this.#sleepIfIdle()), lingerMs);
		}

		async #sleepIfIdle(): Promise<void> {
			const awake = this.#awake;
			if (awake === undefined || this.#requests > 0) return;
			const { host } = await awake;
			await this.#watchOver(host);
			if ((await isAtWork(host)) || this.#requests > 0 || this.#awake !== awake) return;
			await this.#sleep();
		}

		/** Closes host and service, then runs `rest`; requests that wake the object wait for both. */
		#sleep(rest: () => Promise<void> = async () => {}): Promise<void> {
			const awake = this.#awake;
			this.#awake = undefined;
			clearTimeout(this.#linger);
			this.#unwatch?.();
			this.#staying.abort();
			this.#staying = new AbortController();
			const sleep = async (): Promise<void> => {
				if (awake !== undefined) {
					const { service, host } = await awake;
					await service.close();
					await host.close();
				}
				await rest();
			};
			const asleep = this.#sleeping.then(sleep);
			this.#sleeping = asleep.catch(() => {});
			return asleep;
		}
	};
}

function isUnknown(error: unknown): boolean {
	return isHoldfastError(error) && error.code === "session_not_found";
}

/** Whether a run is in progress or queued here. */
async function isAtWork({ journal }: SqlHost): Promise<boolean> {
	const open = await journal.list({ state: "open" });
	const waiting = await journal.list({ state: "waiting" });
	if (open.length > waiting.length) return true;
	return (await journal.list({ state: "orphaned", limit: 1 })).length > 0;
}
