// A place for processes that die: a folder with a journal, a receiver that counts keys, and the way to start workers.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Entry } from "holdfast/host";
import { sqliteJournal } from "holdfast/sqlite";
import type { Moment } from "./moments.fixture.ts";
import type { SeenRequest } from "./planned-model.fixture.ts";
import type { WorkerOptions } from "./worker-process.fixture.ts";

/** How a worker's process ended. */
export interface Ended {
	readonly signal: NodeJS.Signals | null;
	readonly code: number | null;
	readonly moments: readonly Moment[];
}

/** A worker's process. */
export interface WorkerProcess {
	readonly child: ChildProcess;
	/** Resolves with the moment when it has come, or rejects when the process ended without it. */
	reached(moment: string): Promise<Moment>;
	readonly ended: Promise<Ended>;
	/** Writes a line to its standard input. */
	say(line: string): void;
}

/**
 * The programs that can be started: one that sends and resumes, one that works at what a host has scheduled, and one whose
 * agent plans, acts and reflects.
 */
const programs = {
	sends: "worker-process.fixture.ts",
	works: "scheduled-process.fixture.ts",
	plans: "runner-process.fixture.ts",
} as const;

type Start = Omit<WorkerOptions, "host" | "receiver" | "effects" | "requests"> & {
	readonly host?: Partial<WorkerOptions["host"]>;
};

export interface World {
	readonly path: string;
	/** The folder of all files but the journal. */
	readonly home: string;
	start(options: Start, program?: keyof typeof programs): WorkerProcess;
	/** Starts a worker and waits until its process is gone. */
	run(options: Start): Promise<Ended>;
	entries(session?: string): Promise<readonly Entry[]>;
	/** What the model was asked, by all processes, in order. */
	requests(): readonly SeenRequest[];
	/** How often each key arrived at the receiver. */
	received(): ReadonlyMap<string, number>;
	/** Lines that manual-recovery tools wrote: key and subject. */
	effects(): readonly string[];
	/** Makes the file for which a tool waits. */
	makeFile(name: string): void;
	end(): Promise<void>;
}

/** Makes a world; `folder` may be one of the caller's, on a small disk say. */
export async function makeWorld(folder?: string): Promise<World> {
	const home = mkdtempSync(join(tmpdir(), "holdfast-crash-"));
	const path = join(folder ?? home, "journal.db");
	const received = new Map<string, number>();
	const server = await receiver(received);
	const effects = join(home, "effects.txt");
	const requests = join(home, "requests.jsonl");
	const running = new Set<ChildProcess>();
	const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;

	function start({ host, ...rest }: Start, program: keyof typeof programs = "sends"): WorkerProcess {
		const options: WorkerOptions = {
			...rest,
			host: { path, ...host },
			receiver: address,
			effects,
			requests,
		};
		const file = join(import.meta.dirname, programs[program]);
		const child = spawn(
			process.execPath,
			["--conditions=holdfast-source", "--no-warnings", file, JSON.stringify(options)],
			{ stdio: ["pipe", "pipe", "inherit"] },
		);
		running.add(child);
		void once(child, "exit").then(() => running.delete(child));
		return follow(child);
	}

	return {
		path,
		home,
		start,
		run: (options) => start(options).ended,
		async entries(session = "s") {
			const journal = sqliteJournal({ path });
			try {
				return await journal.read(session);
			} finally {
				await journal.close();
			}
		},
		requests: () => lines(requests).map((line) => JSON.parse(line) as SeenRequest),
		received: () => received,
		effects: () => lines(effects),
		makeFile: (name) => writeFileSync(join(home, name), ""),
		async end() {
			for (const child of running) {
				child.kill("SIGCONT");
				child.kill("SIGKILL");
				await once(child, "exit");
			}
			server.closeAllConnections();
			await new Promise((resolve) => server.close(resolve));
			rmSync(home, { recursive: true });
		},
	};
}

/** Answers a key that comes again with the receipt it gave the first time. */
async function receiver(received: Map<string, number>): Promise<Server> {
	const server = createServer((request, response) => {
		const key = String(request.headers["idempotency-key"]);
		received.set(key, (received.get(key) ?? 0) + 1);
		request.resume();
		response.end(`receipt ${[...received.keys()].indexOf(key) + 1}`);
	});
	server.listen(0, "127.0.0.1");
	await once(server, "listening");
	return server;
}

function follow(child: ChildProcess): WorkerProcess {
	const moments: Moment[] = [];
	const waiting = new Map<string, ((moment: Moment) => void)[]>();
	const output = createInterface({ input: child.stdout as NonNullable<ChildProcess["stdout"]> });
	output.on("line", (line) => {
		const moment = JSON.parse(line) as Moment;
		moments.push(moment);
		for (const resolve of waiting.get(moment.moment) ?? []) resolve(moment);
		waiting.delete(moment.moment);
	});
	child.stdin?.on("error", () => {}); // who is dead reads nothing
	const ended = Promise.all([once(child, "exit"), once(output, "close")]).then(
		([[code, signal]]): Ended => ({ code, signal, moments }),
	);
	return {
		child,
		ended,
		say: (line) => void child.stdin?.write(`${line}\n`),
		reached(name) {
			const known = moments.find(({ moment }) => moment === name);
			if (known !== undefined) return Promise.resolve(known);
			return new Promise((resolve, reject) => {
				waiting.set(name, [...(waiting.get(name) ?? []), resolve]);
				void ended.then(({ code, signal }) =>
					reject(new Error(`ended (${code ?? signal}) before "${name}": ${JSON.stringify(moments.at(-1))}`)),
				);
			});
		},
	};
}

function lines(file: string): readonly string[] {
	return existsSync(file) ? readFileSync(file, "utf8").trimEnd().split("\n").filter(Boolean) : [];
}

/** The moments of a name. */
export function named(ended: Ended, name: string): readonly Moment[] {
	return ended.moments.filter(({ moment }) => moment === name);
}

/** Runs so many tasks at once and no more. */
export function pool(size: number): <T>(task: () => Promise<T>) => Promise<T> {
	let free = size;
	const queue: (() => void)[] = [];
	return async (task) => {
		if (free === 0) await new Promise<void>((resolve) => queue.push(resolve));
		else free--;
		try {
			return await task();
		} finally {
			const next = queue.shift();
			if (next === undefined) free++;
			else next();
		}
	};
}
