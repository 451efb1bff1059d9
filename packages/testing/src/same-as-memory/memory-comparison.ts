// Compares a durable journal with the one in memory over random operations. Their workers are alive, or are considered
// dead but continue. Findings of the simulation on the in-memory journal therefore apply to the durable one.
import fc from "fast-check";
import {
	type Append,
	type Fact,
	type Input,
	type Journal,
	type Lease,
	type MaybePromise,
	memoryJournal,
} from "holdfast/host";
import { ended, note, same, started } from "../journal/index.ts";

const keys = ["a", "a/b", "ü"] as const;
const workers = ["one", "two", "three"] as const;
type Key = (typeof keys)[number];
type Worker = (typeof workers)[number];

type Seen = Parameters<Journal["delete"]>[1];

/** A write. `at` picks a granted lease, `n` an input or a position in a session. */
type Write =
	| { readonly do: "submit"; readonly worker: Worker; readonly key: Key; readonly input: Input }
	| {
			readonly do: "append";
			readonly at: number;
			readonly run: string;
			readonly facts: readonly Fact[];
			readonly once: Pick<Append, "dedupeKey"> | undefined;
	  }
	| { readonly do: "emit"; readonly at: number; readonly run: string; readonly count: number }
	| { readonly do: "take-in"; readonly at: number; readonly run: string; readonly n: number }
	| { readonly do: "end-unless-waiting"; readonly at: number; readonly run: string }
	| { readonly do: "fold"; readonly at: number; readonly run: string; readonly n: number }
	| { readonly do: "fork"; readonly worker: Worker; readonly from: Key; readonly to: Key; readonly n: number }
	| { readonly do: "delete"; readonly worker: Worker; readonly key: Key; readonly seen: Seen | undefined };

type Deed =
	| Write
	| { readonly do: "acquire"; readonly worker: Worker; readonly key: Key; readonly mode: "polite" | "seize" }
	| { readonly do: "release"; readonly at: number }
	| { readonly do: "die"; readonly worker: Worker }
	| { readonly do: "read"; readonly worker: Worker; readonly key: Key; readonly n: number };

/** An operation, or several by one worker that does not wait for the answers. */
type Row = Deed | { readonly by: Worker; readonly atOnce: readonly Write[] };

/** A store, its workers, and a way to make the others consider one of them dead. */
export interface SameWorld {
	/** Three workers with these names over one store, whose clock shows 5,000. */
	readonly journals: Readonly<Record<"one" | "two" | "three", Journal>>;
	/** A worker that only reads. */
	readonly looker: Journal;
	/** From now on the others consider this worker dead, although it continues. */
	die(worker: "one" | "two" | "three"): MaybePromise<void>;
	/** Closes the store and removes its data. */
	end(): Promise<void>;
}

type World = SameWorld;

const clock = { now: () => 5_000 };

function inMemory(): World {
	const first = memoryJournal({ clock, workerId: "one" });
	const journals = { one: first, two: first.worker("two"), three: first.worker("three") };
	const looker = first.worker("looker");
	return { journals, looker, die: (worker) => journals[worker].die(), end: async () => {} };
}

const folded: Fact = {
	kind: "folded",
	state: { version: "1.0.0", id: "state", messages: [], step: 0, metadata: {} },
	tools: [],
};
const parked: Fact = { kind: "run.parked", reason: "crash", crashes: 6 };
const waiting: Fact = { kind: "waiting", step: 1, calls: [] };
const hurried: Fact = {
	...waiting,
	calls: [{ callId: "c", awaits: "result", since: 1_000, deadline: 5_000 }],
};

/** Returns the answers to a sequence of operations, and the final state. */
async function answers(make: () => MaybePromise<World>, rows: readonly Row[]): Promise<readonly unknown[]> {
	const world = await make();
	const { journals, looker } = world;
	const leases: { readonly worker: Worker; readonly lease: Lease }[] = [];
	const given: unknown[] = [];

	async function outcome(of: () => unknown): Promise<unknown> {
		try {
			return JSON.parse(JSON.stringify((await of()) ?? null));
		} catch (error) {
			const { code, message } = error as { code?: string; message: string };
			return code ?? `no code: ${message}`;
		}
	}

	function leaseAt(at: number, by?: Worker): Lease | undefined {
		const theirs = leases.filter(({ worker }) => by === undefined || worker === by);
		return theirs[at % Math.max(1, theirs.length)]?.lease;
	}

	/** `by` overrides the worker in the operation. */
	function perform(deed: Deed, by?: Worker): unknown {
		async function append(at: number, batch: Omit<Append, "at">): Promise<unknown> {
			const lease = leaseAt(at, by);
			if (lease === undefined) return "no lease";
			appended.push(lease);
			return await lease.append({ at: clock.now(), ...batch });
		}
		switch (deed.do) {
			case "submit":
				return journals[by ?? deed.worker].submit(deed.key, deed.input);
			case "append":
				return append(deed.at, { runId: deed.run, facts: deed.facts, ...deed.once });
			case "emit": {
				const chunks = Array.from({ length: deed.count }, (_, index) => ({
					sub: ++emitted,
					event: { index },
				}));
				return append(deed.at, { runId: deed.run, facts: [], chunks });
			}
			case "take-in":
				return append(deed.at, { runId: deed.run, facts: [note("taken in")], drain: [`input ${deed.n}`] });
			case "end-unless-waiting":
				return append(deed.at, { runId: deed.run, facts: [ended], onlyIfNothingWaits: true });
			case "fold":
				return append(deed.at, { runId: deed.run, facts: [folded], replaces: deed.n });
			case "fork":
				return journals[by ?? deed.worker].fork(deed.from, deed.to, deed.n);
			case "delete":
				return journals[by ?? deed.worker].delete(deed.key, deed.seen);
			case "acquire":
				return acquire(deed);
			case "release":
				return leaseAt(deed.at)?.release();
			case "die":
				return world.die(deed.worker);
			case "read":
				return journals[deed.worker].read(deed.key, { after: deed.n, limit: 2 });
		}
	}

	async function acquire({ worker, key, mode }: Extract<Deed, { do: "acquire" }>): Promise<unknown> {
		const answer = await journals[worker].acquire(key, { mode });
		if (!answer.ok) return answer;
		const { lease } = answer;
		leases.push({ worker, lease });
		return [lease.epoch, lease.seq, lease.openRunId, await lease.inbox()];
	}

	let emitted = 0;
	/** The leases used by the last row's appends. */
	const appended: Lease[] = [];
	/** Incarnations are random, so only their equality is compared. */
	const incarnations: string[] = [];
	const numberOf = (incarnation: string): number => {
		if (!incarnations.includes(incarnation)) incarnations.push(incarnation);
		return incarnations.indexOf(incarnation);
	};
	try {
		// Makes each worker known to the others from the start.
		for (const worker of workers)
			await journals[worker].submit("hello", { id: worker, kind: "message", workerId: worker, body: 0 });
		for (const row of rows) {
			const { by = undefined, atOnce } = "by" in row ? row : { atOnce: [row] };
			const outcomes = atOnce.map((deed) => outcome(() => perform(deed, by)));
			given.push(atOnce.map((deed) => deed.do).join(), await Promise.all(outcomes));
			given.push(appended.splice(0).map((lease) => lease.isLost));
		}
		const all = { after: { seq: 0, sub: 0 }, through: 1_000, limit: 1_000 };
		for (const key of keys)
			given.push(key, await looker.read(key), await looker.readChunks?.(key, all), await looker.head(key));
		for (const state of ["any", "open", "orphaned", "waiting"] as const)
			given.push(state, await looker.list({ state }), await looker.list({ state, prefix: "a", after: "a" }));
		given.push("due", await looker.list({ state: "waiting", dueBy: 5_000 }));
		for (const worker of workers) given.push(worker, await looker.isAlive(worker));
		return JSON.parse(
			JSON.stringify(given, (name, value) => (name === "incarnation" ? numberOf(value) : value)),
		);
	} finally {
		await world.end();
	}
}

function sometimes<T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> {
	return fc.oneof({ weight: 3, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary });
}

const key = fc.constantFrom(...keys);
const worker = fc.constantFrom(...workers);
const run = fc.constantFrom("run-1", "run-2", "run-3");
const at = fc.nat(9);
const n = fc.nat(6);

const input: fc.Arbitrary<Input> = fc
	.record({
		n,
		kind: fc.constantFrom("message", "steer", "notice", "stop"),
		runId: fc.option(run, { nil: undefined }),
		workerId: fc.option(worker, { nil: undefined }),
		dedupeKey: fc.option(fc.constantFrom("d1", "d2"), { nil: undefined }),
		askedBy: sometimes(fc.oneof(fc.record({ key, runId: run }), fc.record({ key }))),
	})
	.map(({ n, runId, workerId, dedupeKey, askedBy, kind }) => ({
		id: `input ${n}`,
		kind,
		body: { n },
		...(runId === undefined ? {} : { runId }),
		...(workerId === undefined ? {} : { workerId }),
		...(dedupeKey === undefined ? {} : { dedupeKey }),
		...(askedBy === undefined ? {} : { askedBy }),
	}));

const once = sometimes(fc.record({ dedupeKey: fc.constantFrom("d1", "d2") }));

const seen = sometimes(fc.record({ epoch: fc.nat(3), seq: n }));

const facts = fc.oneof(
	{ weight: 3, arbitrary: fc.constant<readonly Fact[]>([started]) },
	{ weight: 3, arbitrary: fc.constant<readonly Fact[]>([note("n"), note("m")]) },
	{ weight: 2, arbitrary: fc.constant<readonly Fact[]>([ended]) },
	{ weight: 2, arbitrary: fc.constant<readonly Fact[]>([started, note("whole"), ended]) },
	{
		weight: 1,
		arbitrary: fc.constantFrom<readonly Fact[]>(
			[started, parked],
			[started, waiting],
			[started, hurried],
			[hurried],
		),
	},
);

const write: fc.Arbitrary<Write> = fc.oneof(
	{ weight: 4, arbitrary: fc.record({ do: fc.constant("submit"), worker, key, input }) },
	{ weight: 8, arbitrary: fc.record({ do: fc.constant("append"), at, run, facts, once }) },
	{ weight: 2, arbitrary: fc.record({ do: fc.constant("emit"), at, run, count: fc.nat(2) }) },
	{ weight: 2, arbitrary: fc.record({ do: fc.constant("take-in"), at, run, n }) },
	{ weight: 2, arbitrary: fc.record({ do: fc.constant("end-unless-waiting"), at, run }) },
	{ weight: 2, arbitrary: fc.record({ do: fc.constant("fold"), at, run, n }) },
	{ weight: 2, arbitrary: fc.record({ do: fc.constant("fork"), worker, from: key, to: key, n }) },
	{ weight: 1, arbitrary: fc.record({ do: fc.constant("delete"), worker, key, seen }) },
);

const deed: fc.Arbitrary<Deed> = fc.oneof(
	{ weight: 10, arbitrary: write },
	{
		weight: 5,
		arbitrary: fc.record({
			do: fc.constant("acquire"),
			worker,
			key,
			mode: fc.constantFrom("polite", "polite", "seize"),
		}),
	},
	{ weight: 1, arbitrary: fc.record({ do: fc.constant("release"), at }) },
	{ weight: 1, arbitrary: fc.record({ do: fc.constant("die"), worker }) },
	{ weight: 2, arbitrary: fc.record({ do: fc.constant("read"), worker, key, n }) },
);

/** Fails unless a journal answers like the one in memory for random sequences of writes. Requires `fast-check`. */
export async function sameAsMemory(make: () => MaybePromise<SameWorld>, runs: number): Promise<void> {
	const atOnce = fc.record({ by: worker, atOnce: fc.array(write, { minLength: 2, maxLength: 4 }) });
	const row = fc.oneof({ weight: 6, arbitrary: deed }, { weight: 1, arbitrary: atOnce });
	const rows = fc.array<Row>(row, { minLength: 5, maxLength: 40 });
	await fc.assert(
		fc.asyncProperty(rows, async (deeds) => {
			const [is, should] = [await answers(make, deeds), await answers(inMemory, deeds)];
			for (const [at, answer] of should.entries()) same(sorted(is[at]), sorted(answer), `answer ${at}`);
			same(is.length, should.length, "answers");
		}),
		{ numRuns: runs },
	);
}

/** Sorts the members of an object, whose order JSON equality ignores. */
function sorted(value: unknown): unknown {
	if (Array.isArray(value)) return value.map(sorted);
	if (typeof value !== "object" || value === null) return value;
	const members = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
	return Object.fromEntries(members.map(([name, member]) => [name, sorted(member)]));
}
