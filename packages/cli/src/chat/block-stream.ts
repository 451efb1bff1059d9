/**
 * Cuts Markdown that streams in into blocks that are whole: paragraphs and lists at an empty line, code line by line. What
 * was cut off is never looked at again, so a long answer costs no more a word than a short one.
 */

/** Lines that one block may have before it is cut all the same, and characters: each piece of text looks at it again. */
const MOST_LINES = 200;
const MOST_CHARACTERS = 8_000;
/** Characters of the line that begins code; what follows is left out, for each line of code has it. */
const LONGEST_HEAD = 200;

export class BlockStream {
	/** Whole lines of the block under way, and their characters. */
	#lines: string[] = [];
	#characters = 0;
	/** The line under way, in pieces. */
	#open = "";
	/** The mark that ends the code under way; undefined outside of code. */
	#fence: { readonly mark: string; readonly head: string } | undefined;

	/** The part that is no whole block yet. */
	get tail(): string {
		const text = [...this.#lines, this.#open].join("\n");
		return this.#fence === undefined ? text : `${this.#fence.head}\n${this.#open}`;
	}

	/** Takes a piece of text; gives the blocks that it completed. */
	push(text: string): readonly string[] {
		const blocks: string[] = [];
		const lines = text.split("\n");
		for (const [index, line] of lines.entries()) {
			this.#grow(line, blocks);
			if (index < lines.length - 1) this.#endLine(blocks);
		}
		return blocks;
	}

	/** Ends the answer; gives what was left. */
	end(): readonly string[] {
		const blocks: string[] = [];
		if (this.#open !== "") this.#endLine(blocks);
		this.#cut(blocks);
		this.#fence = undefined;
		return blocks;
	}

	/** A line that is too long ends where it is, so that the line under way stays short. */
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
				// Code is a block of its own lines; what follows is apart from it.
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

	/** A block that an empty line ended ends with one. */
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
