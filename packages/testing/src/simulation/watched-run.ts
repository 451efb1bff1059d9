// A run as somebody watches it: what is emitted must be in the journal already, in its order, without gaps (checks I3).

import type { AgentEvent, AgentRun, Entry, RunEvent, SubagentJobEvent } from "holdfast";
import { type FactKind, isJobEvent } from "holdfast/host";
import type { Ledger } from "./ledger.ts";
import type { Process } from "./process.ts";
import type { Schedule } from "./schedule.ts";

/** How somebody looks at a run: down to the pieces, holding it at its boundaries, or not at all until the end. */
export type Watching = "watch" | "events" | "leave";

/** Facts that are emitted, and as which event. */
const emittedAs: Readonly<Partial<Record<FactKind, RunEvent["type"]>>> = {
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
};

export class WatchedRun {
	readonly run: AgentRun;
	readonly process: Process;
	/** How it ended, as its own process said. */
	outcome: string | undefined;
	readonly #schedule: Schedule;
	readonly #ledger: Ledger;
	#last: { readonly seq: number; readonly sub: number } | undefined;
	#lastEmitted: number | undefined;
	#ending: AgentEvent["type"] | undefined;
	readonly #overJobs = new Set<string>();
	#asked = false;
	#drained = false;

	constructor(run: AgentRun, process: Process, schedule: Schedule, ledger: Ledger, watching: Watching) {
		this.run = run;
		this.process = process;
		this.#schedule = schedule;
		this.#ledger = ledger;
		if (watching === "watch") void this.#watch();
		if (watching === "events") this.#pull(run.events());
	}

	/** Lets the run continue by itself and waits for its end. */
	askForResult(): void {
		if (this.#asked || this.process.dead) return;
		this.#asked = true;
		void this.run.result().then((result) => {
			this.outcome = result.outcome;
			this.#schedule.note(`${this.process.name}: a run of ${this.run.sessionKey} is over, ${result.outcome}`);
			this.#checkOutcome(result.outcome, result.error);
		});
	}

	async #watch(): Promise<void> {
		for await (const event of this.run.watch()) this.#saw(event);
	}

	/** Asks for one event after the other, each time the schedule says so. */
	#pull(events: AsyncIterator<AgentEvent>): void {
		const { name } = this.process;
		const run = (): void => {
			void events.next().then(({ done, value }) => {
				if (done === true) {
					this.#drained = true;
					this.#checkEnding();
					this.askForResult();
					return;
				}
				this.#ending = value.type;
				this.#pull(events);
			});
		};
		this.#schedule.add({
			label: `${name}: asks for an event of ${this.run.sessionKey}`,
			owner: this.process,
			run,
		});
	}

	#saw(event: RunEvent): void {
		const { seq, sub } = event;
		if (seq === 0) return; // a run that was never started has no journal
		const { runId, sessionKey } = this.run;
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
		const missed = between.find((each) => emittedAs[each.fact.kind] !== undefined);
		if (missed !== undefined) wrong(`did not get entry ${missed.seq}, ${missed.fact.kind}`);
		this.#lastEmitted = seq;
	}

	/** Work in the background is over once, and nothing more comes of it then. A call that is carried out again says so. */
	#sawJob({ type, task_id: taskId }: SubagentJobEvent): void {
		if (taskId === undefined || type === "subagent-job-start") return;
		if (this.#overJobs.has(taskId))
			this.#ledger.wrong(`a watcher of ${this.run.sessionKey} saw ${type} of ${taskId}, which was over`);
		if (type === "subagent-job-end") this.#overJobs.add(taskId);
	}

	/** The last of its events says the same as its result. */
	#checkEnding(): void {
		const ending = { completed: "turn-end", aborted: "turn-abort", error: "turn-error" }[this.outcome ?? ""];
		if (!this.#drained || ending === undefined || this.#ending === ending) return;
		this.#ledger.wrong(
			`a run of ${this.run.sessionKey} is ${this.outcome}, and its events end with ${this.#ending}`,
		);
	}

	/** What the process says of the run's end must be on record. */
	#checkOutcome(
		outcome: string,
		error: { readonly code: string; readonly message: string } | undefined,
	): void {
		const wrong = (what: string): void => this.#ledger.wrong(`a run of ${this.run.sessionKey} ${what}`);
		if (error !== undefined && !expectedErrors.has(error.code))
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

/** Codes of errors that may come to pass in a world where things go wrong. */
export const expectedErrors: ReadonlySet<string> = new Set([
	"agent_closed",
	"events_expired",
	"fork_unsettled",
	"history_unsettled",
	"journal_failed",
	"lease_lost",
	"no_pending_tool_calls",
	"run_failed",
	"run_parked",
	"run_suspended",
	"session_busy",
	"session_held",
	"session_killed",
	"tool_call_settled",
	"tool_result_conflict",
	"tool_result_expired",
	"unknown_tool_call_id",
	"PROVIDER_ERROR",
	"CANCELLED",
]);
