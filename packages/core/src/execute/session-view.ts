// A session as its executions show it, folded from its journal: messages, cost and status (keeps I2). Reading again only
// processes new entries.

import {
	afterEntry,
	chunksAfter,
	eventId,
	isExpired,
	type JournalItem,
	JournalReader,
	pendingCalls,
	type SessionState,
	workflowState,
	workflowStateKey,
} from "../facts/index.ts";
import type { Journal } from "../host/index.ts";
import type { PendingSessionCall, SessionStatus, SessionWait } from "./execute-event.ts";
import { ExecuteProjection, type ShownError } from "./execute-projection.ts";
import { type SessionMessage, sessionMessages } from "./session-message.ts";

/** A session as clients see it, read from its journal. */
export class SessionView {
	readonly #journal: Journal;
	readonly #storeKey: string;
	#projection: ExecuteProjection;
	readonly #reader: JournalReader;
	#messages: SessionMessage[] = [];
	readonly #given: () => Promise<readonly unknown[] | undefined>;
	readonly #shown: ShownError | undefined;
	#lastPart = 0;
	#refreshing: Promise<void> = Promise.resolve();
	/** The state of the session. */
	status: SessionStatus = "idle";
	/** US dollars of all answers whose price is known. */
	totalCost = 0;
	/** Id of the model that answered last. */
	model: string | undefined;
	/** The calls that wait for an outside result; undefined if none do. */
	pendingToolCalls: readonly PendingSessionCall[] | undefined;
	/** The wait of the current run, other than for answers to calls. */
	waiting: SessionWait | undefined;
	/** The last run. The events after `after` are its own, across all its suspensions. */
	lastRun: { readonly runId: string; readonly after: string } | undefined;
	/** What the code of a workflow published last. */
	workflowState: unknown;

	/**
	 * `given`: the history that the session was created with, stored in its first entry. `shown`: converts a run's error,
	 * by default unchanged.
	 */
	constructor(
		journal: Journal,
		storeKey: string,
		given: () => Promise<readonly unknown[] | undefined>,
		shown?: ShownError,
	) {
		this.#shown = shown;
		this.#given = given;
		this.#journal = journal;
		this.#storeKey = storeKey;
		this.#reader = new JournalReader(journal, storeKey);
		this.#projection = new ExecuteProjection("", shown);
	}

	/** A copy of the messages. */
	get messages(): readonly SessionMessage[] {
		return [...this.#messages];
	}

	/** The number of messages. */
	get count(): number {
		return this.#messages.length;
	}

	/** The run that has not ended, if any. */
	get openRunId(): string | undefined {
		const { run } = this.#reader.state;
		return run?.status === "running" || run?.status === "waiting" ? run.runId : undefined;
	}

	/** Reads new entries; concurrent callers take turns. */
	refresh(): Promise<void> {
		const refreshed = this.#refreshing.then(() => this.#readOn());
		this.#refreshing = refreshed.catch(() => {});
		return refreshed;
	}

	async #readOn(): Promise<void> {
		for (;;) {
			const page = await this.#reader.next().catch((error) => {
				if (!isExpired(error)) throw error;
				this.#reader.restart();
				return undefined;
			});
			if (page === undefined) this.#reset();
			for (const item of page?.items ?? [])
				this.#add(item, item.entry?.seq === 1 ? await this.#given() : undefined);
			if (page?.isCaughtUp) return;
		}
	}

	/** Returns the id of the last event. */
	async lastEventId(): Promise<string | undefined> {
		const { seq } = this.#reader.state;
		if (seq === 0) return undefined;
		let after = { seq, sub: 0 };
		for await (const { sub } of chunksAfter(this.#journal, this.#storeKey, seq, seq)) after = { seq, sub };
		// The number of events in a chunk depends on the chunks before it; this id comes after all of them.
		const part = after.sub === 0 ? this.#lastPart : 999;
		return eventId({ ...after, part });
	}

	#cutFrom(messageId: string): void {
		const at = this.#messages.findLastIndex((message) => message.role === "user" && message.id === messageId);
		if (at >= 0) this.#messages.length = at;
	}

	#reset(): void {
		this.#projection = new ExecuteProjection("", this.#shown);
		this.#messages = [];
		this.totalCost = 0;
		this.status = "idle";
		this.pendingToolCalls = undefined;
		this.waiting = undefined;
		this.lastRun = undefined;
		this.workflowState = undefined;
	}

	/** `given`: the history that the session was created with, if this is its first entry. */
	#add({ entry, events, state }: JournalItem, given: readonly unknown[] | undefined): void {
		if (entry === undefined) return;
		const { fact } = entry;
		this.#lastPart = 0;
		if (fact.kind === "folded") {
			// A history that differs from the given one was folded since.
			const messages = given as readonly SessionMessage[] | undefined;
			this.#messages = [...(messages ?? sessionMessages(state.agent.messages))];
			this.workflowState = state.agent.metadata[workflowStateKey];
			return;
		}
		if (fact.kind === "note" && fact.topic === workflowState)
			this.workflowState = (fact.value as { readonly state: unknown }).state;
		if (fact.kind === "assistant") {
			this.totalCost += fact.cost ?? 0;
			this.model = fact.modelId;
		}
		if (fact.kind === "tool.settled" || fact.kind === "input") this.totalCost += fact.spent?.cost ?? 0;
		if (fact.kind === "run.started") this.lastRun = { runId: entry.runId, after: afterEntry(entry.seq - 1) };
		if (fact.kind === "run.started" || fact.kind === "run.resumed") {
			this.status = "running";
			this.pendingToolCalls = undefined;
			this.waiting = undefined;
		}
		const projected = events.flatMap(({ event }) => this.#projection.project(event));
		this.#lastPart = Math.max(0, projected.length - 1);
		for (const each of projected) {
			if (each.type === "message_end") this.#messages.push(each.message);
			if (each.type === "history_cut") this.#cutFrom(each.messageId);
			if (each.type === "waiting") {
				const { type: _, sessionId: __, ...wait } = each;
				this.waiting = wait;
			}
			if (each.type === "tools_pending") this.pendingToolCalls = each.toolCalls;
			if (each.type !== "execute_complete") continue;
			this.status = each.status;
			this.pendingToolCalls = each.pendingToolCalls;
		}
		if (this.status === "running" && this.pendingToolCalls !== undefined) this.#keepPending(state);
	}

	/** Removes calls that have been answered while others run: they no longer wait. */
	#keepPending(state: SessionState): void {
		const waiting = new Set(pendingCalls(state).map(({ toolCallId }) => toolCallId));
		const pending = this.pendingToolCalls?.filter(({ id }) => waiting.has(id)) ?? [];
		this.pendingToolCalls = pending.length === 0 ? undefined : pending;
	}
}
