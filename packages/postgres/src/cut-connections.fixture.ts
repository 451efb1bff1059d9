// A way to a server that a test cuts: connections through it end at once, and none is made until it is joined again.
import { connect, createServer, type Socket } from "node:net";
import { onTestFinished } from "vitest";

export interface Way {
	/** The address of a database, through here. */
	url(direct: string): string;
	/** Ends all connections; new ones are refused until `join`. */
	cut(): void;
	join(): void;
	/** Nothing that the server sends arrives any more, on the connections that are there; then `cut` ends them. */
	deafen(): void;
	/** Connections that are open. */
	readonly count: number;
	/** How many were made so far. */
	readonly made: number;
}

export async function wayTo(port: number): Promise<Way> {
	const pairs = new Set<readonly [Socket, Socket]>();
	let open = true;
	let made = 0;
	const server = createServer((near) => {
		near.on("error", () => {});
		if (!open) {
			near.destroy();
			return;
		}
		made++;
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
	const { port: own } = server.address() as { port: number };
	const cut = (): void => {
		open = false;
		for (const [near, far] of pairs) {
			near.destroy();
			far.destroy();
		}
	};
	onTestFinished(async () => {
		cut();
		await new Promise((resolve) => server.close(resolve));
	});
	return {
		url(direct) {
			const url = new URL(direct);
			url.port = String(own);
			return url.href;
		},
		cut,
		join() {
			open = true;
		},
		deafen() {
			for (const [near, far] of pairs) {
				far.unpipe(near);
				far.resume();
			}
		},
		get count() {
			return pairs.size;
		},
		get made() {
			return made;
		},
	};
}
