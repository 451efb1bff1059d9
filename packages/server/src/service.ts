// The service this package puts on HTTP, as its types stand in the core.

export interface ExecuteRequest {
	readonly input: unknown;
	readonly context?: unknown;
	readonly options?: unknown;
}

export interface Submitted {
	readonly sessionId: string;
	readonly runId: string;
	readonly after: string;
	readonly created: boolean;
	readonly attached: boolean;
}

export interface LoggedEvent {
	readonly id: string;
	readonly event: { readonly type: string; readonly [member: string]: unknown };
}

export interface SessionInfo {
	readonly sessionId: string;
	readonly status: string;
	readonly messages: readonly unknown[];
	readonly totalCost: number;
	readonly pendingToolCalls?: readonly unknown[];
	readonly model?: string;
	readonly lastEventId?: string;
}

export interface SessionSummary {
	readonly sessionId: string;
	readonly status: string;
	readonly createdAt: number;
	readonly updatedAt: number;
}

export interface SessionService {
	submit(
		tenant: string,
		sessionId: string,
		request: ExecuteRequest,
		options?: { readonly idempotencyKey?: string },
	): Promise<Submitted>;
	get(tenant: string, sessionId: string): Promise<SessionInfo | undefined>;
	list(
		tenant: string,
		options?: { readonly after?: string; readonly limit?: number },
	): Promise<{ readonly sessions: readonly SessionSummary[]; readonly next?: string }>;
	follow(
		tenant: string,
		sessionId: string,
		options: { readonly after?: string; readonly follow?: boolean; readonly signal?: AbortSignal },
	): AsyncIterable<readonly LoggedEvent[]>;
	stop(tenant: string, sessionId: string): Promise<{ readonly stopped: boolean }>;
	recover(): Promise<void>;
	close(options?: { readonly drainMs?: number }): Promise<void>;
}
