// A Worker under attack: two tenants, users of one of them, and a model that follows its last message.
import { scriptedModel } from "@holdfast/testing";
import { directoryObject } from "./directory.ts";
import { edgeHandler } from "./edge-handler.ts";
import type { ObjectNamespace, ObjectState } from "./platform.ts";
import { sessionObject } from "./session-object.ts";

interface Env {
	readonly SESSIONS: ObjectNamespace;
	readonly DIRECTORY: ObjectNamespace;
}

/** `say N`: answers with N characters. `tool N`: a tool returns N characters. `hang`: never answers. Else: repeats the text. */
const model = scriptedModel(({ messages }) => {
	const last = messages.at(-1);
	if (last?.type === "tool_result") return "done";
	const [word, count] = (last as { text: string }).text.split(" ");
	if (word === "hang") return { gate: new Promise(() => {}), text: "never" };
	if (word === "say") return "x".repeat(Number(count));
	if (word === "tool")
		return { toolCalls: [{ name: "large", arguments: { count: Number(count) }, id: `c${messages.length}` }] };
	return `You said: ${(last as { text: string }).text.slice(0, 200)}`;
});

const ServedSession = sessionObject((env: Env) => ({
	agent: {
		model,
		tools: [
			{
				name: "large",
				description: "Returns a long text.",
				parameters: { type: "object", properties: { count: { type: "number" } } },
				run: ({ count }: { count: number }) => "y".repeat(count),
			},
		],
	},
	directory: env.DIRECTORY,
}));

export class Session extends ServedSession {
	readonly #state: ObjectState & { abort(reason: string): void };

	constructor(state: ObjectState & { abort(reason: string): void }, env: Env) {
		super(state, env);
		this.#state = state;
	}

	override async fetch(request: Request): Promise<Response> {
		if (new URL(request.url).pathname === "/evict") this.#state.abort("evicted");
		return super.fetch(request);
	}
}

const ServedDirectory = directoryObject();

/** Requests that directories fail from now on. */
let failing = 0;

export class Directory extends ServedDirectory {
	override async fetch(request: Request): Promise<Response> {
		const { pathname, searchParams } = new URL(request.url);
		if (pathname === "/fail") {
			failing = Number(searchParams.get("count"));
			return Response.json({});
		}
		if (failing > 0 && pathname !== "/list") {
			failing--;
			throw new Error("The directory is away.");
		}
		return super.fetch(request);
	}
}

const users: Readonly<Record<string, { readonly tenant: string; readonly user?: string }>> = {
	one: { tenant: "one" },
	two: { tenant: "two" },
	ann: { tenant: "shop", user: "ann" },
	bob: { tenant: "shop", user: "bob" },
	shop: { tenant: "shop" },
	odd: { tenant: '["one"' },
	quote: { tenant: 'one",null,"secret"],["' },
	nul: { tenant: "one\0" },
	half: { tenant: "one\ud800" },
	other: { tenant: "one\ud801" },
	proto: { tenant: "__proto__", user: "constructor" },
};

const served = edgeHandler<Env>((env) => ({
	sessions: env.SESSIONS,
	directory: env.DIRECTORY,
	authenticate: (request: Request) => users[request.headers.get("x-user") ?? ""],
	heartbeatMs: 200,
}));

export default {
	async fetch(request: Request, env: Env): Promise<Response> {
		const { pathname, search, searchParams } = new URL(request.url);
		if (pathname === "/fail")
			return env.DIRECTORY.get(env.DIRECTORY.idFromName(JSON.stringify(["one"]))).fetch(
				`https://d/fail${search}`,
			);
		if (pathname !== "/evict") return served.fetch(request, env);
		const name = JSON.stringify(["one", null, searchParams.get("session")]);
		const object = env.SESSIONS.get(env.SESSIONS.idFromName(name));
		return object.fetch("https://session/evict").catch(() => new Response("evicted"));
	},
};
