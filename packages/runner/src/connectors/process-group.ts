// A process with all processes that it starts. Running → ending (asked to end, 2 seconds) → killed; ended when no process
// of the group is left. It has its own group, so that a signal also reaches the processes it started.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { ProcessFamily } from "./process-family.ts";

/** Milliseconds between the request to end and the kill. */
const grace = 2_000;
/** Milliseconds that killed processes have to disappear. */
const afterKill = 2_000;
const pollEvery = 40;

export interface ProcessGroup {
	/** Rejects if the process could not be started. */
	readonly started: Promise<void>;
	/** Resolves when the first process has ended, even if it left others running. */
	readonly exited: Promise<{ readonly exitCode: number | null; readonly signal: string | null }>;
	/** Ends every process of the group, and resolves when all have exited. May be called more than once. */
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
	// Without a process there is nothing to end, and the first signal would go to the current group.
	const family = child.pid === undefined ? undefined : new ProcessFamily(child.pid);
	const killAll = (): void => family?.signal("SIGKILL");
	// A process group would otherwise outlive this process.
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
	// A process that was not found may keep the pipes open indefinitely.
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
