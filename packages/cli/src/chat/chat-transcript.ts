/** The content of a chat: finished entries and the current activity. All screens share this store. */
import type { CallText, ChangeLine, PlanStep } from "../render/index.ts";
import type { Block } from "./block-stream.ts";
import type { Piece } from "./highlight.ts";
import type { Choice } from "./menu.ts";
import type { ThemeName } from "./theme.ts";

/** A permanent entry. */
export type ChatEntry = { readonly id: number } & (
	| { readonly kind: "user"; readonly text: string }
	/** A complete block of an answer, as Markdown. */
	| { readonly kind: "answer"; readonly text: string }
	/** A line of code of an answer. */
	| { readonly kind: "code"; readonly pieces: readonly Piece[] }
	| ({ readonly kind: "tool"; readonly isDone: boolean } & CallText)
	| { readonly kind: "change"; readonly lines: readonly ChangeLine[] }
	| { readonly kind: "note"; readonly text: string; readonly tone: "plain" | "warning" | "quiet" }
);

/** A call that runs. */
export interface RunningCall {
	readonly id: string;
	readonly text: string;
	/** The activity of its sub-agent or its script, the latest last. */
	readonly inner?: readonly string[];
	/** The end of its output so far. */
	readonly output?: string;
}

/** A text that the entries show only one line of. */
export interface Openable {
	readonly title: string;
	readonly text: string;
}

/** Maximum number of texts that can be opened, and of characters in each. */
const MOST_OPENABLES = 200;
const LONGEST_OPENABLE = 50_000;

/** Maximum number of characters kept of the output of a running call. */
const LONGEST_OUTPUT = 2_000;

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
	readonly tail: Block;
	readonly calls: readonly RunningCall[];
	/** The end of what the model thinks before its answer. */
	readonly thought: string;
	/** The agent's plan; empty if there is none. */
	readonly plan: readonly PlanStep[];
	/** Messages to the current run that it has not received yet. */
	readonly queued: readonly string[];
	/** The pending question. */
	readonly question: Question | undefined;
	/** Why the run cannot continue in this chat; empty if it can. */
	readonly elsewhere: string;
	readonly theme: ThemeName;
	/** The model, the session and the usage. */
	readonly footer: string;
}

export interface Snapshot {
	/** How many entries there are. */
	readonly count: number;
	/** Returns the entries from one index to another one. */
	entries(from: number, to: number): readonly ChatEntry[];
	readonly live: Live;
}

type NewEntry = ChatEntry extends infer Each ? (Each extends ChatEntry ? Omit<Each, "id"> : never) : never;

/** The store. Its snapshots never change. */
export class Transcript {
	readonly #entries: ChatEntry[] = [];
	#live: Live = {
		status: "idle",
		tail: "",
		calls: [],
		thought: "",
		plan: [],
		queued: [],
		question: undefined,
		elsewhere: "",
		theme: "none",
		footer: "",
	};
	#openables: readonly Openable[] = [];
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
		this.#snapshot ??= { count: this.#entries.length, entries: this.#between, live: this.#live };
		return this.#snapshot;
	};

	readonly #between = (from: number, to: number): readonly ChatEntry[] => this.#entries.slice(from, to);

	get live(): Live {
		return this.#live;
	}

	/** The texts that can be opened, the latest last. */
	get openables(): readonly Openable[] {
		return this.#openables;
	}

	/** What the last entry is: a message of the user or of the agent, or something else, such as a call. */
	get last(): "none" | "message" | "other" {
		const kind = this.#entries.at(-1)?.kind;
		if (kind === undefined) return "none";
		return kind === "user" || kind === "answer" || kind === "code" ? "message" : "other";
	}

	/** Keeps a text to be opened; of a very long one, the beginning. */
	keep(title: string, text: string): void {
		const kept = text.length > LONGEST_OPENABLE ? `${text.slice(0, LONGEST_OPENABLE).toWellFormed()}…` : text;
		this.#openables = [...this.#openables, { title, text: kept }].slice(-MOST_OPENABLES);
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

	/** Adds to the output of a running call. */
	output(id: string, text: string): void {
		const calls = this.#live.calls.map((call) =>
			call.id === id ? { ...call, output: `${call.output ?? ""}${text}`.slice(-LONGEST_OUTPUT) } : call,
		);
		this.set({ calls });
	}

	note(text: string, tone: "plain" | "warning" | "quiet" = "plain"): void {
		this.add({ kind: "note", text, tone });
	}

	#changed(): void {
		this.#snapshot = undefined;
		for (const changed of [...this.#listeners]) changed();
	}
}

/** Returns what shows the notices of an agent in a transcript. */
export function noticesIn(transcript: Transcript): { onNotice(notice: string): void } {
	return { onNotice: (notice) => transcript.note(notice, "warning") };
}
