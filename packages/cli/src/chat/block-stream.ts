/**
 * Cuts streamed Markdown into complete blocks: paragraphs and lists at an empty line, code line by line. A block that was
 * emitted is never examined again, except for the last lines of code, which the highlighting of the next one depends on.
 * So the cost per word does not grow with the length of the answer.
 */

/**
 * Maximum number of lines and characters of a block. Longer ones are cut, because every push examines the open block
 * again.
 */
const MOST_LINES = 200;
const MOST_CHARACTERS = 8_000;
/** Maximum number of characters kept of the name of a language. */
const LONGEST_LANGUAGE = 40;

/** Maximum number of lines of code, and their characters, that the highlighting of the next line takes into account. */
const MOST_BEFORE = 30;
const LONGEST_BEFORE = 3_000;

/** A line of code. */
export interface CodeLine {
	readonly code: string;
	readonly language: string;
	/** The lines before it, each with its line end. */
	readonly before: string;
}

/** A block: Markdown, or a line of code. */
export type Block = string | CodeLine;

export class BlockStream {
	/** Complete lines of the current block, and their characters. */
	#lines: string[] = [];
	#characters = 0;
	/** The current, incomplete line, in pieces. */
	#open = "";
	/** The fence that closes the current code block, and the last lines; undefined outside code. */
	#fence: { readonly mark: string; readonly language: string; before: readonly string[] } | undefined;

	/** The text that is not a complete block yet. */
	get tail(): Block {
		return this.#fence === undefined ? [...this.#lines, this.#open].join("\n") : this.#codeLine(this.#open);
	}

	/** Appends a piece of text; returns the blocks that it completed. */
	push(text: string): readonly Block[] {
		const blocks: Block[] = [];
		const lines = text.split("\n");
		for (const [index, line] of lines.entries()) {
			this.#grow(line, blocks);
			if (index < lines.length - 1) this.#endLine(blocks);
		}
		return blocks;
	}

	/** Ends the answer; returns the rest. */
	end(): readonly Block[] {
		const blocks: Block[] = [];
		if (this.#open !== "") this.#endLine(blocks);
		this.#cut(blocks);
		this.#fence = undefined;
		return blocks;
	}

	/** A line that is too long is cut, so that the current line stays short. */
	#grow(piece: string, blocks: Block[]): void {
		let rest = piece;
		while (this.#open.length + rest.length > MOST_CHARACTERS) {
			const room = MOST_CHARACTERS - this.#open.length;
			const line = this.#open + rest.slice(0, room);
			const isWhole = line.isWellFormed() || !/[\ud800-\udbff]$/.test(line);
			this.#open = isWhole ? line : line.slice(0, -1);
			rest = (isWhole ? "" : line.slice(-1)) + rest.slice(room);
			this.#endLine(blocks);
		}
		this.#open += rest;
	}

	#endLine(blocks: Block[]): void {
		const line = this.#open;
		this.#open = "";
		if (this.#fence !== undefined) {
			if (isEndOf(this.#fence.mark, line)) {
				this.#fence = undefined;
				// Separates a code block from what follows.
				blocks.push("\n");
				return;
			}
			blocks.push(this.#codeLine(line));
			this.#fence.before = [...this.#fence.before, line].slice(-MOST_BEFORE);
			return;
		}
		const mark = /^ {0,3}(`{3,}(?=[^`]*$)|~{3,})/.exec(line)?.[1];
		if (mark !== undefined) {
			this.#cut(blocks);
			const language = line.trim().slice(mark.length).trim().split(/\s/)[0] ?? "";
			this.#fence = { mark, language: language.slice(0, LONGEST_LANGUAGE), before: [] };
		} else if (line.trim() === "") this.#cut(blocks, "\n");
		else {
			this.#lines.push(line);
			this.#characters += line.length;
			if (this.#lines.length >= MOST_LINES || this.#characters >= MOST_CHARACTERS) this.#cut(blocks);
		}
	}

	#codeLine(code: string): CodeLine {
		const { language = "", before = [] } = this.#fence ?? {};
		const lines = before.map((line) => `${line}\n`).join("");
		return { code, language, before: lines.length > LONGEST_BEFORE ? "" : lines };
	}

	/** A block that ends with an empty line keeps that line. */
	#cut(blocks: Block[], end = ""): void {
		if (this.#lines.length > 0) blocks.push(this.#lines.join("\n") + end);
		this.#lines = [];
		this.#characters = 0;
	}
}

function isEndOf(mark: string, line: string): boolean {
	const found = /^ {0,3}(`{3,}|~{3,})\s*$/.exec(line)?.[1];
	return found !== undefined && found[0] === mark[0] && found.length >= mark.length;
}
