/**
 * Cuts Markdown that streams in into blocks that are whole: paragraphs and lists at an empty line, code line by line. What
 * was cut off is never looked at again, so a long answer costs no more a word than a short one.
 */

/** Lines that one block may have before it is cut all the same. */
const MOST_LINES = 200;

export class BlockStream {
	/** Whole lines of the block under way. */
	#lines: string[] = [];
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
			this.#open += line;
			if (index === lines.length - 1) break;
			this.#endLine(blocks);
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
			this.#fence = { mark, head: line };
		} else if (line.trim() === "") this.#cut(blocks, "\n");
		else if (this.#lines.push(line) >= MOST_LINES) this.#cut(blocks);
	}

	/** A block that an empty line ended ends with one. */
	#cut(blocks: string[], end = ""): void {
		if (this.#lines.length > 0) blocks.push(this.#lines.join("\n") + end);
		this.#lines = [];
	}
}

function isEndOf(mark: string, line: string): boolean {
	const found = /^ {0,3}(`{3,}|~{3,})\s*$/.exec(line)?.[1];
	return found !== undefined && found[0] === mark[0] && found.length >= mark.length;
}
