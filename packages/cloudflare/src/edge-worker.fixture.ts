// A Worker with sessions in objects, as an application would write it, with a model that follows a script.
import { scriptedModel } from "@holdfast/testing";
import { directoryObject } from "./directory.ts";
import { edgeHandler } from "./edge-handler.ts";
import { sessionName } from "./owner-name.ts";
import type { ObjectNamespace, ObjectState } from "./platform.ts";
import { sessionObject } from "./session-object.ts";

interface Env {
	readonly SESSIONS: ObjectNamespace;
	readonly DIRECTORY: ObjectNamespace;
	/** `yes`: the model never answers after its tool has run. `once`: it does not the first time. */
	readonly HOLD: string;
}

/** A model call was held in this isolate. Evicted objects do not reset their isolate. */
let hasHeld = false;

function holds({ HOLD }: Env): boolean {
	if (HOLD !== "once") return HOLD === "yes";
	if (hasHeld) return false;
	hasHeld = true;
	return true;
}

const add = {
	name: "add",
	description: "Adds two numbers.",
	parameters: { type: "object", properties: { a: { type: "number" }, b: { type: "number" } } },
	retryPolicy: "pure" as const,
	run: ({ a, b }: { a: number; b: number }) => a + b,
};

const ServedSession = sessionObject((env: Env) => ({
	agent: {
		model: scriptedModel(({ messages }) => {
			const last = messages.at(-1);
			if (last?.type !== "tool_result")
				return { toolCalls: [{ name: "add", arguments: { a: 1, b: 2 }, id: `call_${messages.length}` }] };
			return holds(env) ? { gate: new Promise(() => {}), text: "never" } : "It is three indeed.";
		}),
		tools: [add],
	},
	directory: env.DIRECTORY,
	maxConcurrentRuns: 2,
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

export const Directory: ReturnType<typeof directoryObject> = directoryObject();

const served = edgeHandler<Env>((env) => ({
	sessions: env.SESSIONS,
	directory: env.DIRECTORY,
	apiKeys: { "key-one": "one", "key-two": "two" },
	heartbeatMs: 200,
}));

export default {
	async fetch(request: Request, env: Env): Promise<Response> {
		const { pathname, searchParams } = new URL(request.url);
		if (pathname !== "/evict") return served.fetch(request, env);
		const name = sessionName({ tenant: "one" }, searchParams.get("session") ?? "");
		const object = env.SESSIONS.get(env.SESSIONS.idFromName(name));
		return object.fetch("https://session/evict").catch(() => new Response("evicted"));
	},
};
