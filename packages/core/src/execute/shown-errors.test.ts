// Errors of runs as a server shows them, in every place where they appear.
import { scriptedModel } from "@holdfast/testing";
import { expect, test } from "vitest";
import type { AgentOptions } from "../agent/options.ts";
import { memoryHost } from "../host/memory-host.ts";
import { plan } from "../strategies/plan.ts";
import { ExecuteSessions } from "./execute-sessions.ts";
import { followLog } from "./session-log.ts";

const shown = ({ code }: { code: string }) => ({ code, message: "It failed." });

/** Returns everything visible of a session that has executed once, with the original and the converted error. */
async function said(agent: AgentOptions): Promise<readonly [asItIs: string, shown: string]> {
	const host = memoryHost();
	const sessions = new ExecuteSessions({ host, agent: { ...agent, keepDeltasMs: 1 } });
	const session = sessions.session("s");
	await session.create({ messages: [], tools: [] });
	const { run } = await session.execute({ kind: "message", input: "Go." });
	await run.result();
	const texts: string[] = [];
	for (const how of [undefined, shown]) {
		const events: unknown[] = [];
		for await (const batch of followLog(host.journal, session.storeKey, "s", { shown: how }))
			events.push(batch);
		const view = session.view(how);
		await view.refresh();
		texts.push(JSON.stringify([events, view.messages]));
	}
	await sessions.lifecycle.close();
	return texts as [string, string];
}

test("an error that ends a run, before or within an answer", async () => {
	for (const text of ["", "I will "]) {
		const [asItIs, hidden] = await said({ model: scriptedModel([{ text, error: new Error("sk-secret") }]) });
		// The final message, the error, the end of the execution, and the transcript; also the run's messages.
		expect(asItIs.split("sk-secret").length - 1).toBe(6);
		expect(hidden).not.toContain("sk-secret");
		expect(hidden.split("It failed.").length - 1).toBe(6);
	}
});

test("an error of the model that the strategy decides about", async () => {
	const steps = [{ id: "a", description: "Look.", tool: "look", dependsOn: [] }];
	const model = scriptedModel([
		{ text: JSON.stringify({ steps }), data: { steps } },
		{ error: new Error("sk-secret") },
	]);
	const [asItIs, hidden] = await said({ model, execution: plan() });
	expect(asItIs).toContain("sk-secret");
	expect(hidden).not.toContain("sk-secret");
	expect(hidden).toContain('"role":"error","error":"It failed."');
});
