// A Next application whose routes use the packed packages: one route per entry of each package, and routes that run an
// agent, serve sessions, and start a database process and a sandbox. Nothing is excluded from Next's server build.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import type { CommandResult } from "../../tools/run-command.ts";
import { run } from "./bundlers.fixture.ts";

/** The version that the packages are tried with. */
export const nextPackages: readonly string[] = ["next@16.4.6", "react-dom@19", "@ai-sdk/openai@4"];

const dynamic = 'export const dynamic = "force-dynamic";';

/** The files of the application, without the routes of entries. */
const sources: Readonly<Record<string, string>> = {
	// Requires TypeScript, if it is installed, to read configuration files.
	"next.config.mjs": `export default { serverExternalPackages: ["graphile-worker"] };`,
	"app/layout.js": `
export default function Layout({ children }) {
	return <html lang="en"><body>{children}</body></html>;
}`,
	"app/page.js": `
export default function Page() {
	return <p>Started.</p>;
}`,
	"service.js": `
import { createHandler, sessionService } from "@holdfast/server";
import { scriptedModel } from "@holdfast/testing";
import { agent, tool } from "holdfast";
import { sqliteHost } from "holdfast/sqlite";

const parameters = { type: "object", properties: {} };
const clock = tool({ name: "clock", description: "The time.", parameters, run: () => "noon" });
const model = scriptedModel(({ messages }) => {
	const last = messages.at(-1);
	return last.type === "tool_result" ? \`It is \${last.text}.\` : { toolCalls: [{ name: "clock", arguments: {} }] };
});
function open() {
	const options = { model, tools: [clock] };
	const host = sqliteHost(process.env.DATABASE);
	return {
		clerk: agent({ ...options, host }),
		handler: createHandler({ service: sessionService({ host, agent: options }) }),
	};
}
export const service = () => (globalThis.service ??= open());`,
	"app/agent/route.js": `
import { service } from "../../service.js";
${dynamic}
export async function GET() {
	const session = service().clerk.session("clock");
	const run = await session.send("What time is it?");
	const { text, state } = await run.result();
	return Response.json({ text, messages: state.messages.length });
}`,
	"app/api/[[...path]]/route.js": `
import { service } from "../../../service.js";
${dynamic}
const answer = (request) => service().handler.fetch(request);
export { answer as GET, answer as POST };`,
	"app/orders/route.js": `
import { DatabaseSync } from "node:sqlite";
import { sqliteDriver } from "@holdfast/runner/connectors";
${dynamic}
export async function GET() {
	const path = \`\${process.env.DATABASE}.orders\`;
	const seed = new DatabaseSync(path);
	seed.exec("CREATE TABLE orders (id INTEGER); INSERT INTO orders VALUES (1)");
	seed.close();
	const driver = sqliteDriver({ path });
	const statement = { sql: "SELECT count(*) AS n FROM orders", placeholders: [], params: [], readOnly: true, maxRows: 10, maxCharacters: 10000 };
	const found = await driver.query(statement, AbortSignal.timeout(20000));
	await driver.close();
	return Response.json(found);
}`,
	"app/sandbox/route.js": `
import { createSandbox } from "@holdfast/sandbox";
${dynamic}
export async function GET() {
	const sandbox = createSandbox();
	const found = await sandbox.runCode("export default 1 + 1");
	await sandbox.close();
	return Response.json(found);
}`,
	// A provider that is loaded by its name when a model is first called, and a package that a host needs.
	"app/optional/route.js": `
import { FileSessionStore } from "@holdfast/stores/file";
import { openai } from "@holdfast/upp";
import { agent } from "holdfast";
${dynamic}
export async function GET() {
	const model = openai("gpt-5.2", { apiKey: "none", baseURL: "http://127.0.0.1:1" });
	const host = { sessionStore: new FileSessionStore(\`\${process.env.DATABASE}.sessions\`) };
	const failure = await agent({ model }).query("Hello").catch((error) => error);
	const run = await agent({ model, host }).session("one").send("Hello");
	const { outcome } = await run.result();
	return Response.json({ code: failure.code, outcome });
}`,
};

/** Writes the application into a folder that has the packages installed. */
export function writeNextApplication(app: string, specifiers: readonly string[]): void {
	const entries = specifiers.map((specifier) => [
		`app/entries/${nameOf(specifier)}/route.js`,
		`import * as entry from ${JSON.stringify(specifier)};
${dynamic}
export const GET = () => Response.json(Object.keys(entry));`,
	]);
	for (const [path, text] of [...Object.entries(sources), ...entries] as [string, string][]) {
		mkdirSync(dirname(join(app, path)), { recursive: true });
		writeFileSync(join(app, path), text);
	}
}

/** The name of an entry in a path. */
export function nameOf(specifier: string): string {
	return specifier.replaceAll(/[@/]/g, "_").replace(/^_/, "");
}

/** Builds the application with one of Next's bundlers. */
export function buildNext(app: string, bundler: "--turbopack" | "--webpack"): Promise<CommandResult> {
	return run(["env", "NEXT_TELEMETRY_DISABLED=1", process.execPath, next(app), "build", bundler], app);
}

const next = (app: string): string => join(app, "node_modules/next/dist/bin/next");

/** A built application that serves requests. */
export interface StartedNext extends AsyncDisposable {
	/** The body of the answer to `GET path`. */
	get(path: string): Promise<unknown>;
	/** The body of the answer to `POST path` with JSON. */
	post(path: string, body: object): Promise<string>;
}

/** Starts what was built, with its data in files that begin with `database`. */
export async function startNext(app: string, database: string): Promise<StartedNext> {
	const child = spawn(process.execPath, [next(app), "start", "--port", "0", "--hostname", "127.0.0.1"], {
		cwd: app,
		env: { PATH: process.env.PATH, DATABASE: database, NEXT_TELEMETRY_DISABLED: "1" },
		stdio: ["ignore", "pipe", "inherit"],
	});
	let address: string | undefined;
	for await (const line of createInterface({ input: child.stdout })) {
		address ??= /http:\/\/127\.0\.0\.1:\d+/.exec(line)?.[0];
		if (line.includes("Ready")) break;
	}
	if (address === undefined) throw new Error("Next did not start.");
	child.stdout.resume();
	const base = address;
	return {
		get: async (path) => (await fetch(`${base}${path}`)).json(),
		async post(path, body) {
			const headers = { "content-type": "application/json" };
			return (await fetch(`${base}${path}`, { method: "POST", headers, body: JSON.stringify(body) })).text();
		},
		async [Symbol.asyncDispose]() {
			if (child.exitCode !== null) return;
			child.kill();
			await once(child, "exit");
		},
	};
}
