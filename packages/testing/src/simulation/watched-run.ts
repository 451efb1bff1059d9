// A watched run: every emitted event must already be in the journal, in its order, without gaps (checks I3).

import type { AgentRun, RunEvent } from "holdfast";
import { type Entry, type Fact, type FactKind, isJobEvent } from "holdfast/host";
import type { AgentEvent, SubagentJobEvent } from "holdfast/types";
import type { Ledger } from "./ledger.ts";
import type { Process } from "./process.ts";
import type { Schedule } from "./schedule.ts";

/** Whether a watcher reads each event at once, or one by one as the schedule decides. */
export type Pace = "at-once" | "slow";

/** The watchers of a run from its start: some see every chunk, one sees boundaries only. */
export interface Watching {
	readonly watchers: readonly Pace[];
	readonly events: boolean;
}

/** The event that each fact is emitted as; undefined for facts that are not emitted. */
const emittedAs: Readonly<Record<FactKind, RunEvent["type"] | undefined>> = {
	"run.started": "run_start",
	"run.resumed": "run_start",
	"run.parked": "run_suspended",
	"history.cut": "history_cut",
	waiting: "waiting",
	input: "input",
	assistant: "message",
	"tool.started": "tool_start",
	"tool.settled": "tool_end",
	note: "note",
	"run.ended": "run_end",
	"tools.pending": "tools_pending",
	"tools.requested": undefined,
	decision: undefined,
	"wait.ended": undefined,
	"message.added": undefined,
	"message.updated": undefined,
	"message.deleted": undefined,
	folded: undefined,
};

/** A watcher of all chunks: checks that it receives each event once, in order, after the commit, and without gaps. */
class Watcher {
	readonly #run: AgentRun;
	readonly #ledger: Ledger;
	#last: { readonly seq: number; readonly sub: number } | undefined;
	#lastEmitted: number | undefined;
	readonly #overJobs = new Set<string>();

	constructor(run: AgentRun, ledger: Ledger) {
		this.#run = run;
		this.#ledger = ledger;
	}

	saw(event: RunEvent): void {
		const { seq, sub } = event;
		if (seq === 0) return; // A run that never started has no journal.
		const { runId, sessionKey } = this.#run;
		const wrong = (what: string): void => this.#ledger.wrong(`a watcher of ${sessionKey} ${what}`);
		const life = this.#ledger.lifeOfRun(runId);
		if (life === undefined || seq > life.entries.length) {
			wrong(`got ${event.type} before it was committed`);
			return;
		}
		const last = this.#last;
		if (last !== undefined && (seq < last.seq || (seq === last.seq && sub <= last.sub)))
			wrong(`saw ${event.type} out of order`);
		this.#last = { seq, sub };
		if (event.type === "nested" && isJobEvent(event.event)) this.#sawJob(event.event);
		if (sub !== 0) return;
		const entry = life.entries[seq - 1] as Entry;
		if (entry.runId !== runId || emittedAs[entry.fact.kind] !== event.type)
			wrong(`saw ${event.type} for ${entry.fact.kind}`);
		const between = this.#lastEmitted === undefined ? [] : life.entries.slice(this.#lastEmitted, seq - 1);
		const missed = between.find((each) => isEmitted(each.fact));
		if (missed !== undefined) wrong(`did not get entry ${missed.seq}, ${missed.fact.kind}`);
		this.#lastEmitted = seq;
	}

	/** A background task ends once, without later events. A repeated call starts it again. */
	#sawJob({ type, task_id: taskId }: SubagentJobEvent): void {
		if (taskId === undefined) return;
		if (type === "subagent-job-start") {
			this.#overJobs.delete(taskId);
			return;
		}
		if (this.#overJobs.has(taskId))
			this.#ledger.wrong(`a watcher of ${this.#run.sessionKey} saw ${type} of ${taskId}, which was over`);
		if (type === "subagent-job-end") this.#overJobs.add(taskId);
	}
}

export class WatchedRun {
	readonly run: AgentRun;
	readonly process: Process;
	/** Its outcome, as its own process reported it. */
	outcome: string | undefined;
	/** Whether only the store's refusal ended it, and the user received that refusal. */
	wasRefused = false;
	readonly #schedule: Schedule;
	readonly #ledger: Ledger;
	#ending: AgentEvent["type"] | undefined;
	#asked = false;
	#drained = false;

	constructor(run: AgentRun, process: Process, schedule: Schedule, ledger: Ledger, watching: Watching) {
		this.run = run;
		this.process = process;
		this.#schedule = schedule;
		this.#ledger = ledger;
		for (const pace of watching.watchers) this.#watch(this.#watcher(), pace);
		if (watching.events) this.#pull(run.events());
	}

	/** Adds a watcher from now on. */
	join(pace: Pace): void {
		if (!this.process.dead) this.#watch(this.#watcher(), pace);
	}

	#watcher(): Watcher {
		return new Watcher(this.run, this.#ledger);
	}

	/** Lets the run continue by itself and waits for its end. */
	askForResult(): void {
		if (this.#asked || this.process.dead) return;
		this.#asked = true;
		void this.run.result().then((result) => {
			this.outcome = result.outcome;
			this.wasRefused = this.#ledger.refuses(result.error?.code);
			this.#schedule.note(`${this.process.name}: a run of ${this.run.sessionKey} is over, ${result.outcome}`);
			this.#checkOutcome(result.outcome, result.error);
		});
	}

	#watch(watcher: Watcher, pace: Pace): void {
		const events = this.run.watch();
		if (pace === "at-once") void this.#watchAtOnce(watcher, events);
		else this.#take(events, "looks at", (event) => watcher.saw(event));
	}

	async #watchAtOnce(watcher: Watcher, events: AsyncIterable<RunEvent>): Promise<void> {
		for await (const event of events) watcher.saw(event);
	}

	/** Reads events eagerly; the run waits for this watcher at its boundaries. */
	#pull(events: AsyncIterator<AgentEvent>): void {
		const ended = (): void => {
			this.#drained = true;
			this.#checkEnding();
			this.askForResult();
		};
		const saw = ({ type }: AgentEvent): void => {
			this.#ending = type;
		};
		this.#take(events, "asks for", saw, ended);
	}

	/** Reads events one by one as the schedule decides. */
	#take<T>(
		events: AsyncIterator<T>,
		does: string,
		saw: (event: T) => void,
		ended: () => void = () => {},
	): void {
		const label = `${this.process.name}: ${does} an event of ${this.run.sessionKey}`;
		const run = (): void => {
			void events.next().then(({ done, value }) => {
				if (done === true) return ended();
				saw(value as T);
				this.#take(events, does, saw, ended);
			});
		};
		this.#schedule.add({ label, owner: this.process, run });
	}

	/** Checks that the last event agrees with the result. */
	#checkEnding(): void {
		const ending = { completed: "turn-end", aborted: "turn-abort", error: "turn-error" }[this.outcome ?? ""];
		if (!this.#drained || ending === undefined || this.#ending === ending) return;
		this.#ledger.wrong(
			`a run of ${this.run.sessionKey} is ${this.outcome}, and its events end with ${this.#ending}`,
		);
	}

	/** Checks that the reported end of the run is recorded. */
	#checkOutcome(
		outcome: string,
		error: { readonly code: string; readonly message: string } | undefined,
	): void {
		const wrong = (what: string): void => this.#ledger.wrong(`a run of ${this.run.sessionKey} ${what}`);
		if (error !== undefined && !this.#ledger.expects(error.code))
			wrong(`ended with ${error.code}: ${error.message}`);
		if (outcome === "suspended" || outcome === "waiting" || outcome === "killed") return;
		const life = this.#ledger.lifeOfRun(this.run.runId);
		const ended = life?.entries.find(
			({ runId, fact }) => runId === this.run.runId && fact.kind === "run.ended",
		)?.fact;
		const recorded = ended?.kind === "run.ended" ? ended.outcome : undefined;
		if (recorded !== outcome) wrong(`was said to be ${outcome} and is recorded as ${recorded ?? "open"}`);
		this.#checkEnding();
	}
}

/** Retries of a model are emitted when they happen, before they are recorded. */
function isEmitted(fact: Fact): boolean {
	if (fact.kind === "note" && fact.topic === "model-retry") return false;
	return emittedAs[fact.kind] !== undefined;
}
