// Records programs in a real terminal: tmux keeps the screen, and the recorder stores each state of it that a viewer
// should see, with the time for which to show it. These times are fixed, so a slow machine records the same film.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

/** One state of the screen: its lines with their control codes. */
export interface Frame {
	readonly lines: readonly string[];
	/** For how long to show it. */
	readonly ms: number;
}

const sampleMs = 90;

/** A recorded terminal with a shell. Dispose it to end the processes in it. */
export class RecordedTerminal {
	readonly #folder = mkdtempSync(join(tmpdir(), "holdfast-recording-"));
	readonly #frames: Frame[] = [];

	/** Starts a shell in a folder. `programs` are the commands that it knows, each a script. */
	constructor(folder: string, columns: number, rows: number, programs: Readonly<Record<string, string>>) {
		for (const [name, script] of Object.entries(programs))
			writeFileSync(join(this.#folder, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
		// Some shells ignore PS1 of the environment, but read this file.
		const ENV = join(this.#folder, "environment");
		writeFileSync(ENV, "PS1='$ '\n");
		// The picture defines the 16 colours, for light and dark pages.
		const environment = {
			PATH: `${this.#folder}:${process.env.PATH}`,
			ENV,
			NO_COLOR: "",
			CI: "",
			FORCE_COLOR: "1",
		};
		const set = Object.entries(environment).flatMap(([name, value]) => ["-e", `${name}=${value}`]);
		const size = ["-x", String(columns), "-y", String(rows)];
		this.#tmux("-f", "/dev/null", "new-session", "-d", "-s", "t", ...size, "-c", folder, ...set, "sh");
	}

	/** The recorded frames. */
	get frames(): readonly Frame[] {
		return this.#frames;
	}

	/** Types a text like a person, and presses Enter. */
	async enter(text: string): Promise<void> {
		const before = this.#screen().join("\n");
		for (let at = 0; at < text.length; at += 2) {
			this.#tmux("send-keys", "-t", "t", "-l", "--", text.slice(at, at + 2));
			await this.#until(
				(screen) => screen.replaceAll("\n", "").includes(text.slice(0, at + 2).trim()),
				before,
			);
			this.#keep(at + 2 < text.length ? 70 : 500);
		}
		this.press("Enter");
	}

	/** Presses a key, as tmux names it. */
	press(key: string): void {
		this.#tmux("send-keys", "-t", "t", key);
	}

	/** Records until the screen shows a text, then shows that for some time. */
	async shows(pattern: RegExp, holdMs: number): Promise<void> {
		await this.#until((screen) => {
			this.#keep(sampleMs);
			return pattern.test(screen);
		}, pattern.source);
		this.#keep(holdMs);
	}

	[Symbol.dispose](): void {
		spawnSync("tmux", ["-S", join(this.#folder, "tmux"), "kill-server"]);
		rmSync(this.#folder, { recursive: true, force: true });
	}

	async #until(isShown: (screen: string) => boolean, what: string): Promise<void> {
		const started = performance.now();
		while (!isShown(this.#tmux("capture-pane", "-p", "-t", "t"))) {
			if (performance.now() - started > 60_000)
				throw new Error(`The terminal never showed ${what}:\n${this.#screen().join("\n")}`);
			await pause(sampleMs / 2);
		}
	}

	/** Stores the screen, or shows the last frame longer if it is the same. */
	#keep(ms: number): void {
		const lines = this.#screen();
		const last = this.#frames.at(-1);
		if (last?.lines.join("\n") !== lines.join("\n")) this.#frames.push({ lines, ms });
		else if (ms > sampleMs) this.#frames[this.#frames.length - 1] = { lines, ms: Math.max(ms, last.ms) };
	}

	#screen(): readonly string[] {
		return this.#tmux("capture-pane", "-p", "-e", "-t", "t").split("\n");
	}

	#tmux(...argv: readonly string[]): string {
		const { status, stdout, stderr } = spawnSync("tmux", ["-S", join(this.#folder, "tmux"), ...argv], {
			encoding: "utf8",
		});
		if (status !== 0) throw new Error(`tmux ${argv[0]}: ${stderr}`);
		return stdout;
	}
}
