// Batches of events as lines of JSON, from a session's object to its Worker.
import { HoldfastError } from "holdfast";
import { errorOf, failureOf } from "./answers.ts";

/** Batches as lines; reading them drives the source, and leaving them ends it. */
export function batchLines<Batch>(
	batches: AsyncIterable<Batch>,
	leaving: AbortController,
	over: () => void,
): ReadableStream<Uint8Array> {
	const encoder = new TextEncoder();
	const source = batches[Symbol.asyncIterator]();
	let isOver = false;
	const end = (): void => {
		if (!isOver) over();
		isOver = true;
	};
	return new ReadableStream<Uint8Array>({
		async pull(controller) {
			try {
				const { done, value } = await source.next();
				// Whoever read it left meanwhile.
				if (isOver) return;
				if (done) {
					end();
					controller.close();
				} else controller.enqueue(encoder.encode(`${JSON.stringify({ value })}\n`));
			} catch (error) {
				if (isOver) return;
				controller.enqueue(encoder.encode(`${JSON.stringify({ failure: failureOf(error) })}\n`));
				end();
				controller.close();
			}
		},
		async cancel() {
			leaving.abort();
			end();
			await source.return?.();
		},
	});
}

/** Longest line that is read, in characters: a batch is bounded, and so is what it is read from. */
const longestLine = 64 * 1024 * 1024;

/** The batches of such lines. @throws HoldfastError what the source said. */
export async function* readLines<Batch>(stream: ReadableStream<Uint8Array>): AsyncGenerator<Batch, void> {
	const reader = stream
		.pipeThrough(new TextDecoderStream() as never)
		.getReader() as ReadableStreamDefaultReader<string>;
	let parts: string[] = [];
	let length = 0;
	try {
		for (;;) {
			const { done, value = "" } = await reader.read();
			if (done) return;
			const [first = "", ...rest] = value.split("\n");
			length += first.length;
			if (length > longestLine)
				throw new HoldfastError("internal_error", "A session's object sent a line without an end.", {
					retryable: true,
				});
			parts.push(first);
			for (const next of rest) {
				yield read(parts.join(""));
				parts = [next];
				length = next.length;
			}
		}
	} finally {
		await reader.cancel().catch(() => {});
	}
}

function read<Batch>(line: string): Batch {
	const { value, failure } = JSON.parse(line) as { value: Batch; failure?: Parameters<typeof errorOf>[0] };
	if (failure !== undefined) throw errorOf(failure);
	return value;
}
