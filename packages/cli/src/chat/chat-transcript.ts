/** The content of a chat: finished entries and the current activity. All screens share this store. */
import type { ChangeLine } from "../render/index.ts";
import type { Choice } from "./menu.ts";

/** A permanent entry. */
export type ChatEntry = { readonly id: number } & (
	| { readonly kind: "user"; readonly text: string }
	/** A complete block of an answer, as Markdown. */
	| { readonly kind: "answer"; readonly text: string }
	| { readonly kind: "tool"; readonly text: string; readonly isDone: boolean }
	| { readonly kind: "change"; readonly lines: readonly ChangeLine[] }
	| { readonly kind: "note"; readonly text: string; readonly tone: "plain" | "warning" | "quiet" }
);

/** A question to the user. */
export interface Question {
	readonly text: string;
	/** The answers with a meaning of their own; any other text is an answer too. */
	readonly choices: readonly Choice[];
	/** The text to begin with. */
	readonly draft: string;
}

/** The current activity. */
export interface Live {
	/** `asking`: a call waits for the user's decision. */
	readonly status: "idle" | "working" | "asking";
	/** The end of the answer that is not a complete block yet. */
	readonly tail: string;
	readonly calls: readonly { readonly id: string; readonly text: string }[];
	/** Messages to the current run that it has not received yet. */
	readonly queued: readonly string[];
	/** The pending question. */
	readonly question: Question | undefined;
	/** The model, the session and the usage. */
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
	/** Created lazily: an answer may add entries far more often than they are read. */
	#snapshot: Snapshot | undefined;
	readonly #listeners = new Set<() => void>();
	#ids = 0;

	/** Calls `changed` after every change; returns the function that unsubscribes. */
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

	/** Returns the entries after the first `count`. */
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
