// The listed sessions: read a page at a time, and updated when the server reports changes.
import { computed, signal } from "@preact/signals";
import type { InspectedCounts, InspectedSession, SessionCounts } from "../wire/index.ts";
import { ask, isOver, pause, Refused } from "./api.ts";

/** The most listed sessions; beyond that, those with the first ids. */
export const mostListed = 10_000;

/** All sessions by id. */
const sessions = signal<ReadonlyMap<string, InspectedSession>>(new Map());
export const counts = signal<ReadonlyMap<string, SessionCounts>>(new Map());
export const isListed = signal(false);
export const isCut = signal(false);
export const search = signal("");
export const status = signal<string>("any");

/** The entries of the list, most recently changed first. */
export const shown = computed(() => {
	const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
	return [...sessions.value.values()]
		.filter((each) => status.value === "any" || each.status === status.value || isOpen(each, status.value))
		.filter(({ sessionId, title = "" }) => {
			const text = `${sessionId} ${title}`.toLowerCase();
			return words.every((word) => text.includes(word));
		})
		.sort((left, right) => right.updatedAt - left.updatedAt || (left.sessionId < right.sessionId ? -1 : 1));
});

/** How many sessions have each status. */
export const statuses = computed(() => {
	const found = new Map<string, number>();
	for (const { status } of sessions.value.values()) found.set(status, (found.get(status) ?? 0) + 1);
	return found;
});

function isOpen({ status: is }: InspectedSession, filter: string): boolean {
	return filter === "open" && ["running", "waiting", "parked", "interrupted", "queued"].includes(is);
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
	for (const listener of listeners) listener(new Set([...changed, ...deleted]));
}

let wanted: readonly InspectedSession[] = [];
let isCounting = false;
const countedAt = new Map<string, number>();

/** Requests the totals of these sessions if they changed. Only the last request is served. */
export function wantCounts(these: readonly InspectedSession[], signal: AbortSignal): void {
	wanted = these;
	if (isCounting) return;
	isCounting = true;
	void countWanted(signal).finally(() => {
		isCounting = false;
	});
}

async function countWanted(signal: AbortSignal): Promise<void> {
	for (;;) {
		const stale = wanted
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
			const all = new Map(counts.value);
			for (const { sessionId, counts: of } of found.counts) all.set(sessionId, of);
			counts.value = all;
		} catch (error) {
			if (isOver(error) || error instanceof Refused) return;
			await pause(500, signal);
		}
	}
}

/** Clears everything: another key sees other sessions. */
export function forgetSessions(): void {
	sessions.value = new Map();
	counts.value = new Map();
	countedAt.clear();
	isListed.value = false;
}
