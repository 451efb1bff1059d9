// The end of a script cuts off calls that run. Its result names them, also if the process dies before the result is recorded.
import { scriptedModel } from "@holdfast/testing";
import { Agent, type Host, tool } from "holdfast";
import { afterAll, expect, test } from "vitest";
import { type Death, DyingStore } from "../../../../test/shared/dying-host.fixture.ts";
import { createSandbox } from "../sandbox.ts";
import { codeMode } from "./code-mode.ts";

const sandbox = createSandbox({ workers: 1 });
afterAll(() => sandbox.close());

const slow = tool({
	name: "slow",
	description: "Never ends by itself.",
	parameters: { type: "object" },
	retryPolicy: "pure",
	run: (_, { signal }) =>
		new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
});
const fast = tool({
	name: "fast",
	description: "Ends at once.",
	parameters: { type: "object" },
	retryPolicy: "pure",
	run: () => "fast",
});
const code = "return Promise.race([tools.slow(), tools.fast()]);";

function agentOn(host: Host) {
	const model = scriptedModel(({ messages }) =>
		messages.some(({ type }) => type === "tool_result")
			? "Done."
			: { toolCalls: [{ name: "run_code", arguments: { code } }] },
	);
	return new Agent({ model, host, tools: [codeMode({ tools: [slow, fast], sandbox, retryPolicy: "pure" })] });
}

/** Runs the script with a process that dies at an append, and a second one. Returns the result and the number of appends. */
async function resultAfter(
	death: Death | undefined,
): Promise<{ readonly result: string; readonly appends: number }> {
	const store = new DyingStore();
	const { host, died } = store.worker(death);
	const send = async (agent: Agent) =>
		(await agent.session("s").send("Go.", { dedupeKey: "once" } as never)).result();
	let ended = await Promise.race([send(agentOn(host)), died]);
	if (ended === "died") {
		const again = agentOn(store.worker().host);
		const isNew = store.journal.head("s") === undefined;
		const resumed = isNew ? await send(again) : await (await again.session("s").resume())?.result();
		ended = resumed as Exclude<typeof ended, "died">;
	}
	const results = store.journal
		.read("s")
		.flatMap(({ fact }) => (fact.kind === "tool.settled" ? [String(fact.result)] : []));
	return { result: results.join(), appends: store.appends };
}

test("a result names the calls that its end cut off, even if the process dies afterwards", async () => {
	const { result, appends } = await resultAfter(undefined);
	expect(result).toContain("1 of its calls (slow) had started");
	// The last appends of the script's session, and the next ones of its caller.
	for (let at = appends - 6; at < appends; at++)
		expect((await resultAfter({ at, when: "after" })).result, `death after append ${at}`).toBe(result);
});
