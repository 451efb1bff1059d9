// The line between browser and server: an address that stays while servers come and go, and that can be cut.
import { connect, createServer, type Socket } from "node:net";

/** A line. */
export interface Line {
	readonly url: string;
	/** The port connections are led to. */
	lead(port: number): void;
	/** Breaks all connections. */
	cut(): void;
	close(): Promise<void>;
}

/** Opens one. */
export async function openLine(): Promise<Line> {
	let target = 0;
	const sockets = new Set<Socket>();
	const keep = (socket: Socket): void => {
		sockets.add(socket);
		socket.once("close", () => sockets.delete(socket));
	};
	const server = createServer((near) => {
		const far = connect(target, "127.0.0.1");
		for (const [socket, other] of [
			[near, far],
			[far, near],
		] as const) {
			keep(socket);
			socket.setNoDelay(true);
			socket.on("error", () => other.destroy());
			socket.on("close", () => other.destroy());
			socket.pipe(other);
		}
	});
	await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
	const { port } = server.address() as { port: number };
	const cut = (): void => {
		for (const socket of sockets) socket.destroy();
	};
	return {
		url: `http://127.0.0.1:${port}`,
		lead(to) {
			target = to;
		},
		cut,
		async close() {
			const closed = new Promise((resolve) => server.close(resolve));
			cut();
			await closed;
		},
	};
}
