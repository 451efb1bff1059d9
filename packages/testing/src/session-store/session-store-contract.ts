// The contract of session stores, as a list of cases for any test runner. Each case gets a separate location.

import type { CommitResult, SessionStore, StoredSession } from "holdfast/host";
import type { ContractCase } from "../contract/index.ts";

/** A location for sessions. */
export interface SessionStoreWorld {
	/** Creates a store over the location; stores see each other's commits. */
	store(): SessionStore | Promise<SessionStore>;
	/** Removes the location. */
	end(): void | Promise<void>;
}

/** Options of `sessionStoreContract`. */
export interface SessionStoreContractOptions {
	/** Prefix of each case's name. */
	readonly name: string;
	/** Creates an empty location. */
	make(): SessionStoreWorld | Promise<SessionStoreWorld>;
}

/**
 * Returns the cases that a session store must pass. Works with any test runner: pass each case's `name` and `run` to
 * yours.
 * @example
 * import { MemorySessionStore } from "@holdfast/stores/memory";
 *
 * const make = () => {
 * 	const store = new MemorySessionStore();
 * 	return { store: () => store, end() {} };
 * };
 * for (const { run } of sessionStoreContract({ name: "memory", make })) await run();
 */
export function sessionStoreContract(options: SessionStoreContractOptions): readonly ContractCase[] {
	return cases.map(({ title, run }) => ({
		name: `${options.name}: ${title}`,
		async run() {
			const world = await options.make();
			try {
				await run(await world.store(), await world.store());
			} finally {
				await world.end();
			}
		},
	}));
}

interface WrittenCase {
	readonly title: string;
	/** Runs the case with two stores over one location. */
	run(store: SessionStore, other: SessionStore): Promise<void>;
}

/** Keys with a special meaning in file systems, databases or patterns, or with small differences. */
export const oddKeys: readonly string[] = [
	"",
	"a",
	"A",
	"a/b",
	"a\\b",
	"a:b",
	"..",
	".",
	"../a",
	"/etc/passwd",
	"C:\\x",
	"con",
	"CON",
	"nul.txt",
	".work",
	"a.json",
	"a\0",
	"a\0b",
	"a\nb",
	"a\r\nb",
	" a",
	"a ",
	"a.",
	"*",
	"%2e%2e",
	"a%0041",
	"__proto__",
	"😀",
	"\ud83d",
	"\ud83e",
	"\u00e9",
	"e\u0301",
	"straße",
	"STRASSE",
];

const longKeys: readonly string[] = [`${"k".repeat(9_999)}1`, `${"k".repeat(9_999)}2`];

const jsonState: unknown = {
	text: 'ä 😀 \ud83d \u0000 \n "quoted"',
	numbers: [0, -1, 1.5, 1e300, 9_007_199_254_740_991],
	deep: { list: [[], {}, null, [{ of: [true, false] }]], "": "empty name" },
};

const cases: readonly WrittenCase[] = [
	{
		title: "an unknown key loads null; a commit without an expected version creates it [SES-076]",
		async run(store, other) {
			same(await store.load("k"), null, "an unknown key");
			const created = await commit(store, "k", { n: 1 }, null);
			for (const reader of [store, other])
				same(await reader.load("k"), { state: { n: 1 }, version: created }, "what was created");
			const replaced = await commit(other, "k", { n: 2 }, created);
			same(replaced === created, false, "the version stays");
			same(await store.load("k"), { state: { n: 2 }, version: replaced }, "what replaced it");
		},
	},
	{
		title: "a stale version, or null for an existing key, is a conflict and changes nothing [SES-077]",
		async run(store, other) {
			const first = await commit(store, "k", 1, null);
			const second = await commit(store, "k", 2, first);
			for (const stale of [first, null, "another", ""]) {
				const result = await other.commit("k", { state: 3 }, { expectedVersion: stale });
				same(result, { ok: false, reason: "conflict" }, `a commit that expects ${stale}`);
			}
			same(await store.load("k"), { state: 2, version: second }, "what is stored");
			const missing = await store.commit("new", { state: 1 }, { expectedVersion: second });
			same(missing, { ok: false, reason: "conflict" }, "a version expected of a missing key");
			same(await store.load("new"), null, "the missing key");
		},
	},
	{
		title: "of twenty concurrent commits that expect the same version, one succeeds [SES-078]",
		async run(store, other) {
			let version: string | null = null;
			for (const round of [1, 2, 3]) {
				const expectedVersion: string | null = version;
				const results: readonly CommitResult[] = await Promise.all(
					Array.from({ length: 20 }, async (_, index) =>
						(index % 2 === 0 ? store : other).commit(
							"k",
							{ state: `${round}.${index}` },
							{ expectedVersion },
						),
					),
				);
				const winners: readonly StoredSession[] = results.flatMap((result, index) =>
					result.ok ? [{ state: `${round}.${index}`, version: result.version }] : [],
				);
				same(winners.length, 1, "winners");
				same(await store.load("k"), winners[0], "what is stored");
				version = winners[0]?.version ?? null;
			}
		},
	},
	{
		title:
			"a deleted state is removed, its versions are never reused, and deleting a missing key succeeds [SES-079]",
		async run(store, other) {
			const seen = new Set<string>();
			let version = await commit(store, "k", 0, null);
			for (let round = 1; round <= 5; round++) {
				seen.add(version);
				await store.delete("k");
				await other.delete("k");
				same(await store.load("k"), null, "the deleted key");
				const late = await other.commit("k", { state: "late" }, { expectedVersion: version });
				same(late, { ok: false, reason: "conflict" }, "a commit that expects a deleted version");
				const again = await commit(other, "k", round, null);
				same(seen.has(again), false, "a version used again");
				const stale = await store.commit("k", { state: "late" }, { expectedVersion: version });
				same(
					stale,
					{ ok: false, reason: "conflict" },
					"a commit that expects a version from before the deletion",
				);
				version = again;
			}
			await store.delete("never there");
		},
	},
	{
		title: "JSON is returned unchanged, and changes by the caller do not affect the stored state [SES-081]",
		async run(store) {
			for (const state of [jsonState, null, "", 0, false, [], {}]) {
				await commit(store, "k", state, (await store.load("k"))?.version ?? null);
				same((await store.load("k"))?.state, state, "state");
			}
			const given = { list: [1], inner: { n: 1 } };
			await commit(store, "m", given, null);
			given.list.push(2);
			given.inner.n = 2;
			const loaded = (await store.load("m"))?.state as typeof given;
			same(loaded, { list: [1], inner: { n: 1 } }, "after a change to the committed object");
			loaded.inner.n = 3;
			loaded.list.length = 0;
			same(
				(await store.load("m"))?.state,
				{ list: [1], inner: { n: 1 } },
				"after a change to the loaded object",
			);
		},
	},
	{
		title: "different keys stay different, even unusual ones [SES-085]",
		run: (store, other) => keepsApart(store, other, oddKeys),
	},
	{
		title: "keys of 10,000 characters that differ only in the last one stay different [SES-086]",
		run: (store, other) => keepsApart(store, other, longKeys),
	},
];

async function keepsApart(store: SessionStore, other: SessionStore, keys: readonly string[]): Promise<void> {
	const versions = new Map<string, string>();
	for (const key of keys) versions.set(key, await commit(store, key, { of: key }, null));
	for (const key of keys) {
		const version = versions.get(key) as string;
		same(await other.load(key), { state: { of: key }, version }, `what is stored under ${short(key)}`);
		versions.set(key, await commit(other, key, { again: key }, version));
	}
	for (const [index, key] of keys.entries()) {
		await store.delete(key);
		same(await other.load(key), null, `deleted ${short(key)}`);
		const next = keys[index + 1];
		if (next !== undefined)
			same(
				(await other.load(next))?.state,
				{ again: next },
				`${short(next)} after the deletion of ${short(key)}`,
			);
	}
}

async function commit(
	store: SessionStore,
	key: string,
	state: unknown,
	expectedVersion: string | null,
): Promise<string> {
	const result = await store.commit(key, { state }, { expectedVersion });
	if (!result.ok) throw new Error(`expected a commit under ${short(key)}, got ${result.reason}`);
	return result.version;
}

function short(key: string): string {
	return JSON.stringify(key.slice(0, 20));
}

/** Throws unless both values are equal as JSON; the order of members is ignored. */
function same(actual: unknown, expected: unknown, what: string): void {
	const [is, should] = [JSON.stringify(actual, inOrder), JSON.stringify(expected, inOrder)];
	if (is !== should) throw new Error(`${what}: expected ${should}, got ${is}`);
}

function inOrder(_name: string, value: unknown): unknown {
	if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
	return Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)));
}
