// A Worker whose sessions in objects run a workflow that sleeps, asks and waits for an event, also as a page of useChat sees it.
import { workflow } from "holdfast/workflow";
import { edgeHandler } from "./edge-handler.ts";
import type { ObjectNamespace } from "./platform.ts";
import { sessionObject } from "./session-object.ts";

interface Env {
	readonly SESSIONS: ObjectNamespace;
}

export const Session = sessionObject<Env>(() => {
	const child = workflow({ name: "child" }, async (flow) => {
		await flow.sleep("1 second");
		return flow.approve("child");
	});
	const waits = workflow({ name: "waits", workflows: [child] }, async (flow) => {
		await flow.sleep("1 second");
		await flow.state("slept");
		const go = await flow.event("go");
		const isApproved = await flow.approve("main");
		const why = await flow.ask("why");
		return { go, isApproved, why, child: await flow.child(child, {}) };
	});
	return { agent: waits.agent };
});

export default edgeHandler<Env>((env) => ({ sessions: env.SESSIONS, apiKeys: { "key-one": "one" } }));
