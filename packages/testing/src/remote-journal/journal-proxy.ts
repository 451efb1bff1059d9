// A journal in another process: a proxy over messages to a child that tests can kill and stop. The child's program passes
// its journal to `serveJournal`.
import { type ChildProcess, fork } from "node:child_process";
import { HoldfastError } from "@holdfast/upp";
import {
	type Append,
	type AppendResult,
	decodeFact,
	type EncodedFact,
	type Entry,
	encodeFact,
	type Journal,
	type Lease,
	type StoredInput,
} from "holdfast/host";

/** A journal in a separate process. */
export interface RemoteJournal extends Journal {
	/** Its process. */
	readonly child: ChildProcess;
	/** Blocks the child's main thread for this many milliseconds; resolves when it continues. */
	block(milliseconds: number): Promise<void>;
	/** Ends the child with a signal; resolves when it has exited. */
	end(signal: "SIGKILL" | "SIGTERM"): Promise<void>;
}

interface Answer {
	readonly call?: number;
	readonly result?: unknown;
	readonly error?: { readonly code?: string; readonly message: string };
	readonly lost?: number;
	readonly changed?: number;
	readonly ready?: string;
}

type PlainEntry = Omit<Entry, "fact"> & { readonly fact: EncodedFact };

export function encodeEntry(entry: Entry): PlainEntry {
	return { ...entry, fact: encodeFact(entry.fact) };
}

function decodeEntry(entry: PlainEntry): Entry {
	return { ...entry, fact: decodeFact(entry.fact.kind, entry.fact.version, entry.fact.body) };
}

/**
 * Starts a worker's program, with options as JSON in its first argument. End it with `end("SIGKILL")`, even if a test
 * fails.
 */
export async function startRemoteJournal(program: URL, options: unknown): Promise<RemoteJournal> {
	const child = fork(program, [JSON.stringify(options)], {
		execArgv: ["--conditions=holdfast-source", "--no-warnings"],
		serialization: "advanced",
	});
	const calls = new Map<number, { resolve: (result: unknown) => void; reject: (error: Error) => void }>();
	const leases = new Map<number, RemoteLease>();
	const watchers = new Map<number, () => void>();
	let count = 0;

	const call = <T>(method: string, ...parts: unknown[]): Promise<T> =>
		new Promise((resolve, reject) => {
			calls.set(++count, { resolve: resolve as (result: unknown) => void, reject });
			child.send({ call: count, method, parts });
		});

	const ready = new Promise<string>((resolve, reject) => {
		child.once("exit", (code, signal) => {
			const gone = new Error(`the worker's process ended: ${code ?? signal}`);
			reject(gone);
			for (const { reject: fail } of calls.values()) fail(gone);
		});
		child.on("message", (answer: Answer) => {
			if (answer.ready !== undefined) resolve(answer.ready);
			if (answer.lost !== undefined) leases.get(answer.lost)?.lose();
			if (answer.changed !== undefined) watchers.get(answer.changed)?.();
			if (answer.call === undefined) return;
			const waiting = calls.get(answer.call);
			calls.delete(answer.call);
			if (answer.error === undefined) waiting?.resolve(answer.result);
			else {
				const failure = { ...answer.error, code: answer.error.code ?? "unknown" };
				waiting?.reject(new HoldfastError(failure.code, failure.message));
			}
		});
	});

	return {
		child,
		name: "remote",
		workerId: await ready,
		async acquire(key, acquireOptions) {
			type Granted = { ok: true; lease: { id: number; epoch: number; seq: number; openRunId?: string } };
			const result = await call<Granted | { ok: false; heldBy: string }>("acquire", key, acquireOptions);
			if (!result.ok) return result;
			const lease = new RemoteLease(call, key, result.lease);
			leases.set(result.lease.id, lease);
			return { ok: true, lease };
		},
		submit: (key, input) => call("submit", key, input),
		inbox: (key) => call("look", key),
		read: async (key, readOptions) =>
			(await call<readonly PlainEntry[]>("read", key, readOptions)).map(decodeEntry),
		readChunks: (key, chunkOptions) => call("readChunks", key, chunkOptions),
		head: (key) => call("head", key),
		list: (listOptions) => call("list", listOptions),
		isAlive: (workerId) => call("isAlive", workerId),
		watch(key, changed) {
			const id = ++count;
			watchers.set(id, changed);
			call("watch", id, key).catch(() => {}); // its process may be killed meanwhile
			return () => {
				watchers.delete(id);
				call("leave", id).catch(() => {});
			};
		},
		fork: (from, to, until) => call("fork", from, to, until),
		delete: (key, seen) => call("delete", key, seen),
		close: () => call("close"),
		block: (milliseconds) => call("block", milliseconds),
		end(signal) {
			if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
			const gone = new Promise<void>((resolve) => child.once("exit", () => resolve()));
			child.kill(signal);
			return gone;
		},
	};
}

class RemoteLease implements Lease {
	readonly key: string;
	readonly seq: number;
	readonly openRunId?: string;
	epoch: number;
	isLost = false;
	readonly #id: number;
	readonly #call: <T>(method: string, ...parts: unknown[]) => Promise<T>;
	#notify: (() => void) | undefined;

	constructor(
		call: <T>(method: string, ...parts: unknown[]) => Promise<T>,
		key: string,
		granted: { id: number; epoch: number; seq: number; openRunId?: string },
	) {
		this.key = key;
		this.seq = granted.seq;
		this.epoch = granted.epoch;
		if (granted.openRunId !== undefined) this.openRunId = granted.openRunId;
		this.#id = granted.id;
		this.#call = call;
	}

	whenLost(notify: (() => void) | undefined): void {
		this.#notify = notify;
	}

	lose(): void {
		if (this.isLost) return;
		this.isLost = true;
		this.#notify?.();
	}

	async append(batch: Append): Promise<AppendResult> {
		const facts = batch.facts.map(encodeFact);
		type Appended = { result: AppendResult; epoch: number };
		const { result, epoch } = await this.#call<Appended>("append", this.#id, { ...batch, facts });
		this.epoch = epoch;
		return result;
	}

	inbox(): Promise<readonly StoredInput[]> {
		return this.#call("inbox", this.#id);
	}

	release(): Promise<void> {
		return this.#call("release", this.#id);
	}
}
