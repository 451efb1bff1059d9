// A program that runs on Node, Bun and Deno alike. Arguments: what to do, and the folder of its database. What it has to say
// comes as lines of JSON.
import { createHandler, createServer, sessionService } from "@holdfast/server";
import { scriptedModel } from "@holdfast/testing";
import { Agent, type Host } from "holdfast";
import { type SqlConnection, sqlHost } from "holdfast/sql";
import { sqliteHost } from "holdfast/sqlite";

/** What differs between the three, as far as it is used here. */
interface Runtimes {
	readonly Bun?: {
		serve(options: { hostname: string; port: number; fetch(request: Request): Promise<Response> }): {
			readonly port: number;
		};
	};
	readonly Deno?: {
		serve(
			options: { hostname: string; port: number; onListen(at: { port: number }): void },
			fetch: (request: Request) => Promise<Response>,
		): unknown;
	};
}
const { Bun, Deno } = globalThis as Runtimes;

const [task = "", folder = ""] = process.argv.slice(2);
const say = (value: unknown): void => console.log(JSON.stringify(value));

const add = {
	name: "add",
	description: "Adds two numbers.",
	parameters: { type: "object", properties: { a: { type: "number" }, b: { type: "number" } } },
	retryPolicy: "pure" as const,
	async run({ a, b }: { a: number; b: number }) {
		if (task === "hold") {
			say({ held: true });
			await new Promise<void>((resolve) => setTimeout(resolve, 600_000));
		}
		return a + b;
	},
};
const agent = {
	model: scriptedModel(({ messages }) =>
		messages.at(-1)?.type === "tool_result"
			? `It is ${messages.at(-1)?.text}.`
			: { toolCalls: [{ name: "add", arguments: { a: 1, b: 2 }, id: `call_${messages.length}` }] },
	),
	tools: [add],
};

async function ask(host: Host): Promise<void> {
	const asked = new Agent({ ...agent, host });
	const run = await asked.session("s").send("1 + 2?");
	const { text } = await run.result();
	say({ text });
	await asked.close();
	await host.close?.();
}

/** The runtime's own SQLite as a connection of `holdfast/sql`. */
async function connect(file: string): Promise<SqlConnection> {
	if (Bun === undefined) {
		const { DatabaseSync } = await import("node:sqlite");
		const database = new DatabaseSync(file);
		return {
			exec: (text) => database.exec(text),
			prepare: (text) => database.prepare(text) as never,
			atomically(work) {
				database.exec("BEGIN IMMEDIATE");
				try {
					const result = work();
					database.exec("COMMIT");
					return result;
				} catch (error) {
					if (database.isTransaction) database.exec("ROLLBACK");
					throw error;
				}
			},
		};
	}
	// Not written out: only Bun has it.
	const name = "bun:sqlite";
	const { Database } = await import(name);
	const database = new Database(file, { strict: true });
	return {
		exec: (text) => database.run(text),
		prepare(text) {
			const statement = database.prepare(text);
			return {
				all: (...parameters) => statement.all(...parameters),
				get: (...parameters) => statement.get(...parameters) ?? undefined,
				iterate: (...parameters) => statement.iterate(...parameters),
				run: (...parameters) => statement.run(...parameters),
			};
		},
		atomically: (work) => database.transaction(work).immediate(),
	};
}

const file = `${folder}/sessions.db`;
switch (task) {
	case "call": {
		const { turn } = await new Agent(agent).generate("1 + 2?");
		say({ text: turn.response.text });
		break;
	}
	case "send":
	case "hold":
		await ask(sqliteHost(file));
		break;
	case "recover": {
		const host = sqliteHost(file);
		const recovering = new Agent({ ...agent, host });
		for await (const run of recovering.work({ until: "done" })) say({ text: (await run.result()).text });
		await recovering.close();
		await host.close();
		break;
	}
	case "connection":
		await ask(sqlHost({ connection: await connect(`${folder}/own.db`), name: "own" }));
		break;
	case "listen": {
		const host = sqliteHost(file);
		const server = createServer({ service: sessionService({ agent, host }) });
		const { url } = await server.listen({ port: 0 });
		say({ url });
		process.once("SIGTERM", async () => {
			await server.close({ drainMs: 0 });
			await host.close();
			say({ closed: true });
			process.exit(0);
		});
		break;
	}
	case "fetch": {
		const handler = createHandler({ service: sessionService({ agent, host: sqliteHost(file) }) });
		const fetch = (request: Request): Promise<Response> => handler.fetch(request);
		const at = { hostname: "127.0.0.1", port: 0 };
		const report = ({ port }: { port: number }): void => say({ url: `http://127.0.0.1:${port}` });
		if (Bun !== undefined) report(Bun.serve({ ...at, fetch }));
		else if (Deno !== undefined) Deno.serve({ ...at, onListen: report }, fetch);
		else throw new Error("Node has no such server of its own.");
		process.once("SIGTERM", () => process.exit(0));
		break;
	}
	default:
		throw new Error(`There is no task ${task}.`);
}
