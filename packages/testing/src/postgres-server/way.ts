// A TCP proxy to a server on this machine that tests can cut, between a process and its database or a page and its
// server.
import { connect, createServer, type Socket } from "node:net";

/** A proxy to a server. */
export interface Way {
	/** Its port on 127.0.0.1. */
	readonly port: number;
	/** Connections opened through it so far. */
	readonly made: number;
	/** Closes all current connections. */
	cut(): void;
	/** Drops all further data from the server on the current connections. */
	deafen(): void;
	/** Passes no data in either direction for this many milliseconds; then closes the connections. */
	freeze(milliseconds: number): void;
	/** Closes all connections, and accepts no new ones. */
	close(): Promise<void>;
}

type Pair = readonly [near: Socket, far: Socket];

/**
 * Opens a proxy to the port of 127.0.0.1 that `target` returns for each connection; if it returns none, the connection is
 * closed at once.
 * @example
 * ```ts
 * import { openWay } from "@holdfast/testing/postgres-server";
 *
 * const way = await openWay(() => 5432);
 * way.cut();
 * await way.close();
 * ```
 */
export async function openWay(target: () => number | undefined): Promise<Way> {
	const pairs = new Set<Pair>();
	const timers = new Set<ReturnType<typeof setTimeout>>();
	let made = 0;
	const server = createServer((near) => {
		near.on("error", () => {});
		const port = target();
		if (port === undefined) {
			near.destroy();
			return;
		}
		made++;
		const far = connect(port, "127.0.0.1");
		far.on("error", () => near.destroy());
		const pair = [near, far] as const;
		pairs.add(pair);
		for (const socket of pair) socket.setNoDelay(true);
		near.pipe(far).pipe(near);
		near.on("close", () => {
			pairs.delete(pair);
			far.destroy();
		});
		far.on("close", () => near.destroy());
	});
	await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
	const { port } = server.address() as { port: number };
	const end = (some: Iterable<Pair>): void => {
		for (const [near, far] of some) {
			near.destroy();
			far.destroy();
		}
	};
	return {
		port,
		get made() {
			return made;
		},
		cut: () => end(pairs),
		deafen() {
			for (const [near, far] of pairs) {
				far.unpipe(near);
				far.resume();
			}
		},
		freeze(milliseconds) {
			const frozen = [...pairs];
			for (const [near, far] of frozen) {
				near.unpipe(far);
				far.unpipe(near);
			}
			const timer = setTimeout(() => {
				timers.delete(timer);
				end(frozen);
			}, milliseconds);
			timers.add(timer);
		},
		async close() {
			for (const timer of timers) clearTimeout(timer);
			const closed = new Promise((resolve) => server.close(resolve));
			end(pairs);
			await closed;
		},
	};
}
