// Reads the body of a request: JSON of a bounded size and depth, or an error that explains the problem. Nothing beyond
// the limit is kept. A body with any other content type is not parsed, so a foreign page cannot send a plain form. A body
// without a content type is read as JSON: browsers send the page's origin with it, which the handler checks first.
import { cutText } from "@holdfast/upp";
import { HoldfastError } from "holdfast";

/** Nesting depth of objects and lists: deeper than any real request, and safe for recursive code. */
const deepest = 128;

/** Milliseconds within which a body has to arrive: one sent a byte at a time would hold its connection for hours. */
const patience = 60_000;

/** A JSON object from outside. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** Rules for reading bodies. */
export interface BodyRules {
	/** Maximum size of a body in bytes. */
	readonly limit: number;
	/** Whether JSON may also have the content type `text/plain`, which `fetch` sends for a string. */
	readonly allowsText: boolean;
}

/**
 * Reads a JSON object of at most `limit` bytes.
 * @throws HoldfastError `unsupported_media_type`, `body_too_large`, `invalid_json`, `invalid_input`.
 */
export async function readJsonObject(request: Request, rules: BodyRules): Promise<JsonObject> {
	checkMediaType(request.headers, rules);
	return readObject(await readBytes(request, rules.limit));
}

function readObject(bytes: Uint8Array): JsonObject {
	const text = decode(bytes);
	checkDepth(text);
	const value = parse(text);
	if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as JsonObject;
	throw new HoldfastError(
		"invalid_input",
		"The body is not a JSON object. Send an object with the member `input`.",
		{
			data: { field: "body" },
		},
	);
}

/**
 * Reads the body of a request that needs no body: absent, or an empty JSON object.
 * @throws HoldfastError as `readJsonObject` does; `invalid_input` for an object that has members.
 */
export async function readNothing(request: Request, rules: BodyRules): Promise<void> {
	const { headers } = request;
	const length = headers.get("content-length");
	if (request.body === null || length === "0") return;
	if (length !== null || headers.has("transfer-encoding")) checkMediaType(headers, rules);
	const bytes = await readBytes(request, rules.limit);
	if (bytes.byteLength === 0) return;
	checkMediaType(headers, rules);
	const given = readObject(bytes);
	const [name] = Object.keys(given);
	if (name === undefined) return;
	throw new HoldfastError(
		"invalid_input",
		`The body has a member ${JSON.stringify(cutText(name, 40))}, but this request has no members. Send no body.`,
		{ data: { field: cutText(name, 40) } },
	);
}

function checkMediaType(headers: Headers, { allowsText }: BodyRules): void {
	const given = headers.get("content-type") ?? "application/json";
	const [type = "", ...parameters] = given.toLowerCase().split(";");
	const charset = parameters.map((part) => part.trim()).find((part) => part.startsWith("charset="));
	const isUtf8 = charset === undefined || /^charset="?utf-?8"?$/.test(charset);
	const encoding = (headers.get("content-encoding") ?? "identity").trim().toLowerCase();
	const isJson = type.trim() === "application/json" || (allowsText && type.trim() === "text/plain");
	if (isJson && isUtf8 && encoding === "identity") return;
	throw new HoldfastError(
		"unsupported_media_type",
		"The body must be JSON in UTF-8, not compressed. Send the header `content-type: application/json`.",
	);
}

async function readBytes(request: Request, limit: number): Promise<Uint8Array> {
	let timer: ReturnType<typeof setTimeout> | undefined;
	const late = new Promise<never>((_, reject) => {
		timer = setTimeout(() => reject(tooSlow()), patience);
	});
	try {
		return await Promise.race([readAll(request, limit), late]);
	} finally {
		clearTimeout(timer);
	}
}

async function readAll(request: Request, limit: number): Promise<Uint8Array> {
	const announced = request.headers.get("content-length");
	if (announced !== null) {
		if (Number(announced) > limit) throw tooLarge(limit);
		const bytes = new Uint8Array(await readOrCut(request.arrayBuffer()));
		if (bytes.byteLength > limit) throw tooLarge(limit);
		return bytes;
	}
	return readChunks(request, limit);
}

async function readChunks(request: Request, limit: number): Promise<Uint8Array> {
	const reader = request.body?.getReader();
	if (reader === undefined) return new Uint8Array();
	const chunks: Uint8Array[] = [];
	let size = 0;
	for (;;) {
		const { done, value } = await readOrCut(reader.read());
		if (done) break;
		size += value.byteLength;
		if (size > limit) {
			// Not awaited: a sender that stalls must not hold up the response.
			reader.cancel().catch(() => {});
			throw tooLarge(limit);
		}
		chunks.push(value);
	}
	const bytes = new Uint8Array(size);
	let at = 0;
	for (const chunk of chunks) {
		bytes.set(chunk, at);
		at += chunk.byteLength;
	}
	return bytes;
}

async function readOrCut<Value>(reading: Promise<Value>): Promise<Value> {
	try {
		return await reading;
	} catch (cause) {
		throw new HoldfastError(
			"invalid_request",
			"The body did not arrive completely. Send the request again.",
			{
				cause,
				retryable: true,
			},
		);
	}
}

function tooSlow(): HoldfastError {
	return new HoldfastError(
		"invalid_request",
		`The body did not arrive within ${patience / 1_000} seconds. Send the request again.`,
		{ retryable: true },
	);
}

function decode(bytes: Uint8Array): string {
	try {
		return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
	} catch (cause) {
		throw new HoldfastError("invalid_json", "The body is not UTF-8. Send JSON in UTF-8.", { cause });
	}
}

function parse(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch {
		// The parser's own message quotes the body, which may contain data that must not be logged.
		throw new HoldfastError("invalid_json", "The body is not JSON. Send one JSON object.");
	}
}

function checkDepth(text: string): void {
	let depth = 0;
	let isText = false;
	for (let at = 0; at < text.length; at++) {
		const sign = text.charCodeAt(at);
		if (isText) {
			if (sign === 92) at++;
			else if (sign === 34) isText = false;
		} else if (sign === 34) isText = true;
		else if (sign === 91 || sign === 123) {
			if (++depth > deepest)
				throw new HoldfastError(
					"invalid_json",
					`The body is nested deeper than ${deepest} levels. Send flatter JSON.`,
				);
		} else if (sign === 93 || sign === 125) depth--;
	}
}

function tooLarge(limit: number): HoldfastError {
	return new HoldfastError(
		"body_too_large",
		`The body is larger than ${limit} bytes. Send less, or raise \`maxBodyBytes\` of the server.`,
		{ data: { limit } },
	);
}
