// One request on its way through a route: who makes it, what it asks, and what a route may do about it. Routes use this
// and nothing else of the server.
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

/** A platform's information about and control over the connection of a request. */
export interface Connection {
	/** Address of the peer. Where the platform does not report it, failed attempts to authenticate are not limited. */
	readonly address?: string | undefined;
	/** Writes a stream by itself, after the head of the answer, instead of taking it as the answer's body. */
	readonly carry?: (stream: EventStreamOptions) => void;
	/** Set where the request asks for a WebSocket: writes a stream to it, a message for each piece. */
	readonly upgrade?: (stream: EventStreamOptions) => void;
}

/** A session's events in the shape of another protocol. */
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
	readonly request: Request;
	/** Who makes it. */
	readonly caller: ServedCaller;
	readonly notes: Notes = {};
	readonly #parts: Parts;
	readonly #connection: Connection;
	readonly #parameters: Readonly<Record<string, string>>;
	/** Gives back this request's slot among the tenant's streams. */
	#leave: ReleaseSlot | undefined;

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

	/** Whose request it is. */
	get tenant(): string {
		return this.caller.tenant;
	}

	/**
	 * Whether who asks is known, or can only be on this machine: callers are authenticated, or the server answers to loopback
	 * names alone.
	 */
	get isProtected(): boolean {
		return this.#parts.options.isProtected;
	}

	/** The sessions. Requests are made on behalf of `caller`. */
	get service(): SessionService {
		return this.#parts.service;
	}

	/** A parameter of the path. */
	parameter(name: string): string | undefined {
		return this.#parameters[name];
	}

	/** A parameter of the query. */
	query(name: string): string | undefined {
		return new URL(this.request.url).searchParams.get(name) ?? undefined;
	}

	/** The JSON object of the body, within the limits. */
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
	 * Asks for a run, and reserves a slot for its stream. When it settles the run is durable, and counted until
	 * it ends.
	 * @throws HoldfastError `rate_limited`, `shutting_down`, and what the service says.
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

	/** Streams the execution that was submitted, up to its end. */
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
	 * The end of a request whose answers tasks in the background have: the session emits nothing of what comes of them, so it
	 * ends at once. Undefined for other requests.
	 */
	async endOf({ sessionId, after, inBackground }: Submitted): Promise<LoggedEvent | undefined> {
		if (inBackground !== true) return undefined;
		const info = await this.service.get(this.caller, sessionId);
		const { pendingToolCalls, backgroundToolCalls } = info ?? {};
		const background = backgroundToolCalls === undefined ? {} : { backgroundToolCalls };
		// The session's own run may wait as before.
		const own =
			info?.status === "awaiting_tool_execution" && pendingToolCalls !== undefined
				? { status: info.status, pendingToolCalls }
				: { status: "completed" as const };
		return { id: after, event: { type: "execute_complete", ...own, ...background } };
	}

	/** A stream that has ended already. */
	closed(sessionId: string, text: string, headers: Readonly<Record<string, string>> = {}): Response {
		return new Response(text, { headers: { ...streamHeaders(sessionId), ...headers } });
	}

	/**
	 * Deletes a session. Its watchers receive everything up to the deletion, and no one receives it afterwards.
	 * @throws HoldfastError `session_not_found`.
	 */
	async delete(sessionId: string): Promise<void> {
		await this.service.delete(this.caller, sessionId);
		this.#parts.feeds.renew(this.caller, sessionId);
	}

	/**
	 * Streams the execution that was submitted in the shape of another protocol: `projectionOf` makes it of the id after which
	 * the execution begins. While its message waits for another run, the stream is silent.
	 * @throws HoldfastError `rate_limited`, and what `streamAs` says.
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
	 * Streams a session's events in the shape of another protocol.
	 * @throws HoldfastError `session_not_found`, `invalid_event_id`, `events_expired`, `rate_limited`.
	 */
	async streamAs(projection: Projection): Promise<Response> {
		this.#takePlace();
		return this.stream(projection.sessionId, await this.#project(projection), projection.headers);
	}

	/**
	 * Streams what a source has, as server-sent events with heartbeats.
	 * @throws HoldfastError `rate_limited`.
	 */
	stream(sessionId: string, start: StartSource, headers: Readonly<Record<string, string>> = {}): Response {
		const stream = this.#open(sessionId, start);
		this.#connection.carry?.(stream);
		return new Response(this.#connection.carry === undefined ? bodyOf(stream) : null, {
			headers: { ...streamHeaders(sessionId), ...headers },
		});
	}

	/** Whether the request asks for a WebSocket, on a platform that has them. */
	get wantsWebSocket(): boolean {
		return this.#connection.upgrade !== undefined;
	}

	/**
	 * Sends the output of a source over the WebSocket that the request asks for: one text message for each piece.
	 * Incoming messages are ignored. The response is not sent.
	 * @throws HoldfastError `rate_limited`; `invalid_argument` if the request does not ask for one.
	 */
	webSocket(sessionId: string, start: StartSource): Response {
		const { upgrade } = this.#connection;
		if (upgrade === undefined)
			throw new HoldfastTypeError("invalid_argument", "The request asks for no WebSocket.");
		upgrade({ ...this.#open(sessionId, start), isWhole: true });
		return new Response(null);
	}

	/** A stream that has its place, and is logged when it ends. */
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
	 * The id a watcher has seen last: what the header `Last-Event-ID` says, else `?after=`.
	 * @throws HoldfastError `invalid_event_id`.
	 */
	lastEventId(): string | undefined {
		// A browser that reconnects sends the header to the address it was first given, which may hold an older id.
		const given = this.request.headers.get("last-event-id") || this.query("after") || undefined;
		if (given === undefined || looksLikeEventId(given)) return given;
		throw new HoldfastError(
			"invalid_event_id",
			"The last event id is not an event id. Send the `id` of an event of this session, as it came.",
		);
	}

	/** The request is answered without a stream: gives back what was kept for one. */
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

	/** A run counts until it has ended, also one that waits for another one. */
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
		// A proxy that gathers answers would hold events back.
		"x-accel-buffering": "no",
		"x-session-id": sessionId,
	};
}
