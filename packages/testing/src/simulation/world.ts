// The state of one schedule: a store, processes over it, the external observations, and the probabilities of faults.

import { type Journal, type Lease, memoryRecords, type RecordSpace } from "holdfast/host";
import { Effects } from "./effects.ts";
import { Ledger } from "./ledger.ts";
import { News } from "./news.ts";
import type { PlantedFault } from "./planted-faults.ts";
import { Process } from "./process.ts";
import { type Random, seededRandom } from "./random.ts";
import { Schedule } from "./schedule.ts";
import { memoryStore, type SimulatedStore, type WorldClock } from "./simulated-store.ts";
import type { Trouble } from "./simulated-work.ts";
import type { Holders } from "./store-access.ts";

/**
 * Possible faults: processes crash, stop and wake late, or lose their lease while working; clocks jump; the store, models
 * and tools fail or hang.
 */
export type WorldFault = "crash" | "stop" | "lapse" | "clock" | "store" | "model" | "tool";

/** All of them. */
export const worldFaults: readonly WorldFault[] = [
	"crash",
	"stop",
	"lapse",
	"clock",
	"store",
	"model",
	"tool",
];

/** The parts of a simulation. */
export interface WorldOptions {
	readonly seed: number;
	readonly faults: ReadonlySet<WorldFault>;
	readonly planted: PlantedFault | undefined;
	/** Creates the store. Default: the one in memory. */
	readonly store: ((clock: WorldClock) => SimulatedStore) | undefined;
	/** Whether sub-agents work in the background; undefined if the seed decides. */
	readonly background: true | undefined;
	/** Whether sub-agents wait for outside answers; undefined if the seed decides. */
	readonly nested: true | undefined;
}

export class World {
	readonly random: Random;
	readonly schedule: Schedule;
	/** The store, and a worker that only reads. */
	readonly shared: SimulatedStore;
	readonly store: Journal;
	/** Absent if the store itself notifies at once. */
	readonly news: News | undefined;
	readonly ledger: Ledger;
	readonly effects: Effects;
	readonly holders: Holders = new Map<string, Lease>();
	readonly faults: ReadonlySet<WorldFault>;
	readonly planted: PlantedFault | undefined;
	readonly sessions: string[];
	/** Live and dead processes. */
	readonly processes: Process[] = [];
	/** Whether runs delegate to a sub-agent. */
	readonly delegates: boolean;
	/** Whether it may work in the background, and sessions get notifications that do not come from users. */
	readonly background: boolean;
	/** Whether it waits for approvals and results too, and its parent with it. */
	readonly nests: boolean;
	/** Whether the models' provider is sometimes overloaded. */
	readonly isBusy: boolean;
	/** Decides which inputs are repeated with their keys; undefined without keys. No session is deleted in that case. */
	readonly repeats: Random | undefined;
	/** The records stored with the sessions. */
	readonly records: RecordSpace = memoryRecords();
	/** Whether faults have ended. */
	calm = false;
	readonly #answers: "at-once" | "in-time";
	#lastId: string | undefined;

	constructor({ seed, faults, planted, store = memoryStore, background, nested }: WorldOptions) {
		this.random = seededRandom(seed);
		this.schedule = new Schedule(this.random);
		this.faults = faults;
		this.planted = planted;
		this.shared = store({ now: () => this.schedule.now });
		this.store = this.shared.worker("observer");
		this.news = this.store.name === "memory" ? undefined : new News();
		this.ledger = new Ledger(() => this.schedule.now, this.shared.refusals);
		this.effects = new Effects(this.ledger);
		const atOnce = this.random.chance(0.15) && this.news === undefined;
		this.#answers = atOnce ? "at-once" : "in-time";
		this.delegates = this.random.chance(0.5) || background === true || nested === true;
		// Drawn separately, so that other schedules stay the same.
		this.isBusy = faults.has("model") && seededRandom(`busy ${seed}`).chance(0.3);
		const repeats = seededRandom(`again ${seed}`);
		this.repeats = repeats.chance(0.3) ? repeats : undefined;
		this.background = this.delegates && (this.random.chance(0.3) || background === true) && nested !== true;
		this.nests = nested === true || (this.delegates && seededRandom(`nests ${seed}`).chance(0.4));
		this.sessions = Array.from({ length: 1 + this.random.below(3) }, (_, at) => `s${at + 1}`);
		for (let count = 1 + this.random.below(3); count > 0; count--) this.startProcess();
	}

	get living(): readonly Process[] {
		return this.processes.filter((process) => !process.dead);
	}

	/** Processes that accept requests of users. */
	get serving(): readonly Process[] {
		return this.processes.filter((process) => process.serves);
	}

	/** Whether the open run of a session waits for an explicit continuation. */
	async isParked(key: string): Promise<boolean> {
		return (await this.store.head(key))?.parked === true;
	}

	startProcess(): Process {
		const process = new Process(this, `w${this.processes.length + 1}`, this.#answers);
		this.processes.push(process);
		this.schedule.note(`${process.name} starts`);
		return process;
	}

	/** Decides whether a call fails. */
	trouble(of: "model" | "tool"): Trouble | undefined {
		if (this.calm || !this.faults.has(of)) return undefined;
		if (of === "model" && this.isBusy && this.random.chance(0.2)) return "is busy";
		if (this.random.chance(0.08)) return "fails";
		return this.random.chance(0.05) ? "hangs" : undefined;
	}

	uuid(): string {
		if (this.planted === "reused-key" && this.#lastId !== undefined && this.random.chance(0.2))
			return this.#lastId;
		this.#lastId = this.random.uuid();
		return this.#lastId;
	}
}
