// A connection to a server for one test: after it is cut, no connection succeeds until it is restored.
import { openWay, type Way } from "@holdfast/testing/postgres-server";
import { onTestFinished } from "vitest";

/** A way that is joined again. */
export interface CutWay extends Pick<Way, "cut" | "deafen" | "made"> {
	/** The address of a database, through here. */
	url(direct: string): string;
	join(): void;
}

export async function wayTo(port: number): Promise<CutWay> {
	let open = true;
	const way = await openWay(() => (open ? port : undefined));
	onTestFinished(() => way.close());
	return {
		url(direct) {
			const url = new URL(direct);
			url.port = String(way.port);
			return url.href;
		},
		cut() {
			open = false;
			way.cut();
		},
		join() {
			open = true;
		},
		deafen: () => way.deafen(),
		get made() {
			return way.made;
		},
	};
}
