// The child's side of a remote journal: it executes the messages of its parent.
import { decodeFact, type EncodedFact, type Journal, type Lease } from "holdfast/host";
import { encodeEntry } from "./journal-proxy.ts";

/** Serves a journal to the parent process until the parent exits. */
export function serveJournal(journal: Journal): void {
	const leases = new Map<number, Lease>();
	const watches = new Map<number, () => void>();
	let count = 0;

	const lease = (id: number): Lease => leases.get(id) as Lease;
	const send = (message: unknown): void => {
		if (process.connected) process.send?.(message);
	};

	// biome-ignore lint/suspicious/noExplicitAny: what comes in was written by the proxy beside this file.
	const methods: Record<string, (...parts: any[]) => unknown> = {
		async acquire(key, options) {
			const result = await journal.acquire(key, options);
			if (!result.ok) return result;
			const id = ++count;
			leases.set(id, result.lease);
			result.lease.whenLost(() => send({ lost: id }));
			const { epoch, seq, openRunId } = result.lease;
			return { ok: true, lease: { id, epoch, seq, openRunId } };
		},
		async append(id, batch) {
			const facts = batch.facts.map(({ kind, version, body }: EncodedFact) =>
				decodeFact(kind, version, body),
			);
			const result = await lease(id).append({ ...batch, facts });
			return { result, epoch: lease(id).epoch };
		},
		inbox: (id) => lease(id).inbox(),
		release: (id) => lease(id).release(),
		submit: (key, input) => journal.submit(key, input),
		look: (key) => journal.inbox(key),
		read: async (key, options) => (await journal.read(key, options)).map(encodeEntry),
		readChunks: (key, options) => journal.readChunks?.(key, options),
		head: (key) => journal.head(key),
		list: (options) => journal.list(options),
		isAlive: (workerId) => journal.isAlive(workerId),
		fork: (from, to, until) => journal.fork(from, to, until),
		delete: (key, seen) => journal.delete(key, seen),
		close: () => journal.close(),
		watch(id, key) {
			watches.set(
				id,
				journal.watch(key, () => send({ changed: id })),
			);
		},
		leave: (id) => watches.get(id)?.(),
		/** Blocks the main thread. */
		block: (milliseconds) => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds),
	};

	process.on(
		"message",
		async ({ call, method, parts }: { call: number; method: string; parts: unknown[] }) => {
			try {
				send({ call, result: await methods[method]?.(...parts) });
			} catch (error) {
				const { code, message } = error as { code?: string; message: string };
				send({ call, error: { code, message } });
			}
		},
	);
	process.on("disconnect", () => process.exit());
	send({ ready: journal.workerId });
}
