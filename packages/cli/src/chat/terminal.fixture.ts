/** A real terminal for tests: tmux keeps the screen, types keys, and returns what is shown. */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, onTestFinished } from "vitest";
import { temporaryFolder } from "../../../../test/shared/temporary-folder.fixture.ts";

const program = join(import.meta.dirname, "../../bin/holdfast.js");

/** Whether there is a terminal to test in. */
export const hasTerminal: boolean = spawnSync("tmux", ["-V"]).status === 0;

/** How a terminal is opened. */
export interface TerminalOptions {
	readonly folder: string;
	readonly columns?: number;
	readonly rows?: number;
	readonly environment?: Readonly<Record<string, string>>;
}

/** `holdfast` in a terminal, which is closed after the test. */
export class Terminal {
	readonly #socket = join(temporaryFolder(), "tmux");

	constructor(
		argv: readonly string[],
		{ folder, columns = 100, rows = 40, environment = {} }: TerminalOptions,
	) {
		const words = [process.execPath, "--conditions=holdfast-source", program, ...argv];
		const command = words.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(" ");
		const names = Object.entries({ HOLDFAST_MODEL: "", NO_COLOR: "", ...environment });
		const set = names.flatMap(([name, value]) => ["-e", `${name}=${value}`]);
		const size = ["-x", String(columns), "-y", String(rows)];
		// Its exit code is shown, and the screen stays.
		const shell = `env -u OPENAI_API_KEY -u ANTHROPIC_API_KEY -u CI ${command}; echo "left with $?"; exec sleep 600`;
		this.#tmux("-f", "/dev/null", "new-session", "-d", "-s", "t", ...size, "-c", folder, ...set, shell);
		onTestFinished(() => this.close());
	}

	/** Ends the terminal and the processes in it. */
	close(): void {
		spawnSync("tmux", ["-S", this.#socket, "kill-server"]);
	}

	/** Kills `holdfast`, which cannot do anything about it. */
	kill(): void {
		spawnSync("pkill", ["-KILL", "-P", this.#tmux("display-message", "-p", "-t", "t", "#{pane_pid}").trim()]);
	}

	/** The text on the screen and in the scrollback. */
	get text(): string {
		return this.#tmux("capture-pane", "-p", "-J", "-S", "-1000", "-t", "t");
	}

	/** The visible text, including its control codes. */
	get codes(): string {
		return this.#tmux("capture-pane", "-p", "-e", "-S", "-1000", "-t", "t");
	}

	/** Settles when this is shown. */
	async shows(what: string | RegExp): Promise<void> {
		const pattern =
			typeof what === "string" ? new RegExp(what.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&")) : what;
		await expect.poll(() => this.text, { timeout: 60_000, interval: 100 }).toMatch(pattern);
	}

	/** Types characters. */
	type(text: string): void {
		this.#tmux("send-keys", "-t", "t", "-l", text);
	}

	/** Presses keys, as tmux names them. */
	press(...keys: readonly string[]): void {
		for (const key of keys) this.#tmux("send-keys", "-t", "t", key);
	}

	/** Pastes like a terminal that marks the start and the end of a paste. */
	paste(text: string): void {
		spawnSync("tmux", ["-S", this.#socket, "load-buffer", "-"], { input: text });
		this.#tmux("paste-buffer", "-p", "-t", "t");
	}

	/** Writes a line and sends it, once it is shown as written. */
	async say(text: string): Promise<void> {
		this.type(text);
		await this.shows(`> ${text}`);
		this.press("Enter");
	}

	resize(columns: number, rows: number): void {
		this.#tmux("resize-window", "-t", "t", "-x", String(columns), "-y", String(rows));
	}

	#tmux(...argv: readonly string[]): string {
		const { status, stdout, stderr } = spawnSync("tmux", ["-S", this.#socket, ...argv], { encoding: "utf8" });
		if (status !== 0) throw new Error(`tmux ${argv[0]}: ${stderr}`);
		return stdout;
	}
}
