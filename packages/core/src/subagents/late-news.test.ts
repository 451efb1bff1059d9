// An answer that reaches a sub-agent while another process still has the session of its parent.
import { scriptedModel } from "@holdfast/testing";
import { expect, test } from "vitest";
import { Agent } from "../agent/agent.ts";
import { type Host, type Lease, memoryHost } from "../host/index.ts";
import { tool } from "../tools/index.ts";

function parentOn(host: Host): Agent {
	const act = tool({
		name: "act",
		description: "Acts.",
		parameters: { type: "object", properties: {} },
		needsApproval: true,
		run: () => "acted",
	});
	const model = scriptedModel(({ messages }) =>
		messages.length === 1 ? { toolCalls: [{ name: "act" }] } : "It is done.",
	);
	const helper = new Agent({ name: "helper", description: "Helps.", model, tools: [act] });
	const toolCalls = [{ name: "delegate_to_helper", arguments: { prompt: "go" } }];
	return new Agent({ host, model: scriptedModel([{ toolCalls }, "Done."]), subagents: [helper] });
}

test("the process that left the run continues it, if whoever answered could not", async () => {
	const store = memoryHost();
	const { journal } = store;
	/** A process that cannot take the session of the parent. */
	const acquireOthers: typeof journal.acquire = (key, options) =>
		key === "s" ? { ok: false, heldBy: "another" } : journal.acquire(key, options);
	const other = parentOn({ ...store, journal: { ...journal, acquire: acquireOthers } });
	let refusal: unknown;
	const answer = async (): Promise<void> => {
		const [call] = await other.session("s").pending();
		if (call === undefined) return;
		const answering = other.session("s").answer([{ toolCallId: call.toolCallId, approved: true }]);
		refusal = await answering.catch(({ code }) => code);
	};
	const acquire: typeof journal.acquire = async (key, options) => {
		const acquired = await journal.acquire(key, options);
		if (!acquired.ok || key !== "s") return acquired;
		const get = (lease: Lease, name: string | symbol): unknown => {
			const value = Reflect.get(lease, name, lease) as unknown;
			if (name === "release") return () => answer().then(() => lease.release());
			return typeof value === "function" ? value.bind(lease) : value;
		};
		return { ok: true, lease: new Proxy(acquired.lease, { get }) };
	};
	const agent = parentOn({ ...store, journal: { ...journal, acquire } });
	await agent.session("s").send("go");
	await expect.poll(async () => (await agent.session("s").state()).messages.at(-1)?.text).toBe("Done.");
	expect(refusal).toBe("session_busy");
	await agent.close();
	await other.close();
});
