// A server in a process of its own, over a database file, to be killed. Its model says half of what it has to say and
// waits for a word of its parent before it says the rest; "use tools" makes it call both tools of the session.
import { type ChildProcess, fork } from "node:child_process";
import {
	AssistantMessage,
	createProvider,
	type LLMRequest,
	type LLMResponse,
	type ModelReference,
	type StreamEvent,
} from "@holdfast/upp";
import { tool } from "holdfast";
import { listen } from "./server.ts";

/** A server process. */
export interface ServerProcess {
	readonly url: string;
	readonly child: ChildProcess;
	/** Lets the model say the rest. */
	go(): void;
	/** SIGKILL; settles when it is gone. */
	kill(): Promise<void>;
	/** How it ended. */
	readonly ended: Promise<number | null>;
}

/** Starts one. */
export async function startServer(db: string, half: string, rest: string): Promise<ServerProcess> {
	const child = fork(import.meta.filename, [db, half, rest], {
		execArgv: ["--conditions=holdfast-source", "--disable-warning=ExperimentalWarning"],
	});
	const ended = new Promise<number | null>((resolve) => child.once("exit", resolve));
	const url = await new Promise<string>((resolve, reject) => {
		child.once("message", (message) => resolve(message as string));
		child.once("exit", (code) => reject(new Error(`The server ended with ${code}.`)));
	});
	return {
		url,
		child,
		ended,
		go: () => child.send("go"),
		async kill() {
			child.kill("SIGKILL");
			await ended;
		},
	};
}

const usage = { inputTokens: 10, outputTokens: 5, totalTokens: 15 };

function haltingModel(half: string, rest: string, go: Promise<void>): ModelReference {
	const respond = ({ messages }: LLMRequest): LLMResponse => {
		const last = JSON.stringify(messages.at(-1) ?? "");
		if (!last.includes("use tools"))
			return { message: new AssistantMessage(half + rest), usage, stopReason: "stop" };
		const calls = ["look", "ask_user"].map((toolName) => ({
			toolCallId: `call-${toolName}`,
			toolName,
			arguments: {},
		}));
		return { message: new AssistantMessage([], calls), usage, stopReason: "tool_calls" };
	};
	const provider = createProvider({
		name: "halting",
		version: "1",
		modalities: {
			llm: {
				bind: (modelId: string) => ({
					modelId,
					capabilities: {
						streaming: true,
						tools: true,
						structuredOutput: false,
						imageInput: false,
						videoInput: false,
						audioInput: false,
					},
					complete: async (request: LLMRequest) => respond(request),
					stream(request: LLMRequest) {
						const response = respond(request);
						async function* events(): AsyncGenerator<StreamEvent, void, void> {
							if (response.message.hasToolCalls) return;
							for (const text of half.split(/(?<= )/))
								yield { type: "text_delta", index: 0, delta: { text } };
							await go;
							for (const text of rest.split(/(?<= )/))
								yield { type: "text_delta", index: 0, delta: { text } };
						}
						return { response: Promise.resolve(response), [Symbol.asyncIterator]: events };
					},
				}),
			},
		},
	});
	return provider("halting");
}

async function main([db = "", half = "", rest = ""]: readonly string[]): Promise<void> {
	const go = new Promise<void>((resolve) => process.once("message", () => resolve()));
	const look = tool({
		name: "look",
		description: "Looks.",
		parameters: { type: "object", properties: {} },
		retryPolicy: "pure",
		run: () => "seen",
	});
	const model = haltingModel(half, rest, go);
	const agent = { model, tools: [look], prices: { halting: { input: 1, output: 1 } } };
	const server = await listen({ agent, db, port: 0, deltaFlushMs: 5, clientsMaySet: ["tools"] });
	process.once("SIGTERM", () => {
		// A word of the parent may still be on its way.
		void server.close({ drainMs: 500 }).finally(() => process.disconnect?.());
	});
	process.send?.(server.url);
}

if (import.meta.main) await main(process.argv.slice(2));
