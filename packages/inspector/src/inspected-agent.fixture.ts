// A server with an inspector in a process of its own, over a database file, to be looked at and killed. What its agent does is in
// the message: "story" streams twelve words and waits in the middle for a word of its parent, "erase" asks for approval, "where"
// is answered from outside, "pay" asks for approval of arguments that may be changed, "page" answers with Markdown and
// markup that must stay text, "add" calls a tool, "broken" calls one that fails, "fail" ends with an error, "helper" has a
// sub-agent work, "secret" says what nobody must see, "park" kills the process in a tool that must not run twice, "skill" loads a
// skill, "script" runs code that calls a tool. Another agent is a workflow.
import { type ChildProcess, fork } from "node:child_process";
import { skills } from "@holdfast/context";
import { codeMode } from "@holdfast/sandbox/code-mode";
import { listen } from "@holdfast/server";
import { type ScriptedReply, scriptedModel } from "@holdfast/testing";
import { Agent, type AgentOptions, tool } from "holdfast";
import { sqliteHost } from "holdfast/sqlite";
import { workflow } from "holdfast/workflow";
import { inspector } from "./inspector.ts";

export const story = "one two three four five six seven eight nine ten eleven twelve";
export const half = "one two three four";
/** Looks like a key, and is not one. */
export const secret = "sk-abcDEF0123456789abcDEF0123456789";

/** A server process. */
export interface InspectedProcess {
	readonly port: number;
	/** Lets the model stream the rest. */
	go(): void;
	/** Sends SIGKILL; settles when the process has exited. */
	kill(): Promise<void>;
}

/** Options of the server. */
export interface InspectedOptions {
	readonly db: string;
	/** Keys of callers; without any, all callers on loopback are accepted. */
	readonly apiKeys?: Readonly<Record<string, string>>;
	/** Whether stories wait in their middle. */
	readonly waits?: boolean;
	/** Whether interrupted runs of a dead process are parked. */
	readonly parks?: boolean;
	/** Whether the tool that kills the process does not any more. */
	readonly unparks?: boolean;
	/** The agent: `desk` does what the message says, `flow` is a workflow. Default `desk`. */
	readonly agent?: "desk" | "flow";
	/** Default: any. */
	readonly port?: number;
}

/** Starts one. */
export async function startInspected(options: InspectedOptions): Promise<InspectedProcess> {
	const child: ChildProcess = fork(import.meta.filename, [JSON.stringify(options)], {
		execArgv: ["--conditions=holdfast-source", "--disable-warning=ExperimentalWarning"],
	});
	const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
	const port = await new Promise<number>((resolve, reject) => {
		child.once("message", (message) => resolve(message as number));
		child.once("exit", (code) => reject(new Error(`The server ended with ${code}.`)));
	});
	return {
		port,
		go: () => {
			if (child.connected) child.send("go");
		},
		async kill() {
			child.kill("SIGKILL");
			await ended;
		},
	};
}

/** An answer in Markdown, with markup that must stay text. */
export const page = [
	"# Refunds",
	"All of **order 7**, see [the policy](https://example.com/policy) or [a trap](javascript:hacked=1).",
	"| item | paid |\n|---|---:|\n| lamp | 49 |",
	"```ts\nconst total = 49; // dollars\n```",
	"- [x] told the customer",
	'<img src="x" onerror="window.hacked=1"><script>window.hacked=1</script>',
	"![a picture](https://example.com/picture.png)",
	'Before <img alt="a &amp; b" src="https://example.com/b.png"> and<br>after <kbd>Esc</kbd>',
].join("\n\n");
const payment = {
	type: "object",
	required: ["order", "amount"],
	properties: {
		order: { type: "string" },
		amount: { type: "number", description: "US dollars" },
		reason: { type: "string", enum: ["late", "broken"] },
	},
};
const parameters = { type: "object", properties: { of: { type: "string" } } };

function replyTo(said: string, last: string, wait: () => Promise<void>, waits: boolean): ScriptedReply {
	if (last === "tool_result") return { text: `I heard: ${said.slice(0, 600)}` };
	for (const name of ["where", "erase", "add", "broken", "park"])
		if (said.includes(name))
			return { reasoning: "A tool will know.", toolCalls: [{ name, arguments: { of: "this page" } }] };
	if (said.includes("skill")) return { toolCalls: [{ name: "load_skill", arguments: { name: "tidy-up" } }] };
	if (said.includes("script")) return { toolCalls: [{ name: "run_code", arguments: { code: script } }] };
	if (said.includes("pay"))
		return { toolCalls: [{ name: "pay", arguments: { order: "A-7", amount: 49, reason: "late" } }] };
	if (said.includes("page")) return { text: page };
	if (said.includes("helper"))
		return { toolCalls: [{ name: "delegate_to_helper", arguments: { prompt: "Look it up." } }] };
	if (said.includes("fail")) return { error: new Error("The provider is on fire.") };
	if (said.includes("secret")) return { text: `The key is ${secret}.` };
	if (said.includes("story"))
		return { text: story, beforeDelta: (at) => (at === 4 && waits ? wait() : undefined) };
	return { text: "Very well." };
}

const price = tool({
	name: "price",
	description: "Returns the price of an item.",
	parameters: { type: "object", properties: { item: { type: "string" } } },
	retryPolicy: "pure",
	run: ({ item }: { item: string }) => ({ item, euros: 7 }),
});

const script = `const found = await Promise.all(["lamp", "desk"].map((item) => tools.price({ item })));
console.log("found", found.length);
return found.reduce((sum, { euros }) => sum + euros, 0);`;

const tidyUp = `---
name: tidy-up
description: Tidies a folder.
allowed-tools: add
---
Move files by kind.
`;

/** Ships an order: with branches, a retry, a wait for an event, an approval and, for "broken", undo. */
const shipping = workflow({ name: "shipping" }, async (flow, given: unknown) => {
	const item = String(given);
	await flow.step("reserve", () => ({ reserved: item }), { undo: () => "released" });
	let tries = 0;
	const [paper, line] = [flow.branch("paper"), flow.branch("line")];
	await Promise.all([
		paper.step("label", () => "L-1"),
		line.step(
			"courier",
			() => {
				if (tries++ === 0) throw new Error("The line is busy.");
				return "ordered";
			},
			{ retryPolicy: "pure", retries: 2, retryDelay: 10 },
		),
	]);
	if (item === "broken") await flow.step("pack", () => Promise.reject(new Error("The box is broken.")));
	const reply = await flow.event("reply", { timeout: "7 days" });
	return (await flow.approve("send it")) ? { sent: item, reply } : undefined;
});

async function main(given: string): Promise<void> {
	const {
		db,
		apiKeys,
		waits = false,
		parks = false,
		unparks = false,
		port = 0,
		agent = "desk",
	}: InspectedOptions = JSON.parse(given);
	let go = (): void => {};
	process.on("message", () => go());
	const wait = (): Promise<void> =>
		new Promise((resolve) => {
			go = resolve;
		});
	const model = (modelId: string) =>
		scriptedModel(
			({ messages }) => {
				const last = messages.at(-1);
				// The id of a message may contain a word such as "add".
				const said = last?.type === "user" ? last.text : JSON.stringify(last);
				return replyTo(said, last?.type ?? "", wait, waits);
			},
			{ modelId },
		);
	const host = sqliteHost(db);
	const helper = new Agent({
		name: "helper",
		description: "Looks things up.",
		model: scriptedModel(() => "It is on page 7."),
	});
	const desk: AgentOptions = {
		model: model("clever-1"),
		system: "You are the agent of a test.",
		subagents: [helper],
		prices: { "clever-1": { input: 1, output: 4 } },
		...(parks ? { maxRestarts: 0 } : {}),
		plugins: [skills({ sources: [{ text: tidyUp }] })],
		tools: [
			codeMode({ tools: [price] }),
			{ name: "where", description: "Says where the user is.", parameters },
			tool({
				name: "erase",
				description: "Erases all.",
				parameters,
				needsApproval: true,
				run: () => ({ erased: true }),
			}),
			tool({
				name: "pay",
				description: "Pays money back.",
				parameters: payment,
				needsApproval: true,
				editableApproval: true,
				run: ({ amount }: { amount: number }) => ({ paid: amount }),
			}),
			tool({ name: "add", description: "Adds.", parameters, run: () => ({ sum: 3 }) }),
			tool({
				name: "broken",
				description: "Fails.",
				parameters,
				run: () => {
					throw new Error("It is broken.");
				},
			}),
			tool({
				name: "park",
				description: "Kills the process.",
				parameters,
				retryPolicy: "pure",
				run: () => (unparks ? "parked no more" : process.kill(process.pid, "SIGKILL")),
			}),
		],
	};
	const server = await listen({
		agent: agent === "flow" ? shipping.agent : desk,
		models: (name: string) => (name === "wise-2" ? model("wise-2") : undefined),
		host,
		port,
		deltaFlushMs: 5,
		recoverEveryMs: 50,
		...(apiKeys === undefined ? {} : { apiKeys }),
		...inspector({ playground: "models-and-tools" }),
	});
	process.once("disconnect", () => process.exit());
	process.send?.(server.port);
}

if (import.meta.main) await main(process.argv[2] ?? "{}");
