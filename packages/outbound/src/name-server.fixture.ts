// A UDP name server that answers as the test defines, and counts its queries.
import { createSocket } from "node:dgram";
import { Resolver } from "node:dns/promises";
import type { AddressInfo } from "node:net";
import type { ResolveHost } from "./index.ts";

export interface NameServer {
	/** Queries this server, without a cache. */
	readonly resolve: ResolveHost;
	/** The queried names in order. */
	readonly asked: readonly string[];
	close(): void;
}

/** `answer` receives a name and the number of its earlier queries. */
export async function nameServer(
	answer: (name: string, before: number) => readonly string[],
): Promise<NameServer> {
	const asked: string[] = [];
	const socket = createSocket("udp4");
	socket.on("message", (question, { port, address }) => {
		const labels: string[] = [];
		let at = 12;
		for (let length = question[at] ?? 0; length > 0; length = question[at] ?? 0) {
			labels.push(question.toString("latin1", at + 1, at + 1 + length));
			at += 1 + length;
		}
		const name = labels.join(".");
		const before = asked.filter((other) => other === name).length;
		asked.push(name);
		const addresses = answer(name, before);
		const header = Buffer.from(question.subarray(0, 12));
		header.writeUInt16BE(0x8180, 2);
		header.writeUInt16BE(addresses.length, 6);
		header.writeUInt32BE(0, 8);
		const records = addresses.map((ip) =>
			Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, ...ip.split(".").map(Number)]),
		);
		socket.send(Buffer.concat([header, question.subarray(12, at + 5), ...records]), port, address);
	});
	await new Promise<void>((resolve) => socket.bind(0, "127.0.0.1", resolve));
	const resolver = new Resolver({ timeout: 2_000, tries: 1 });
	resolver.setServers([`127.0.0.1:${(socket.address() as AddressInfo).port}`]);
	return { asked, resolve: (name) => resolver.resolve4(name), close: () => void socket.close() };
}
