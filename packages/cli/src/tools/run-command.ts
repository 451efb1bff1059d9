/**
 * Runs a shell command in a folder, in a process group of its own. However it ends, its group is terminated: when the
 * command exits, takes too long or is cancelled, and when this process exits, even if it is killed. Only the beginning
 * and the end of long output are kept, so memory stays bounded.
 */
import { type ChildProcess, spawn } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import { StringDecoder } from "node:string_decoder";
import { stripVTControlCharacters } from "node:util";

/** Maximum number of characters kept of the beginning and of the end of the output. */
const LONGEST_HEAD = 8_000;
const LONGEST_TAIL = 24_000;
/** Milliseconds between two reports of new output, and of characters in each. */
const LIVE_MS = 100;
const LONGEST_LIVE = 1_000;
/** Milliseconds between the request to terminate and the kill. */
const GRACE_MS = 2_000;
/** Milliseconds to wait for output after the command has exited: its own background processes may keep it open. */
const LAST_OUTPUT_MS = 300;

type Child = ChildProcess & { readonly stdout: Readable; readonly stderr: Readable };

/** How a command ended. */
export interface CommandResult {
	/** Standard output and standard error, in the order in which they arrived, without control codes. */
	readonly output: string;
	/** Undefined if a signal terminated it, or it could not be started. */
	readonly exitCode: number | undefined;
	readonly ended: "exited" | "cancelled" | "timed out" | "not started";
	/** Milliseconds. */
	readonly duration: number;
}

/** Options of a command. */
export interface CommandOptions {
	/** Absolute path of the folder to run in. */
	readonly dir: string;
	/** Milliseconds after which it is terminated. */
	readonly timeoutMs: number;
	/** Aborted to end it. */
	readonly signal: AbortSignal | undefined;
	readonly environment: Readonly<Record<string, string | undefined>>;
	/** Receives the end of the new output while the command runs, at most ten times a second. */
	readonly onOutput?: ((text: string) => void) | undefined;
}

/** Runs a command to its end. Never rejects. */
export async function runCommand(command: string, options: CommandOptions): Promise<CommandResult> {
	const { dir, timeoutMs, signal } = options;
	const started = performance.now();
	const output = new KeptOutput();
	const live = options.onOutput === undefined ? undefined : new LiveOutput(options.onOutput);
	const done = (ended: CommandResult["ended"], exitCode?: number): CommandResult => ({
		output: output.text,
		exitCode,
		ended,
		duration: performance.now() - started,
	});
	if (signal?.aborted) return done("cancelled");
	const child = startGroup(command, dir, environmentOf(options.environment));
	const release = guard(child);
	let why: "exited" | "cancelled" | "timed out" = "exited";
	let force: NodeJS.Timeout | undefined;
	const end = (reason: "cancelled" | "timed out"): void => {
		if (why !== "exited") return;
		why = reason;
		endGroup(child, "SIGTERM");
		force = setTimeout(() => endGroup(child, "SIGKILL"), GRACE_MS);
	};
	const cancel = (): void => end("cancelled");
	const leave = (): void => endGroup(child, "SIGKILL");
	const limit = setTimeout(() => end("timed out"), timeoutMs);
	signal?.addEventListener("abort", cancel);
	process.on("exit", leave);
	try {
		const closed = new Promise<void>((resolve) => child.on("close", () => resolve()));
		const exitCode = new Promise<number | undefined>((resolve, reject) => {
			child.on("error", reject);
			child.on("exit", (code) => resolve(code ?? undefined));
		});
		for (const stream of [child.stdout, child.stderr])
			takeText(stream, (text) => {
				output.add(text);
				live?.add(text);
			});
		const code = await exitCode;
		await Promise.race([closed, new Promise((resolve) => setTimeout(resolve, LAST_OUTPUT_MS).unref())]);
		return done(why, why === "exited" ? code : undefined);
	} catch (error) {
		output.add(error instanceof Error ? error.message : String(error));
		return done("not started");
	} finally {
		clearTimeout(limit);
		clearTimeout(force);
		live?.end();
		signal?.removeEventListener("abort", cancel);
		process.off("exit", leave);
		// Background processes of the command end with it.
		leave();
		release();
		for (const stream of [child.stdout, child.stderr]) stream.destroy();
	}
}

/** The command begins when its guard runs; if this process ends before that, it never begins. */
const WHEN_GUARDED = 'read -r go <&3 || exit 1; exec 3<&-; exec /bin/sh -c "$1"';
/** Ends a process group when its input ends without a line, as it does when this process is killed. */
const GUARD = 'read -r done || kill -s KILL -- "-$1"';

function startGroup(command: string, dir: string, env: NodeJS.ProcessEnv): Child {
	if (process.platform === "win32")
		return spawn(command, { cwd: dir, shell: true, stdio: ["ignore", "pipe", "pipe"], env });
	return spawn("/bin/sh", ["-c", WHEN_GUARDED, "sh", command], {
		cwd: dir,
		detached: true,
		stdio: ["ignore", "pipe", "pipe", "pipe"],
		env,
	}) as Child;
}

/** Ends the group if this process is killed; returns the function that stops guarding it. */
function guard(child: Child): () => void {
	const begin = child.stdio[3] as Writable | undefined;
	if (child.pid === undefined || begin == null) return () => {};
	const watch = spawn("/bin/sh", ["-c", GUARD, "sh", String(child.pid)], {
		detached: true,
		stdio: ["pipe", "ignore", "ignore"],
	});
	for (const stream of [begin, watch.stdin]) stream.on("error", () => {});
	watch.on("error", () => {});
	watch.unref();
	begin.end("\n");
	return () => void watch.stdin.end("\n");
}

function endGroup(child: ChildProcess, signal: NodeJS.Signals): void {
	const { pid } = child;
	if (pid === undefined) return;
	try {
		if (process.platform !== "win32") process.kill(-pid, signal);
		else if (child.exitCode === null)
			spawn("taskkill", ["/pid", String(pid), "/T", "/F"], { stdio: "ignore" });
	} catch {
		// All of its processes have ended.
	}
}

/** Names of variables that commands do not receive, because their output goes to the model. */
const secret = /(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?)(?:_|$)/i;

/** Commands get no credentials, no terminal, and no program that waits for one. */
function environmentOf(given: CommandOptions["environment"]): NodeJS.ProcessEnv {
	const kept = Object.fromEntries(Object.entries(given).filter(([name]) => !secret.test(name)));
	return { ...kept, TERM: "dumb", NO_COLOR: "1", PAGER: "cat", GIT_PAGER: "cat", GIT_TERMINAL_PROMPT: "0" };
}

function takeText(stream: NodeJS.ReadableStream, take: (text: string) => void): void {
	const decoder = new StringDecoder("utf8");
	stream.on("data", (chunk: Buffer) => take(decoder.write(chunk)));
	stream.on("end", () => take(decoder.end()));
	stream.on("error", () => {});
}

/** Reports output as it arrives: of much output, the end. */
class LiveOutput {
	readonly #report: (text: string) => void;
	#text = "";
	#timer: NodeJS.Timeout | undefined;

	constructor(report: (text: string) => void) {
		this.#report = report;
	}

	add(text: string): void {
		this.#text = (this.#text + text.slice(-LONGEST_LIVE)).slice(-LONGEST_LIVE);
		this.#timer ??= setTimeout(() => {
			this.#timer = undefined;
			const shown = plain(this.#text);
			this.#text = "";
			if (shown !== "") this.#report(shown);
		}, LIVE_MS);
	}

	end(): void {
		clearTimeout(this.#timer);
	}
}

/** The beginning and the end of an output. */
class KeptOutput {
	#head = "";
	#tail = "";
	#dropped = 0;

	add(text: string): void {
		const room = LONGEST_HEAD - this.#head.length;
		if (room > 0) this.#head += text.slice(0, room);
		this.#tail += text.slice(Math.max(0, room));
		// Cut rarely, so that small pieces do not copy the whole tail each.
		if (this.#tail.length > 4 * LONGEST_TAIL) this.#cut();
	}

	get text(): string {
		this.#cut();
		const gap = this.#dropped === 0 ? "" : `\n… ${this.#dropped} characters omitted …\n`;
		return plain(`${this.#head}${gap}${this.#tail}`);
	}

	#cut(): void {
		const over = this.#tail.length - LONGEST_TAIL;
		if (over <= 0) return;
		this.#dropped += over;
		this.#tail = this.#tail.slice(over);
	}
}

/** Removes control codes, and the text of progress lines that was overwritten. */
function plain(text: string): string {
	return (
		stripVTControlCharacters(text)
			.toWellFormed()
			.split("\n")
			.map(lastShown)
			.join("\n")
			// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is taken out
			.replace(/[\x00-\x08\x0b-\x1f\x7f-\x9f]/g, "")
	);
}

/** Returns what a terminal shows of a line whose beginning was overwritten. Expressions would take quadratic time. */
function lastShown(line: string): string {
	let end = line.length;
	while (line.charAt(end - 1) === "\r") end--;
	return line.slice(line.lastIndexOf("\r", end - 1) + 1, end);
}
