// `npm run soak -- --minutes 10`: a server with its sessions in a SQLite file under steady load, many short sessions and some
// long ones, from a process of clients. Prints what memory it needs and how long requests take, every few seconds, and
// fails where either of them grew from the middle third of the time to the last one; the first third is for warming up.
import { fork } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { Agent, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { createServer, sessionService } from "@holdfast/server";
import { sqliteHost } from "holdfast/sqlite";
import { median, p99 } from "../bench/measure.ts";
import { lookTool, oneStepModel } from "../bench/stub-model.ts";

/** Clients of each kind; each asks, reads to the end, pauses, and asks again. */
const clients = 4;
const pauseMs = 10;
/** Turns of a long session before it is replaced, because its memory grows with its history. */
const turnsOfLong = 300;
const everyMs = 5_000;
/** The allowed growth from the middle third to the last, because a shared machine is never the same. */
const tolerance = { memory: 1.1, latency: 1.5 };

type Kind = "short" | "long";
type Latencies = Readonly<Record<Kind, readonly number[]>>;

/** One observation. */
interface Sample {
	readonly rss: number;
	readonly heap: number;
	readonly latencies: Latencies;
}

async function ask(agent: Agent, port: number, sessionId: string | undefined): Promise<number> {
	const started = performance.now();
	const path = "/api/agent/execute";
	const headers = { "content-type": "application/json" };
	const text = await new Promise<string>((resolve, reject) => {
		const asked = request({ port, path, method: "POST", agent, headers }, (response) => {
			let all = "";
			response.setEncoding("utf8");
			response.on("data", (more: string) => {
				all += more;
			});
			response.on("end", () => resolve(all));
		});
		asked.on("error", reject);
		asked.end(JSON.stringify({ sessionId, input: { role: "user", content: "Look." }, context: {} }));
	});
	if (!text.includes('"status":"completed"')) throw new Error(`A run did not complete: ${text.slice(-300)}`);
	return performance.now() - started;
}

/** The clients, in a separate process: they work until their parent disconnects. */
async function work(port: number): Promise<void> {
	const agent = new Agent({ keepAlive: true });
	let latencies: Record<Kind, number[]> = { short: [], long: [] };
	const client = async (kind: Kind, number: number): Promise<void> => {
		for (let turn = 0; ; turn++) {
			const id = kind === "short" ? undefined : `long-${number}-${Math.floor(turn / turnsOfLong)}`;
			latencies[kind].push(await ask(agent, port, id));
			await new Promise((resolve) => setTimeout(resolve, pauseMs));
		}
	};
	process.on("message", () => {
		process.send?.(latencies);
		latencies = { short: [], long: [] };
	});
	const all = Array.from({ length: clients }, (_, number) => [
		client("short", number),
		client("long", number),
	]);
	await Promise.all(all.flat());
}

function line(minutes: number, { rss, heap, latencies }: Sample): string {
	const of = (kind: Kind): string => {
		const times = latencies[kind];
		if (times.length === 0) return `${kind}: none`;
		return `${kind}: ${times.length} runs, ${median(times).toFixed(1)} ms, p99 ${p99(times).toFixed(1)} ms`;
	};
	const memory = `${(rss / 1e6).toFixed(0)} MB resident, ${(heap / 1e6).toFixed(0)} MB heap`;
	return `${minutes.toFixed(1)} min  ${memory}  ${of("short")}  ${of("long")}`;
}

/** How many times as much something was in the last third as in the middle one. */
function growth(
	samples: readonly Sample[],
	of: (sample: Sample) => number,
	typical: (values: number[]) => number = median,
): number {
	const third = Math.floor(samples.length / 3);
	const last = samples.slice(-third).map(of);
	return typical(last) / typical(samples.slice(-2 * third, -third).map(of));
}

/** The heap right after garbage collection, because everything above it is transient. */
const lowest = (values: number[]): number => Math.min(...values);

function verdict(samples: readonly Sample[]): boolean {
	if (samples.length < 6)
		throw new Error(`Too short to judge: let it run for ${(6 * everyMs) / 60_000} minutes.`);
	const found = [
		["resident memory", growth(samples, ({ rss }) => rss), tolerance.memory],
		["lowest heap", growth(samples, ({ heap }) => heap, lowest), tolerance.memory],
		["latency of short sessions", growth(samples, (each) => median(each.latencies.short)), tolerance.latency],
		["latency of long sessions", growth(samples, (each) => median(each.latencies.long)), tolerance.latency],
	] as const;
	for (const [what, times, most] of found)
		console.log(`${what}: ${times.toFixed(2)} × from the middle third to the last (at most ${most} ×)`);
	return found.every(([, times, most]) => times <= most);
}

async function main(): Promise<void> {
	const { values } = parseArgs({ options: { minutes: { type: "string", default: "10" } } });
	const folder = mkdtempSync(join(tmpdir(), "holdfast-soak-"));
	const host = sqliteHost(join(folder, "soak.db"));
	const server = createServer({
		service: sessionService({ host, agent: { model: oneStepModel(), tools: [lookTool()] } }),
	});
	const { port } = await server.listen({ port: 0 });
	const child = fork(import.meta.filename, ["clients", String(port)], { execArgv: process.execArgv });
	let ended: string | undefined;
	child.on("exit", (code) => {
		ended = `The clients ended with ${code}.`;
	});
	const samples: Sample[] = [];
	const started = performance.now();
	const elapsed = (): number => (performance.now() - started) / 60_000;
	try {
		while (elapsed() < Number(values.minutes)) {
			await new Promise((resolve) => setTimeout(resolve, everyMs));
			if (ended !== undefined) throw new Error(ended);
			const latencies = await new Promise<Latencies>((resolve) => {
				child.once("message", (message) => resolve(message as Latencies));
				child.send("report");
			});
			const { rss, heapUsed: heap } = process.memoryUsage();
			const sample = { rss, heap, latencies };
			samples.push(sample);
			console.log(line(elapsed(), sample));
		}
	} finally {
		child.kill();
		await server.close();
		await host.close();
		rmSync(folder, { recursive: true, force: true });
	}
	if (!verdict(samples)) process.exitCode = 1;
}

const [mode, port] = process.argv.slice(2);
if (mode === "clients") await work(Number(port));
else await main();
