// Parts shared by the requests of a handler.

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
	/** A tenant's concurrent resources. Undefined if nothing outlives a request, because they could not be released. */
	readonly slots: TenantSlots | undefined;
	readonly rate: RateLimiter | undefined;
	readonly attempts: AttemptLimiter | undefined;
	readonly metrics: Metrics;
	/** Logs an error whose details no caller gets. */
	readonly report: (error: unknown) => void;
	/** Stops logging and counting the activity of runs. */
	readonly stopObserving: () => void;
}

/** The counted resources of each tenant. */
export interface TenantSlots {
	/** Runs in flight that arrived at this server. */
	readonly runs: Slots;
	/** Streams that are open, or about to open. */
	readonly places: Slots;
}

/** Creates the parts. */
export function makeParts(options: ResolvedOptions): Parts {
	const report = (error: unknown): void => options.log(errorEntry(error));
	const { service = noSessions, maxBufferedBytes } = options;
	const feeds = new FeedTable({ service, maxBufferedBytes, failed: report });
	const streams = new StreamTable(options.heartbeatMs, maxBufferedBytes);
	const slots = service.sharesFollowing === false ? undefined : makeSlots(options);
	const now = (): number => performance.now();
	const metrics = new Metrics(
		slots && {
			openStreams: () => streams.size,
			activeRuns: () => slots.runs.size,
			bufferedBytes: () => feeds.bytes,
		},
	);
	return {
		options,
		service,
		feeds,
		streams,
		slots,
		rate: options.rateLimit && new RateLimiter(options.rateLimit, now),
		attempts: options.failedAttempts && new AttemptLimiter(options.failedAttempts, now),
		metrics,
		report,
		stopObserving: service.observe?.(observeRuns(options.log, metrics)) ?? (() => {}),
	};
}

/**
 * Returns the parts for one more request: if nothing outlives a request, it has its own feeds and its own timer for
 * streams.
 */
export function partsOfRequest(parts: Parts): Parts {
	const { options, service, report, slots } = parts;
	if (slots !== undefined) return parts;
	const { heartbeatMs, maxBufferedBytes } = options;
	return {
		...parts,
		feeds: new FeedTable({ service, maxBufferedBytes, failed: report }),
		streams: new StreamTable(heartbeatMs, maxBufferedBytes),
	};
}

function makeSlots({ maxConcurrentRuns, maxStreams }: ResolvedOptions): TenantSlots {
	return {
		runs: new Slots(
			maxConcurrentRuns,
			(taken) => `${taken} runs are active, which is the limit. Wait until one has ended.`,
		),
		places: new Slots(
			maxStreams,
			(taken) => `${taken} streams are open, which is the limit. Close one, or wait until one has ended.`,
		),
	};
}
