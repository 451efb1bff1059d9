// The host of one process in a world of threads: whatever it writes, to the journal or beside it, happens when the schedule says
// so, or never. Faults may be planted in it.
import type { Host } from "holdfast";
import type { MaybePromise, MemoryJournal, RecordSpace, TimerStore } from "holdfast/host";
import { type Draws, type Gates, gatedJournal, type Owner } from "./gates.fixture.ts";

/** A fault on purpose, that the checks must find. */
export const threadsFaults = {
	"acknowledged-before-commit": "a tool works before its start is on record",
	"effect-without-record": "an effect starts whether or not somebody has started it",
	"lost-effect": "an effect that was scheduled is forgotten",
	"lost-message": "a queued message is accepted and lost",
	"notified-twice": "a child hears of its task once more when it is notified again",
	"lost-file": "a file is acknowledged and not kept",
	"lost-value": "a value is acknowledged and not kept",
	"created-without-hooks": "a thread counts as made before its hooks were called",
	"forgotten-handoff": "a thread forgets who has taken over",
} as const;

/** Name of a planted fault. */
export type ThreadsFault = keyof typeof threadsFaults;

/** What the hosts of a world share. */
export interface SharedStore {
	readonly base: Required<Pick<Host, "journal" | "values" | "records" | "files" | "timers" | "changes">>;
	readonly gates: Gates;
	readonly draws: Draws;
	readonly planted: ThreadsFault | undefined;
}

/** Makes the host of a process. */
export function gatedHost(
	{ base, gates, draws, planted }: SharedStore,
	worker: MemoryJournal,
	owner: Owner,
): Host {
	const write = <T>(label: string, work: () => MaybePromise<T>): Promise<T> =>
		gates.pass(owner, label, work, { writes: true });
	/** What a dead process asks is never answered. */
	const read = <T>(work: () => MaybePromise<T>): MaybePromise<T> =>
		owner.dead ? new Promise<never>(() => {}) : work();
	const isPlanted = (fault: ThreadsFault): boolean => planted === fault;
	const journal = gatedJournal(worker, gates, owner, { early: isPlanted("acknowledged-before-commit") });
	const records: RecordSpace = {
		get: (address) => read(() => base.records.get(address)),
		list: (shelf, options) => read(() => base.records.list(shelf, options)),
		commit(expected, given) {
			const writes = given.map((each) => ({ ...each, value: faulty(planted, each.value) }));
			const isEffect = writes.some(({ shelf }) => shelf.startsWith("thread-effects"));
			const asked = isEffect && isPlanted("effect-without-record") ? [] : expected;
			return write(`commits ${writes.map(({ shelf }) => shelf.split(" ")[0]).join()}`, () =>
				base.records.commit(asked, writes),
			);
		},
	};
	const timers: TimerStore = {
		set: (timer) =>
			write(`sets a timer of ${timer.key}`, () =>
				isPlanted("lost-effect") && draws.chance(30) ? undefined : base.timers.set(timer),
			),
		cancel: (key, name) => write(`cancels a timer of ${key}`, () => base.timers.cancel(key, name)),
		claim: (options) => gates.pass(owner, "claims timers", () => base.timers.claim(options)),
		settle: (timer) => write(`settles a timer of ${timer.key}`, () => base.timers.settle(timer)),
		nextDue: (options) => read(() => base.timers.nextDue(options)),
		list: (key) => read(() => base.timers.list(key)),
		watch: (changed) => base.timers.watch(() => (owner.dead ? undefined : changed())),
	};
	return {
		journal: {
			...journal,
			volatile: true,
			submit(key, input) {
				const { dedupeKey: _, ...bare } = input;
				if (isPlanted("notified-twice")) return journal.submit(key, bare);
				if (isPlanted("lost-message") && draws.chance(30))
					return write(`loses what is submitted to ${key}`, () => ({ duplicate: false, order: 0 }));
				return journal.submit(key, input);
			},
		},
		capabilities: { backgroundSubagents: "in-process" },
		values: {
			...base.values,
			values(key, of) {
				const own = base.values.values(key, of);
				return {
					get: (name) => read(() => own.get(name)),
					list: () => read(() => own.list()),
					delete: (name) => write(`deletes a value of ${key}`, () => own.delete(name)),
					set: (name, value) =>
						write(`sets the value ${name} of ${key}`, () =>
							isPlanted("lost-value") && draws.chance(30) ? undefined : own.set(name, value),
						),
				};
			},
			deleteSession: (key) => base.values.deleteSession(key),
		},
		records,
		files: {
			of(key, of) {
				const own = base.files.of(key, of);
				return {
					write: (name, source) =>
						write(`writes the file ${name} of ${key}`, () =>
							isPlanted("lost-file") && draws.chance(30) ? { name, size: 0, at: 0 } : own.write(name, source),
						),
					read: (name, range) => own.read(name, range),
					stat: (name) => read(() => own.stat(name)),
					list: () => read(() => own.list()),
					delete: (name) => write(`removes the file ${name} of ${key}`, () => own.delete(name)),
				};
			},
		},
		timers,
		changes: base.changes,
		close: async () => {},
	};
}

/** A record as a fault leaves it. */
function faulty(planted: ThreadsFault | undefined, value: unknown): unknown {
	const { isReady, agentId } = (value ?? {}) as { readonly isReady?: boolean; readonly agentId?: string };
	if (planted === "created-without-hooks" && isReady === false)
		return { ...(value as object), isReady: true };
	if (planted === "forgotten-handoff" && agentId === "closer")
		return { ...(value as object), agentId: "main" };
	return value;
}
