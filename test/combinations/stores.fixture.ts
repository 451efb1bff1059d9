// Stores that several processes work on, and processes that die at an append.
import { type Host, memoryHost } from "holdfast";
import type { Journal } from "holdfast/host";
import { sqliteHost } from "holdfast/sqlite";
import { leftInStore } from "../shared/left-in-store.fixture.ts";

export interface Worker {
	readonly host: Host;
	readonly die: () => Promise<void>;
}

type MemoryJournal = Journal & { worker(id: string): MemoryJournal; die(): void };
type Lease = Extract<Awaited<ReturnType<Journal["acquire"]>>, { readonly ok: true }>["lease"];
const never: Promise<never> = new Promise(() => {});

/** A store that several processes work on, and what dies with one of them. */
export interface World {
	/** Whether it outlives its processes. */
	readonly isKept: boolean;
	/** Opens the store as one more process. */
	open(): { readonly host: Host; dies(): Promise<void> };
	/** Reads it. */
	readonly reader: Host;
	/** What is still stored after all sessions were deleted and all processes have ended. */
	leftovers(): Promise<readonly string[]>;
}

/** A store in memory. */
export function memoryWorld(): World {
	const base = memoryHost();
	let workers = 0;
	return {
		isKept: false,
		reader: base,
		leftovers: async () => [],
		open() {
			const journal = (base.journal as MemoryJournal).worker(`worker ${++workers}`);
			const { journal: _, close: __, ...rest } = base as Required<Host>;
			return { host: { ...rest, journal, close: async () => {} } as Host, dies: async () => journal.die() };
		},
	};
}

/** A store in a file. */
export function sqliteWorld(path: string): World {
	const reader = sqliteHost({ path });
	return {
		isKept: true,
		reader,
		async leftovers() {
			await reader.close();
			const { tables, entries, records } = leftInStore(path);
			// The next process that opens the store forgets the workers that died.
			return [...tables.filter((name) => name !== "workers"), ...entries, ...records];
		},
		open() {
			const host = sqliteHost({ path }) as Host;
			return { host, dies: () => host.close() };
		},
	};
}

/** A worker that dies at its `at`th append, or when told. */
export function workerOf(world: World, at: number): Worker {
	const { host, dies } = world.open();
	const own = host.journal;
	let isDead = false;
	let count = 0;
	let dying: Promise<void> | undefined;
	const die = (): Promise<void> => {
		isDead = true;
		dying ??= dies();
		return dying;
	};
	const wrapped = (lease: Lease): Lease =>
		new Proxy(lease, {
			get(target, name) {
				const value: unknown = Reflect.get(target, name, target);
				if (name !== "append") return typeof value === "function" ? value.bind(target) : value;
				return (batch: Parameters<Lease["append"]>[0]) => {
					count++;
					if (!isDead && count === at) void die();
					return isDead ? never : target.append(batch);
				};
			},
		});
	const journal = new Proxy(own, {
		get(target, name) {
			const value: unknown = Reflect.get(target, name, target);
			if (typeof value !== "function") return value;
			if (name !== "acquire")
				return (...given: unknown[]) => (isDead ? never : Reflect.apply(value, target, given));
			return (key: string, options: never) => {
				if (isDead) return never;
				const acquired = target.acquire(key, options);
				const give = (one: Awaited<ReturnType<Journal["acquire"]>>) =>
					one.ok ? { ...one, lease: wrapped(one.lease) } : one;
				return acquired instanceof Promise ? acquired.then(give) : give(acquired as never);
			};
		},
	});
	return {
		host: new Proxy(host, {
			get: (target, name) => (name === "journal" ? journal : Reflect.get(target, name, target)),
		}),
		die,
	};
}
