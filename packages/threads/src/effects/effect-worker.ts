// A worker of effects: it claims due timers and starts each effect that has not started yet. idle → (a timer is due, or
// the store has changed) → claiming → running up to the limit → idle; stopped ends it. It waits for the next due time and
// for changes, so pending effects cost nothing (keeps I7). A claim is only a reservation; the record ensures that an
// effect starts once (see effect-record.ts).
import { HoldfastError } from "holdfast";
import type { ClaimedTimer, Ports } from "holdfast/host";
import {
	type EffectBody,
	type EffectRecord,
	type EffectStore,
	effectId,
	shelfOf,
	writeFirst,
} from "./effect-record.ts";

/** An effect that is due. */
export interface DueEffect extends EffectBody {
	readonly id: string;
	readonly storeKey: string;
}

/** A due effect whose name and arguments cannot be read. */
export type DamagedEffect = Pick<DueEffect, "id" | "storeKey"> & { readonly name?: undefined };

/** The parts of a worker. */
export interface EffectWorkerParts {
	readonly store: EffectStore;
	readonly ports: Pick<Ports, "clock" | "timers" | "eventLoop">;
	/** Identifies this worker in records. */
	readonly workerId: string;
	/** Whether a worker is alive. */
	isAlive(workerId: string): boolean | Promise<boolean>;
	/**
	 * Which effects it claims: those of threads of a namespace, or (null) of threads without one. It leaves others to
	 * their own workers. Default: all.
	 */
	readonly namespace?: string | null;
	/** Called when an effect is about to start: its thread may be terminated or deleted. */
	threadOf(effect: DueEffect): Promise<"active" | "terminated" | "deleted">;
	/** Runs the effect. If it throws, the effect fails. */
	run(effect: DueEffect): Promise<unknown>;
	/** Returns the form of an error that may be stored: without secrets. */
	shown(effect: DueEffect, error: unknown): Promise<string>;
	/** Called with each failure. `effect` is absent if the store failed; only its place is known if it is damaged. */
	failed(error: unknown, effect?: DueEffect | DamagedEffect): void;
	/**
	 * The maximum number of effects that run at once. With a higher value, slow effects delay fewer others, but effects
	 * may overload the services they call. Default 256.
	 */
	readonly atOnce?: number;
	/** Milliseconds after which another worker can claim a due timer if this one has died. Default 10,000. */
	readonly claimMs?: number;
}

/** The longest delay of a timer in milliseconds. */
const longestTimer = 2 ** 31 - 1;
/** Milliseconds to wait before reading the store again after a failure. */
const patience = 1_000;

export class EffectWorker {
	readonly #parts: EffectWorkerParts;
	readonly #running = new Map<string, Promise<void>>();
	/** The damaged effects that were reported. Their claims expire, so they are found again and again. */
	readonly #damaged = new Set<string>();
	#stopWatching: (() => void) | undefined;
	#callOff: (() => void) | undefined;
	#looking: Promise<void> | undefined;
	#hasNews = false;
	#isStopped = false;
	/** Whether another effect waits for a running one to end. */
	#isFull = false;
	readonly #atOnce: number;

	constructor(parts: EffectWorkerParts) {
		this.#parts = parts;
		this.#atOnce = parts.atOnce ?? 256;
	}

	/** Starts to watch for effects. A second call has no effect. */
	start(): void {
		if (this.#isStopped || this.#stopWatching !== undefined) return;
		this.#stopWatching = this.#parts.store.timers.watch(() => this.#wake());
		this.#wake();
	}

	/** Runs the effects that are due now, once; resolves when they have ended. Rejects with errors of the store. */
	async recover(): Promise<void> {
		do {
			await this.#look();
			await Promise.all(this.#running.values());
		} while (this.#isFull && !this.#isStopped);
	}

	/** Starts no more effects; resolves when the running ones have ended. */
	async stop(): Promise<void> {
		this.#isStopped = true;
		this.#stopWatching?.();
		this.#callOff?.();
		await this.#looking;
		await Promise.all(this.#running.values());
	}

	#wake(): void {
		this.#hasNews = true;
		const isStarted = this.#stopWatching !== undefined;
		if (!isStarted || this.#looking !== undefined || this.#isStopped) return;
		this.#callOff?.();
		this.#callOff = undefined;
		this.#looking = this.#lookAll().finally(() => {
			this.#looking = undefined;
			if (this.#hasNews) this.#wake();
		});
	}

	async #lookAll(): Promise<void> {
		const { eventLoop } = this.#parts.ports;
		while (this.#hasNews && !this.#isStopped) {
			// The code that scheduled an effect gets its id before the effect starts.
			await new Promise<void>((resolve) => eventLoop.nextTurn(resolve));
			this.#hasNews = false;
			try {
				await this.#look();
			} catch (error) {
				if (this.#isStopped) return;
				this.#parts.failed(error);
				this.#wakeAfter(patience);
				return;
			}
		}
	}

	async #look(): Promise<void> {
		const { store, ports, namespace, claimMs = 10_000 } = this.#parts;
		for (;;) {
			const room = this.#atOnce - this.#running.size;
			this.#isFull = room <= 0;
			if (this.#isFull || this.#isStopped) return;
			const now = ports.clock.now();
			const of = namespace === undefined ? {} : { namespace };
			const claimed = await store.timers.claim({ now, leaseMs: claimMs, limit: room, ...of });
			for (const timer of claimed) this.#take(timer);
			if (claimed.length === room) continue;
			const due = await store.timers.nextDue();
			if (due === undefined) return;
			// An effect that is due but not claimed belongs to another project, or another worker is about to claim it.
			const next =
				due > now
					? due
					: Math.min((await store.timers.nextDue({ after: now })) ?? now + claimMs, now + claimMs);
			this.#wakeAfter(next - ports.clock.now());
			return;
		}
	}

	#wakeAfter(milliseconds: number): void {
		if (this.#stopWatching === undefined) return; // one check only
		this.#callOff?.();
		const after = Math.min(Math.max(0, Math.ceil(milliseconds)), longestTimer);
		this.#callOff = this.#parts.ports.timers.after(after, () => this.#wake());
	}

	#take(timer: ClaimedTimer): void {
		const id = effectId(timer);
		const name = `${timer.key}\u0000${timer.name}`;
		// An effect that runs here for longer than its claim lasts.
		if (id === undefined || this.#running.has(name)) return;
		const place = { id, storeKey: timer.key };
		let body: EffectBody;
		try {
			body = timer.body as EffectBody;
		} catch (error) {
			if (!this.#damaged.has(name)) this.#parts.failed(error, place);
			this.#damaged.add(name);
			return;
		}
		const effect: DueEffect = { ...body, ...place };
		const running = this.#carryOut(effect, timer)
			.catch((error: unknown) => this.#parts.failed(error, effect))
			.finally(() => {
				this.#running.delete(name);
				// Claims many at a time rather than each individually.
				if (this.#isFull && this.#running.size <= this.#atOnce / 2) this.#wake();
			});
		this.#running.set(name, running);
	}

	async #carryOut(effect: DueEffect, timer: ClaimedTimer): Promise<void> {
		const { store, workerId, threadOf, run, shown, failed } = this.#parts;
		const { id, storeKey, ...body } = effect;
		const running: EffectRecord = { ...body, status: "running", worker: workerId };
		if (!(await writeFirst(store.records, storeKey, id, running))) {
			await this.#others(effect, timer);
			return;
		}
		const thread = await threadOf(effect);
		if (thread !== "active") {
			await this.#conclude(effect, thread === "deleted" ? undefined : { ...body, status: "canceled" });
			await store.timers.settle(timer);
			return;
		}
		let end: EffectRecord = { ...body, status: "completed" };
		try {
			await run(effect);
		} catch (error) {
			failed(error, effect);
			end = { ...body, status: "failed", error: await shown(effect, error) };
		}
		await this.#conclude(effect, end);
		await store.timers.settle(timer);
	}

	/** Another worker has started it, or a caller has cancelled it. If that worker is dead, the outcome is unknown. */
	async #others(effect: DueEffect, timer: ClaimedTimer): Promise<void> {
		const { store, isAlive, failed } = this.#parts;
		const { id, storeKey, ...body } = effect;
		const { value } = await store.records.get({ shelf: shelfOf(storeKey), name: id });
		const record = value as EffectRecord | undefined;
		if (record?.status === "running") {
			if (await isAlive(record.worker ?? "")) return;
			const error = new HoldfastError(
				"effect_interrupted",
				`The process that ran the effect ${JSON.stringify(effect.name)} died. Its result is unknown, and it does not run again.`,
			);
			await this.#conclude(effect, { ...body, status: "failed", error: error.message });
			failed(error, effect);
		}
		await store.timers.settle(timer);
	}

	/** Records how it ended, unless the thread has been deleted in the meantime. */
	async #conclude({ id, storeKey }: DueEffect, record: EffectRecord | undefined): Promise<void> {
		const { records } = this.#parts.store;
		const address = { shelf: shelfOf(storeKey), name: id };
		const { revision } = await records.get(address);
		if (revision > 0) await records.commit([{ ...address, revision }], [{ ...address, value: record }]);
	}
}
