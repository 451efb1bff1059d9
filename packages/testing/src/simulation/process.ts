// A process of the simulation: a worker with an agent. It can stop, wake up late, lose its lease while alive, and die.
import { Agent, type Host, type ToolContext } from "holdfast";
import { journalExecution, type OwnExecutionHost, type RecordingHost } from "holdfast/execution-host";
import { type Entry, type Journal, journalHost, type Ports } from "holdfast/host";
import { taskIdOf } from "./background-checks.ts";
import { makeOperation, writing } from "./operations.ts";
import { type PlantedFault, withFault } from "./planted-faults.ts";
import type { Owner, Step } from "./schedule.ts";
import { simulatedJournal } from "./simulated-journal.ts";
import { simulatedRecords } from "./simulated-records.ts";
import {
	askingTools,
	delegating,
	inBackground,
	ownTools,
	simulatedModel,
	simulatedTools,
	type WorkOptions,
} from "./simulated-work.ts";
import { type AccessAtOnce, plainAccess, type StoreUser } from "./store-access.ts";
import type { World } from "./world.ts";

export class Process implements Owner, StoreUser {
	readonly name: string;
	readonly agent: Agent;
	readonly journal: Journal;
	/** Set if sub-agents work in the background. */
	readonly execution: OwnExecutionHost | undefined;
	worker: Journal;
	stopped = false;
	dead = false;
	/** Whether others consider it dead although it is alive. */
	lapsed = false;
	/** Whether it has ever lapsed. */
	hasLapsed = false;
	/** It was asked to close and accepts no new work. */
	leaving = false;
	readonly #world: World;
	#clockError = 0;
	/** Whether the next write fails. */
	#storeFails = false;

	constructor(world: World, name: string, answers: "at-once" | "in-time") {
		this.name = name;
		this.#world = world;
		this.worker = world.shared.worker(name);
		const { schedule, ledger, effects, holders, planted } = world;
		const { random } = schedule;
		const { store: observer, news } = world;
		const plain = plainAccess(this, { ledger, holders, observer, news });
		const planting = { user: this, ledger, holders, random };
		const access = planted === undefined ? plain : withFault(planted, plain as AccessAtOnce, planting);
		const fails = (): boolean => this.#failsNow();
		const operation = makeOperation({ schedule, owner: this, answers, fails, planted });
		const folds = this.worker.folds === true;
		const parts = { schedule, owner: this, workerId: name, access, operation, folds, planted };
		this.journal = simulatedJournal(parts);
		const afterTool = this.#plantedAfterTool(planted);
		const trouble: WorkOptions["trouble"] = (of) => world.trouble(of);
		const work: WorkOptions = { schedule, owner: this, ledger, effects, trouble, afterTool };
		const ports: Partial<Ports> = {
			clock: {
				now: () => 1_700_000_000_000 + schedule.now + this.#clockError,
				monotonic: () => schedule.now,
			},
			ids: { uuid: () => world.uuid() },
			timers: {
				after: (milliseconds, wake) =>
					planted === "lost-wake-up" ? () => {} : schedule.after(this, milliseconds, wake),
			},
		};
		const { store, records: space } = world;
		const records = simulatedRecords({ operation, space, store, ledger, random, workerId: name, planted });
		if (world.background)
			this.execution = journalExecution({
				journal: this.journal,
				records,
				runs: records,
				capabilities: { backgroundSubagents: "durable" },
				clock: ports.clock,
				newId: () => world.uuid(),
			});
		const tools = simulatedTools(work);
		// A hanging background task could not be interrupted.
		const inTime: WorkOptions["trouble"] = (of) => {
			const how = world.trouble(of);
			return how === "hangs" ? "fails" : how;
		};
		const helperWork = world.background ? { ...work, trouble: inTime } : work;
		const helperTools = world.background ? simulatedTools(helperWork) : tools;
		const ofHelper = world.nests ? [...ownTools, ...askingTools] : ownTools;
		const rest = {
			maxRestarts: 1,
			ports,
			onWarning: ({ code }: { readonly code: string }) => schedule.note(`${name}: warns of ${code}`),
			...(planted === "gives-up-model" ? { modelWait: "never" as const } : {}),
		};
		const toolsOfHelper = helperTools.filter(({ name }) => ofHelper.includes(String(name)));
		const aide = new Agent({
			name: "aide",
			description: "Helps the helper.",
			model: simulatedModel(helperWork, ofHelper),
			tools: toolsOfHelper,
			...rest,
		});
		const helper = new Agent({
			name: "helper",
			description: "Helps.",
			model: simulatedModel(helperWork, world.nests ? [...ofHelper, "delegate_to_aide"] : ofHelper),
			tools: toolsOfHelper,
			subagents: world.nests ? [aide] : [],
			...rest,
		});
		this.agent = new Agent({
			model: simulatedModel(work, [
				...ownTools,
				...askingTools,
				...(world.delegates ? delegating : []),
				...(world.background ? inBackground : []),
			]),
			tools,
			subagents: world.delegates ? [helper] : [],
			host: this.#host(),
			...rest,
		});
	}

	/** If background work continues across processes, schedules are stored with the sessions. */
	#host(): Host | RecordingHost {
		const { execution } = this;
		if (execution === undefined) return journalHost(this.journal);
		return { ...journalHost(this.journal, execution), execution };
	}

	/** Whether it accepts requests of users. */
	get serves(): boolean {
		return !this.stopped && !this.dead && !this.leaving;
	}

	/** Stops at once. Requests already sent to the store may still succeed. */
	die(): void {
		const { random } = this.#world.schedule;
		this.dead = true;
		const lost = new Set<object>();
		this.#world.schedule.drop(this, (step: Step) => {
			if (!writing.has(step) || (step.lane !== undefined && lost.has(step.lane))) return false;
			if (random.chance(0.5)) return true;
			if (step.lane !== undefined) lost.add(step.lane);
			return false;
		});
		this.#world.shared.takeForDead(this.worker);
	}

	wrote(): void {
		if (this.dead || this.lapsed) this.#world.shared.takeForDead(this.worker);
	}

	/** Stops it for a while, so that others consider it dead. */
	stop(): void {
		this.stopped = true;
		this.lapse();
	}

	/** Makes others consider it dead although it continues. */
	lapse(): void {
		this.lapsed = true;
		this.hasLapsed = true;
		this.#world.shared.takeForDead(this.worker);
	}

	/** Resumes it, so that others see that it is alive; sessions taken over since stay with the others. */
	wake(): void {
		this.stopped = false;
		if (!this.lapsed) return;
		this.lapsed = false;
		this.worker = this.#world.shared.worker(this.name);
	}

	/** Shifts its clock from now on. */
	jumpClock(milliseconds: number): void {
		this.#clockError += milliseconds;
	}

	failNextWrite(): void {
		this.#storeFails = true;
	}

	#failsNow(): boolean {
		const fails = this.#storeFails;
		this.#storeFails = false;
		return fails;
	}

	#plantedAfterTool(planted: PlantedFault | undefined): WorkOptions["afterTool"] {
		if (planted === "late-settlement") return (context) => this.#settleLate(context);
		return planted === "update-after-end" ? (context) => this.#updateEnded(context) : undefined;
	}

	/** A planted fault: updates the session's ended tasks again. */
	#updateEnded({ runId, onSubagentEvent }: ToolContext): void {
		const { ledger } = this.#world;
		for (const { entries } of ledger.allLives) {
			const [first] = entries;
			if (first?.fact.kind !== "run.started" || entries.at(-1)?.fact.kind !== "run.ended") continue;
			const { parent } = first.fact;
			if (parent === undefined || ledger.lifeOfRun(parent.runId) !== ledger.lifeOfRun(runId)) continue;
			const task_id = taskIdOf(first.runId);
			onSubagentEvent({ type: "subagent-job-update", task_id, subagent: "helper", status: "running" });
		}
	}

	/** A planted fault: records the result of an abandoned call. */
	#settleLate({ sessionKey = "", runId, toolCallId, step, signal }: ToolContext): void {
		if (!signal.aborted) return;
		const { holders, ledger, schedule } = this.#world;
		const lease = holders.get(sessionKey);
		if (lease === undefined || lease.isLost) return;
		const settled = {
			kind: "tool.settled",
			step,
			callId: toolCallId,
			outcome: "done",
			result: "",
			duration: 0,
		} as const;
		const batch = { at: schedule.now, runId, facts: [settled] };
		const known = ledger.life(sessionKey).entries.length;
		lease.append(batch);
		const added = this.#world.store.read(sessionKey, { after: known }) as readonly Entry[];
		ledger.appended(sessionKey, this.name, lease.epoch, batch, { added, waiting: [] });
	}
}
