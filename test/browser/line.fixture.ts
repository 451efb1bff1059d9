// The line between browser and server: an address that stays while servers come and go, and that can be cut.
import { openWay } from "@holdfast/testing/postgres-server";

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
	let target: number | undefined;
	const way = await openWay(() => target);
	return {
		url: `http://127.0.0.1:${way.port}`,
		lead(to) {
			target = to;
		},
		cut: () => way.cut(),
		close: () => way.close(),
	};
}
