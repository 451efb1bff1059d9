// A session as document 3 shows it, folded from its journal: messages, cost, status (keeps I2). It reads on from where it
// stands, so that looking again costs what is new.

import type { Entry } from "../facts/index.ts";
import { evolve, initialSession, project, type SessionState } from "../facts/index.ts";
import type { Journal } from "../host/index.ts";
import { AgentState } from "../state/index.ts";
import { behindEntry, eventId } from "./event-id.ts";
import type { PendingSessionCall, SessionStatus } from "./execute-event.ts";
import { ExecuteProjection } from "./execute-projection.ts";
import { asItIs } from "./session-log.ts";
import { type SessionMessage, sessionMessages } from "./session-message.ts";

/** How many entries are read at a time. */
const pageSize = 1_000;

export class SessionView {
	readonly #journal: Journal;
	readonly #place: string;
	#projection: ExecuteProjection;
	#state: SessionState = initialSession(AgentState.initial());
	#messages: SessionMessage[] = [];
	readonly #given: () => Promise<readonly unknown[] | undefined>;
	#lastPart = 0;
	#refreshing: Promise<void> = Promise.resolve();
	/** When the session was made: another time is another session. */
	#createdAt: number | undefined;
	status: SessionStatus = "idle";
	/** US dollars of all answers whose price is known. */
	totalCost = 0;
	/** Id of the model that answered last. */
	model: string | undefined;
	pendingToolCalls: readonly PendingSessionCall[] | undefined;
	/** The last run; events behind `after` are its own, over all its suspensions. */
	lastRun: { readonly runId: string; readonly after: string } | undefined;

	/** `given`: the history the session was made with, which its first entry holds. */
	constructor(journal: Journal, place: string, given: () => Promise<readonly unknown[] | undefined>) {
		this.#given = given;
		this.#journal = journal;
		this.#place = place;
		this.#projection = new ExecuteProjection("");
	}

	/** A copy of the messages. */
	get messages(): readonly SessionMessage[] {
		return [...this.#messages];
	}

	/** How many messages there are. */
	get count(): number {
		return this.#messages.length;
	}

	get openRunId(): string | undefined {
		const { run } = this.#state;
		return run?.status === "running" || run?.status === "waiting" ? run.runId : undefined;
	}

	/** Reads what was added; whoever asks meanwhile waits for their turn. */
	refresh(): Promise<void> {
		const refreshed = this.#refreshing.then(() => this.#readOn());
		this.#refreshing = refreshed.catch(() => {});
		return refreshed;
	}

	async #readOn(): Promise<void> {
		const head = await this.#journal.head(this.#place);
		if (this.#createdAt !== undefined && (head?.createdAt !== this.#createdAt || head.seq < this.#state.seq))
			this.#reset();
		this.#createdAt = head?.createdAt;
		while ((head?.seq ?? 0) > this.#state.seq) {
			const entries = await this.#entries();
			for (const entry of entries) this.#add(entry, entry.seq === 1 ? await this.#given() : undefined);
			if (entries.length === 0) return;
		}
	}

	/** Id of the last event there is. */
	async lastEventId(): Promise<string | undefined> {
		const { seq } = this.#state;
		if (seq === 0) return undefined;
		let after = { seq, sub: 0 };
		for (;;) {
			const page = { after, through: seq, limit: pageSize };
			const chunks = (await this.#journal.readChunks?.(this.#place, page)) ?? [];
			after = chunks.at(-1) ?? after;
			if (chunks.length < pageSize) break;
		}
		// How many events a chunk is depends on those before it: behind all of them.
		const part = after.sub === 0 ? this.#lastPart : 999;
		return eventId({ ...after, part });
	}

	async #entries(): Promise<readonly Entry[]> {
		try {
			return await this.#journal.read(this.#place, { after: this.#state.seq, limit: pageSize });
		} catch (error) {
			if ((error as { code?: unknown }).code !== "events_expired") throw error;
			this.#reset();
			return this.#journal.read(this.#place, { limit: pageSize });
		}
	}

	#reset(): void {
		this.#state = initialSession(AgentState.initial());
		this.#projection = new ExecuteProjection("");
		this.#messages = [];
		this.totalCost = 0;
		this.status = "idle";
		this.pendingToolCalls = undefined;
		this.lastRun = undefined;
	}

	/** `given`: the history a session was made with, where this is its first entry. */
	#add(entry: Entry, given: readonly unknown[] | undefined): void {
		const { fact } = entry;
		this.#state = evolve(this.#state, entry, asItIs);
		this.#lastPart = 0;
		if (fact.kind === "folded") {
			// A history that is not what was given was folded since.
			const messages = given as readonly SessionMessage[] | undefined;
			this.#messages = [...(messages ?? sessionMessages(this.#state.agent.messages))];
			return;
		}
		if (fact.kind === "assistant") {
			this.totalCost += fact.cost ?? 0;
			this.model = fact.modelId;
		}
		if (fact.kind === "run.started") this.lastRun = { runId: entry.runId, after: behindEntry(entry.seq - 1) };
		if (fact.kind === "run.started" || fact.kind === "run.resumed") {
			this.status = "running";
			this.pendingToolCalls = undefined;
		}
		const event = project(this.#state, entry, undefined);
		if (event === undefined) return;
		const told = this.#projection.project(event);
		this.#lastPart = Math.max(0, told.length - 1);
		for (const each of told) {
			if (each.type === "message_end") this.#messages.push(each.message);
			if (each.type !== "execute_complete") continue;
			this.status = each.status;
			this.pendingToolCalls = each.pendingToolCalls;
		}
	}
}
