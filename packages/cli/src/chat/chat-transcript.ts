/** The content of a chat: finished entries, and the current activity. One store for every kind of screen. */
import type { ChangeLine } from "../render/index.ts";

/** Something that stays. */
export type ChatEntry = { readonly id: number } & (
	| { readonly kind: "user"; readonly text: string }
	/** A whole block of an answer, as Markdown. */
	| { readonly kind: "answer"; readonly text: string }
	| { readonly kind: "tool"; readonly text: string; readonly isDone: boolean }
	| { readonly kind: "change"; readonly lines: readonly ChangeLine[] }
	| { readonly kind: "note"; readonly text: string; readonly tone: "plain" | "warning" | "quiet" }
);

/** The current activity. */
export interface Live {
	/** `asking`: a call waits for the user's word. */
	readonly status: "idle" | "working" | "asking";
	/** The end of the answer that is not a complete block yet. */
	readonly tail: string;
	readonly calls: readonly { readonly id: string; readonly text: string }[];
	/** Messages to the current run that it has not received yet. */
	readonly queued: readonly string[];
	/** What is asked. */
	readonly question: string | undefined;
	/** The model, the session, what was used. */
	readonly footer: string;
}

export interface Snapshot {
	readonly entries: readonly ChatEntry[];
	readonly live: Live;
}

type NewEntry = ChatEntry extends infer Each ? (Each extends ChatEntry ? Omit<Each, "id"> : never) : never;

/** The store. Its snapshots never change. */
export class Transcript {
	readonly #entries: ChatEntry[] = [];
	#live: Live = { status: "idle", tail: "", calls: [], queued: [], question: undefined, footer: "" };
	/** Made when it is asked for: an answer may add entries far more often than anybody looks. */
	#snapshot: Snapshot | undefined;
	readonly #listeners = new Set<() => void>();
	#ids = 0;

	/** Calls `changed` after every change; returns the way to stop. */
	readonly subscribe = (changed: () => void): (() => void) => {
		this.#listeners.add(changed);
		return () => void this.#listeners.delete(changed);
	};

	readonly snapshot = (): Snapshot => {
		this.#snapshot ??= { entries: [...this.#entries], live: this.#live };
		return this.#snapshot;
	};

	get live(): Live {
		return this.#live;
	}

	/** The entries after the first so many. */
	entriesAfter(count: number): readonly ChatEntry[] {
		return this.#entries.slice(count);
	}

	add(...entries: readonly NewEntry[]): void {
		for (const entry of entries) this.#entries.push({ ...entry, id: ++this.#ids });
		if (entries.length > 0) this.#changed();
	}

	set(live: Partial<Live>): void {
		this.#live = { ...this.#live, ...live };
		this.#changed();
	}

	note(text: string, tone: "plain" | "warning" | "quiet" = "plain"): void {
		this.add({ kind: "note", text, tone });
	}

	#changed(): void {
		this.#snapshot = undefined;
		for (const changed of [...this.#listeners]) changed();
	}
}
