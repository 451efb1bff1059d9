// Sessions over HTTP with protocol version 2025, for clients that can ask their user: a question is sent on the stream of
// the call, and its answer arrives as a separate request, so both must reach the same server object. Other clients are
// served without a session.
//
// A session: opened by `initialize` → used by requests with its id → closed by DELETE, by `close()`, or when others need
// its slot. A process that does not have a session answers 404, and the client then opens another; a question in flight
// is lost with the process.
import type { ServedCaller } from "@holdfast/server";
import {
	isInitializeRequest,
	isJSONRPCRequest,
	readRequestBody,
	type Server,
	WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";

const sessionHeader = "mcp-session-id";

/** A client that can ask its user. */
interface AskingSession {
	readonly transport: WebStandardStreamableHTTPServerTransport;
	readonly caller: string;
	/** Number of responses in progress. */
	open: number;
}

export interface AskingSessionsOptions {
	serverFor(caller: ServedCaller): Server;
	readonly onError?: ((error: Error) => void) | undefined;
	/** Maximum number of sessions. The least recently used ones make room for new ones. Default 1,000. */
	readonly most?: number;
}

export class AskingSessions {
	readonly #options: AskingSessionsOptions;
	/** Least recently used first. */
	readonly #sessions = new Map<string, AskingSession>();

	constructor(options: AskingSessionsOptions) {
		this.#options = options;
	}

	/**
	 * Answers a request that names a session or opens one; undefined for others, whose body is not read. Only this server
	 * issues ids: an unknown one, or another caller's, gets 404.
	 */
	async fetch(request: Request, caller: ServedCaller): Promise<Response | undefined> {
		const id = request.headers.get(sessionHeader);
		if (id !== null) {
			const session = this.#sessions.get(id);
			return session?.caller === nameOf(caller) ? this.#answer(session, id, request) : notFound();
		}
		if (request.method !== "POST") return undefined;
		const body = await bodyOf(request);
		if (!isInitializeRequest(body) || body.params.capabilities.elicitation === undefined) return undefined;
		if (!this.#makeRoom()) return undefined;
		return this.#open(request, body, caller);
	}

	/** Closes all sessions. */
	async close(): Promise<void> {
		const open = [...this.#sessions.values()];
		this.#sessions.clear();
		await Promise.all(open.map(({ transport }) => transport.close()));
	}

	async #open(request: Request, body: unknown, caller: ServedCaller): Promise<Response> {
		const transport = new WebStandardStreamableHTTPServerTransport({
			sessionIdGenerator: () => crypto.randomUUID(),
			onsessioninitialized: (id) => {
				this.#sessions.set(id, { transport, caller: nameOf(caller), open: 0 });
			},
			onsessionclosed: (id) => {
				this.#sessions.delete(id);
			},
		});
		const { onError } = this.#options;
		if (onError !== undefined) transport.onerror = onError;
		await this.#options.serverFor(caller).connect(transport);
		return transport.handleRequest(request, { parsedBody: body });
	}

	async #answer(session: AskingSession, id: string, request: Request): Promise<Response> {
		this.#sessions.delete(id);
		this.#sessions.set(id, session);
		const { transport } = session;
		const body = request.method === "POST" ? await bodyOf(request) : undefined;
		const answer = await transport.handleRequest(request, body === undefined ? {} : { parsedBody: body });
		if (answer.body === null) return answer;
		session.open++;
		let isOver = false;
		const over = (): void => {
			if (!isOver) session.open--;
			isOver = true;
			request.signal.removeEventListener("abort", left);
		};
		// A client that disconnected has abandoned its calls, as it would without a session.
		const left = (): void => {
			over();
			for (const message of Array.isArray(body) ? body : [body])
				if (isJSONRPCRequest(message))
					transport.onmessage?.({
						jsonrpc: "2.0",
						method: "notifications/cancelled",
						params: { requestId: message.id },
					});
		};
		request.signal.addEventListener("abort", left);
		return new Response(watched(answer.body, over, left), answer);
	}

	/** Makes room for one more session; returns whether there is any. */
	#makeRoom(): boolean {
		if (this.#sessions.size < (this.#options.most ?? 1_000)) return true;
		for (const [id, { open, transport }] of this.#sessions) {
			if (open > 0) continue;
			this.#sessions.delete(id);
			transport.close().catch(() => {}); // it has no pending request
			return true;
		}
		return false;
	}
}

/** Otherwise a client would use a session that cannot send requests back to it. */
function notFound(): Response {
	const error = { code: -32_001, message: "Session not found. Send `initialize` to open another." };
	return Response.json({ jsonrpc: "2.0", id: null, error }, { status: 404 });
}

/** Returns the body of a request that is read again later; undefined if it is not JSON or too large. */
async function bodyOf(request: Request): Promise<unknown> {
	const read = await readRequestBody(request.clone());
	if (read.tooLarge) return undefined;
	try {
		return JSON.parse(read.text);
	} catch {
		return undefined;
	}
}

/** Returns a body that reports when it has ended or its reader has left. */
function watched(
	body: ReadableStream<Uint8Array>,
	over: () => void,
	left: () => void,
): ReadableStream<Uint8Array> {
	const reader = body.getReader();
	return new ReadableStream({
		async pull(controller) {
			try {
				const { done, value } = await reader.read();
				if (!done) {
					controller.enqueue(value);
					return;
				}
				over();
				controller.close();
			} catch (error) {
				over();
				controller.error(error);
			}
		},
		async cancel(reason) {
			left();
			await reader.cancel(reason);
		},
	});
}

function nameOf({ tenant, user }: ServedCaller): string {
	return JSON.stringify([tenant, user]);
}
