// A Worker whose sessions in objects run a workflow.
import { scriptedModel } from "@holdfast/testing";
import { type Workflow, workflow } from "holdfast/workflow";
import { edgeHandler } from "./edge-handler.ts";
import { sessionName } from "./owner-name.ts";
import type { ObjectNamespace, ObjectState } from "./platform.ts";
import { sessionObject } from "./session-object.ts";

interface Env {
	readonly SESSIONS: ObjectNamespace;
}

/** Created with the first request: a Worker has no random ids before. */
function mainWorkflow(): Workflow<{ round: number }, unknown> {
	const child = workflow({ name: "child" }, async (flow, { of }: { of: number }) => {
		await flow.sleep(1);
		return of * 2;
	});

	const main = workflow(
		{ name: "main", workflows: [child] },
		async (flow, { round }: { round: number }): Promise<unknown> => {
			const id = await flow.step("work", ({ idempotencyKey }) => idempotencyKey.length > 36);
			const said = await flow.model(scriptedModel(["Hello."]), "Greet.");
			await flow.log("greeted");
			const twice = await flow.child(child, { of: round });
			await flow.state({ round, twice });
			const go = await flow.event<string>("go", { timeout: "1 hour" });
			return round === 1 ? flow.continueAsNew({ round: 2 }) : { id, said, twice, go };
		},
	);
	return main as Workflow<{ round: number }, unknown>;
}

const ServedSession = sessionObject<Env>(() => ({ agent: mainWorkflow().agent }));

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

const served = edgeHandler<Env>((env) => ({ sessions: env.SESSIONS, apiKeys: { "key-one": "one" } }));

export default {
	async fetch(request: Request, env: Env): Promise<Response> {
		const { pathname, searchParams } = new URL(request.url);
		if (pathname !== "/evict") return served.fetch(request, env);
		const name = sessionName({ tenant: "one" }, searchParams.get("session") ?? "");
		const object = env.SESSIONS.get(env.SESSIONS.idFromName(name));
		return object.fetch("https://session/evict").catch(() => new Response("evicted"));
	},
};
