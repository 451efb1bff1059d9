// Reads a response: decompressed, and never beyond the reader's limit.
import type { IncomingMessage } from "node:http";
import { pipeline, type Readable, type Transform } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import { cutText, HoldfastError } from "@holdfast/upp";

/** The encodings that requests accept. */
export const acceptedEncodings = "gzip, br";

/** More than two nested encodings are suspicious. */
const mostEncodings = 2;

const decoders: Readonly<Record<string, () => Transform>> = {
	gzip: createGunzip,
	"x-gzip": createGunzip,
	deflate: createInflate,
	br: createBrotliDecompress,
};

/** A server's response. Call either `read` or `cancel`: the connection stays open until then. */
export interface OutboundResponse {
	/** The URL after all redirects. */
	readonly url: string;
	/** The HTTP status. */
	readonly status: number;
	/** Names are lower-case; values of a repeated header are joined by a comma. */
	readonly headers: Readonly<Record<string, string>>;
	/**
	 * The body without its content encoding, up to `maxBytes`, measured after decompression; past it the connection is
	 * closed. Rejects with `RESPONSE_INVALID`, `CONNECTION_FAILED`, or the reason of the signal.
	 */
	read(maxBytes: number): Promise<{ readonly bytes: Uint8Array; readonly complete: boolean }>;
	/** Closes the connection. */
	cancel(): void;
}

/** @throws HoldfastError `RESPONSE_INVALID` for an unknown encoding. */
export function responseOf(
	message: IncomingMessage,
	{ url, method, signal }: { readonly url: URL; readonly method: string; readonly signal: AbortSignal },
): OutboundResponse {
	const status = message.statusCode ?? 0;
	const hasBody =
		method !== "HEAD" && status !== 204 && status !== 304 && message.headers["content-length"] !== "0";
	const encodings = hasBody ? encodingsOf(message) : [];
	return {
		url: url.href,
		status,
		headers: headersOf(message),
		async read(maxBytes) {
			const chunks: Uint8Array[] = [];
			let size = 0;
			try {
				for await (const chunk of decoded(message, encodings) as AsyncIterable<Uint8Array>) {
					size += chunk.length;
					if (size <= maxBytes) {
						chunks.push(chunk);
						continue;
					}
					chunks.push(chunk.subarray(0, chunk.length - (size - maxBytes)));
					return { bytes: Buffer.concat(chunks), complete: false };
				}
				return { bytes: Buffer.concat(chunks), complete: true };
			} catch (error) {
				throw failure(error, signal);
			} finally {
				message.destroy();
			}
		},
		cancel: () => void message.destroy(),
	};
}

function encodingsOf(message: IncomingMessage): readonly string[] {
	const named = (message.headers["content-encoding"] ?? "")
		.split(",", 20)
		.map((name) => name.trim().toLowerCase())
		.filter((name) => name !== "" && name !== "identity");
	if (named.length <= mostEncodings && named.every((name) => Object.hasOwn(decoders, name))) return named;
	message.destroy();
	throw new HoldfastError(
		"RESPONSE_INVALID",
		`The answer is encoded as ${JSON.stringify(cutText(named.join(", "), 100))}, which was not requested.`,
	);
}

function decoded(message: IncomingMessage, encodings: readonly string[]): Readable {
	let body: Readable = message;
	for (const name of encodings.toReversed()) {
		const decoder = decoders[name] as () => Transform;
		// The error is reported when the last stream is read.
		body = pipeline(body, decoder(), () => {});
	}
	return body;
}

function headersOf(message: IncomingMessage): Readonly<Record<string, string>> {
	const pairs = Object.entries(message.headers).map(([name, value]) => [
		name,
		Array.isArray(value) ? value.join(", ") : (value ?? ""),
	]);
	return Object.fromEntries(pairs);
}

/** Converts a Node error into one that callers can compare: the reason of the signal, or a coded error. */
export function failure(error: unknown, signal: AbortSignal): unknown {
	if (signal.aborted) return signal.reason;
	if (error instanceof HoldfastError) return error;
	const { code, message } = error as { code?: unknown; message?: unknown };
	if (typeof code === "string" && /^(?:Z_|ERR_BROTLI|ERR__ERROR_FORMAT|ERR_PADDING)/.test(code))
		return new HoldfastError("RESPONSE_INVALID", `The answer cannot be decompressed: ${message}.`, {
			cause: error,
		});
	return new HoldfastError("CONNECTION_FAILED", `The connection failed: ${message}.`, {
		retryable: true,
		cause: error,
	});
}
