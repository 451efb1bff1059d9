// A process with all that it starts. Running → ending (asked to end, 2 seconds) → killed; over when no process of the group
// is left. Its group is its own, so that a signal reaches what it started as well.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { ProcessFamily } from "./process-family.ts";

/** Milliseconds between being asked to end and being killed. */
const grace = 2_000;
/** Milliseconds for what was killed to be gone. */
const afterKill = 2_000;
const pollEvery = 40;

export interface ProcessGroup {
	/** Rejects where no process could be started. */
	readonly started: Promise<void>;
	/** Settles when the first process has ended, even if it left others running. */
	readonly exited: Promise<{ readonly exitCode: number | null; readonly signal: string | null }>;
	/** Ends every process of the group, and settles when all have exited. May be called more than once. */
	end(): Promise<void>;
}

/** The program to start, and the receiver of its output. */
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
	// Without a process there is nothing to end; the first signal would go to this group.
	const family = child.pid === undefined ? undefined : new ProcessFamily(child.pid);
	const killAll = (): void => family?.signal("SIGKILL");
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
			ending ??= endGroup(child, family, closed).finally(() => process.off("exit", killAll));
			return ending;
		},
	};
}

async function endGroup(
	child: ChildProcess,
	family: ProcessFamily | undefined,
	closed: Promise<unknown>,
): Promise<void> {
	if (family?.isAlive() === true) {
		family.signal("SIGTERM");
		if (!(await isGoneWithin(family, grace))) {
			family.signal("SIGKILL");
			await isGoneWithin(family, afterKill);
		}
	}
	// A process that was not found may hold the pipes open indefinitely.
	await Promise.race([closed, sleep(afterKill, undefined, { ref: false })]);
	child.stdout?.destroy();
	child.stderr?.destroy();
}

async function isGoneWithin(family: ProcessFamily, milliseconds: number): Promise<boolean> {
	const until = performance.now() + milliseconds;
	while (family.isAlive()) {
		if (performance.now() >= until) return false;
		await sleep(pollEvery);
	}
	return true;
}
