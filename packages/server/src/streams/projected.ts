// Streams a session's events in another format: the route of another protocol converts each batch. The stream reads from
// the service at the pace of its reader and shares nothing, because its output may depend on earlier output.
import type { LoggedEvent } from "holdfast/execute";
import type { ServedCaller, SessionService } from "../service/index.ts";
import type { Source, StartSource } from "./event-stream.ts";
import { encode, hasFailed, isComplete } from "./record.ts";
import type { Until } from "./watch.ts";

/** Which events to write, and how. */
export interface ProjectionOptions {
	readonly caller: ServedCaller;
	readonly sessionId: string;
	/** Id of the event after which it starts; undefined: at the first event that is kept. */
	readonly after: string | undefined;
	readonly until: Until;
	/** Returns the text of a batch; empty for nothing. Called with each batch once, in order; must not throw. */
	readonly write: (events: readonly LoggedEvent[]) => string;
	/** Whether the stream ends after this event, even if more may come. Default: it does not. */
	readonly isLast?: (event: LoggedEvent) => boolean;
	/**
	 * The final output, when the source has ended by itself; undefined if the output is incomplete: the stream is then
	 * cut off, so that its reader notices. Default: none.
	 */
	readonly finish?: () => string | undefined;
	readonly sent: (events: number) => void;
	readonly failed: (error: unknown) => void;
}

/**
 * Starts reading. Resolves when the service has accepted `after`.
 * @throws the errors of the service: `session_not_found`, `invalid_event_id`, `events_expired`.
 */
export async function project(service: SessionService, options: ProjectionOptions): Promise<StartSource> {
	const { caller, sessionId, after, until, write, isLast = () => false, sent, failed } = options;
	const finish = options.finish ?? (() => "");
	const abort = new AbortController();
	const batches = service.follow(caller, sessionId, { after, until, signal: abort.signal });
	const iterator = batches[Symbol.asyncIterator]();
	let next: IteratorResult<readonly LoggedEvent[]> | undefined = await iterator.next();
	let hasEnded = false;
	let isFailure = false;
	return (wake, fail): Source => {
		let isReading = false;
		const read = (): void => {
			if (isReading || hasEnded) return;
			isReading = true;
			iterator.next().then(
				(batch) => {
					isReading = false;
					next = batch;
					wake();
				},
				(error) => {
					if (hasEnded) return;
					failed(error);
					fail("failed");
				},
			);
		};
		return {
			get hasFailed() {
				return isFailure;
			},
			take() {
				while (next !== undefined && !hasEnded) {
					const { done, value } = next;
					next = undefined;
					const end = done === true ? -1 : value.findIndex(isLast);
					const events = done === true ? [] : end < 0 ? value : value.slice(0, end + 1);
					if (events.length > 0) sent(events.length);
					for (const event of events) if (isComplete(event)) isFailure = hasFailed(event);
					let text = events.length === 0 ? "" : write(events);
					if (done === true || end >= 0) {
						const last = finish();
						hasEnded = true;
						abort.abort();
						if (last === undefined) {
							fail("failed");
							return "none";
						}
						text += last;
					}
					if (text !== "") return encode(text);
				}
				if (hasEnded) return "end";
				read();
				return "none";
			},
			close() {
				hasEnded = true;
				abort.abort();
				iterator.return?.().catch(() => {});
			},
		};
	};
}
