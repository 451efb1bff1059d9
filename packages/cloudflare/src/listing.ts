// Keeps the directories up to date about the session of an object: the owner's, for lists, and the tenant's, which counts
// runs if they are limited. Only changes are sent.
import { readServedKey, type ServedCaller, type SessionOwner } from "@holdfast/server";
import { HoldfastError } from "holdfast";
import type { SqlHost } from "holdfast/sql";
import { type Directory, directoryOf } from "./directory.ts";
import { ownerName } from "./owner-name.ts";
import type { ObjectNamespace } from "./platform.ts";

/** The entry of a session, and its directories. */
export interface ListingOptions {
	/** Where the session's journal is. */
	readonly host: SqlHost;
	/** Id of the session's object. */
	readonly id: string;
	readonly directory: ObjectNamespace | undefined;
	/** Runs a tenant may have under way. */
	readonly maxConcurrentRuns: number | undefined;
}

/** The session of an object as others list and count it. */
export class Listing {
	readonly #options: ListingOptions;
	#key: string | undefined;
	/** The open state last sent to the owner's directory. */
	#isOpen: boolean | undefined;
	/** The tenant whose runs are counted; undefined until it is known, or if runs are not counted. */
	#tenant: string | undefined;
	/** The number of runs last sent to the tenant's directory. */
	#counted: number | undefined;
	/** Requests that may begin a run and are not decided. */
	#submitting = 0;
	/** The last notification to the directories. Notifications are sent in order. */
	#said: Promise<unknown> = Promise.resolve();

	/** @throws HoldfastError `invalid_option`, `conflicting_options`. */
	constructor(options: ListingOptions) {
		const { directory, maxConcurrentRuns: most } = options;
		if (most !== undefined && !(most >= 1))
			throw new HoldfastError(
				"invalid_option",
				`\`maxConcurrentRuns\` is ${most}. Give a number of at least 1.`,
			);
		if (most !== undefined && directory === undefined)
			throw new HoldfastError(
				"conflicting_options",
				"`maxConcurrentRuns` needs `directory`: runs are counted there.",
			);
		this.#options = options;
	}

	/** The session's key. Other keys in the storage belong to its sub-agents. Undefined before the session exists. */
	async key(): Promise<string | undefined> {
		const { journal } = this.#options.host;
		this.#key ??= (await journal.list()).find(({ key }) => readServedKey(key) !== undefined)?.key;
		return this.#key;
	}

	/**
	 * Submits what may begin a run, which counts from before it is committed.
	 * @throws HoldfastError `rate_limited` when the tenant has no more runs, and what `submit` throws.
	 */
	async submit<Submitted>(
		{ tenant }: ServedCaller | SessionOwner,
		submit: () => Promise<Submitted>,
	): Promise<Submitted> {
		const { maxConcurrentRuns: most } = this.#options;
		this.#submitting++;
		try {
			if (most !== undefined) await this.#inTurn(() => this.#take(tenant, most));
			return await submit();
		} finally {
			this.#submitting--;
			// The accepted input stays accepted: the next change or the alarm notifies the directory again.
			await this.note().catch(console.error);
		}
	}

	/** Notifies the directories of what has changed of what they say. */
	note(): Promise<void> {
		return this.#inTurn(() => this.#note());
	}

	/** The session was deleted. */
	async remove(owner: SessionOwner, sessionId: string): Promise<void> {
		this.#tenant = owner.tenant;
		// Waits for earlier notifications: a late one would list the session again.
		await this.#inTurn(async () => {
			await this.#directory(owner)?.remove(sessionId);
			this.#isOpen = undefined;
			if (this.#options.maxConcurrentRuns !== undefined) await this.#count(0);
		});
	}

	#inTurn<Value>(say: () => Promise<Value>): Promise<Value> {
		const said = this.#said.then(say);
		this.#said = said.catch(() => {});
		return said;
	}

	async #take(tenant: string, most: number): Promise<void> {
		this.#tenant = tenant;
		const count = (await this.#underWay()) + this.#submitting;
		const taken = await this.#directory({ tenant })?.take({ session: this.#options.id, count, most });
		if (taken !== undefined) throw noMoreRuns(taken);
		// It counts for a while only, until it is confirmed.
		this.#counted = undefined;
	}

	async #note(): Promise<void> {
		const key = await this.key();
		const head = key === undefined ? undefined : await this.#options.host.journal.head(key);
		const served = key === undefined ? undefined : readServedKey(key);
		if (head !== undefined && served !== undefined) {
			const { sessionId, ...owner } = served;
			this.#tenant = owner.tenant;
			const isOpen = head.openRunId !== undefined;
			const { createdAt, updatedAt } = head;
			if (isOpen !== this.#isOpen)
				await this.#directory(owner)?.note({ sessionId, createdAt, updatedAt, isOpen });
			this.#isOpen = isOpen;
		}
		if (this.#options.maxConcurrentRuns !== undefined)
			await this.#count((await this.#underWay()) + this.#submitting);
	}

	async #count(count: number): Promise<void> {
		if (this.#tenant === undefined || count === this.#counted) return;
		await this.#directory({ tenant: this.#tenant })?.count({ session: this.#options.id, count });
		this.#counted = count;
	}

	/** The number of running or queued runs; runs that wait for an answer do not count. */
	async #underWay(): Promise<number> {
		const { journal } = this.#options.host;
		const key = await this.key();
		const head = key === undefined ? undefined : await journal.head(key);
		if (key === undefined || head === undefined) return 0;
		const messages = (await journal.inbox(key)).filter(({ kind }) => kind === "message").length;
		if (head.openRunId === undefined) return messages;
		const waits = (await journal.list({ state: "waiting" })).some((session) => session.key === key);
		return messages + (waits ? 0 : 1);
	}

	#directory(owner: SessionOwner): Directory | undefined {
		const { directory } = this.#options;
		return directory && directoryOf(directory, ownerName(owner));
	}
}

function noMoreRuns(taken: number): HoldfastError {
	return new HoldfastError(
		"rate_limited",
		`${taken} runs are under way, which is the limit. Wait until one has ended.`,
		{ retryable: true, data: { retryAfterMs: 1000 } },
	);
}
