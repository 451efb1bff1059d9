// The world of one schedule: a store, processes over it, what the outside saw, and the chances of things going wrong.

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
 * What may go wrong of itself: processes crash, are stopped and wake late, lose their lease while they work; clocks
 * jump; the store, models and tools fail or hang.
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
	/** Makes the store. Default: the one in memory. */
	readonly store: ((clock: WorldClock) => SimulatedStore) | undefined;
	/** Whether sub-agents work in the background; undefined where the seed chooses. */
	readonly background: true | undefined;
	/** Whether sub-agents wait for outside answers; undefined if the seed decides. */
	readonly nested: true | undefined;
}

export class World {
	readonly random: Random;
	readonly schedule: Schedule;
	/** The store, and a worker of it that only looks on. */
	readonly shared: SimulatedStore;
	readonly store: Journal;
	/** Absent where the store itself notifies at once. */
	readonly news: News | undefined;
	readonly ledger: Ledger;
	readonly effects: Effects;
	readonly holders: Holders = new Map<string, Lease>();
	readonly faults: ReadonlySet<WorldFault>;
	readonly planted: PlantedFault | undefined;
	readonly sessions: string[];
	/** The living ones, and those that died. */
	readonly processes: Process[] = [];
	/** Whether a sub-agent works for the runs. */
	readonly delegates: boolean;
	/** Whether it may work in the background, and sessions get notifications of things that no user has said. */
	readonly background: boolean;
	/** Whether it waits for approvals and results, too, and its parent with it. */
	readonly nests: boolean;
	/** Whether the provider of the models asks to slow down at times. */
	readonly isBusy: boolean;
	/** Decides which inputs are repeated under their keys; undefined without keys. No session is deleted there. */
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
		// Drawn separately, so that other scenarios stay unchanged.
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

	/** Processes that users can talk to. */
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

	/** Whether a call goes wrong. */
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
