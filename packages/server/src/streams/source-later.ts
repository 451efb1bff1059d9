// A source that is available later: for a run that waits until another one has ended.
import type { Source, StartSource } from "./event-stream.ts";

/**
 * Takes from the source that `begin` resolves with, once it has; the stream is silent until then. If it resolves with
 * undefined, the stream ends. `failed` is called if it rejects. The signal fires when the reader has left.
 */
export function sourceLater(
	begin: (signal: AbortSignal) => Promise<StartSource | undefined>,
	failed: (error: unknown) => void,
): StartSource {
	return (wake, fail) => {
		const left = new AbortController();
		let source: Source | undefined;
		let isOver = false;
		begin(left.signal).then(
			(start) => {
				source = start?.(wake, fail);
				isOver = start === undefined;
				if (left.signal.aborted) source?.close();
				else wake();
			},
			(error) => {
				if (left.signal.aborted) return;
				failed(error);
				fail("failed");
			},
		);
		return {
			take: () => source?.take() ?? (isOver ? "end" : "none"),
			get isLagging() {
				return source?.isLagging === true;
			},
			close() {
				left.abort("left");
				source?.close();
			},
		};
	};
}
