// Records of threads outside their sessions: small records of the host, by id and in order of creation.
import { HoldfastError, type Host } from "holdfast";
import { isUnreadable, type Ports, type RecordSpace, type StoredRecord } from "holdfast/host";
import { threadNotFound, threadTerminated } from "./not-found.ts";

/** The parent of a sub-agent's thread. */
export interface ParentLink {
	/** The parent's thread. */
	readonly threadId: string;
	/** Its name in the parent's list. */
	readonly name: string;
	/** The title in the sub-agent's definition. */
	readonly title?: string;
	/** The description in the sub-agent's definition; empty without one. */
	readonly description: string;
	/** Whether the parent can send it further messages. */
	readonly resumable: boolean;
	/** Whether the parent waits for its answer. */
	readonly blocking: boolean;
	/** The same for sub-agents that one step of the parent started. */
	readonly spawnGroupId?: string;
	/** `implicit`: results are queued to the parent. `explicit`: only messages from `notifyParent`. */
	readonly communication: "implicit" | "explicit";
	/** The side that receives messages of the parent. */
	readonly to: "a" | "b";
	/** Whether the end of each session is queued to the parent. */
	readonly reports: boolean;
}

/** The record of a thread. */
export interface ThreadRecord {
	/** The id of the thread. */
	readonly id: string;
	/** Name of its agent. */
	readonly agentId: string;
	/** The tenant of its server; absent with a single tenant. */
	readonly tenant?: string;
	/** The user who owns it, if any. */
	readonly userId: string | null;
	/** Microseconds since 1970. */
	readonly createdAt: number;
	/** Its tags. */
	readonly tags: readonly string[];
	/** Microseconds since 1970. */
	readonly terminated: number | null;
	/** Set for the thread of a sub-agent. */
	readonly parent?: ParentLink;
	/** A title for people. */
	readonly name?: string;
	/** The text of `setStatus`. */
	readonly status?: string;
	/** Whether the hooks of its creation have finished. */
	readonly isReady: boolean;
}

/** The fields of a record that may change. */
export type RecordChange = Partial<
	Pick<ThreadRecord, "agentId" | "userId" | "tags" | "terminated" | "status" | "isReady" | "name">
>;

/** Which threads to list. */
export interface ListThreads {
	/** The maximum number. Default: all. */
	readonly limit?: number;
	/** Only threads created before the thread with this id. */
	readonly before?: string;
	/** Default: threads without a tenant. */
	readonly tenant?: string;
	/** Only threads of this agent. Default: any. */
	readonly agentId?: string;
	/** Only threads of this user. Default: any. */
	readonly userId?: string;
	/** Only threads with this tag. Default: any. */
	readonly tag?: string;
}

/** A thread in a list: its record, or the code of the error if that cannot be read. */
export interface ListedThread {
	readonly id: string;
	/** Microseconds since 1970. */
	readonly createdAt: number;
	readonly record?: ThreadRecord;
	readonly code?: string;
}

/** The lists that contain a damaged thread. */
export interface DeletedFrom {
	readonly tenant?: string | undefined;
	/** The id of its parent. */
	readonly parent?: string | undefined;
}

const placeDigits = 17;
/** Times in microseconds. */
const [minute, latest] = [60_000_000, 10 ** placeDigits];
/** The number of places that are read at once. */
const placesAtOnce = 200;

/** Returns the time in microseconds, always later than the previous one. */
export function ascending({ now }: Ports["clock"]): () => number {
	let last = 0;
	return () => {
		last = Math.max(last + 1, now() * 1_000);
		return last;
	};
}

export class ThreadRecords {
	readonly #space: RecordSpace;
	readonly #shelf: string;

	constructor(host: Host, namespace: string | undefined) {
		if (host.records === undefined)
			throw new HoldfastError(
				"host_without_records",
				"Threads need a host that stores records, such as `sqliteHost` or `memoryHost`.",
			);
		this.#space = host.records;
		this.#shelf = namespace === undefined ? "threads" : `threads:${namespace}`;
	}

	/** Returns a thread, or undefined. */
	async get(id: string): Promise<ThreadRecord | undefined> {
		return (await this.#read(id)).value as ThreadRecord | undefined;
	}

	/**
	 * Creates a thread. Returns false if one with that id exists.
	 * @throws HoldfastError `thread_not_found`, `thread_terminated` if its parent is deleted or terminated: such a
	 * parent can have no new children, because its children have already been listed for deletion.
	 */
	async create(record: ThreadRecord): Promise<boolean> {
		const { id, parent } = record;
		const name = placeOf(record);
		const writes = [
			{ shelf: this.#shelf, name: id, value: record },
			{ shelf: this.#order(record.tenant), name, value: id },
		];
		const own = { shelf: this.#shelf, name: id, revision: 0 };
		if (parent === undefined) return this.#space.commit([own], writes);
		const child = { shelf: this.#children(parent.threadId), name, value: id };
		for (;;) {
			const { value, revision } = await this.#read(parent.threadId);
			const before = { shelf: this.#shelf, name: parent.threadId, revision };
			const mayHaveChildren = (value as ThreadRecord | undefined)?.terminated === null;
			if (mayHaveChildren && (await this.#space.commit([own, before], [...writes, child]))) return true;
			if ((await this.get(id)) !== undefined) return false;
			if (value === undefined) throw threadNotFound(parent.threadId);
			if (!mayHaveChildren) throw threadTerminated(parent.threadId);
			// Another part of the parent has changed in the meantime.
		}
	}

	/** Changes a thread; returns undefined if it is unknown. `change` may be called again. */
	async change(
		id: string,
		change: (record: ThreadRecord) => RecordChange | undefined,
	): Promise<ThreadRecord | undefined> {
		for (;;) {
			const { value, revision } = await this.#read(id);
			if (value === undefined) return undefined;
			const changed = change(value as ThreadRecord);
			if (changed === undefined) return value as ThreadRecord;
			const next = { ...(value as ThreadRecord), ...changed };
			const address = { shelf: this.#shelf, name: id };
			if (await this.#space.commit([{ ...address, revision }], [{ ...address, value: next }])) return next;
		}
	}

	/**
	 * Terminates a thread at `at`, unless it was terminated before. A damaged thread can have no new children either.
	 */
	async terminate(id: string, at: number): Promise<"terminated" | "damaged" | "unknown"> {
		const stored = readable(await this.#read(id));
		if (stored === "damaged") return "damaged";
		const found = await this.change(id, ({ terminated }) =>
			terminated === null ? { terminated: at } : undefined,
		);
		return found === undefined ? "unknown" : "terminated";
	}

	/**
	 * Deletes a terminated or damaged thread. A thread that was created with its id since remains. The tenant and the
	 * parent of a damaged one are unknown: `of` names them, so that it is removed from their lists too.
	 */
	async delete(id: string, of: DeletedFrom = {}): Promise<void> {
		for (;;) {
			const stored = await this.#read(id);
			const record = readable(stored);
			if (record === undefined || (record !== "damaged" && record.terminated === null)) return;
			const { tenant, parent } =
				record === "damaged" ? of : { tenant: record.tenant, parent: record.parent?.threadId };
			const shelves = [this.#order(tenant), ...(parent === undefined ? [] : [this.#children(parent)])];
			const own = { shelf: this.#shelf, name: id };
			const listed =
				record === "damaged"
					? (await Promise.all(shelves.map((shelf) => this.#placesOf(shelf, id)))).flat()
					: shelves.map((shelf) => ({ shelf, name: placeOf(record) }));
			const writes = [own, ...listed].map((place) => ({ ...place, value: undefined }));
			if (await this.#space.commit([{ ...own, revision: stored.revision }], writes)) return;
		}
	}

	/** Whether a tenant's list contains a thread. */
	async isListed(id: string, tenant: string | undefined): Promise<boolean> {
		return (await this.#placesOf(this.#order(tenant), id)).length > 0;
	}

	async #placesOf(
		shelf: string,
		id: string,
	): Promise<readonly { readonly shelf: string; readonly name: string }[]> {
		const listed = await this.#space.list(shelf);
		return listed.flatMap(({ name }) => (threadAt(name) === id ? [{ shelf, name }] : []));
	}

	/** Returns the sub-agents of a thread, in order of creation, without those whose records are damaged. */
	async childrenOf(id: string): Promise<readonly ThreadRecord[]> {
		return (await this.listedChildren(id)).flatMap(({ record }) => record ?? []);
	}

	/** Returns the sub-agents of a thread, in order of creation, including those whose records are damaged. */
	async listedChildren(id: string): Promise<readonly ListedThread[]> {
		const listed = await this.#space.list(this.#children(id));
		const found = await Promise.all(listed.map(({ name }) => this.#listed(name)));
		return found.filter((each) => each !== undefined);
	}

	/** Returns threads, newest first. A thread whose record is damaged is not listed: using it reports the error. */
	async list({
		limit = Number.POSITIVE_INFINITY,
		...of
	}: ListThreads = {}): Promise<readonly ThreadRecord[]> {
		const found: ThreadRecord[] = [];
		if (limit <= 0) return found;
		for await (const { record } of this.newest(of)) {
			if (record === undefined) continue;
			if (of.agentId !== undefined && record.agentId !== of.agentId) continue;
			if (of.userId !== undefined && record.userId !== of.userId) continue;
			if (of.tag !== undefined && !record.tags.includes(of.tag)) continue;
			found.push(record);
			if (found.length >= limit) break;
		}
		return found;
	}

	/** Yields the threads of a tenant, newest first, including those whose records are damaged. */
	async *newest({
		before,
		tenant,
	}: Pick<ListThreads, "before" | "tenant"> = {}): AsyncGenerator<ListedThread, void, void> {
		const shelf = this.#order(tenant);
		const last = before === undefined ? undefined : await this.#placeIn(shelf, before);
		const [oldest] = await this.#space.list(shelf, { limit: 1 });
		if (oldest === undefined) return;
		const from = timeOf(oldest.name);
		const to = last === undefined ? await this.#endOf(shelf, from) : timeOf(last) + 1;
		for await (const name of this.#descending(shelf, from, to)) {
			if (last !== undefined && name >= last) continue;
			const listed = await this.#listed(name);
			if (listed !== undefined) yield listed;
		}
	}

	/**
	 * Yields the places of an order from a time up to another, newest first. Records can only be listed forwards, so this
	 * halves a range that is too long to read at once: a page costs the same, however many threads there are.
	 */
	async *#descending(shelf: string, from: number, to: number): AsyncGenerator<string, void, void> {
		if (from >= to) return;
		const isOneTime = to - from <= 1;
		const range = { after: timeDigits(from), ...(isOneTime ? {} : { limit: placesAtOnce }) };
		const listed = await this.#space.list(shelf, range);
		const names = listed.map(({ name }) => name).filter((name) => timeOf(name) < to);
		if (isOneTime || names.length < placesAtOnce) {
			yield* names.reverse();
			return;
		}
		const middle = Math.ceil((from + to) / 2);
		yield* this.#descending(shelf, middle, to);
		yield* this.#descending(shelf, from, middle);
	}

	/** Returns a time after the newest place of an order. */
	async #endOf(shelf: string, from: number): Promise<number> {
		for (let width = minute; from + width < latest; width *= 16) {
			const later = await this.#space.list(shelf, { after: timeDigits(from + width), limit: 1 });
			if (later.length === 0) return from + width;
		}
		return latest;
	}

	/** Returns the place of a thread, or undefined if it was deleted since it was listed: then the list starts again. */
	async #placeIn(shelf: string, id: string): Promise<string | undefined> {
		const record = readable(await this.#read(id));
		if (record !== "damaged") return record && placeOf(record);
		return (await this.#placesOf(shelf, id))[0]?.name;
	}

	async #listed(name: string): Promise<ListedThread | undefined> {
		const id = threadAt(name);
		const createdAt = timeOf(name);
		try {
			const record = await this.get(id);
			return record && { id, createdAt, record };
		} catch (error) {
			if (!isUnreadable(error)) throw error;
			return { id, createdAt, code: (error as HoldfastError).code };
		}
	}

	async #read(id: string): Promise<StoredRecord> {
		return this.#space.get({ shelf: this.#shelf, name: id });
	}

	/** Each tenant has its own shelf, so other tenants' threads cost nothing. */
	#order(tenant: string | undefined): string {
		return tenant === undefined ? `${this.#shelf}/made` : `${this.#shelf}/made/${tenant}`;
	}

	#children(id: string): string {
		return `${this.#shelf}/children/${id}`;
	}
}

function readable(stored: StoredRecord): ThreadRecord | "damaged" | undefined {
	try {
		return stored.value as ThreadRecord | undefined;
	} catch (error) {
		if (isUnreadable(error)) return "damaged";
		throw error;
	}
}

/** Returns a name that sorts by time of creation. */
function placeOf({ createdAt, id }: Pick<ThreadRecord, "createdAt" | "id">): string {
	return `${timeDigits(createdAt)}.${id}`;
}

function timeDigits(time: number): string {
	return String(time).padStart(placeDigits, "0");
}

function timeOf(place: string): number {
	return Number(place.slice(0, placeDigits));
}

/** Returns the id of the thread with this place. */
function threadAt(place: string): string {
	return place.slice(placeDigits + 1);
}
