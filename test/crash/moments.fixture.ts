// Moments of a worker's life, reported to its parent line by line; at the one it was given it kills itself. The watched host
// makes moments of appends and inputs: before one is called, and after it is committed but before anybody knows.
import { writeSync } from "node:fs";
import type { Host } from "holdfast";
import type { Append, AppendResult, Lease } from "holdfast/host";

/** What happened, reported in one line of JSON on standard output. */
export interface Moment {
	readonly moment: string;
	/** The seq of the journal's last entry, after a commit. */
	readonly seq?: number;
	readonly [detail: string]: unknown;
}

export interface Moments {
	reach(moment: string, details?: Readonly<Record<string, unknown>>): void;
}

/** Moments of this process, which ends at `killAt` and is paused at `stopAt` until its parent says "continue". */
export function moments(killAt: string | undefined, stopAt?: string): Moments {
	return {
		reach(moment, details = {}) {
			writeSync(1, `${JSON.stringify({ moment, ...details })}\n`);
			if (moment === killAt) die();
			if (moment === stopAt) process.kill(process.pid, "SIGSTOP");
		},
	};
}

/** Ends this process here and now: nothing after this line runs. */
function die(): never {
	process.kill(process.pid, "SIGKILL");
	for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
}

/** Lets calls that run side by side end one after the other, each when the result before it is committed. */
export class Order {
	#running: string[] = [];
	#waiting: (() => void)[] = [];

	async turnOf(callId: string): Promise<void> {
		while (this.#running.includes(callId) && this.#running[0] !== callId) {
			await new Promise<void>((resolve) => this.#waiting.push(resolve));
		}
	}

	committed({ facts }: Append): void {
		for (const fact of facts) {
			if (fact.kind === "tool.started") this.#running.push(fact.callId);
			if (fact.kind === "tool.settled") this.#running = this.#running.filter((id) => id !== fact.callId);
		}
		for (const wake of this.#waiting.splice(0)) wake();
	}
}

/** The host with moments `append <n> before`, `append <n> after`, `input <n> before` and `input <n> after`. */
export function watchedHost(host: Host, { reach }: Moments, order: Order): Host {
	let appends = 0;
	let inputs = 0;
	const journal = overlay(host.journal, {
		async submit(key, input) {
			const number = ++inputs;
			reach(`input ${number} before`, { session: key });
			const submitted = await host.journal.submit(key, input);
			reach(`input ${number} after`);
			return submitted;
		},
		async acquire(key, options) {
			const acquired = await host.journal.acquire(key, options);
			return acquired.ok ? { ok: true, lease: watchedLease(acquired.lease) } : acquired;
		},
	});
	function watchedLease(lease: Lease): Lease {
		return overlay(lease, {
			async append(batch): Promise<AppendResult> {
				const number = ++appends;
				reach(`append ${number} before`, { facts: batch.facts.map(({ kind }) => kind) });
				const result = await lease.append(batch);
				if (result.ok) reach(`append ${number} after`, { seq: result.seq });
				order.committed(batch);
				return result;
			},
		});
	}
	return { journal, values: host.values, close: () => host.close() };
}

/** An object that is another one but for some of its methods. */
function overlay<T extends object>(object: T, methods: Partial<T>): T {
	return new Proxy(object, {
		get(target, name) {
			if (Object.hasOwn(methods, name)) return methods[name as keyof T];
			const value: unknown = Reflect.get(target, name, target);
			return typeof value === "function" ? value.bind(target) : value;
		},
	});
}
