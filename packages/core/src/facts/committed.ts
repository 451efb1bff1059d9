// The commits of a worker, for followers of the session in the same process, which need not read them back from the store
// (keeps I3: built once the commit is done).
import type { StoredChunk } from "./chunk.ts";
import type { Entry } from "./fact.ts";

/** One commit of a session. */
export interface Committed {
	/** The incarnation of the session. */
	readonly incarnation: string;
	/**
	 * No other writer commits under this epoch, so two commits of one epoch have no unknown entries between them (keeps
	 * I4).
	 */
	readonly epoch: number;
	/** Seq of the entry before it. */
	readonly after: number;
	/** How many entries and chunks it contains. */
	readonly count: number;
	/** Their size in the store in characters. */
	readonly size: number;
	/** Returns the entries and chunks in the store's form. */
	read(): { readonly entries: readonly Entry[]; readonly chunks: readonly StoredChunk[] };
}
