// A process with all that it starts. Running → ending (asked to end, 2 seconds) → killed; over when no process of the group
// is left. Its group is its own, so that a signal reaches what it started as well.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";

/** Milliseconds between being asked to end and being killed. */
const grace = 2_000;
/** Milliseconds for what was killed to be gone. */
const afterKill = 2_000;
const pollEvery = 20;

export interface ProcessGroup {
	/** Rejects where no process could be started. */
	readonly started: Promise<void>;
	/** Settles when the first process has ended, whatever it left running. */
	readonly exited: Promise<{ readonly exitCode: number | null; readonly signal: string | null }>;
	/** Ends every process of the group, and settles when they are gone. May be called more than once. */
	end(): Promise<void>;
}

/** What is started, and who gets its output. */
export interface Program {
	readonly argv: readonly string[];
	readonly cwd: string;
	readonly env: Readonly<Record<string, string>>;
	onOutput(stream: "stdout" | "stderr", chunk: Buffer): void;
}

export function startGroup({ argv, cwd, env, onOutput }: Program): ProcessGroup {
	const [file = "", ...rest] = argv;
	const child = spawn(file, rest, {
		cwd,
		env,
		detached: true,
		shell: false,
		stdio: ["ignore", "pipe", "pipe"],
	});
	child.stdout.on("data", (chunk) => onOutput("stdout", chunk));
	child.stderr.on("data", (chunk) => onOutput("stderr", chunk));
	const killAll = (): void => void signalGroup(child, "SIGKILL");
	// A group of its own would outlive this process.
	process.on("exit", killAll);
	const exited = once(child, "exit").then(([exitCode, signal]) => ({ exitCode, signal }));
	const closed = once(child, "close").catch(() => {});
	exited.catch(() => {});
	let ending: Promise<void> | undefined;
	return {
		started: once(child, "spawn").then(
			() => {},
			(error) => {
				process.off("exit", killAll);
				throw error;
			},
		),
		exited,
		end() {
			ending ??= endGroup(child, closed).finally(() => process.off("exit", killAll));
			return ending;
		},
	};
}

async function endGroup(child: ChildProcess, closed: Promise<unknown>): Promise<void> {
	signalGroup(child, "SIGTERM");
	if (!(await isGoneWithin(child, grace))) {
		signalGroup(child, "SIGKILL");
		await isGoneWithin(child, afterKill);
	}
	// What left the group may hold the pipes open for ever.
	await Promise.race([closed, sleep(afterKill, undefined, { ref: false })]);
	child.stdout?.destroy();
	child.stderr?.destroy();
}

async function isGoneWithin(child: ChildProcess, milliseconds: number): Promise<boolean> {
	const until = performance.now() + milliseconds;
	while (signalGroup(child, 0)) {
		if (performance.now() >= until) return false;
		await sleep(pollEvery);
	}
	return true;
}

/** Whether there was anyone to get the signal. */
function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals | 0): boolean {
	if (pid === undefined) return false;
	try {
		return process.kill(-pid, signal);
	} catch {
		return false;
	}
}
