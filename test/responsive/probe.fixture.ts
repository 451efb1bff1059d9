// Asks a server again and again whether it is alive, in a thread of its own, so that what a test does costs its answers nothing.
import { readFileSync } from "node:fs";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";

/** The longest that an answer took. */
export interface Slowest {
	/** Milliseconds by the clock. */
	readonly wall: number;
	/** Milliseconds that the server's process was at work meanwhile; on a busy machine it is much less. */
	readonly cpu: number;
	/** Answers that were had. */
	readonly answers: number;
}

/** Begins to ask. `stop` gives the slowest answer, by the time that the server was at work. */
export function probe(url: string, pid: number): { stop(): Promise<Slowest> } {
	const worker = new Worker(new URL(import.meta.url), { workerData: { url, pid } });
	const slowest = new Promise<Slowest>((resolve, reject) => {
		worker.once("message", resolve);
		worker.once("error", reject);
	});
	return {
		async stop() {
			worker.postMessage("stop");
			const result = await slowest;
			await worker.terminate();
			return result;
		},
	};
}

/** How long one answer may take before it counts as none, in milliseconds. */
const patience = 15_000;

/** Milliseconds that a process was at work, in hundredths of a second; on other systems than Linux the time by the clock. */
function workedMs(pid: number): number {
	try {
		const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
		const [user = 0, system = 0] = fields.slice(11, 13).map(Number);
		return (user + system) * 10;
	} catch {
		return performance.now();
	}
}

async function ask({ url, pid }: { readonly url: string; readonly pid: number }): Promise<void> {
	let hasStopped = false;
	parentPort?.once("message", () => {
		hasStopped = true;
	});
	let slowest: Slowest = { wall: 0, cpu: 0, answers: 0 };
	let answers = 0;
	while (!hasStopped) {
		const [began, worked] = [performance.now(), workedMs(pid)];
		const answer = await fetch(`${url}/healthz`, { signal: AbortSignal.timeout(patience) }).catch(
			() => undefined,
		);
		await answer?.text();
		const wall = performance.now() - began;
		const cpu = Math.min(wall, workedMs(pid) - worked);
		answers++;
		if (cpu > slowest.cpu || (cpu === slowest.cpu && wall > slowest.wall)) slowest = { wall, cpu, answers };
		if (answer === undefined) break;
		await new Promise((resolve) => setTimeout(resolve, 20));
	}
	parentPort?.postMessage({ ...slowest, answers });
}

if (!isMainThread && workerData?.pid !== undefined) await ask(workerData);
