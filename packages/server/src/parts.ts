// What the requests of a handler share.

import { AttemptLimiter, RateLimiter, Slots } from "./access/index.ts";
import type { ResolvedOptions } from "./options.ts";
import { noSessions, type SessionService } from "./service/index.ts";
import { FeedTable, StreamTable } from "./streams/index.ts";
import { errorEntry, Metrics, observeRuns } from "./telemetry/index.ts";

/** The parts of a handler. */
export interface Parts {
	readonly options: ResolvedOptions;
	readonly service: SessionService;
	readonly feeds: FeedTable;
	readonly streams: StreamTable;
	/** Runs that came in here and are under way. */
	readonly runs: Slots;
	/** Streams that are open, or about to be. */
	readonly places: Slots;
	readonly rate: RateLimiter | undefined;
	readonly attempts: AttemptLimiter | undefined;
	readonly metrics: Metrics;
	/** Logs an error whose details no caller gets. */
	readonly report: (error: unknown) => void;
	/** Logs and counts no more of what runs do. */
	readonly stopObserving: () => void;
}

/** Makes the parts. */
export function makeParts(options: ResolvedOptions): Parts {
	const report = (error: unknown): void => options.log(errorEntry(error));
	const { service = noSessions, maxBufferedBytes } = options;
	const feeds = new FeedTable({ service, maxBufferedBytes, failed: report });
	const streams = new StreamTable(options.heartbeatMs, maxBufferedBytes);
	const runs = new Slots(
		options.maxConcurrentRuns,
		(taken) => `${taken} runs are under way, which is the limit. Wait until one has ended.`,
	);
	const places = new Slots(
		options.maxStreams,
		(taken) => `${taken} streams are open, which is the limit. Close one, or wait until one has ended.`,
	);
	const now = (): number => performance.now();
	const metrics = new Metrics({
		openStreams: () => streams.size,
		activeRuns: () => runs.size,
		bufferedBytes: () => feeds.bytes,
	});
	return {
		options,
		service,
		feeds,
		streams,
		runs,
		places,
		rate: options.rateLimit && new RateLimiter(options.rateLimit, now),
		attempts: options.failedAttempts && new AttemptLimiter(options.failedAttempts, now),
		metrics,
		report,
		stopObserving: service.observe?.(observeRuns(options.log, metrics)) ?? (() => {}),
	};
}
