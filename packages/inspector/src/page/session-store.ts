// The page's copy of a session: the entries read so far, everything derived from them, and the text being streamed. It
// follows the public event stream; each event other than a piece of text makes it read new entries.
//
// loading: nothing was read yet. live: following. gone: the session does not exist, or no longer does.
import { signal } from "@preact/signals";
import type { ShownEntry, ShownSession } from "../wire/index.ts";
import { areThreads } from "./about.ts";
import { publicPath } from "./acts.ts";
import { ask, client, inspectPath, isOver, pause, Refused, records } from "./api.ts";
import { Conversation } from "./conversation-model.ts";
import { Timeline } from "./timeline-model.ts";

export interface EntriesPage {
	readonly entries: readonly ShownEntry[];
	readonly isLast: boolean;
	/** The event that precedes the next entry's events. */
	readonly lastEventId?: string;
}

/** An answer that is being streamed. */
export interface Live {
	readonly text: string;
	readonly thinking: string;
	/** Names of the tools whose calls have started. */
	readonly calls: readonly string[];
}

function answerIn({ body }: ShownEntry): string | undefined {
	return (body as { readonly message?: { readonly id?: string } }).message?.id;
}

/** Whether the stored data is damaged or of a newer release: a repeated request fails again. */
function isUnreadable(code: string | undefined): boolean {
	return code === "journal_corrupt" || code === "journal_newer";
}

const nothing: Live = { text: "", thinking: "", calls: [] };
/** Milliseconds between two requests for a busy session. */
const looksApartMs = 120;

/** The data for drawing the messages of a session. */
export type MessageSession = Pick<SessionStore, "sessionId" | "child" | "info">;

export class SessionStore {
	readonly sessionId: string;
	readonly child: string | undefined;
	readonly status = signal<"loading" | "live" | "gone">("loading");
	/** Changes whenever `entries` or data derived from them do. */
	readonly version = signal(0);
	readonly info = signal<ShownSession | undefined>(undefined);
	readonly live = signal<Live>(nothing);
	readonly problem = signal<string | undefined>(undefined);
	/** Why the event stream cannot be read; then only changes of the session update the page. */
	readonly streamProblem = signal<string | undefined>(undefined);
	entries: ShownEntry[] = [];
	conversation = new Conversation();
	timeline = new Timeline();
	readonly #ending = new AbortController();
	#lastEventId: string | undefined;
	#isLooking = false;
	#isStale = false;
	/** The entries are read again from the first. The previous ones are shown until then. */
	#startsOver = false;
	/** The streamed answer was committed: it is shown until its entry is read. */
	#isSaid = false;
	/** The message of a thread that is being streamed. */
	#saying: string | undefined;
	/** The last answer that was read; its late text is no longer shown as streaming. */
	#answered: string | undefined;

	constructor(sessionId: string, child?: string) {
		this.sessionId = sessionId;
		this.child = child;
	}

	/** Follows the session until `close`. */
	start(): void {
		void this.#run();
	}

	close(): void {
		this.#ending.abort();
	}

	/** Requests new entries. */
	look(): void {
		this.#isStale = true;
		if (this.#isLooking) return;
		this.#isLooking = true;
		void this.#lookUntilFresh().finally(() => {
			this.#isLooking = false;
		});
	}

	async #run(): Promise<void> {
		const { signal } = this.#ending;
		this.look();
		while (this.status.value === "loading" && !signal.aborted) await pause(20, signal);
		// A sub-agent's session has no public stream: events of its parent, and changes, show when to request entries.
		while (!signal.aborted && this.status.value === "live" && this.child === undefined) {
			try {
				await this.#follow(signal);
			} catch (error) {
				if (isOver(error) || signal.aborted) return;
				const { code } = error as { code?: string };
				if (code === "session_not_found") this.status.value = "gone";
				else if (code === "events_expired" || code === "invalid_event_id") this.#reset();
				else if (code === "unauthorized") return;
				else if (isUnreadable(code)) {
					this.streamProblem.value = `The event stream of this session cannot be read (${code}), so its text is not shown as it is written.`;
					return;
				}
				await pause(500, signal);
				this.look();
			}
		}
	}

	async #follow(signal: AbortSignal): Promise<void> {
		if (areThreads()) return this.#followThread(signal);
		const after = this.#lastEventId;
		const options = { follow: true, signal, ...(after === undefined ? {} : { after }) };
		for await (const { id, event } of client.watch(this.sessionId, options)) {
			this.#lastEventId = id;
			const { value } = this.live;
			switch (event.type) {
				case "text_delta":
					this.live.value = { ...value, text: value.text + event.delta };
					break;
				case "thinking_delta":
					this.live.value = { ...value, thinking: value.thinking + event.delta };
					break;
				case "toolcall_start":
					this.live.value = { ...value, calls: [...value.calls, event.name ?? "a tool"] };
					break;
				case "message_start":
					this.#isSaid = false;
					this.live.value = nothing;
					break;
				case "message_end":
					this.#isSaid = true;
					this.look();
					break;
				case "toolcall_delta":
				case "tool_execution_delta":
				case "text_start":
				case "text_end":
				case "thinking_start":
				case "thinking_end":
					break;
				default:
					this.look();
			}
		}
	}

	async #followThread(signal: AbortSignal): Promise<void> {
		const after = this.#lastEventId === undefined ? "" : `?after=${encodeURIComponent(this.#lastEventId)}`;
		for await (const { id, data } of records(publicPath(this.sessionId, `/stream${after}`), signal)) {
			this.#lastEventId = id ?? this.#lastEventId;
			const event = JSON.parse(data) as { type: string; messageId?: string; chunk?: string };
			if (event.type !== "message_chunk") {
				if (event.type === "message_data" || event.type === "execution") this.#isSaid = true;
				this.look();
				continue;
			}
			if (event.messageId === this.#answered) continue;
			const begins = event.messageId !== this.#saying;
			this.#saying = event.messageId;
			this.#isSaid = false;
			const text = (begins ? "" : this.live.value.text) + (event.chunk ?? "");
			this.live.value = { ...nothing, text };
		}
		if (!signal.aborted) throw new Refused(0, "stream_ended", "The stream ended.");
	}

	async #lookUntilFresh(): Promise<void> {
		const { signal } = this.#ending;
		while (this.#isStale && !signal.aborted) {
			this.#isStale = false;
			try {
				await this.#read(signal);
				this.problem.value = undefined;
				await pause(looksApartMs, signal);
			} catch (error) {
				if (isOver(error)) return;
				if (error instanceof Refused) {
					if (error.code === "session_not_found") {
						this.status.value = "gone";
						return;
					}
					if (error.code === "events_expired") {
						this.#reset();
						continue;
					}
					this.problem.value = error.message;
					if (error.status === 401 || error.status === 403 || isUnreadable(error.code)) return;
				}
				this.#isStale = true;
				await pause(700, signal);
			}
		}
	}

	async #read(signal: AbortSignal): Promise<void> {
		const isSaid = this.#isSaid;
		const of = this.child === undefined ? "" : `&child=${encodeURIComponent(this.child)}`;
		for (;;) {
			const after = this.#startsOver ? 0 : (this.entries.at(-1)?.seq ?? 0);
			const page = await ask<EntriesPage>(
				inspectPath(this.sessionId, `/entries?after=${after}${of}`),
				signal,
			);
			if (this.#startsOver) {
				// A page of the earlier entries, which was requested before.
				if (after > 0) continue;
				this.#startsOver = false;
				this.#clear();
			}
			for (const read of page.entries) {
				// The time of a damaged entry is unknown: it is shown after the one before it.
				const at = this.entries.at(-1)?.at ?? this.info.value?.createdAt ?? Date.now();
				const entry = read.kind === "unreadable" ? { ...read, at } : read;
				this.entries.push(entry);
				this.conversation.add(entry);
				this.timeline.add(entry);
				if (entry.kind === "assistant") this.#answered = answerIn(entry) ?? this.#answered;
			}
			if (this.#saying !== undefined && this.#saying === this.#answered) this.live.value = nothing;
			if (this.status.value === "loading") this.#lastEventId = page.lastEventId ?? this.#lastEventId;
			if (page.entries.length > 0) this.version.value++;
			if (page.isLast) break;
		}
		if (isSaid && this.#isSaid) {
			this.#isSaid = false;
			this.live.value = nothing;
		}
		this.info.value = await ask<ShownSession>(inspectPath(this.sessionId), signal);
		if (this.status.value === "loading" && !this.#startsOver) this.status.value = "live";
	}

	#clear(): void {
		this.entries = [];
		this.conversation = new Conversation();
		this.timeline = new Timeline();
		this.live.value = nothing;
	}

	/** Reads the session from its first entry, and its events from the last one. */
	#reset(): void {
		this.#startsOver = true;
		this.#lastEventId = undefined;
		this.status.value = "loading";
		this.look();
	}
}
