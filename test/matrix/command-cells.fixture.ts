// The cells of the command: `holdfast run` and `holdfast resume` with the file of an agent, each in a process of its own.
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "vitest";
import type { OwnCell } from "./own-cell.fixture.ts";

const root = join(import.meta.dirname, "../..");
const program = join(root, "packages/cli/bin/holdfast.js");

/** What came of a command line. */
interface Ended {
	readonly code: number | null;
	/** Inputs of the calls that it shows as waiting. */
	readonly shown: readonly unknown[];
}

const shownId = "ID";

interface CommandFeature {
	readonly name: string;
	/** The file of the agent, after its imports and the tool `act(options)`. */
	readonly agent: string;
	/** How `resume` answers, with `shownId` for the id of the call that was shown last, one command line after the other. */
	readonly answers?: readonly (readonly string[])[];
	/** Whether the first command is killed once its model is asked for the second time. */
	readonly isKilled?: true;
	/** What must have come of each command line, and what the tool ran with. */
	readonly expected: {
		readonly ended: readonly Ended[];
		readonly ran: readonly unknown[];
		readonly told?: string;
	};
}

/** Imports, a tool that writes down what it is called with, and a model that follows a script by what it has answered. */
const head = `
import { appendFileSync, existsSync, writeFileSync } from "node:fs";
import { scriptedModel } from "@holdfast/testing";
import { openaiCompatible } from "@holdfast/upp";
import { Agent, tool } from "holdfast";
import { z } from "zod";

const act = (options = {}) =>
	tool({
		name: "act",
		description: "Acts.",
		parameters: z.object({ n: z.number() }),
		needsApproval: true,
		run: (input) => appendFileSync("ran.jsonl", JSON.stringify(input) + "\\n"),
		...options,
	});
const call = (id, n) => ({ toolCalls: [{ name: "act", id, arguments: { n } }] });
const model = (...script) =>
	scriptedModel(async ({ messages }) => {
		writeFileSync("seen.json", JSON.stringify(messages));
		const at = messages.filter(({ type }) => type === "assistant").length;
		if (at === 1 && existsSync("hold")) {
			writeFileSync("held", "");
			await new Promise((resolve) => setInterval(() => {}, 1_000));
		}
		return script[at] ?? "nothing is left to say";
	});
`;

const shows = (...inputs: readonly number[]): Ended => ({ code: 4, shown: inputs.map((n) => ({ n })) });
const done: Ended = { code: 0, shown: [] };
/** What is approved is shown once more. */
const approved = (n: number): Ended => ({ code: 0, shown: [{ n }] });
const single = `export default new Agent({ model: model(call("c", 1), "done"), tools: [act()] });`;
const delegating = `
const worker = new Agent({ name: "one", description: "Is one.", model: model(call("c", 1), "did"), tools: [act()] });
const delegation = { toolCalls: [{ name: "delegate_to_one", id: "d", arguments: { prompt: "go" } }] };
export default new Agent({ model: model(delegation, "done"), subagents: [worker] });
`;

const features: readonly CommandFeature[] = [
	{
		name: "an approved call",
		agent: single,
		answers: [["--approve", "c"]],
		expected: { ended: [shows(1), approved(1)], ran: [{ n: 1 }] },
	},
	{
		name: "a call that is denied with a reason",
		agent: single,
		answers: [["--deny", "c", "--reason", "not today"]],
		expected: { ended: [shows(1), done], ran: [], told: "not today" },
	},
	{
		name: "a call that is named wrongly",
		agent: single,
		answers: [["--approve", "other"], ["--yes"]],
		expected: { ended: [shows(1), { code: 2, shown: [] }, approved(1)], ran: [{ n: 1 }] },
	},
	{
		name: "an id that is repeated in the next round",
		agent: `export default new Agent({ model: model(call("c", 1), call("c", 2), "done"), tools: [act()] });`,
		answers: [["--approve", "c"], ["--deny", "c"], ["--yes"]],
		// The second call has a name of its own: an answer that comes late does not reach it.
		expected: {
			ended: [shows(1), shows(1, 2), { code: 2, shown: [] }, approved(2)],
			ran: [{ n: 1 }, { n: 2 }],
		},
	},
	{
		name: "a call that the token limit cut off",
		agent: `
export default new Agent({
	model: model({ toolCalls: [{ name: "act", id: "c", arguments: {} }], stopReason: "length" }, "done"),
	tools: [act({ parameters: z.object({}), needsApproval: false })],
});`,
		expected: { ended: [done], ran: [] },
	},
	{
		name: "an approved call of a sub-agent",
		agent: delegating,
		answers: [["--yes"]],
		expected: { ended: [shows(1), approved(1)], ran: [{ n: 1 }] },
	},
	{
		name: "a denied call of a sub-agent",
		agent: delegating,
		answers: [["--deny", shownId]],
		expected: { ended: [shows(1), done], ran: [] },
	},
	{
		name: "a kill after a call",
		agent: `
export default new Agent({ model: model(call("c", 1), "done"), tools: [act({ needsApproval: false })] });`,
		isKilled: true,
		answers: [[]],
		expected: { ended: [{ code: null, shown: [] }, done], ran: [{ n: 1 }] },
	},
	{
		name: "an approval after a kill",
		agent: `
export default new Agent({
	model: model(call("c", 1), call("d", 2), "done"),
	tools: [act({ needsApproval: ({ n }) => n === 2 })],
});`,
		isKilled: true,
		answers: [[], ["--approve", "d"]],
		expected: { ended: [{ code: null, shown: [] }, shows(2), approved(2)], ran: [{ n: 1 }, { n: 2 }] },
	},
	{
		name: "a provider that is down",
		agent: `
export default new Agent({ model: openaiCompatible("stub", { baseURL: "http://127.0.0.1:9/v1" }), tools: [act()] });`,
		expected: { ended: [{ code: 5, shown: [] }], ran: [] },
	},
];

async function play({ agent, answers = [], isKilled, expected }: CommandFeature): Promise<unknown> {
	const folder = mkdtempSync(join(tmpdir(), "holdfast-matrix-"));
	const file = (name: string): string => join(folder, name);
	writeFileSync(file("agent.mts"), `${head}${agent}`);
	// Packages are found from the file of the agent, as in a project that has installed them.
	symlinkSync(join(root, "node_modules"), file("node_modules"));
	let lastId = "";
	const children = new Set<ReturnType<typeof spawn>>();
	const run = async (...argv: readonly string[]): Promise<Ended> => {
		const child = spawn(process.execPath, ["--conditions=holdfast-source", program, ...argv, "--json"], {
			cwd: folder,
			stdio: ["ignore", "pipe", "pipe"],
		});
		children.add(child);
		let stdout = "";
		child.stdout.setEncoding("utf8").on("data", (text: string) => {
			stdout += text;
		});
		child.stderr.resume();
		const ended = new Promise<number | null>((resolve, reject) => {
			child.on("error", reject);
			child.on("close", resolve);
		});
		if (existsSync(file("hold"))) {
			await expect.poll(() => existsSync(file("held"))).toBe(true);
			rmSync(file("hold"));
			child.kill("SIGKILL");
		}
		const code = await ended;
		children.delete(child);
		const lines = stdout.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line)]));
		const pending = lines.filter(({ type }) => type === "pending");
		lastId = pending.at(-1)?.id ?? lastId;
		return { code, shown: pending.map(({ input }) => input) };
	};
	try {
		if (isKilled === true) writeFileSync(file("hold"), "");
		const ended = [await run("run", "Go.", "--session", "s", "--agent", "agent.mts")];
		for (const answer of answers)
			ended.push(await run("resume", "s", ...answer.map((word) => (word === shownId ? lastId : word))));
		const ran = existsSync(file("ran.jsonl"))
			? readFileSync(file("ran.jsonl"), "utf8").trim().split("\n")
			: [];
		const { told } = expected;
		const isTold = told !== undefined && readFileSync(file("seen.json"), "utf8").includes(told);
		return { ended, ran: ran.map((line) => JSON.parse(line)), ...(isTold ? { told } : {}) };
	} finally {
		for (const child of children) child.kill("SIGKILL");
		rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
	}
}

export const commandCells: readonly OwnCell[] = features.map(
	(feature): OwnCell => ({
		place: "the command",
		name: `${feature.name} in the command`,
		expected: feature.expected,
		play: () => play(feature),
	}),
);
