// One request on its way through a route: its caller, its input, and what a route may do with it. Routes use this and
// nothing else of the server.
import { HoldfastTypeError } from "@holdfast/upp";
import { HoldfastError } from "holdfast";
import type { LoggedEvent } from "holdfast/execute";
import type { ReleaseSlot } from "./access/index.ts";
import { type BodyRules, type JsonObject, readJsonObject, readNothing } from "./http/index.ts";
import { type Parts, partsOfRequest } from "./parts.ts";
import type { ExecuteRequest, ServedCaller, SessionService, Submitted } from "./service/index.ts";
import {
	bodyOf,
	type EventStreamOptions,
	looksLikeEventId,
	type ProjectionOptions,
	project,
	recordOf,
	type StartSource,
	type StreamEnd,
	sourceLater,
	type Until,
	watchFrom,
	watchNew,
} from "./streams/index.ts";

/** The connection of a request: what the platform reports about it, and how to control it. */
export interface Connection {
	/** Address of the peer. If the platform does not report it, failed authentication attempts are not limited. */
	readonly address?: string | undefined;
	/** Writes a stream itself, after the head of the response, instead of using it as the response body. */
	readonly carry?: (stream: EventStreamOptions) => void;
	/** Set if the request asks for a WebSocket: writes a stream to it, one message per piece. */
	readonly upgrade?: (stream: EventStreamOptions) => void;
}

/** Projects a session's events to another protocol. */
export interface Projection extends Omit<ProjectionOptions, "caller" | "sent" | "failed"> {
	/** Headers in addition to those of every stream. */
	readonly headers?: Readonly<Record<string, string>>;
}

/** Data for the log, collected while a request is answered. */
export interface Notes {
	sessionId?: string;
	/** Set by a stream, which is logged when it ends. */
	whenEnded?: (ended: (end: StreamEnd, bytes: number) => void) => void;
}

/** A request on its way through a route. */
export class Exchange {
	/** The HTTP request. */
	readonly request: Request;
	/** The caller of the request. */
	readonly caller: ServedCaller;
	/** Data for the request log. */
	readonly notes: Notes = {};
	readonly #parts: Parts;
	readonly #connection: Connection;
	readonly #parameters: Readonly<Record<string, string>>;
	/** Returns this request's slot among the tenant's streams. */
	#leave: ReleaseSlot | undefined;

	/** Creates the exchange of a request whose caller is known. */
	constructor(
		parts: Parts,
		request: Request,
		caller: ServedCaller,
		connection: Connection,
		parameters: Readonly<Record<string, string>>,
	) {
		this.#parts = partsOfRequest(parts);
		this.request = request;
		this.caller = caller;
		this.#connection = connection;
		this.#parameters = parameters;
	}

	/** The tenant of the caller. */
	get tenant(): string {
		return this.caller.tenant;
	}

	/**
	 * Whether the caller is known or must be on this machine: callers are authenticated, or the server answers to
	 * loopback names only.
	 */
	get isProtected(): boolean {
		return this.#parts.options.isProtected;
	}

	/** The session service. Requests are made on behalf of `caller`. */
	get service(): SessionService {
		return this.#parts.service;
	}

	/** Returns a parameter of the path. */
	parameter(name: string): string | undefined {
		return this.#parameters[name];
	}

	/** Returns a parameter of the query. */
	query(name: string): string | undefined {
		return new URL(this.request.url).searchParams.get(name) ?? undefined;
	}

	/** Reads the JSON object of the body, within the limits. */
	readJson(): Promise<JsonObject> {
		return readJsonObject(this.request, this.#bodyRules);
	}

	/**
	 * Reads the body of a request that needs no body: absent, or an empty JSON object.
	 * @throws HoldfastError `unsupported_media_type`, `body_too_large`, `invalid_json`, `invalid_input`.
	 */
	readNothing(): Promise<void> {
		return readNothing(this.request, this.#bodyRules);
	}

	get #bodyRules(): BodyRules {
		const { options, service } = this.#parts;
		return { limit: options.maxBodyBytes, allowsText: service.clients === "bring-context" };
	}

	/**
	 * Requests a run and reserves a slot for its stream. When it resolves, the run is durable and counts until it ends.
	 * @throws HoldfastError `rate_limited`, `shutting_down`, and the errors of the service.
	 */
	async submit(
		sessionId: string,
		request: ExecuteRequest,
		idempotencyKey: string | undefined,
	): Promise<Submitted> {
		this.notes.sessionId = sessionId;
		this.#takePlace();
		const release = this.#parts.slots?.runs.take(this.tenant);
		let submitted: Submitted;
		try {
			submitted = await this.service.submit(
				this.caller,
				sessionId,
				request,
				idempotencyKey === undefined ? {} : { idempotencyKey },
			);
		} catch (error) {
			release?.();
			throw error;
		}
		if (submitted.created) this.#parts.feeds.renew(this.caller, sessionId);
		if (release !== undefined) this.#releaseAtEnd(submitted, release);
		return submitted;
	}

	/** Streams the submitted execution up to its end. */
	async streamRun(submitted: Submitted): Promise<Response> {
		const end = await this.endOf(submitted);
		const { sessionId, after, attached, begun } = submitted;
		if (end !== undefined) return this.closed(sessionId, recordOf(end));
		const watch = (from: string) => this.#watch(sessionId, from, "complete");
		if (begun === undefined)
			return this.stream(sessionId, attached ? await watchFrom(...watch(after)) : watchNew(...watch(after)));
		return this.stream(
			sessionId,
			sourceLater(async (signal) => {
				const from = await begun(signal);
				return from === undefined ? undefined : watchFrom(...watch(from));
			}, this.#parts.report),
		);
	}

	/**
	 * Returns the end of a request whose answers went to background tasks: the session emits nothing about their outcome,
	 * so the stream ends at once. Undefined for other requests.
	 */
	async endOf({ sessionId, after, inBackground }: Submitted): Promise<LoggedEvent | undefined> {
		if (inBackground !== true) return undefined;
		const info = await this.service.get(this.caller, sessionId);
		const { pendingToolCalls, backgroundToolCalls } = info ?? {};
		const background = backgroundToolCalls === undefined ? {} : { backgroundToolCalls };
		// The session's own run may still wait.
		const own =
			info?.status === "awaiting_tool_execution" && pendingToolCalls !== undefined
				? { status: info.status, pendingToolCalls }
				: { status: "completed" as const };
		return { id: after, event: { type: "execute_complete", ...own, ...background } };
	}

	/** Returns a stream that has already ended. */
	closed(sessionId: string, text: string, headers: Readonly<Record<string, string>> = {}): Response {
		return new Response(text, { headers: { ...streamHeaders(sessionId), ...headers } });
	}

	/**
	 * Deletes a session. Its watchers receive everything up to the deletion and nothing after it.
	 * @throws HoldfastError `session_not_found`.
	 */
	async delete(sessionId: string): Promise<void> {
		await this.service.delete(this.caller, sessionId);
		this.#parts.feeds.renew(this.caller, sessionId);
	}

	/**
	 * Streams the submitted execution in another protocol: `projectionOf` creates the projection from the id after which
	 * the execution starts. While its message waits for another run, the stream is silent.
	 * @throws HoldfastError `rate_limited`, and the errors of `streamAs`.
	 */
	async streamRunAs(
		{ sessionId, after, begun }: Submitted,
		projectionOf: (after: string) => Projection,
		headers: Readonly<Record<string, string>> = {},
	): Promise<Response> {
		if (begun === undefined) return this.streamAs({ ...projectionOf(after), headers });
		this.#takePlace();
		return this.stream(
			sessionId,
			sourceLater(async (signal) => {
				const from = await begun(signal);
				return from === undefined ? undefined : this.#project(projectionOf(from));
			}, this.#parts.report),
			headers,
		);
	}

	/**
	 * Streams a session's events after an id.
	 * @throws HoldfastError `session_not_found`, `invalid_event_id`, `events_expired`, `rate_limited`.
	 */
	async streamEvents(sessionId: string, after: string | undefined, until: Until): Promise<Response> {
		this.#takePlace();
		return this.stream(sessionId, await watchFrom(...this.#watch(sessionId, after, until)));
	}

	/**
	 * Streams a session's events in another protocol.
	 * @throws HoldfastError `session_not_found`, `invalid_event_id`, `events_expired`, `rate_limited`.
	 */
	async streamAs(projection: Projection): Promise<Response> {
		this.#takePlace();
		return this.stream(projection.sessionId, await this.#project(projection), projection.headers);
	}

	/**
	 * Streams a source as server-sent events with heartbeats.
	 * @throws HoldfastError `rate_limited`.
	 */
	stream(sessionId: string, start: StartSource, headers: Readonly<Record<string, string>> = {}): Response {
		const stream = this.#open(sessionId, start);
		this.#connection.carry?.(stream);
		return new Response(this.#connection.carry === undefined ? bodyOf(stream) : null, {
			headers: { ...streamHeaders(sessionId), ...headers },
		});
	}

	/** Whether the request asks for a WebSocket, on a platform that supports them. */
	get wantsWebSocket(): boolean {
		return this.#connection.upgrade !== undefined;
	}

	/**
	 * Sends a source over the requested WebSocket: one text message per piece. Incoming messages are ignored. The
	 * response is not sent.
	 * @throws HoldfastError `rate_limited`; `invalid_argument` if the request does not ask for a WebSocket.
	 */
	webSocket(sessionId: string, start: StartSource): Response {
		const { upgrade } = this.#connection;
		if (upgrade === undefined)
			throw new HoldfastTypeError("invalid_argument", "The request is not a WebSocket upgrade.");
		upgrade({ ...this.#open(sessionId, start), isWhole: true });
		return new Response(null);
	}

	/** Opens a stream that has its slot and is logged when it ends. */
	#open(sessionId: string, start: StartSource): EventStreamOptions {
		const { streams, metrics } = this.#parts;
		const leave = this.#takePlace();
		this.notes.sessionId = sessionId;
		let report: (end: StreamEnd, bytes: number) => void = () => {};
		let early: readonly [StreamEnd, number] | undefined;
		this.notes.whenEnded = (ended) => {
			if (early === undefined) report = ended;
			else ended(...early);
		};
		return {
			start,
			table: streams,
			ended: (end, bytes) => {
				leave();
				metrics.countStreamEnd(end);
				early = [end, bytes];
				report(end, bytes);
			},
		};
	}

	/**
	 * Returns the id that a watcher has seen last: from the header `Last-Event-ID`, otherwise from `?after=`.
	 * @throws HoldfastError `invalid_event_id`.
	 */
	lastEventId(): string | undefined {
		// A browser that reconnects sends the header to the original URL, which may contain an older id.
		const given = this.request.headers.get("last-event-id") || this.query("after") || undefined;
		if (given === undefined || looksLikeEventId(given)) return given;
		throw new HoldfastError(
			"invalid_event_id",
			"The last event id is not an event id. Send the unchanged `id` of an event of this session.",
		);
	}

	/** Returns the slot reserved for a stream, because the request was answered without one. */
	answered(): void {
		this.#leave?.();
	}

	#project({ headers: _, ...projected }: Projection): Promise<StartSource> {
		const { metrics, report } = this.#parts;
		return project(this.service, {
			...projected,
			caller: this.caller,
			sent: (events) => metrics.countEvents(events),
			failed: report,
		});
	}

	/** A run counts until it has ended, even while it waits for another run. */
	#releaseAtEnd(
		{ sessionId, after, attached, begun, over, inBackground }: Submitted,
		release: ReleaseSlot,
	): void {
		const releaseAfter = (from: string | undefined): void => {
			if (from === undefined) {
				release();
				return;
			}
			const feed = this.#parts.feeds.open(this.caller, sessionId, from);
			feed.whenComplete(from, release);
			const readNow = (): void => feed.readNow();
			over?.then(readNow, readNow);
		};
		if (attached || inBackground === true) release();
		else if (begun === undefined) releaseAfter(after);
		else begun(new AbortController().signal).then(releaseAfter, release);
	}

	#takePlace(): ReleaseSlot {
		this.#leave ??= this.#parts.slots?.places.take(this.tenant) ?? (() => {});
		return this.#leave;
	}

	#watch(
		sessionId: string,
		after: string | undefined,
		until: Until,
	): readonly [ports: Parameters<typeof watchNew>[0], options: Parameters<typeof watchNew>[1]] {
		const { metrics, report } = this.#parts;
		const sent = (events: number): void => metrics.countEvents(events);
		return [this.#parts, { caller: this.caller, sessionId, after, until, sent, failed: report }];
	}
}

function streamHeaders(sessionId: string): Readonly<Record<string, string>> {
	return {
		"content-type": "text/event-stream",
		"cache-control": "no-cache",
		// A proxy that buffers responses would hold events back.
		"x-accel-buffering": "no",
		"x-session-id": sessionId,
	};
}
