// Routes that stream the files of a thread in and out.
import type { Exchange, Route } from "@holdfast/server";
import { HoldfastError } from "holdfast";
import { schemas } from "./schemas.ts";
import { answerJson, requestedThread, statuses, type ThreadRoutesOptions } from "./served-threads.ts";

const path = "/api/threads/:id/fs/*";
const bytes = { "application/octet-stream": { type: "string", format: "binary" } };

/** Returns the routes. */
export function fileRoutes(options: ThreadRoutesOptions): readonly Route[] {
	const read: Route = {
		method: "GET",
		path,
		name: "readFile",
		summary: "The bytes of a file, or the entries of a folder.",
		statuses,
		parameters: [
			{
				in: "query",
				name: "stat",
				description: "`1` returns the record instead of the bytes.",
				schema: schemas.text,
			},
			{
				in: "query",
				name: "thumbnail",
				description: "`1` returns a thumbnail of a picture.",
				schema: schemas.text,
			},
		],
		answers: {
			200: { description: "The bytes, or a list.", content: { ...bytes, "application/json": schemas.any } },
		},
		async handle(exchange) {
			const { state } = await requestedThread(options, exchange);
			const file = pathOf(exchange);
			const record = await state.statFile(file);
			if (record === null) throw missing();
			if (exchange.query("stat") === "1") return answerJson(record);
			if (record.isDirectory) return answerJson(await state.readdirFile(file));
			if (exchange.query("thumbnail") === "1") {
				const picture = await state.getFileThumbnail(file);
				if (picture === null) throw missing();
				return new Response(picture, { headers: headersOf("image/webp", picture.byteLength) });
			}
			const chunks = await state.readFileStream(file);
			if (chunks === null) throw missing();
			const body = exchange.request.method === "HEAD" ? null : streamOf(chunks);
			return new Response(body, { headers: headersOf(record.mimeType, record.size) });
		},
	};
	const write: Route = {
		method: "PUT",
		path,
		name: "writeFile",
		summary: "Writes the body as a file, or replaces it.",
		statuses,
		answers: { 201: schemas.json("The written file.", schemas.any) },
		errors: ["body_too_large"],
		async handle(exchange) {
			const { state } = await requestedThread(options, exchange);
			const { request } = exchange;
			const file = pathOf(exchange);
			const type = request.headers.get("content-type") ?? undefined;
			const record = await state.writeFile(file, piecesOf(request, options.maxFileBytes), type);
			return answerJson(record, 201);
		},
	};
	const remove: Route = {
		method: "DELETE",
		path,
		name: "deleteFile",
		summary: "Removes a file, or an empty folder.",
		statuses,
		answers: { 200: schemas.json("It is removed.", schemas.deleted) },
		async handle(exchange) {
			const { state } = await requestedThread(options, exchange);
			const file = pathOf(exchange);
			const record = await state.statFile(file);
			if (record === null) throw missing();
			await (record.isDirectory ? state.rmdirFile(file) : state.unlinkFile(file));
			return answerJson({ path: record.path, deleted: true });
		},
	};
	return [read, write, remove];
}

/**
 * Returns the decoded path after `fs/`. The file store refuses paths that climb. @throws HoldfastError `invalid_path`.
 */
function pathOf({ request }: Exchange): string {
	const { pathname } = new URL(request.url);
	const rest = pathname.slice(pathname.indexOf("/fs/") + "/fs/".length);
	try {
		return rest === "" ? "/" : decodeURIComponent(rest);
	} catch {
		throw new HoldfastError("invalid_path", "The path cannot be decoded. Encode it as a URI.");
	}
}

/** Returns headers that keep browsers from running uploaded bytes as a page of this server. */
function headersOf(type: string, size: number): Record<string, string> {
	return {
		"content-type": /^[\x20-\x7e]+$/.test(type) ? type : "application/octet-stream",
		"content-length": String(size),
		"content-security-policy": "sandbox; default-src 'none'",
		"cache-control": "no-store",
	};
}

function streamOf(chunks: AsyncIterable<{ readonly data: Uint8Array }>): ReadableStream<Uint8Array> {
	const iterator = chunks[Symbol.asyncIterator]();
	return new ReadableStream<Uint8Array>(
		{
			async pull(controller) {
				const { done, value } = await iterator.next();
				if (done === true) controller.close();
				else controller.enqueue(value.data);
			},
			async cancel() {
				await iterator.return?.();
			},
		},
		{ highWaterMark: 0 },
	);
}

async function* piecesOf(
	{ body }: Request,
	most = Number.POSITIVE_INFINITY,
): AsyncGenerator<Uint8Array, void, void> {
	let size = 0;
	for await (const piece of body ?? []) {
		size += piece.byteLength;
		if (size > most)
			throw new HoldfastError(
				"body_too_large",
				`The file is larger than ${most} bytes. None of it was stored.`,
			);
		yield piece;
	}
}

function missing(): HoldfastError {
	return new HoldfastError("file_not_found", "The file does not exist in this thread. Check its path.");
}
