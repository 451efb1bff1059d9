// Keeps the directories up to date about the session of an object: the owner's, for lists, and the tenant's, which counts
// runs if they are limited. Only changes are sent.
import { readServedKey, type ServedCaller, type SessionOwner } from "@holdfast/server";
import { HoldfastError } from "holdfast";
import type { SqlHost } from "holdfast/sql";
import { type Directory, directoryOf } from "./directory.ts";
import { ownerName } from "./owner-name.ts";
import type { ObjectNamespace } from "./platform.ts";

/** The session's host, object and limits. */
export interface ListingOptions {
	/** The host with the session's journal. */
	readonly host: SqlHost;
	/** Id of the session's object. */
	readonly id: string;
	readonly directory: ObjectNamespace | undefined;
	/** The tenant's limit of runs in flight. */
	readonly maxConcurrentRuns: number | undefined;
}

/** Lists and counts the session of an object in its directories. */
export class Listing {
	readonly #options: ListingOptions;
	#key: string | undefined;
	/** The open state last sent to the owner's directory. */
	#isOpen: boolean | undefined;
	/** The tenant whose runs are counted; undefined until it is known, or if runs are not counted. */
	#tenant: string | undefined;
	/** The number of runs last sent to the tenant's directory. */
	#counted: number | undefined;
	/** Requests in progress that may start a run. */
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

	/**
	 * Returns the session's key, ignoring keys of its sub-agents in the same storage. Undefined before the session
	 * exists.
	 */
	async key(): Promise<string | undefined> {
		const { journal } = this.#options.host;
		this.#key ??= (await journal.list()).find(({ key }) => readServedKey(key) !== undefined)?.key;
		return this.#key;
	}

	/**
	 * Submits an input that may start a run; the run counts from before the commit.
	 * @throws HoldfastError `rate_limited` if the tenant has reached its limit, and the errors of `submit`.
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

	/** Notifies the directories of changes. */
	note(): Promise<void> {
		return this.#inTurn(() => this.#note());
	}

	/** Removes the deleted session from the lists. */
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
		// Until it is confirmed, it counts only temporarily.
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

	/** Counts the running and queued runs; runs that wait for an answer do not count. */
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
		`${taken} runs are active, which is the limit. Wait until one has ended.`,
		{ retryable: true, data: { retryAfterMs: 1000 } },
	);
}
