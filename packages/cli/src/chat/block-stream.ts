/**
 * Cuts streamed Markdown into complete blocks: paragraphs and lists at an empty line, code line by line. A block that was
 * emitted is never examined again, so the cost per word does not grow with the length of the answer.
 */

/** The most lines and characters of a block before it is cut anyway, because every push examines the open block again. */
const MOST_LINES = 200;
const MOST_CHARACTERS = 8_000;
/** The most characters kept of the line that opens a code block; they are repeated for every line of code. */
const LONGEST_HEAD = 200;

export class BlockStream {
	/** Complete lines of the current block, and their characters. */
	#lines: string[] = [];
	#characters = 0;
	/** The current, incomplete line, in pieces. */
	#open = "";
	/** The fence that closes the current code block; undefined outside code. */
	#fence: { readonly mark: string; readonly head: string } | undefined;

	/** The text that is not a complete block yet. */
	get tail(): string {
		const text = [...this.#lines, this.#open].join("\n");
		return this.#fence === undefined ? text : `${this.#fence.head}\n${this.#open}`;
	}

	/** Appends a piece of text; returns the blocks that it completed. */
	push(text: string): readonly string[] {
		const blocks: string[] = [];
		const lines = text.split("\n");
		for (const [index, line] of lines.entries()) {
			this.#grow(line, blocks);
			if (index < lines.length - 1) this.#endLine(blocks);
		}
		return blocks;
	}

	/** Ends the answer; returns the rest. */
	end(): readonly string[] {
		const blocks: string[] = [];
		if (this.#open !== "") this.#endLine(blocks);
		this.#cut(blocks);
		this.#fence = undefined;
		return blocks;
	}

	/** A line that is too long is cut, so that the current line stays short. */
	#grow(piece: string, blocks: string[]): void {
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

	#endLine(blocks: string[]): void {
		const line = this.#open;
		this.#open = "";
		if (this.#fence !== undefined) {
			const { mark, head } = this.#fence;
			if (isEndOf(mark, line)) {
				this.#fence = undefined;
				// Separates a code block from what follows.
				blocks.push("\n");
			} else blocks.push(`${head}\n${line}\n${mark}`);
			return;
		}
		const mark = /^ {0,3}(`{3,}(?=[^`]*$)|~{3,})/.exec(line)?.[1];
		if (mark !== undefined) {
			this.#cut(blocks);
			this.#fence = { mark, head: line.length > LONGEST_HEAD ? mark : line };
		} else if (line.trim() === "") this.#cut(blocks, "\n");
		else {
			this.#lines.push(line);
			this.#characters += line.length;
			if (this.#lines.length >= MOST_LINES || this.#characters >= MOST_CHARACTERS) this.#cut(blocks);
		}
	}

	/** A block that was ended by an empty line keeps that line. */
	#cut(blocks: string[], end = ""): void {
		if (this.#lines.length > 0) blocks.push(this.#lines.join("\n") + end);
		this.#lines = [];
		this.#characters = 0;
	}
}

function isEndOf(mark: string, line: string): boolean {
	const found = /^ {0,3}(`{3,}|~{3,})\s*$/.exec(line)?.[1];
	return found !== undefined && found[0] === mark[0] && found.length >= mark.length;
}
