// A server in a process of its own, with everything that can be asked over HTTP: sessions, chats, AG-UI, threads and the
// inspector. Its models and tools take a few milliseconds, as most of a real one's work is waiting.
import { type ChildProcess, fork } from "node:child_process";
import { inspector } from "@holdfast/inspector";
import { listen } from "@holdfast/server";
import { scriptedModel } from "@holdfast/testing";
import { threadRoutes, threads } from "@holdfast/threads";
import { Agent, memoryHost, tool } from "holdfast";
import { sqliteHost } from "holdfast/sqlite";
import { projectIn } from "../simulation/threads-project.fixture.ts";

/** A server process. */
export interface ServerProcess {
	readonly url: string;
	readonly pid: number;
	/** What the server logged as errors. */
	readonly errors: readonly unknown[];
	/** SIGTERM; resolves to the exit code, or rejects when the process is still running after `withinMs`. */
	terminate(withinMs: number): Promise<number | null>;
	kill(): void;
}

/** Starts one on a store: `memory`, or the path of a database file. */
export async function startServer(store: string): Promise<ServerProcess> {
	const child: ChildProcess = fork(import.meta.filename, [store], {
		execArgv: ["--conditions=holdfast-source", "--disable-warning=ExperimentalWarning"],
	});
	const errors: unknown[] = [];
	const ended = new Promise<number | null>((resolve) => child.once("exit", resolve));
	const url = await new Promise<string>((resolve, reject) => {
		child.on("message", (message: { readonly url?: string; readonly error?: unknown }) => {
			if (message.url !== undefined) resolve(message.url);
			else errors.push(message.error);
		});
		child.once("exit", (code) => reject(new Error(`The server ended with ${code}.`)));
	});
	return {
		url,
		pid: child.pid as number,
		errors,
		terminate(withinMs) {
			child.kill("SIGTERM");
			let timer: ReturnType<typeof setTimeout> | undefined;
			const late = new Promise<never>((_, reject) => {
				timer = setTimeout(
					() => reject(new Error(`SIGTERM did not end the server in ${withinMs} ms.`)),
					withinMs,
				);
			});
			return Promise.race([ended, late]).finally(() => clearTimeout(timer));
		},
		kill: () => void child.kill("SIGKILL"),
	};
}

const parameters = { type: "object", properties: {} } as const;
const pause = (milliseconds: number): Promise<void> =>
	new Promise((resolve) => setTimeout(resolve, milliseconds));

/** What the model does next: the message of the user says what it calls first. */
function replies(modelId: string) {
	let count = 0;
	return scriptedModel(
		async ({ messages }) => {
			await pause(count++ % 5);
			const last = messages.at(-1);
			const said = JSON.stringify(last);
			const name = ["look", "erase", "where", "delegate_to_helper"].find((each) =>
				said.includes(`use ${each}`),
			);
			if (last?.type === "user" && name !== undefined)
				return {
					toolCalls: [{ name, ...(name === "delegate_to_helper" ? { arguments: { task: "Go." } } : {}) }],
				};
			return { text: "word ".repeat(8), beforeDelta: (at) => (at % 4 === 0 ? pause(1) : undefined) };
		},
		{ modelId },
	);
}

async function main(store: string): Promise<void> {
	const host = store === "memory" ? memoryHost() : sqliteHost(store);
	const running = threads({
		project: projectIn({
			plan: {
				main: [[{ name: "note", subject: "a" }], [{ name: "digger", subject: "b" }]],
				worker: [["save"]],
			},
			delayOf: () => 1,
			pass: () => pause(1),
			begins() {},
			did() {},
			wrong() {},
		}),
		host,
	});
	const { routes, publicPaths } = inspector();
	const server = await listen({
		agent: {
			model: replies("busy-1"),
			subagents: [new Agent({ name: "helper", description: "Helps.", model: replies("helper-1") })],
			tools: [
				{ name: "where", description: "Says where the user is.", parameters },
				tool({ name: "erase", description: "Erases.", parameters, needsApproval: true, run: () => "erased" }),
				tool({ name: "look", description: "Looks.", parameters, run: () => pause(2).then(() => "seen") }),
			],
		},
		host,
		port: 0,
		deltaFlushMs: 2,
		whileRunning: "queue",
		routes: [...routes, ...threadRoutes({ threads: running })],
		publicPaths,
		log: (entry) => {
			if (entry.type === "error") process.send?.({ error: entry });
		},
	});
	process.once("SIGTERM", async () => {
		await server.close({ drainMs: 500 });
		await running.close();
		await host.close();
		process.exit(0);
	});
	process.send?.({ url: server.url });
}

if (import.meta.main) await main(process.argv[2] ?? "memory");
