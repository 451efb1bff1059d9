// The record of one running execution: its status, checkpoints and events are written in one transaction after each
// journal commit, before any event is emitted (keeps I3). The run's lease is renewed while the run is driven.
import type { CommittedFact, Ledger, Mark } from "../engine/index.ts";
import type { AgentEvent, RunEvent } from "../facts/index.ts";
import { leaseLost } from "../facts/index.ts";
import type { Ports } from "../host/index.ts";
import { SessionEvents } from "../sessions/index.ts";
import { CheckpointReader, saidAfter, statusAfter } from "./checkpoints-of.ts";
import type { ExecutionStore, ExecutionTransaction } from "./execution-host.ts";
import { type ClaimPorts, changeRun, claim, createOnce, type RunChange, renew } from "./run-access.ts";
import { checkpointAt, type RunPlace } from "./run-checkpoint.ts";
import type { NewRun } from "./run-record.ts";

export interface RunRecorderOptions {
	readonly ports: Ports;
	readonly claims: ClaimPorts;
	/** `status` if checkpoints and events are read from the journal. */
	readonly keeps: "all" | "status";
	/** The claim that this process already holds for the run. */
	readonly leaseId?: string;
	/** The model's last message, for a resumed run. */
	readonly said?: string | undefined;
}

/** The records that are written in one transaction. */
interface Writing {
	readonly checkpoints: readonly RunPlace[];
	readonly events: readonly AgentEvent[];
	readonly change: RunChange | undefined;
}

export class RunRecorder implements Ledger {
	readonly #store: ExecutionStore;
	readonly #run: NewRun;
	readonly #ports: Ports;
	readonly #claims: ClaimPorts;
	readonly #keeps: RunRecorderOptions["keeps"];
	/** Converts the engine's events to those of sessions. They have no consumer here. */
	readonly #projection = new SessionEvents();
	readonly #checkpoints: CheckpointReader;
	#pending: AgentEvent[] = [];
	/** The model's last message. */
	#said: string;
	#leaseId: string | undefined;
	/** Version of the last checkpoint that this process has seen; undefined before the first. */
	#version: number | undefined;
	#last: Promise<unknown> = Promise.resolve();
	#stopRenewing: (() => void) | undefined;
	#notify: (() => void) | undefined;
	#closed = false;
	/** Whether the record states that the run is not in progress. */
	#isOver = false;

	constructor(store: ExecutionStore, run: NewRun, options: RunRecorderOptions) {
		this.#store = store;
		this.#run = run;
		this.#ports = options.ports;
		this.#claims = options.claims;
		this.#keeps = options.keeps;
		this.#leaseId = options.leaseId;
		this.#said = options.said ?? "";
		this.#checkpoints = new CheckpointReader(run.kind);
		void this.#projection.return();
		this.#projection.onEvent = (event) => this.#pending.push(event);
	}

	committed(facts: readonly CommittedFact[], events: readonly RunEvent[]): Promise<void> {
		for (const event of events) this.#projection.notify(event);
		const { runId, sessionKey } = this.#run;
		const about = { runId, sessionKey, at: this.#ports.clock.now() };
		const checkpoints = facts.flatMap((fact) => this.#checkpoints.at(fact, about));
		this.#said = saidAfter(facts, this.#said);
		return this.#write(checkpoints, statusAfter(facts, this.#said));
	}

	mark({ phase, toolCallId, childRunId }: Mark, seq: number): Promise<void> {
		const { runId, sessionKey } = this.#run;
		const at = this.#ports.clock.now();
		const about = {
			...(toolCallId === undefined ? {} : { toolCallId }),
			...(childRunId === undefined ? {} : { childRunId }),
		};
		return this.#write([{ runId, sessionKey, phase, seq, at, ...about }], undefined);
	}

	notify(event: RunEvent): void {
		this.#projection.notify(event);
	}

	whenLost(notify: () => void): void {
		this.#notify = notify;
	}

	close(): void {
		this.#closed = true;
		this.#stopRenewing?.();
		// The run was left open, for example by a failure: releasing the lease spares others from waiting for its end.
		const leaseId = this.#leaseId;
		if (leaseId === undefined || this.#isOver) return;
		this.#inTurn(async () => {
			await this.#store.transaction((inside) => changeRun(inside, this.#run.runId, { lease: null }, leaseId));
		}).catch(() => {}); // otherwise the lease expires
	}

	#write(found: readonly RunPlace[], change: RunChange | undefined): Promise<void> {
		const keepsAll = this.#keeps === "all";
		const events = keepsAll ? this.#pending : [];
		const checkpoints = keepsAll ? found : [];
		this.#pending = [];
		if (checkpoints.length === 0 && events.length === 0 && change === undefined) return this.#inTurn(noWork);
		return this.#inTurn(() => this.#commit({ checkpoints, events, change }));
	}

	/** Processes requests in order. */
	async #inTurn(work: () => Promise<void>): Promise<void> {
		const turn = this.#last.then(work);
		this.#last = turn.catch(() => {});
		await turn;
	}

	async #commit(writing: Writing): Promise<void> {
		const done = await this.#store.transaction(async (transaction) => {
			const leaseId =
				this.#leaseId ?? (this.#version === undefined ? await this.#begin(transaction) : undefined);
			const version = await this.#checkpoint(transaction, writing.checkpoints);
			for (const event of writing.events) await transaction.events.append(this.#run.runId, event);
			await this.#acknowledge(transaction);
			const moved = writing.checkpoints.length === 0 ? {} : { checkpointVersion: version };
			await this.#update(transaction, { ...moved, ...writing.change }, leaseId);
			return { leaseId, version };
		});
		const { status } = writing.change ?? {};
		if (status !== undefined) this.#isOver = status !== "running";
		this.#version = done.version;
		this.#leaseId = done.leaseId;
		if (this.#stopRenewing === undefined && !this.#closed) this.#renewLater();
	}

	/** Ensures that the run has a record, claimed by this process unless an earlier claim has not expired. */
	async #begin(inside: ExecutionTransaction): Promise<string | undefined> {
		await createOnce(inside, { ...this.#run, status: "queued" });
		const claimed = await claim(inside, this.#run.runId, this.#claims);
		return typeof claimed === "string" ? undefined : claimed.leaseId;
	}

	async #checkpoint({ checkpoints }: ExecutionTransaction, added: readonly RunPlace[]): Promise<number> {
		const { runId, sessionKey } = this.#run;
		let version = this.#version ?? (await checkpoints.latest(runId))?.version ?? 0;
		for (const place of added) {
			const checkpoint = checkpointAt(place, version + 1);
			const appended = await checkpoints.append(checkpoint, { expectedVersion: version });
			if (!appended.ok) throw leaseLost(sessionKey);
			version = appended.version;
		}
		return version;
	}

	/** Acknowledges the notification: once its run has started, it is in the history. */
	async #acknowledge({ runs, notifications }: ExecutionTransaction): Promise<void> {
		if (this.#run.kind !== "notification" || this.#version !== undefined) return;
		const { runId } = this.#run;
		await notifications.acknowledge?.((await runs.get(runId))?.dedupeKey ?? runId);
	}

	async #update(inside: ExecutionTransaction, change: RunChange, leaseId: string | undefined): Promise<void> {
		// The first write also marks the run as in progress. Later, the lease is checked even if nothing changed.
		const first = this.#version === undefined ? { status: "running" as const } : {};
		const updated = await changeRun(inside, this.#run.runId, { ...first, ...change }, leaseId);
		// A run that was cancelled concurrently stays cancelled; the canceller stops the work.
		if (updated === "lease-lost") throw leaseLost(this.#run.sessionKey);
	}

	#renewLater(): void {
		this.#stopRenewing = this.#ports.timers.after(this.#claims.leaseMs / 3, () => {
			this.#inTurn(() => this.#renew())
				.catch(() => {}) // if the host is unreachable now, the next renewal retries
				.then(() => {
					if (!this.#closed) this.#renewLater();
				});
		});
	}

	async #renew(): Promise<void> {
		if (this.#closed || this.#isOver) return;
		const { runId } = this.#run;
		const leaseId = this.#leaseId;
		const isOurs = await this.#store.transaction(async (inside) => {
			if (leaseId !== undefined) return renew(inside, runId, leaseId, this.#claims);
			const claimed = await claim(inside, runId, this.#claims);
			return typeof claimed === "string" ? claimed === "leased" : claimed;
		});
		if (typeof isOurs === "object") this.#leaseId = isOurs.leaseId;
		else if (!isOurs) this.#notify?.();
	}
}

const noWork = (): Promise<void> => Promise.resolve();
