// The listed sessions: read a page at a time, and updated when the server reports changes.
import { computed, signal } from "@preact/signals";
import type { InspectedCounts, InspectedSession } from "../wire/index.ts";
import { ask, isOver, pause, Refused } from "./api.ts";
import { comparator, type Known, needsCounts, passes, queryOf } from "./filters.ts";
import { filters } from "./list-filters.ts";
import { foundTexts } from "./sessions-search.ts";

/** Maximum number of listed sessions; beyond that, those with the first ids. */
export const mostListed = 10_000;

/** All sessions by id. */
const sessions = signal<ReadonlyMap<string, InspectedSession>>(new Map());
/** Additional data of sessions, by id. */
export const known = signal<ReadonlyMap<string, Known>>(new Map());
export const isListed = signal(false);
export const isCut = signal(false);
/** While this is set, the lines keep their places: the reader looks at them. */
export const isHeld = signal(false);

/** The sessions that pass the filters, in their order. */
const found = computed(() => {
	const given = filters.value;
	// Totals arrive constantly, but only some filters depend on them.
	const more = needsCounts(given) ? known.value : nothingKnown;
	const hits = given.within === "" ? nothingFound : foundTexts.value;
	const now = Date.now();
	return [...sessions.value.values()]
		.filter((each) => passes(each, more.get(each.sessionId), given, now, hits.has(each.sessionId)))
		.sort(comparator(given, (sessionId) => more.get(sessionId)));
});

const nothingKnown: ReadonlyMap<string, Known> = new Map();
const nothingFound: ReadonlyMap<string, unknown> = new Map();
/** Counts how often the lines were arranged again. */
const settled = signal(0);
let placed: { readonly query: string; readonly ids: readonly string[] } = { query: "", ids: [] };

/** The lines of the list, and the number of sessions that are not shown yet. */
export const listed = computed<{ readonly lines: readonly InspectedSession[]; readonly fresh: number }>(
	() => {
		const query = `${settled.value} ${queryOf(filters.value)}`;
		// A list that is not read yet has no lines to keep.
		if (!isHeld.value || placed.query !== query || placed.ids.length === 0) {
			placed = { query, ids: found.value.map(({ sessionId }) => sessionId) };
			return { lines: found.value, fresh: 0 };
		}
		const all = sessions.value;
		const lines = placed.ids.flatMap((id) => all.get(id) ?? []);
		const ids = new Set(placed.ids);
		return { lines, fresh: found.value.filter(({ sessionId }) => !ids.has(sessionId)).length };
	},
);

/** The lines of the list. */
export const shown = computed(() => listed.value.lines);

/** Lets the lines take their places. */
export function settleLines(): void {
	settled.value++;
}

/** The values that filters can choose from, with their numbers of sessions. */
export const choices = computed(() => {
	const statuses = new Map<string, number>();
	const agents = new Map<string, number>();
	const users = new Map<string, number>();
	const codes = new Map<string, number>();
	const tools = new Map<string, number>();
	const more = known.value;
	const add = (to: Map<string, number>, value: string): unknown => to.set(value, (to.get(value) ?? 0) + 1);
	for (const { sessionId, status, agent, user, failure } of sessions.value.values()) {
		add(statuses, status);
		if (agent !== undefined) add(agents, agent);
		if (user !== undefined) add(users, user);
		const of = more.get(sessionId);
		for (const code of new Set([...(failure === undefined ? [] : [failure.code]), ...(of?.codes ?? [])]))
			add(codes, code);
		for (const tool of of?.tools ?? []) add(tools, tool);
	}
	return { statuses, agents, users, codes, tools, total: sessions.value.size };
});

/** All sessions, in no order. */
export function allSessions(): readonly InspectedSession[] {
	return [...sessions.value.values()];
}

const listeners = new Set<(changed: ReadonlySet<string>) => void>();

/** Calls the listener with the ids of changed sessions. Returns a function that unsubscribes. */
export function onChanges(listener: (changed: ReadonlySet<string>) => void): () => void {
	listeners.add(listener);
	return () => listeners.delete(listener);
}

interface Page {
	readonly sessions: readonly InspectedSession[];
	readonly next?: string;
}
interface Changes {
	readonly position: number;
	readonly changed: readonly string[];
	readonly deleted: readonly string[];
}

/** Lists the sessions and keeps the list up to date until the signal fires. */
export async function keepListed(signal: AbortSignal): Promise<void> {
	let position: number | undefined;
	while (!signal.aborted) {
		try {
			if (position === undefined) {
				// Gets the position of changes before the list: changes between the two arrive twice, but none is missed.
				const before = await ask<Changes>("/api/inspect/changes?wait=0", signal);
				await listAll(signal);
				position = before.position;
			}
			const {
				position: next,
				changed,
				deleted,
			} = await ask<Changes>(`/api/inspect/changes?after=${position}`, signal);
			position = next;
			if (changed.length + deleted.length > 0) await refresh(changed, deleted, signal);
		} catch (error) {
			if (isOver(error)) return;
			// The list starts over, because changes since then are unknown.
			if (error instanceof Refused) {
				if (error.status === 401 || error.status === 403) return;
				position = undefined;
			}
			await pause(500, signal);
		}
	}
}

async function listAll(signal: AbortSignal): Promise<void> {
	const found = new Map<string, InspectedSession>();
	let after: string | undefined;
	do {
		const rest: string = after === undefined ? "" : `?after=${encodeURIComponent(after)}`;
		const page: Page = await ask<Page>(`/api/inspect/sessions${rest}`, signal);
		for (const each of page.sessions) found.set(each.sessionId, each);
		after = page.next;
		if (!isListed.value) sessions.value = new Map(found);
	} while (after !== undefined && found.size < mostListed);
	isCut.value = after !== undefined;
	sessions.value = found;
	isListed.value = true;
	for (const listener of listeners) listener(new Set(found.keys()));
}

async function refresh(
	changed: readonly string[],
	deleted: readonly string[],
	signal: AbortSignal,
): Promise<void> {
	const found = new Map(sessions.value);
	for (const id of deleted) found.delete(id);
	const asked = new Set([...changed, ...deleted]);
	for (let at = 0; at < changed.length; at += 50) {
		const ids = changed.slice(at, at + 50);
		const page = await ask<Page>(
			`/api/inspect/sessions?ids=${ids.map(encodeURIComponent).join(",")}`,
			signal,
		);
		for (const id of ids) found.delete(id);
		for (const each of page.sessions) found.set(each.sessionId, each);
	}
	sessions.value = found;
	for (const listener of listeners) listener(asked);
}

let wanted: { readonly these: readonly InspectedSession[]; readonly signal: AbortSignal } | undefined;
let isCounting = false;
const countedAt = new Map<string, number>();

/** Requests the totals of these sessions if they changed. Only the last request is served. */
export function wantCounts(these: readonly InspectedSession[], signal: AbortSignal): void {
	wanted = { these, signal };
	if (isCounting) return;
	isCounting = true;
	void countWanted().finally(() => {
		isCounting = false;
	});
}

async function countWanted(): Promise<void> {
	while (wanted !== undefined) {
		const { these, signal } = wanted;
		const stale = these
			.filter(({ sessionId, seq }) => seq > 0 && countedAt.get(sessionId) !== seq)
			.slice(0, 50);
		if (stale.length === 0 || signal.aborted) return;
		try {
			const ids = stale.map(({ sessionId }) => encodeURIComponent(sessionId)).join(",");
			const found = await ask<{ counts: readonly InspectedCounts[] }>(
				`/api/inspect/counts?ids=${ids}`,
				signal,
			);
			for (const { sessionId, seq } of stale) countedAt.set(sessionId, seq);
			const all = new Map(known.value);
			for (const { sessionId, ...of } of found.counts) all.set(sessionId, of);
			known.value = all;
		} catch (error) {
			// The view that wanted them was closed, but another one may want others.
			if (isOver(error)) continue;
			if (error instanceof Refused) return;
			await pause(500, signal);
		}
	}
}

/** Clears everything: another key sees other sessions. */
export function forgetSessions(): void {
	sessions.value = new Map();
	known.value = new Map();
	countedAt.clear();
	isListed.value = false;
}
