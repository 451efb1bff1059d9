// The server: an agent over HTTP, with the page as an additional route. Sessions are stored in a file.
import { join } from "node:path";
import { type Listening, listen, type Route, type Server } from "@holdfast/server";
import { type ScriptedReply, scriptedModel } from "@holdfast/testing";
import { build, type Rolldown } from "vite";

/** Returns the page's script as a bundle; in your own project, Vite or Next does this. */
export async function bundlePage(): Promise<string> {
	const built = await build({
		configFile: false,
		root: import.meta.dirname,
		logLevel: "error",
		define: { "process.env.NODE_ENV": '"production"' },
		oxc: { jsx: { runtime: "automatic", importSource: "react", development: false } },
		resolve: { conditions: ["holdfast-source", "browser", "module", "import", "default"] },
		build: { write: false, lib: { entry: join(import.meta.dirname, "page.tsx"), formats: ["es"] } },
	});
	const [first] = (Array.isArray(built) ? built : [built]) as readonly Rolldown.RolldownOutput[];
	return first?.output[0].code ?? "";
}

function send(method: "GET", path: string, type: string, text: string): Route {
	return {
		method,
		path,
		name: path === "/" ? "page" : "script",
		summary: "A part of the page.",
		answers: { 200: { description: "It.", content: { [type]: { type: "string" } } } },
		handle: () => new Response(text, { headers: { "content-type": `${type}; charset=utf-8` } }),
	};
}

const html =
	'<!doctype html><title>Chat</title><div id="root"></div><script type="module" src="/page.js"></script>';

export interface ChatOptions {
	readonly db: string;
	readonly port: number;
	readonly page: string;
	/** Called before each word of an answer. Default: waits a tenth of a second. */
	readonly beforeWord?: (number: number) => unknown;
}

/** Starts the server, and resumes the answers that an earlier process left unfinished. */
export function startChat({ db, port, page, beforeWord = wait }: ChatOptions): Promise<Listening & Server> {
	// A rule in place of a language model. Put `openai("gpt-5.2")` of "@ai-sdk/openai" here.
	const model = scriptedModel(
		({ messages }): ScriptedReply => ({
			text: `You said “${messages.at(-1)?.text}”, and this is a long answer, word by word, to be cut off in its middle.`,
			beforeDelta: beforeWord,
		}),
	);
	const routes = [send("GET", "/", "text/html", html), send("GET", "/page.js", "text/javascript", page)];
	return listen({ agent: { model }, db, port, routes });
}

const wait = () => new Promise((resolve) => setTimeout(resolve, 100));
