// Batches of events as lines of JSON, from a session's object to its Worker.
import { HoldfastError } from "holdfast";
import { errorOf, failureOf } from "./answers.ts";

/** Options of `batchLines`. */
export interface BatchLinesOptions {
	/** Aborted when the reader has left. */
	readonly leaving: AbortController;
	/** Called once, when the source has ended or the reader has left. */
	readonly over: () => void;
	/** Milliseconds of silence after which an empty line is sent. Default 15,000. */
	readonly silenceMs?: number;
	/**
	 * Milliseconds after which a reader that does not read counts as gone, because the platform does not report it.
	 * Default 60,000.
	 */
	readonly patienceMs?: number;
}

/** Encodes batches as lines; reading them drives the source, and cancelling ends it. */
export function batchLines<Batch>(
	batches: AsyncIterable<Batch>,
	{ leaving, over, silenceMs = 15_000, patienceMs = 60_000 }: BatchLinesOptions,
): ReadableStream<Uint8Array> {
	const encoder = new TextEncoder();
	const source = batches[Symbol.asyncIterator]();
	let next: Promise<IteratorResult<Batch>> | undefined;
	let timer: ReturnType<typeof setTimeout> | undefined;
	let isOver = false;
	const end = (): void => {
		clearTimeout(timer);
		if (!isOver) over();
		isOver = true;
	};
	const leave = async (): Promise<void> => {
		leaving.abort();
		end();
		await source.return?.();
	};
	return new ReadableStream<Uint8Array>({
		async pull(controller) {
			clearTimeout(timer);
			const write = (line: string): void => {
				controller.enqueue(encoder.encode(`${line}\n`));
				clearTimeout(timer);
				timer = setTimeout(() => {
					controller.error(new Error("Its reader has left."));
					leave().catch(console.error);
				}, patienceMs);
			};
			try {
				next ??= source.next();
				const silence = new Promise<"silence">((resolve) => {
					timer = setTimeout(() => resolve("silence"), silenceMs);
				});
				const read = await Promise.race([next, silence]);
				// The reader has left since.
				if (isOver) return;
				if (read === "silence") return write("");
				next = undefined;
				if (read.done !== true) return write(JSON.stringify({ value: read.value }));
				end();
				controller.close();
			} catch (error) {
				if (isOver) return;
				write(JSON.stringify({ failure: failureOf(error) }));
				end();
				controller.close();
			}
		},
		cancel: leave,
	});
}

/** The longest accepted line in characters: batches are bounded. */
const longestLine = 64 * 1024 * 1024;

/** Decodes the batches of such lines. @throws HoldfastError the source's error. */
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
				throw new HoldfastError("internal_error", "A session's object sent an endless line.", {
					retryable: true,
				});
			parts.push(first);
			for (const next of rest) {
				const line = parts.join("");
				if (line !== "") yield read(line);
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
