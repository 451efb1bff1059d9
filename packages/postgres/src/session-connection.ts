// The one lasting connection of a host: it listens for notifications, and holds the lock whose release shows others at
// once that this process has ended (keeps I7). Opened on first use, and again when it breaks.
//
// idle → connecting → connected → (broken) → connecting …; any state → closed.
import pg from "pg";
import { pause, types } from "./database.ts";

/** A lasting connection. */
export interface SessionConnection {
	/** Whether a lasting connection is possible. */
	readonly possible: boolean;
	/** Whether it is connected now. */
	readonly connected: boolean;
	/** Starts it unless it was started. Resolves when the first connection attempt has ended. */
	start(): Promise<void>;
	/**
	 * Calls `begin` with the current connection and each new one; resolves when the first call has. An error that it
	 * throws breaks the connection.
	 */
	onConnect(begin: (client: pg.Client) => Promise<void>): Promise<void>;
	onNotification(hear: (payload: string) => void): void;
	close(): Promise<void>;
}

/** Creates it; it does not connect yet. */
export function sessionConnection(options: object | undefined): SessionConnection {
	const beginnings: ((client: pg.Client) => Promise<void>)[] = [];
	const hearers: ((payload: string) => void)[] = [];
	let client: pg.Client | undefined;
	let state: "idle" | "started" | "closed" = "idle";
	let running: Promise<void> | undefined;
	let wake = (): void => {};
	let tried = (): void => {};
	const attempted = new Promise<void>((resolve) => {
		tried = resolve;
	});

	async function connect(): Promise<pg.Client> {
		const fresh = new pg.Client({ ...options, types } as never);
		fresh.on("error", () => {});
		try {
			await fresh.connect();
			fresh.on("notification", ({ payload = "" }) => {
				for (const hear of hearers) hear(payload);
			});
			// Also starts callbacks that are added during the loop.
			for (let at = 0; at < beginnings.length; at++) await beginnings[at]?.(fresh);
			client = fresh;
			return fresh;
		} catch (error) {
			void fresh.end().catch(() => {});
			throw error;
		}
	}

	async function run(): Promise<void> {
		for (let attempt = 0; state === "started"; attempt++) {
			try {
				const fresh = await connect();
				const ended = new Promise<void>((resolve) => {
					wake = resolve;
					fresh.once("end", resolve);
					fresh.once("error", () => resolve());
				});
				attempt = 0;
				tried();
				if ((state as string) !== "closed") await ended;
				client = undefined;
				void fresh.end().catch(() => {});
			} catch {
				// Retried below; callers that require the connection have a fallback.
			}
			tried();
			if (state === "started") await pause(attempt);
		}
	}

	return {
		possible: options !== undefined,
		get connected() {
			return client !== undefined;
		},
		start() {
			if (options === undefined) return Promise.resolve();
			if (state === "idle") {
				state = "started";
				running = run();
			}
			return attempted;
		},
		async onConnect(begin) {
			beginnings.push(begin);
			if (client !== undefined) await begin(client).catch(() => wake());
		},
		onNotification: (hear) => void hearers.push(hear),
		async close() {
			const own = client;
			state = "closed";
			wake();
			await own?.end().catch(() => {});
			await running;
		},
	};
}
