/** A store with every kind of data, read through its ports. */
import type { Host } from "holdfast";
import { foldHistory, type RecordSpace } from "holdfast/host";
import { addRun, childKey, factsOfRun, take } from "./old-sessions.fixture.ts";

/** A host with every port that a store keeps something for. */
export type FullHost = Host & Required<Pick<Host, "files" | "timers" | "records" | "changes">>;

const at = 1_700_000_000_000;
/** Keys with characters that a database cannot store directly. */
const hostile = 'nul \u0000, lone \ud800, quote " and \\ back';

/** Writes something of everything. */
export async function fillStore(host: FullHost): Promise<void> {
	const { journal, values, files, timers, records } = host;
	for (const [index, key] of ["a", "b", hostile, childKey("a", "1")].entries())
		await addRun(journal, key, { at: at + index, runId: `run ${index}`, secret: `secret ${index}` });
	for (let run = 0; run < 4; run++) await addRun(journal, "folded", { at: at + run, runId: `f${run}` });
	await foldHistory(journal, "folded", { before: at + 2 });
	await journal.fork("a", "fork", 7);
	// A drained input whose key is still known; other inputs wait.
	await journal.submit("b", { id: "gone", kind: "notice", dedupeKey: hostile, body: { text: "gone" } });
	const lease = await take(journal, "b");
	await lease.append({ at, runId: "drained", facts: factsOfRun("again", ""), drain: ["gone"] });
	await lease.release();
	await journal.submit("b", { id: "waits", kind: "steer", dedupeKey: "waits", body: { text: hostile } });
	await journal.submit("new", { id: "first", kind: "notice", body: null });
	// A run that was not ended.
	const open = await take(journal, "open");
	await open.append({ at, runId: "open run", facts: factsOfRun("still there?", "").slice(0, 2) });
	await open.release();
	await journal.delete("unknown");
	await addRun(journal, "deleted", { at, runId: "deleted" });
	await journal.delete("deleted");
	await values.values("a", "notes").set("n", { text: hostile, bytes: new Uint8Array([0, 255]) });
	await values.values(hostile, hostile).set(hostile, null);
	await files.of("a", "reports").write("large", [new Uint8Array(600_000).fill(7)]);
	await files.of("a", "reports").write("replaced", [new Uint8Array(5)]);
	await files.of("a", "reports").write("replaced", [new Uint8Array([1, 2, 3])]);
	await files.of(hostile, "o").write(hostile, []);
	await timers.set({ key: "a", name: "soon", wakeAt: at + 5, body: { of: hostile } });
	await timers.set({ key: "b", name: hostile, wakeAt: 9_000_000_000_000 });
	await records.commit([], [{ shelf: "s", name: hostile, value: { n: 1 } }]);
	await records.commit([], [{ shelf: "s", name: "other", value: "x" }]);
}

/** Returns everything that a store contains, except what depends on its location. */
export async function contentOf(host: FullHost): Promise<unknown> {
	const { journal } = host;
	const sessions: unknown[] = [];
	const heads = [...(await journal.list())].sort((one, other) => (one.key < other.key ? -1 : 1));
	for (const head of heads) {
		const { key } = head;
		const places = [
			{ session: "a", owner: "reports" },
			{ session: hostile, owner: "o" },
		].filter(({ session }) => session === key);
		const files: unknown[] = [];
		for (const { owner } of places) {
			const of = host.files.of(key, owner);
			for (const info of await of.list()) {
				const hash = { sum: 0 };
				for await (const piece of of.read(info.name)) for (const byte of piece) hash.sum += byte;
				files.push({ ...info, ...hash });
			}
		}
		const inbox = await journal.inbox(key);
		sessions.push({
			...head,
			entries: await journal.read(key),
			chunks: await journal.readChunks?.(key, { after: { seq: 0, sub: 0 }, through: head.seq, limit: 100 }),
			inbox: inbox.map((input) => ({ ...input, body: input.body })),
			values: await host.values.values(key, key === "a" ? "notes" : key).list(),
			timers: await host.timers.list(key),
			files,
		});
	}
	return { sessions, records: await recordsOf(host.records) };
}

async function recordsOf(records: RecordSpace): Promise<unknown> {
	return records.list("s");
}

/** Returns what a store remembers without listing it: keys of received inputs, and the epochs of deleted sessions. */
export async function rememberedBy({ journal }: FullHost): Promise<unknown> {
	const again = { kind: "notice", body: { text: "again" } } as const;
	const known = await journal.submit("b", { ...again, id: "again", dedupeKey: hostile });
	const acquired = await journal.acquire("deleted");
	return { known, epoch: acquired.ok ? acquired.lease.epoch : "held" };
}
