// Schedules, lists and cancels the effects of one thread. They are timers of the thread's session, so they are deleted
// with it.
import { HoldfastError } from "holdfast";
import { type Clock, type Ids, isUnreadable, type Timer } from "holdfast/host";
import type { EffectDefinition, ScheduledEffect } from "../types/index.ts";
import {
	type EffectBody,
	type EffectRecord,
	type EffectStore,
	effectId,
	scheduled,
	shelfOf,
	timerName,
	writeFirst,
} from "./effect-record.ts";

/** The parts of a thread's effects. */
export interface ThreadEffectsParts {
	readonly store: EffectStore;
	/** The key of the thread's session in the store. */
	readonly storeKey: string;
	readonly clock: Pick<Clock, "now">;
	readonly ids: Ids;
	/** Finds the effect that a name refers to for its caller. */
	find(name: string): { readonly name: string; readonly definition: EffectDefinition } | undefined;
}

/** The timer of an effect. */
interface EffectTimer {
	readonly id: string;
	readonly wakeAt: number;
	/** Undefined if it is damaged. */
	readonly body: EffectBody | undefined;
}

export class ThreadEffects {
	readonly #parts: ThreadEffectsParts;

	constructor(parts: ThreadEffectsParts) {
		this.#parts = parts;
	}

	/**
	 * Schedules an effect, which is durable when this resolves. `delay` is in milliseconds.
	 * @throws HoldfastError `unknown_effect`; `invalid_effect_arguments`; `invalid_effect_delay`.
	 */
	async schedule(name: string, args: unknown = {}, delay = 0): Promise<string> {
		const { store, storeKey, clock, ids, find } = this.#parts;
		const found = find(name);
		if (found === undefined)
			throw new HoldfastError(
				"unknown_effect",
				`The effect ${JSON.stringify(name)} does not exist. Define it in a file of that name in \`agents/effects\`.`,
			);
		if (typeof delay !== "number" || !Number.isFinite(delay) || delay < 0)
			throw new HoldfastError(
				"invalid_effect_delay",
				`The delay of an effect must be a number of milliseconds of at least 0, not ${String(delay)}.`,
			);
		const createdAt = clock.now();
		const body: EffectBody = {
			name: found.name,
			args: checkedArguments(found, args),
			createdAt,
			dueAt: createdAt + delay,
		};
		const id = ids.uuid();
		await store.timers.set({ key: storeKey, name: timerName(id), wakeAt: body.dueAt, body });
		return id;
	}

	/** Returns the pending effects, ordered by due time. */
	async pending(name?: string): Promise<ScheduledEffect[]> {
		const wanted = name === undefined ? undefined : (this.#parts.find(name)?.name ?? name);
		const found = (await this.#timers()).filter(({ body }) => wanted === undefined || body.name === wanted);
		const records = await this.#recordsOf(found);
		return found
			.filter(({ id }) => !records.has(id))
			.map(({ id, body }) => scheduled(id, body, "pending"))
			.sort((one, other) => one.scheduledAt - other.scheduledAt);
	}

	/** Returns all effects, including those that ran, failed or were cancelled, ordered by due time. */
	async all(): Promise<ScheduledEffect[]> {
		const { store, storeKey } = this.#parts;
		const records = await store.records.list(shelfOf(storeKey));
		const known = new Set(records.map(({ name }) => name));
		const pending = (await this.pending()).filter(({ id }) => !known.has(id));
		const others = records.map(({ name: id, value }) => {
			const record = value as EffectRecord;
			return scheduled(id, record, record.status, record.error);
		});
		return [...others, ...pending].sort((one, other) => one.scheduledAt - other.scheduledAt);
	}

	/** Cancels a pending effect, which then never runs; returns false for any other. */
	async cancel(id: string): Promise<boolean> {
		const found = (await this.#allTimers()).find((timer) => timer.id === id);
		if (found === undefined) return false;
		return this.#cancel(found);
	}

	/** Makes a pending effect due now; returns false for any other. */
	async runNow(id: string): Promise<boolean> {
		const { store, storeKey, clock } = this.#parts;
		const found = (await this.pending()).some((effect) => effect.id === id);
		const timer = found ? (await this.#timers()).find((each) => each.id === id) : undefined;
		if (timer === undefined) return false;
		const wakeAt = Math.min(timer.body.dueAt, clock.now());
		await store.timers.set({ key: storeKey, name: timerName(id), wakeAt, body: timer.body });
		return true;
	}

	/** Cancels all pending effects, because the thread is terminated. */
	async cancelAll(): Promise<void> {
		for (const timer of await this.#allTimers()) await this.#cancel(timer);
	}

	/** Forgets all effects: the session is deleted, and its timers with it. */
	async forget(): Promise<void> {
		const { store, storeKey } = this.#parts;
		const shelf = shelfOf(storeKey);
		for (;;) {
			const records = await store.records.list(shelf, { limit: 500 });
			if (records.length === 0) return;
			const writes = records.map(({ name }) => ({ shelf, name, value: undefined }));
			await store.records.commit([], writes);
		}
	}

	async #cancel({ id, body }: EffectTimer): Promise<boolean> {
		const { store, storeKey } = this.#parts;
		// A damaged effect never starts, and cannot be recorded.
		if (body === undefined) return await store.timers.cancel(storeKey, timerName(id));
		// A worker that has already claimed it may be faster.
		const isFirst = await writeFirst(store.records, storeKey, id, { ...body, status: "canceled" });
		if (isFirst) await store.timers.cancel(storeKey, timerName(id));
		return isFirst;
	}

	/** Returns the effects that can be read. The worker reports the others when they are due. */
	async #timers(): Promise<readonly (EffectTimer & { readonly body: EffectBody })[]> {
		return (await this.#allTimers()).flatMap(({ body, ...of }) =>
			body === undefined ? [] : [{ ...of, body }],
		);
	}

	async #allTimers(): Promise<readonly EffectTimer[]> {
		const { store, storeKey } = this.#parts;
		return (await store.timers.list(storeKey)).flatMap((timer) => {
			const id = effectId(timer);
			return id === undefined ? [] : [{ id, wakeAt: timer.wakeAt, body: bodyOf(timer) }];
		});
	}

	/** Ids of the effects that have started. One that is not due yet has not. */
	async #recordsOf(timers: readonly Pick<EffectTimer, "id" | "wakeAt">[]): Promise<ReadonlySet<string>> {
		const { store, storeKey, clock } = this.#parts;
		const now = clock.now();
		const due = timers.filter(({ wakeAt }) => wakeAt <= now);
		const shelf = shelfOf(storeKey);
		const records = await Promise.all(
			due.map(async ({ id }) => ({ id, ...(await store.records.get({ shelf, name: id })) })),
		);
		return new Set(records.filter(({ revision }) => revision > 0).map(({ id }) => id));
	}
}

function bodyOf(timer: Timer): EffectBody | undefined {
	try {
		return timer.body as EffectBody;
	} catch (error) {
		if (isUnreadable(error)) return undefined;
		throw error;
	}
}

function checkedArguments(
	{ name, definition }: { readonly name: string; readonly definition: EffectDefinition },
	args: unknown,
): Record<string, unknown> {
	const { schema } = definition;
	if (schema === null || schema === undefined) {
		if (typeof args === "object" && args !== null && Object.keys(args).length === 0) return {};
		throw invalidArguments(name, "It takes none.");
	}
	const parsed = schema.safeParse(args);
	if (!parsed.success)
		throw invalidArguments(
			name,
			parsed.error.issues.map(({ path, message }) => `\`${path.join(".")}\`: ${message}`).join("; "),
		);
	try {
		return JSON.parse(JSON.stringify(parsed.data)) as Record<string, unknown>;
	} catch (cause) {
		throw invalidArguments(name, "They are not plain JSON.", cause);
	}
}

function invalidArguments(name: string, why: string, cause?: unknown): HoldfastError {
	return new HoldfastError(
		"invalid_effect_arguments",
		`The arguments of the effect ${JSON.stringify(name)} are invalid. ${why}`,
		cause === undefined ? {} : { cause },
	);
}
