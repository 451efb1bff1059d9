// One recovery, which its caller can iterate run by run or await as a whole.
import type { AgentRun } from "./agent-run.ts";

/**
 * The result of `recover()`. Iterate over it to get each run when it resumes; the next run resumes when you request it.
 * Or await it: it resolves when every run has ended, waits for an outside answer, or was suspended.
 */
export interface Recovery<Run = AgentRun> extends AsyncIterable<Run>, PromiseLike<void> {
	[Symbol.asyncIterator](): AsyncGenerator<Run, void, void>;
}

/** The number of concurrent runs if a recovery is awaited. */
const atOnce = 100;

/**
 * Creates a recovery from a source that yields runs as it resumes them. Nothing is resumed until you iterate over it or
 * await it.
 */
export function recovery<Run extends Pick<AgentRun, "result">>(
	look: () => AsyncGenerator<Run, void, void>,
): Recovery<Run> {
	let finished: Promise<void> | undefined;
	return {
		[Symbol.asyncIterator]: look,
		// biome-ignore lint/suspicious/noThenProperty: it is awaited by those who need no run of it.
		then(done, failed) {
			finished ??= finish(look());
			return finished.then(done, failed);
		},
	};
}

async function finish(runs: AsyncGenerator<Pick<AgentRun, "result">, void, void>): Promise<void> {
	const underWay = new Set<Promise<unknown>>();
	try {
		for await (const run of runs) {
			const over: Promise<unknown> = run.result().finally(() => underWay.delete(over));
			underWay.add(over);
			if (underWay.size >= atOnce) await Promise.race(underWay);
		}
	} finally {
		await Promise.all(underWay);
	}
}
