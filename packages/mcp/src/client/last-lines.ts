// The last lines that a program wrote to its error output, for the error that reports its death.
import type { Readable } from "node:stream";

const mostLines = 20;
const mostCharacters = 4_000;

export class LastLines {
	#text = "";

	/** Reads the output from now on; nothing of it may stay in the pipe, or the program would stop. */
	follow(output: Readable): void {
		output.setEncoding("utf8");
		output.on("data", (piece: string) => {
			this.#text = (this.#text + piece).slice(-mostCharacters);
		});
		output.on("error", () => {});
	}

	/** The lines as a sentence's end; empty where nothing was written. */
	get said(): string {
		const lines = this.#text.toWellFormed().trim().split("\n").slice(-mostLines).join("\n");
		return lines === "" ? "" : ` The program's last output was:\n${lines}`;
	}
}
