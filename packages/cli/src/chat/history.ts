/** The user's input history, in a file next to the database: the latest texts, one JSON text per line. */
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { makeFolder } from "@holdfast/upp";

const MOST_TEXTS = 500;
const LONGEST_TEXT = 10_000;

export class History {
	readonly #file: string;
	#texts: readonly string[];

	constructor(db: string) {
		this.#file = `${db}.chat-history`;
		this.#texts = readTexts(this.#file);
	}

	/** The latest text comes last. */
	get texts(): readonly string[] {
		return this.#texts;
	}

	/** Saves a text. If the file cannot be written, the text is remembered until the process ends. */
	add(text: string): void {
		if (text.trim() === "" || text.length > LONGEST_TEXT || this.#texts.at(-1) === text) return;
		// Another chat may have added to it.
		this.#texts = [...new Set([...readTexts(this.#file), ...this.#texts])]
			.filter((each) => each !== text)
			.slice(1 - MOST_TEXTS);
		this.#texts = [...this.#texts, text];
		const draft = `${this.#file}.${process.pid}`;
		try {
			makeFolder(dirname(this.#file));
			writeFileSync(draft, this.#texts.map((each) => `${JSON.stringify(each)}\n`).join(""), { mode: 0o600 });
			renameSync(draft, this.#file);
		} catch {
			// A read-only folder does not prevent chatting.
		}
	}
}

function readTexts(file: string): readonly string[] {
	try {
		return readFileSync(file, "utf8").split("\n").flatMap(readText).slice(-MOST_TEXTS);
	} catch {
		return [];
	}
}

function readText(line: string): readonly string[] {
	try {
		const text: unknown = JSON.parse(line);
		return typeof text === "string" ? [text] : [];
	} catch {
		return [];
	}
}
