// What the calls of the table need so that they fail for nothing but an option: stores, connections, servers and files.
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { scriptedModel } from "@holdfast/testing";
import type { Project } from "@holdfast/threads";
import { type Agent, agent, memoryHost, type Session, type ToolAnswer, tool } from "holdfast";
import { valueProject } from "../simulation/threads-project.fixture.ts";

const folder = mkdtempSync(join(tmpdir(), "holdfast-options-"));
let files = 0;

/** The path of a file that does not exist yet. */
export const newFile = (): string => join(folder, `${++files}.db`);

/** The folder of a project with one agent, as files. */
export const projectFolder: string = join(folder, "project");
const sources = {
	"agents/one.ts":
		'export default { name: "one", packageName: "one-agent", sideA: { prompt: "help" }, toolDescription: "Helps." };',
	"prompts/help.ts":
		'export default { name: "help", toolDescription: "Helps.", prompt: "Help.", model: "main" };',
	"models/main.ts": 'export default { name: "main", model: "m", provider: () => ({}) };',
};
for (const [file, text] of Object.entries(sources)) {
	mkdirSync(join(projectFolder, "agents", file, ".."), { recursive: true });
	writeFileSync(join(projectFolder, "agents", file), text);
}

/** The same project, without files. */
export const project: Project = valueProject({
	agent: { a: { name: "a", sideA: { prompt: "p" } } },
	prompt: { p: { name: "p", toolDescription: "P.", prompt: "Be.", model: "m" } },
	model: { m: { name: "m", model: "m", provider: () => ({}) } },
	tool: {},
	hook: {},
	effect: {},
	provider: {},
});

/** A pool whose database is empty. */
export const pool = {
	max: 10,
	query: async () => ({ rows: [] }),
	connect: async () => ({
		query: async () => ({ rows: [] }),
		on: () => {},
		off: () => {},
		release: () => {},
	}),
	on: () => {},
};

/** The connection of `sqlHost`, to a database in memory. */
export function sqlConnection(): object {
	const database = new DatabaseSync(":memory:");
	return {
		exec: (text: string) => database.exec(text),
		prepare: (text: string) => database.prepare(text),
		atomically: (work: () => unknown) => work(),
	};
}

/** The storage of a Durable Object, in memory. */
export function objectStorage(): object {
	const database = new DatabaseSync(":memory:");
	return {
		sql: {
			exec(query: string, ...bindings: never[]) {
				// Only a single statement can have parameters.
				const isScript = bindings.length === 0 && /;\s*\S/.test(query);
				if (isScript) database.exec(query);
				const rows = isScript ? [] : database.prepare(query).all(...bindings);
				return {
					toArray: () => rows,
					raw: () => rows.map((row) => Object.values(row)).values(),
					[Symbol.iterator]: () => rows.values(),
					rowsWritten: 0,
				};
			},
		},
		transactionSync: (work: () => unknown) => work(),
		getAlarm: async () => null,
		setAlarm: async () => {},
		deleteAlarm: async () => {},
		deleteAll: async () => {},
	};
}

/** Answers like a server of sessions: with a page of them, or events that never come. */
export const answering = async (url: unknown): Promise<Response> =>
	/\/sessions(?:\?|$)/.test(String(url))
		? Response.json({ sessions: [] })
		: new Response(new ReadableStream(), { headers: { "content-type": "text/event-stream" } });

/** Answers with the card of a remote agent. */
export const cardOf = (url: string) => async (): Promise<Response> =>
	Response.json({
		name: "one",
		description: "One.",
		version: "1",
		supportedInterfaces: [{ url, protocolBinding: "JSONRPC", protocolVersion: "1.0" }],
		capabilities: {},
		defaultInputModes: ["text/plain"],
		defaultOutputModes: ["text/plain"],
		skills: [],
	});

/** An agent that answers, unlike the others: its sessions can be used. */
const answerer: Agent = agent({
	model: scriptedModel(({ messages }) =>
		messages.at(-1)?.text === "Ask" ? { toolCalls: [{ name: "ask" }] } : "Done.",
	),
	tools: [tool({ name: "ask", description: "Asks.", parameters: { type: "object", properties: {} } })],
	host: memoryHost(),
});
let sessions = 0;

/** A session in which no run has been. */
export const newSession = (): Session => answerer.session(`new-${++sessions}`);

/** Makes one ahead of each call: a call is judged by what it does at once, and must not wait for what it is given. */
export async function prepared<T>(make: () => Promise<T>): Promise<() => Promise<T>> {
	let next = make();
	await next;
	return () => {
		const current = next;
		next = make();
		return current;
	};
}

/** A session in which one run has ended. */
export async function usedSession(): Promise<Session> {
	const session = newSession();
	await (await session.send("Hello")).result();
	return session;
}

/** A session that waits for the answer to a remote tool call, and that answer. */
export async function waitingSession(): Promise<{ session: Session; answers: readonly ToolAnswer[] }> {
	const session = newSession();
	await (await session.send("Ask")).result();
	const [call] = await session.pending();
	return { session, answers: [{ toolCallId: call?.toolCallId ?? "", output: "Yes." }] };
}
