// The data of an in-memory journal: plain records, and nothing per session that is not needed yet (keeps I5).
import { uuid } from "@holdfast/upp";
import type { Entry, StoredChunk } from "../facts/index.ts";
import type { StoredInput } from "./journal.ts";
import { type Changed, type ChangeOrder, newOrder, noteChange } from "./memory-order.ts";
import { makeWatchers, type Watchers } from "./watchers.ts";

/** State shared by the workers of one in-memory store. */
export interface Store {
	readonly clock: { now(): number };
	readonly sessions: Map<string, Session>;
	readonly workers: Map<string, Worker>;
	readonly watchers: Watchers;
	readonly order: ChangeOrder;
	/** Called with the key of each deleted session: data stored with it is deleted too. */
	readonly deleted: ((key: string) => void)[];
	/** Returns the id of the session with a number, unique across stores. */
	readonly incarnationOf: (number: number) => string;
	/** How many sessions were created so far. */
	created: number;
	/** The highest epoch of any deleted session; new ones start above it. */
	highestDeletedEpoch: number;
}

/** A worker. */
export interface Worker {
	readonly workerId: string;
	alive: boolean;
	closed: boolean;
}

/** The lease that holds a session. */
export interface Holder {
	readonly worker: Worker;
	/** Called when the session was taken from this lease. */
	lose(): void;
}

/** A session. */
export interface Session extends Changed {
	readonly entries: Entry[];
	readonly createdAt: number;
	updatedAt: number;
	epoch: number;
	openRunId: string | undefined;
	holder: Holder | undefined;
	/** In order; undefined before the first one. */
	chunks: StoredChunk[] | undefined;
	/** The next three are created when an input arrives. */
	inbox: StoredInput[] | undefined;
	dedupe: Map<string, number> | undefined;
	inputs: number;
}

/** Creates an empty store. */
export function newStore(clock: Store["clock"] = { now: () => Date.now() }): Store {
	return {
		clock,
		sessions: new Map(),
		workers: new Map(),
		watchers: makeWatchers(),
		order: newOrder(),
		deleted: [],
		incarnationOf: makeIncarnations(),
		created: 0,
		highestDeletedEpoch: 0,
	};
}

/** Returns the session with a key, and creates it if it is new. */
export function ensureSession(store: Store, key: string): Session {
	const found = store.sessions.get(key);
	if (found !== undefined) return found;
	const session = createSession(store, key, store.clock.now());
	store.watchers.changed(key);
	return session;
}

/** Ids of sessions: a random part for each store, and a number. They are created on demand, which is rare. */
function makeIncarnations(): Store["incarnationOf"] {
	const store = uuid().slice(0, 18);
	return (number) => `${store}-${number}`;
}

/** Returns the seq of the last entry; 0 if there is none. */
export function lastSeq({ entries }: Session): number {
	return entries.at(-1)?.seq ?? 0;
}

/** Creates an empty session. */
export function createSession(store: Store, key: string, at: number): Session {
	const session: Session = {
		key,
		number: ++store.created,
		entries: [],
		createdAt: at,
		updatedAt: at,
		position: 0,
		kind: "changed",
		older: undefined,
		newer: undefined,
		epoch: store.highestDeletedEpoch,
		openRunId: undefined,
		holder: undefined,
		chunks: undefined,
		inbox: undefined,
		dedupe: undefined,
		inputs: 0,
	};
	store.sessions.set(key, session);
	noteChange(store.order, session, "changed");
	return session;
}
