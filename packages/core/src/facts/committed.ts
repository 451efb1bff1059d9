// What a worker has committed to a session, for those in its process who follow that session: they need not read it back
// from the store (keeps I3: it is made when the commit is done).
import type { StoredChunk } from "./chunk.ts";
import type { Entry } from "./fact.ts";

/** One commit of a session. */
export interface Committed {
	readonly incarnation: string;
	/** Nobody else commits under it, so two commits of one epoch have nothing between them that is not known (keeps I4). */
	readonly epoch: number;
	/** Seq of the entry before it. */
	readonly after: number;
	/** How many entries and chunks it has. */
	readonly count: number;
	/** How many characters they take in the store. */
	readonly size: number;
	/** They, as the store gives them. */
	read(): { readonly entries: readonly Entry[]; readonly chunks: readonly StoredChunk[] };
}
