// A way to a server that is cut and frozen: a proxy of TCP, through which a process of the chaos gets to the database, and
// watchers to a server.
import { connect, createServer, type Socket } from "node:net";

export interface ChaosWay {
	readonly port: number;
	/** Ends all connections that are there. */
	cut(): void;
	/** Nothing passes for so many milliseconds, in either direction; then the connections that are there end. */
	freeze(milliseconds: number): void;
	close(): Promise<void>;
}

/** Opens a way to whatever port `target` says when somebody connects; to none where it says none. */
export async function openWay(target: () => number | undefined): Promise<ChaosWay> {
	const pairs = new Set<readonly [Socket, Socket]>();
	const timers = new Set<ReturnType<typeof setTimeout>>();
	const server = createServer((near) => {
		near.on("error", () => {});
		const port = target();
		if (port === undefined) {
			near.destroy();
			return;
		}
		const far = connect(port, "127.0.0.1");
		far.on("error", () => near.destroy());
		const pair = [near, far] as const;
		pairs.add(pair);
		near.pipe(far).pipe(near);
		near.on("close", () => {
			pairs.delete(pair);
			far.destroy();
		});
		far.on("close", () => near.destroy());
	});
	await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
	const { port } = server.address() as { port: number };
	const end = (some: Iterable<readonly [Socket, Socket]>): void => {
		for (const [near, far] of some) {
			near.destroy();
			far.destroy();
		}
	};
	return {
		port,
		cut: () => end(pairs),
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
