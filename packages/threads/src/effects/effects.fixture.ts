// Effects over a host without threads, for tests: a clock that is set, and workers that count what they carry out.
import type { Host } from "holdfast";
import { type Ports, systemPorts } from "holdfast/host";
import { z } from "zod";
import type { EffectDefinition } from "../types/index.ts";
import {
	type DueEffect,
	type EffectStore,
	EffectWorker,
	type EffectWorkerParts,
	ThreadEffects,
} from "./index.ts";

/** Takes `n`, a whole number, and what else it is given in `more`. */
const counting = {
	description: "Counts.",
	schema: z.object({ n: z.number(), more: z.unknown().optional() }),
	handler: () => {},
} as unknown as EffectDefinition;
const definitions: Readonly<Record<string, EffectDefinition>> = {
	count: counting,
	other: counting,
	plain: { description: "Takes nothing.", schema: null, handler: () => {} },
};

export function storeOf({ timers, records }: Host): EffectStore {
	if (timers === undefined || records === undefined)
		throw new Error("The host keeps no timers or no records.");
	return { timers, records };
}

export function effectsOn(
	host: Host,
	storeKey: string,
	clock: Ports["clock"] = systemPorts.clock,
): ThreadEffects {
	return new ThreadEffects({
		store: storeOf(host),
		storeKey,
		clock,
		ids: systemPorts.ids,
		find: (name) =>
			Object.hasOwn(definitions, name)
				? { name, definition: definitions[name] as EffectDefinition }
				: undefined,
	});
}

/** A worker and what it has carried out. */
export function workerOn(
	host: Host,
	parts: Partial<EffectWorkerParts> = {},
): { readonly worker: EffectWorker; readonly ran: DueEffect[]; readonly problems: unknown[] } {
	const ran: DueEffect[] = [];
	const problems: unknown[] = [];
	const worker = new EffectWorker({
		store: storeOf(host),
		ports: systemPorts,
		workerId: host.journal.workerId,
		isAlive: (id) => host.journal.isAlive(id),
		threadOf: async () => "active",
		run: async (effect) => void ran.push(effect),
		shown: async (_, error) => String(error),
		failed: (error) => problems.push(error),
		...parts,
	});
	return { worker, ran, problems };
}

/** Time that passes on request. */
export function setClock(
	start = 1_000_000,
): Pick<Ports, "clock" | "timers" | "eventLoop"> & { pass(ms: number): void } {
	let now = start;
	const waiting = new Set<{ readonly at: number; readonly wake: () => void }>();
	return {
		clock: { now: () => now, monotonic: () => now },
		timers: {
			after(milliseconds, wake) {
				const timer = { at: now + milliseconds, wake };
				waiting.add(timer);
				return () => void waiting.delete(timer);
			},
		},
		eventLoop: systemPorts.eventLoop,
		pass(ms) {
			now += ms;
			for (const timer of [...waiting]) if (timer.at <= now && waiting.delete(timer)) timer.wake();
		},
	};
}
