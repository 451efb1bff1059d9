/** Starts the real command in a separate process, and a model server that tests can pause. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { Readable } from "node:stream";

const program = join(import.meta.dirname, "../../bin/holdfast.js");

/** The output of a completed process. */
export interface Finished {
	readonly code: number | null;
	readonly stdout: string;
	readonly stderr: string;
}

/** A running command. */
export interface Started {
	readonly child: ChildProcess;
	readonly finished: Promise<Finished>;
	/** The output so far. */
	output(): string;
	/** Settles when the output so far matches. */
	until(pattern: RegExp): Promise<void>;
	/** Types into the terminal it was started through. */
	type(text: string): void;
}

/** Starts `holdfast` with arguments; keys of the surroundings do not reach it. */
export function start(
	argv: readonly string[],
	options: {
		readonly folder: string;
		readonly environment?: Record<string, string>;
		/** The program that provides its terminal. */
		readonly through?: string;
		/** The file that it reads from standard input. Default: none. */
		readonly inputFile?: string;
		/** The same through a pipe of a shell. */
		readonly pipedFrom?: string;
		/** Its piped input. Default: nothing; `open`: nothing, and the pipe stays open. */
		readonly piped?: string | { readonly open: true };
	},
): Started {
	const environment: Record<string, string | undefined> = { ...process.env, ...options.environment };
	for (const name of [
		"OPENAI_API_KEY",
		"ANTHROPIC_API_KEY",
		"GOOGLE_GENERATIVE_AI_API_KEY",
		"HOLDFAST_MODEL",
		"npm_lifecycle_event",
		"INIT_CWD",
	])
		if (options.environment?.[name] === undefined) delete environment[name];
	const command = [process.execPath, "--conditions=holdfast-source", program, ...argv];
	const quoted = command.map((part) => `'${part.replaceAll("'", "'\\''")}'`).join(" ");
	const piped = ["/bin/sh", "-c", `cat '${options.pipedFrom}' | ${quoted}`];
	const [file = "", ...rest] =
		options.through === undefined
			? options.pipedFrom === undefined
				? command
				: piped
			: [
					options.through,
					"-qec",
					// The command replaces the shell: a remaining shell would answer Ctrl-C itself, with another exit
					// code.
					`exec ${command.map((part) => `'${part.replaceAll("'", "'\\''")}'`).join(" ")}`,
					"/dev/null",
				];
	const input = options.inputFile === undefined ? undefined : openSync(options.inputFile, "r");
	const child = spawn(file, rest, {
		cwd: options.folder,
		env: environment,
		stdio: [input ?? "pipe", "pipe", "pipe"],
	}) as ChildProcess & { readonly stdout: Readable; readonly stderr: Readable };
	if (input !== undefined) closeSync(input);
	// Input that is not read to its end is not an error of the test.
	child.stdin?.on("error", () => {});
	// A terminal stays open for typing; other inputs are empty.
	if (options.through === undefined && typeof options.piped !== "object") child.stdin?.end(options.piped);
	let stdout = "";
	let stderr = "";
	const waiting: { pattern: RegExp; settle: () => void }[] = [];
	child.stdout.setEncoding("utf8").on("data", (text: string) => {
		stdout += text;
		for (const { pattern, settle } of waiting) if (pattern.test(stdout)) settle();
	});
	child.stderr.setEncoding("utf8").on("data", (text: string) => {
		stderr += text;
	});
	const finished = new Promise<Finished>((resolve, reject) => {
		child.on("error", reject);
		child.on("close", (code) => resolve({ code, stdout, stderr }));
	});
	return {
		child,
		finished,
		output: () => stdout,
		type: (text) => void child.stdin?.write(text),
		until: (pattern) =>
			Promise.race([
				new Promise<void>((settle) => {
					if (pattern.test(stdout)) settle();
					waiting.push({ pattern, settle });
				}),
				finished.then(() => {
					if (!pattern.test(stdout)) throw new Error(`It ended without ${pattern}: ${stdout}${stderr}`);
				}),
			]),
	};
}

/** Runs `holdfast` to its end. */
export function run(argv: readonly string[], options: Parameters<typeof start>[1]): Promise<Finished> {
	return start(argv, options).finished;
}

/** A server that speaks OpenAI's chat format. */
export interface ModelServer {
	/** For --model. */
	readonly model: string;
	/** Requests it got. */
	readonly requests: readonly { readonly messages: readonly unknown[] }[];
	/** Settles when this many requests have arrived. */
	asked(count: number): Promise<void>;
	close(): Promise<void>;
}

/** How the server replies to a request: an answer, a tool call, or nothing. */
export type Reply =
	| {
			readonly text: string;
			readonly usage?: { readonly prompt_tokens: number; readonly completion_tokens: number };
			/** The reply waits for this. */
			readonly after?: Promise<void>;
	  }
	| { readonly tool: string; readonly arguments: object }
	| {
			readonly calls: readonly { readonly id: string; readonly tool: string; readonly arguments: object }[];
			/** The reply waits for this. */
			readonly after?: Promise<void>;
	  }
	| { readonly status: number }
	| "hang";

/** Starts a model server with these replies in order, repeating the last one. */
export async function startModelServer(replies: readonly Reply[]): Promise<ModelServer> {
	const requests: { messages: readonly unknown[] }[] = [];
	const waiting: { count: number; settle: () => void }[] = [];
	const server = createServer(async (request, response) => {
		let body = "";
		for await (const chunk of request) body += chunk;
		requests.push(JSON.parse(body));
		for (const { count, settle } of waiting) if (requests.length >= count) settle();
		const reply = replies[Math.min(requests.length, replies.length) - 1] as Reply;
		if (typeof reply === "object" && "after" in reply) await reply.after;
		answer(response, reply);
	});
	await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
	const { port } = server.address() as AddressInfo;
	return {
		model: `openai-compatible:stub@http://127.0.0.1:${port}/v1`,
		requests,
		asked: (count) =>
			new Promise((settle) => {
				if (requests.length >= count) settle();
				waiting.push({ count, settle });
			}),
		close: () =>
			new Promise((resolve) => {
				server.close(() => resolve());
				server.closeAllConnections();
			}),
	};
}

function answer(response: ServerResponse, reply: Reply): void {
	if (reply === "hang") return;
	if ("status" in reply) {
		response
			.writeHead(reply.status, { "content-type": "application/json" })
			.end('{"error":{"message":"refused by the stub"}}');
		return;
	}
	response.writeHead(200, { "content-type": "text/event-stream" });
	const send = (choice: object, more: object = {}): void => {
		response.write(
			`data: ${JSON.stringify({ id: "1", object: "chat.completion.chunk", created: 1, model: "stub", choices: [choice], ...more })}\n\n`,
		);
	};
	if ("text" in reply) {
		for (const word of reply.text.split(/(?<= )/))
			send({ index: 0, delta: { role: "assistant", content: word }, finish_reason: null });
		send(
			{ index: 0, delta: {}, finish_reason: "stop" },
			{ usage: { total_tokens: 12, prompt_tokens: 10, completion_tokens: 2, ...reply.usage } },
		);
	} else {
		const calls = "calls" in reply ? reply.calls : [{ ...reply, id: "call-1" }];
		const tool_calls = calls.map(({ id, tool: name, arguments: given }, index) => ({
			index,
			id,
			type: "function",
			function: { name, arguments: JSON.stringify(given) },
		}));
		send({ index: 0, delta: { role: "assistant", tool_calls }, finish_reason: null });
		send({ index: 0, delta: {}, finish_reason: "tool_calls" });
	}
	response.end("data: [DONE]\n\n");
}

/** How much slower this machine is at the moment than an idle one, by the slowest start of three empty processes: from 1. */
export function slowness(): number {
	const starts = [1, 2, 3].map(() => {
		const began = performance.now();
		spawnSync(process.execPath, ["-e", "0"]);
		return performance.now() - began;
	});
	return Math.max(1, ...starts.map((each) => each / 60));
}
