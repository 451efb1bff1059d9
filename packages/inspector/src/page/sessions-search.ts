// Searches the content of sessions. The page requests fifty sessions at a time, the most recently changed first, and
// shows the progress.
import { effect, signal } from "@preact/signals";
import type { FoundText, InspectedSession } from "../wire/index.ts";
import { ask, isOver, keyNumber, pause, Refused } from "./api.ts";
import { noFilters, passes, queryOf } from "./filters.ts";
import { filters } from "./list-filters.ts";

/** The sessions of a search; for more, the user continues it. */
const atOnce = 2_000;
const perRequest = 50;
/** Milliseconds without typing after which a search begins. */
const typingMs = 300;

/** How far a search got. `stopped`: by the user. `paused`: many sessions were searched, and more are left. */
export interface SearchState {
	readonly state: "searching" | "done" | "paused" | "stopped" | "failed";
	readonly searched: number;
	readonly total: number;
	/** Sessions that were searched only in part. */
	readonly cut: number;
	readonly problem?: string;
}

/** The search for the words of the filters; undefined without one. */
export const search = signal<SearchState | undefined>(undefined);
/** The matches so far, by session. */
export const foundTexts = signal<ReadonlyMap<string, FoundText>>(new Map());

interface Answer {
	readonly found: readonly FoundText[];
	readonly searched: number;
	readonly cut: readonly string[];
	/** Where the request ended within a session: the next one continues there. */
	readonly next?: { readonly after: number };
}

let ending = new AbortController();
let rest: readonly string[] = [];
/** The entry of the first of `rest` after which its search continues. */
let after = 0;
let wanted = "";

/** Searches whenever the words or the filters change. Returns a function that ends it. */
export function keepSearching(
	isReady: () => boolean,
	sessions: () => readonly InspectedSession[],
): () => void {
	const end = effect(() => {
		if (!isReady()) return;
		const given = filters.value;
		const key = `${keyNumber.value} ${queryOf({ ...given, sort: noFilters.sort, order: noFilters.order })}`;
		if (key === wanted) return;
		wanted = key;
		ending.abort();
		ending = new AbortController();
		foundTexts.value = new Map();
		search.value = undefined;
		if (given.within === "" || given.q.trim() === "") return;
		const { signal } = ending;
		search.value = { state: "searching", searched: 0, total: 0, cut: 0 };
		void pause(typingMs, signal).then(() => {
			if (signal.aborted) return;
			const now = Date.now();
			const others = { ...given, q: "", code: "", tool: "" };
			rest = [...sessions()]
				.filter((each) => each.seq > 0 && passes(each, undefined, others, now))
				.sort((left, right) => right.updatedAt - left.updatedAt)
				.map(({ sessionId }) => sessionId);
			after = 0;
			search.value = { state: "searching", searched: 0, total: rest.length, cut: 0 };
			return searchOn();
		});
	});
	return () => {
		end();
		ending.abort();
		wanted = "";
	};
}

/** Continues a search that was stopped or has paused. */
export async function searchOn(): Promise<void> {
	const { signal } = ending;
	const { q } = filters.value;
	let left = atOnce;
	set({ state: "searching" });
	while (rest.length > 0 && left > 0 && search.value?.state === "searching") {
		const ids = rest.slice(0, Math.min(left, perRequest));
		try {
			const { found, searched, cut, next } = await request(q, ids, signal, after);
			if (signal.aborted) return;
			rest = rest.slice(searched);
			after = next?.after ?? 0;
			left -= searched;
			add(found);
			const { searched: before, cut: cutBefore } = search.value ?? { searched: 0, cut: 0 };
			set({ searched: before + searched, cut: cutBefore + cut.length });
		} catch (error) {
			if (isOver(error) || signal.aborted) return;
			if (error instanceof Refused) return set({ state: "failed", problem: error.message });
			await pause(500, signal);
		}
	}
	if (search.value?.state === "searching") set({ state: rest.length === 0 ? "done" : "paused" });
}

export function stopSearch(): void {
	ending.abort();
	ending = new AbortController();
	set({ state: "stopped" });
}

/** Searches sessions again that changed since. */
export async function searchChanged(changed: ReadonlySet<string>): Promise<void> {
	const { within, q } = filters.value;
	const { signal } = ending;
	// A search that has not read a session yet will find them.
	if (search.value?.state === "searching" && search.value.total === 0) return;
	const waiting = new Set(rest);
	const ids = [...changed].filter((id) => !waiting.has(id)).slice(0, perRequest);
	if (within === "" || q.trim() === "" || search.value === undefined || ids.length === 0) return;
	try {
		const { found } = await request(q, ids, signal);
		if (!signal.aborted) add(found);
	} catch {
		// The next change starts another search.
	}
}

function request(q: string, ids: readonly string[], signal: AbortSignal, from = 0): Promise<Answer> {
	const words = encodeURIComponent(q.trim().slice(0, 200));
	const sessions = ids.map(encodeURIComponent).join(",");
	return ask<Answer>(`/api/inspect/search?q=${words}&after=${from}&ids=${sessions}`, signal);
}

function set(change: Partial<SearchState>): void {
	if (search.value !== undefined) search.value = { ...search.value, ...change };
}

function add(found: readonly FoundText[]): void {
	if (found.length === 0) return;
	const all = new Map(foundTexts.value);
	for (const each of found) all.set(each.sessionId, each);
	foundTexts.value = all;
}
