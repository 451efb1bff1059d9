// A process that works on a thread that others work on too, for tests: `{path of the database} {file of marks} {name}`. Its
// model and its tool mark where they begin and end. Six times it says two things at once, when the thread is idle, and it
// dies in the calls that are to be its last.
import { appendFileSync, readFileSync } from "node:fs";
import { sqliteHost } from "holdfast/sqlite";
import { defineTool } from "../define/index.ts";
import { oneAgent, scripted, start } from "./threads.fixture.ts";

/** A line of the file of marks. */
export interface Mark {
	readonly what: "began" | "ended" | "died" | "said";
	readonly by: string;
	readonly text?: string | undefined;
}

export const threadId = "shared";

/** Steps, of all processes counted together, in which whoever is in it dies. */
export const lastSteps: readonly number[] = [2, 5, 9];

/** Who is in a step as the last of these marks was made; throws where two were. */
export function whoIsInStep(marks: readonly Mark[]): string | undefined {
	let inStep: string | undefined;
	for (const { what, by } of marks) {
		if (what === "said") continue;
		if (what === "began" && inStep !== undefined)
			throw new Error(`${by} began a step while ${inStep} was in one.`);
		inStep = what === "began" ? by : undefined;
	}
	return inStep;
}

export function readMarks(file: string): readonly Mark[] {
	return readFileSync(file, "utf8")
		.split("\n")
		.filter(Boolean)
		.map((line) => JSON.parse(line) as Mark);
}

const wait = (milliseconds: number): Promise<void> =>
	new Promise((resolve) => setTimeout(resolve, milliseconds));

/** The project of these processes: an agent that looks once and answers; a step continues for a while, so that two could overlap. */
export function sharedProject(file: string, by: string) {
	const mark = (what: Mark["what"], text?: string): void =>
		appendFileSync(file, `${JSON.stringify({ what, by, text } satisfies Mark)}\n`);
	const inStep = async (): Promise<void> => {
		mark("began");
		const marks = readMarks(file);
		try {
			whoIsInStep(marks);
		} catch (error) {
			process.stdout.write(`${error}\n`);
			process.exit(1);
		}
		const step = marks.filter(({ what }) => what === "began").length;
		await wait(25);
		if (lastSteps.includes(step)) {
			mark("died");
			process.kill(process.pid, "SIGKILL");
		}
		mark("ended");
	};
	const provider = scripted(async ({ messages }) => {
		await inStep();
		return messages.at(-1)?.role === "tool" ? "ok" : { calls: [{ name: "look", id: `${by}-${step++}` }] };
	});
	let step = 0;
	const look = defineTool({
		description: "x",
		execute: async () => {
			await inStep();
			return { status: "success", result: "seen" };
		},
	});
	return { project: oneAgent(provider, { tools: { look } }), mark };
}

const [path, file = "", by = ""] = process.argv.slice(2);
if (path !== undefined && import.meta.filename === process.argv[1]) {
	const { project, mark } = sharedProject(file, by);
	const { threads, host } = start(project, { host: sqliteHost(path) });
	await threads.supervise({ lookEveryMs: 20 });
	process.stdout.write("ready\n");
	const order = process.stdin[Symbol.asyncIterator]();
	await order.next();
	for (let at = 0; at < 6; at++) {
		for (;;) {
			const head = await host.journal.head(threadId);
			if (head === undefined || (head.openRunId === undefined && head.waiting === 0)) break;
			await wait(2);
		}
		// Two that arrive together at this process, and at the other one.
		await Promise.all(
			["a", "b"].map(async (which) => {
				const text = `${by}.${at}${which}`;
				await threads.queueMessage(threadId, { content: text });
				mark("said", text);
			}),
		);
	}
	process.stdout.write("said all\n");
	await order.next();
	await threads.close();
	await host.close();
	process.exit();
}
