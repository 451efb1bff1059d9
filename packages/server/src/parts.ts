// What the requests of a handler share.

import type { SessionService } from "holdfast/serving";
import { AttemptLimiter } from "./access/failed-attempts.ts";
import { RateLimiter } from "./access/rate-limit.ts";
import { RunSlots } from "./access/run-slots.ts";
import type { ResolvedOptions } from "./options.ts";
import { FeedTable } from "./streams/feed-table.ts";
import { StreamTable } from "./streams/stream-table.ts";
import { errorEntry } from "./telemetry/log.ts";
import { Metrics } from "./telemetry/metrics.ts";

/** The parts of a handler. */
export interface Parts {
	readonly options: ResolvedOptions;
	readonly service: SessionService;
	readonly feeds: FeedTable;
	readonly streams: StreamTable;
	readonly slots: RunSlots;
	readonly rate: RateLimiter | undefined;
	readonly attempts: AttemptLimiter | undefined;
	readonly metrics: Metrics;
	/** Logs an error that no caller is told. */
	readonly report: (error: unknown) => void;
}

/** Makes the parts. */
export function makeParts(options: ResolvedOptions): Parts {
	const report = (error: unknown): void => options.log(errorEntry(error));
	const { service, maxBufferedBytes } = options;
	const feeds = new FeedTable({ service, maxBufferedBytes, failed: report });
	const streams = new StreamTable(options.heartbeatMs);
	const slots = new RunSlots(options.maxConcurrentRuns);
	const now = (): number => performance.now();
	return {
		options,
		service,
		feeds,
		streams,
		slots,
		rate: options.rateLimit && new RateLimiter(options.rateLimit, now),
		attempts: options.failedAttempts && new AttemptLimiter(options.failedAttempts, now),
		metrics: new Metrics({
			openStreams: () => streams.size,
			activeRuns: () => slots.size,
			bufferedBytes: () => feeds.bytes,
		}),
		report,
	};
}
