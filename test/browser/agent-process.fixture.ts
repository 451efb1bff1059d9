// A server in a process of its own, over a database file, to be killed. It serves the pages of the tests beside its own
// routes. Its model streams a story of twelve words and waits for a word of its parent in the middle; "where" and "erase"
// make it call a tool of the page and one that needs approval.
import { type ChildProcess, fork } from "node:child_process";
import { readFileSync } from "node:fs";
import { listen, type Route } from "@holdfast/server";
import { type ScriptedReply, scriptedModel } from "@holdfast/testing";
import { tool } from "holdfast";

/** The story, and how much of it is streamed before the model waits. */
export const story = "one two three four five six seven eight nine ten eleven twelve";
export const half = "one two three four";

/** A server process. */
export interface AgentProcess {
	readonly port: number;
	/** Lets the model stream the rest. */
	go(): void;
	/** SIGKILL; settles when it is gone. */
	kill(): Promise<void>;
}

/** Starts one. `waits`: whether its model waits in the middle of its stories. */
export async function startAgent(
	db: string,
	pages: Readonly<Record<string, string>>,
	waits: "waits" | "never waits",
): Promise<AgentProcess> {
	const child: ChildProcess = fork(import.meta.filename, [db, JSON.stringify(pages), waits], {
		execArgv: ["--conditions=holdfast-source", "--disable-warning=ExperimentalWarning"],
	});
	const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
	const port = await new Promise<number>((resolve, reject) => {
		child.once("message", (message) => resolve(message as number));
		child.once("exit", (code) => reject(new Error(`The server ended with ${code}.`)));
	});
	return {
		port,
		go: () => child.send("go"),
		async kill() {
			child.kill("SIGKILL");
			await ended;
		},
	};
}

/** A page: its bundle lies in a file. */
function pageRoute(name: string, file: string): Route {
	return {
		method: "GET",
		path: `/${name}`,
		name,
		summary: "A page of the tests.",
		answers: { 200: { description: "The page.", content: { "text/html": { type: "string" } } } },
		handle: () => {
			const script = readFileSync(file, "utf8").replaceAll("</script", "<\\/script");
			const html = `<!doctype html><meta charset="utf-8"><title>${name}</title><main id="root"></main><script type="module">${script}</script>`;
			return new Response(html, { headers: { "content-type": "text/html; charset=utf-8" } });
		},
	};
}

async function main([db = "", pages = "{}", waits = ""]: readonly string[]): Promise<void> {
	let go = (): void => {};
	process.on("message", () => go());
	const wait = (): Promise<void> =>
		new Promise((resolve) => {
			go = resolve;
		});
	const reply = (said: string, last: string): ScriptedReply => {
		if (last === "tool_result") return { text: `I heard: ${said}` };
		for (const name of ["where", "erase"])
			if (said.includes(name))
				return { reasoning: "A tool will know.", toolCalls: [{ name, arguments: { of: "this page" } }] };
		return { text: story, beforeDelta: (at) => (at === 4 && waits === "waits" ? wait() : undefined) };
	};
	const model = scriptedModel(({ messages }) => {
		const last = messages.at(-1);
		return reply(JSON.stringify(last), last?.type ?? "");
	});
	const parameters = { type: "object", properties: { of: { type: "string" } } };
	const where = { name: "where", description: "Says where the user is.", parameters };
	const erase = tool({
		name: "erase",
		description: "Erases all.",
		parameters,
		needsApproval: true,
		run: () => ({ erased: true }),
	});
	const shown = Object.entries(JSON.parse(pages) as Record<string, string>);
	// A page with `useChat` finds its tools at the server; the client brings its own.
	const tools = "chat" in JSON.parse(pages) ? [where, erase] : [erase];
	const server = await listen({
		agent: { model, tools },
		clientsMaySet: ["tools"],
		db,
		port: 0,
		deltaFlushMs: 5,
		recoverEveryMs: 50,
		routes: shown.map(([name, file]) => pageRoute(name, file)),
	});
	process.once("disconnect", () => process.exit());
	process.send?.(server.port);
}

if (import.meta.main) await main(process.argv.slice(2));
