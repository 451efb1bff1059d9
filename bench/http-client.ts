// The clients of a server that is measured: a process of its own, so that reading costs the server nothing. They speak
// plain sockets, which is the least a client can do. Started with a mode, a port and a count; reports to its parent what came.
import { type ChildProcess, fork } from "node:child_process";
import { Agent, request } from "node:http";
import { connect } from "node:net";

/** The modes of clients: read one stream to its end, read many, keep many open, or run many short runs. */
export type ClientMode = "drain" | "watch" | "idle" | "runs";

/** The reports of clients: all streams are open, then everything is done. */
export type ClientReport =
	| { readonly what: "open" }
	| { readonly what: "done"; readonly seconds: number; readonly bytes: number };

/** Clients under way. */
export interface Clients {
	readonly process: ChildProcess;
	/** Resolves with their next report. */
	next(): Promise<ClientReport>;
}

/** Starts clients. */
export function startClients(mode: ClientMode, port: number, count: number, path = ""): Clients {
	const child = fork(import.meta.filename, [mode, String(port), String(count), path], {
		execArgv: process.execArgv.filter((flag) => flag.startsWith("--conditions")),
	});
	const reports: ClientReport[] = [];
	let wake = (): void => {};
	child.on("message", (message) => {
		reports.push(message as ClientReport);
		wake();
	});
	child.on("exit", () => wake());
	return {
		process: child,
		async next() {
			while (reports.length === 0) {
				if (child.exitCode !== null) throw new Error(`The clients ended with ${child.exitCode}.`);
				await new Promise<void>((resolve) => {
					wake = resolve;
				});
			}
			return reports.shift() as ClientReport;
		},
	};
}

const end = '"execute_complete"';
let started = 0;
let bytes = 0;

function report(next: ClientReport): void {
	process.send?.(next);
}

/** Opens streams and calls back when all have begun. Those read to their end are left there, others never. */
async function readStreams(
	port: number,
	count: number,
	path: string,
	until: "end" | "killed",
	whenOpen: () => void,
): Promise<void> {
	let open = 0;
	let done = 0;
	await new Promise<void>((resolve) => {
		const one = (at: number): void => {
			const socket = connect(port, "127.0.0.1");
			let tail = "";
			let isOpen = false;
			if (started === 0) started = performance.now();
			socket.write(`GET ${path.replace("*", String(at % 100))} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
			socket.on("data", (chunk: Buffer) => {
				bytes += chunk.length;
				if (!isOpen) {
					isOpen = true;
					if (++open === count) whenOpen();
				}
				// The end of a stream is short, so only the last part of what came can hold it.
				tail = (tail + chunk.subarray(-400).toString("latin1")).slice(-500);
				if (until === "killed" || !tail.includes(end)) return;
				socket.destroy();
				if (++done === count) resolve();
			});
			socket.on("close", () => {
				if (until === "killed" || !tail.includes(end)) throw new Error(`A stream ended early: ${tail}`);
			});
		};
		// In groups, so that the queue of a listening socket is not overrun.
		let at = 0;
		const group = (): void => {
			for (let until = Math.min(count, at + 100); at < until; at++) one(at);
			if (at < count) setTimeout(group, 10);
		};
		group();
	});
}

async function shortRuns(port: number, count: number): Promise<void> {
	const agent = new Agent({ keepAlive: true, maxSockets: 32 });
	let at = 0;
	const one = (): Promise<void> =>
		new Promise((resolve, reject) => {
			const asked = request(
				{
					port,
					path: "/api/agent/execute",
					method: "POST",
					agent,
					headers: { "content-type": "application/json" },
				},
				(response) => {
					let text = "";
					response.setEncoding("utf8");
					response.on("data", (more: string) => {
						text += more;
					});
					response.on("end", () => {
						bytes += text.length;
						if (text.includes('"status":"completed"')) resolve();
						else reject(new Error(`A run did not complete: ${text.slice(-300)}`));
					});
				},
			);
			asked.on("error", reject);
			asked.end(JSON.stringify({ input: { role: "user", content: "Look." }, context: {} }));
		});
	started = performance.now();
	await Promise.all(
		Array.from({ length: 32 }, async () => {
			while (at++ < count) await one();
		}),
	);
	agent.destroy();
}

async function main([mode, port, count, path = ""]: readonly string[]): Promise<void> {
	const open = (): void => report({ what: "open" });
	if (mode === "runs") await shortRuns(Number(port), Number(count));
	else await readStreams(Number(port), Number(count), path, mode === "idle" ? "killed" : "end", open);
	report({ what: "done", seconds: (performance.now() - started) / 1000, bytes });
	process.disconnect();
}

if (import.meta.main) await main(process.argv.slice(2));
