// The last lines that a program wrote to its error output, for the error that reports its death.
import type { Readable } from "node:stream";

const mostLines = 20;
const mostCharacters = 4_000;

export class LastLines {
	#text = "";

	/** Reads the output from now on; unread output in the pipe would block the program. */
	follow(output: Readable): void {
		output.setEncoding("utf8");
		output.on("data", (piece: string) => {
			this.#text = (this.#text + piece).slice(-mostCharacters);
		});
		output.on("error", () => {});
	}

	/** Returns the lines as the end of a sentence; empty if nothing was written. */
	get said(): string {
		const lines = this.#text.toWellFormed().trim().split("\n").slice(-mostLines).join("\n");
		return lines === "" ? "" : ` The program's last output was:\n${lines}`;
	}
}
