// The events of a thread for its watchers: a projection of the committed entries of its session, so it is the same for
// everyone, at any time, in any process (keeps I3). Events that a project emits itself reach only current watchers.
import type { JournalItem } from "holdfast/execute";
import type { Redaction } from "../environment/index.ts";
import { callOf, messageIdOf, ThreadView } from "../thread/index.ts";
import type { Message } from "../types/index.ts";

/** An event of a thread. */
export type ThreadEvent =
	/** A message was added or changed; null means that it was removed. */
	| { readonly type: "message_data"; readonly messageId: string; readonly data: Message | null }
	/** A piece of the text of a message in progress. */
	| {
			readonly type: "message_chunk";
			readonly messageId: string;
			readonly chunk: string;
			/** Index of the piece within the message, starting at 0. */
			readonly index: number;
	  }
	/** A model has answered. */
	| {
			readonly type: "telemetry";
			readonly messageId: string;
			readonly model: string;
			readonly inputTokens: number;
			readonly outputTokens: number;
			/** US dollars; absent if the price is unknown. */
			readonly cost?: number;
	  }
	/** An execution starts, continues or has ended. */
	| {
			readonly type: "execution";
			readonly status: "running" | "completed" | "aborted";
			readonly flowId: string;
	  }
	/** An execution failed. The error message is in the log of the threads. */
	| {
			readonly type: "execution";
			readonly status: "failed";
			readonly flowId: string;
			readonly error: { readonly code: string };
	  }
	/** An execution waits, and continues by itself `until` a time: `running` follows. */
	| ({ readonly type: "execution"; readonly status: "waiting"; readonly flowId: string } & ThreadWait)
	/** An event that the project emits, or a change of the thread's status. */
	| { readonly type: "event"; readonly event: string; readonly data: unknown };

/** The reason why an execution waits. */
export interface ThreadWait {
	/** `model`: the provider is busy or unreachable. `calls`: something external. */
	readonly reason: "model" | "calls";
	/** When it continues by itself, in milliseconds since the epoch. */
	readonly until?: number;
	/** Code of the provider's last error. */
	readonly code?: string;
	/** How often the provider has failed in a row. */
	readonly attempt?: number;
}

/** A stored event, and its position in the thread. */
export interface PlacedThreadEvent {
	/** Events of one entry have the same seq. */
	readonly seq: number;
	readonly sub: number;
	readonly event: ThreadEvent;
}

const endings = { completed: "completed", error: "failed", aborted: "aborted", killed: "aborted" } as const;

/** Converts the entries of a thread's session to events, starting with a run. */
export class ThreadProjection {
	readonly #current: (messageId: string) => Promise<Message | null>;
	readonly #redaction: () => Promise<Redaction>;
	/** Text that may be the start of a secret is held back until more of the message arrives. */
	#text: ReturnType<Redaction["stream"]> | undefined;
	#view: ThreadView | undefined;
	#rows = 0;
	#chunks = 0;
	#runId = "";
	#step = 0;

	/** `current` returns the present state of a message, even if it was edited later. */
	constructor(current: (messageId: string) => Promise<Message | null>, redaction: () => Promise<Redaction>) {
		this.#current = current;
		this.#redaction = redaction;
	}

	/** Returns the events of an entry or a chunk. */
	async project(item: JournalItem): Promise<readonly PlacedThreadEvent[]> {
		if (item.entry === undefined) return this.#ofChunk(item);
		const { redactWithin } = await this.#redaction();
		return redactWithin(await this.#ofEntry(item, item.entry));
	}

	async #ofChunk({ events }: JournalItem): Promise<readonly PlacedThreadEvent[]> {
		const made: PlacedThreadEvent[] = [];
		for (const { place, event } of events) {
			this.#note(event);
			if (event.type !== "model" || event.event.type !== "text_delta") continue;
			this.#text ??= (await this.#redaction()).stream();
			const chunk = this.#text.push(event.event.delta.text ?? "");
			if (chunk === "") continue;
			const messageId = messageIdOf(this.#runId, this.#step);
			const { seq, sub } = place;
			made.push({ seq, sub, event: { type: "message_chunk", messageId, chunk, index: this.#chunks++ } });
		}
		return made;
	}

	async #ofEntry(
		{ events }: JournalItem,
		entry: NonNullable<JournalItem["entry"]>,
	): Promise<readonly PlacedThreadEvent[]> {
		const { seq, runId, fact } = entry;
		for (const { event } of events) this.#note(event);
		const placed = (event: ThreadEvent): PlacedThreadEvent => ({ seq, sub: 0, event });
		this.#runId = runId;
		if (this.#view === undefined) {
			this.#view = new ThreadView();
			this.#view.seq = seq - 1;
		}
		if (fact.kind === "message.deleted") {
			this.#view.apply(entry);
			this.#rows = this.#view.rows.length;
			return [placed({ type: "message_data", messageId: fact.messageId, data: null })];
		}
		if (fact.kind === "message.updated") {
			this.#view.apply(entry);
			this.#rows = this.#view.rows.length;
			const { id } = fact.message as { readonly id: string };
			const data = await this.#current(id);
			return data === null ? [] : [placed({ type: "message_data", messageId: id, data })];
		}
		this.#view.apply(entry);
		const made: PlacedThreadEvent[] = [];
		if (fact.kind === "run.started" || fact.kind === "run.resumed")
			made.push(placed({ type: "execution", status: "running", flowId: runId }));
		const { rows } = this.#view;
		for (const { message } of rows.slice(Math.min(this.#rows, rows.length)))
			if (message.silent !== true)
				made.push(placed({ type: "message_data", messageId: message.id, data: message }));
		this.#rows = rows.length;
		if (fact.kind === "assistant" && fact.tag !== "queued") {
			const { model = "", inputTokens = 0, outputTokens = 0, cost } = callOf(entry) ?? {};
			made.push(
				placed({
					type: "telemetry",
					messageId: fact.message.id,
					model,
					inputTokens,
					outputTokens,
					...(cost === undefined ? {} : { cost }),
				}),
			);
			this.#chunks = 0;
			this.#text = undefined;
		}
		if (fact.kind === "waiting")
			made.push(placed({ type: "execution", status: "waiting", flowId: runId, ...waitOf(fact.wait) }));
		if (fact.kind === "run.ended") {
			const status = endings[fact.outcome];
			const { code = "run_failed" } = fact.error ?? {};
			const about = { type: "execution", flowId: runId } as const;
			made.push(placed(status === "failed" ? { ...about, status, error: { code } } : { ...about, status }));
			// The following entries need no state of this run.
			this.#view = new ThreadView();
			this.#view.seq = seq;
			this.#rows = 0;
		}
		return made;
	}

	#note(event: JournalItem["events"][number]["event"]): void {
		if (event.type === "run_start") this.#runId = event.runId;
		if (event.type !== "model_start") return;
		this.#step = event.step;
		this.#chunks = 0;
		this.#text = undefined;
	}
}

type Waiting = Extract<NonNullable<JournalItem["entry"]>["fact"], { readonly kind: "waiting" }>;

function waitOf(wait: Waiting["wait"]): ThreadWait {
	if (wait === undefined) return { reason: "calls" };
	const { until, model } = wait;
	return {
		reason: "model",
		...(until === undefined ? {} : { until }),
		...(model === undefined ? {} : { code: model.code, attempt: model.attempt }),
	};
}
