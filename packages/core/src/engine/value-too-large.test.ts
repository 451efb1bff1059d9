// A store that cannot store a value because of its size: the run ends with a code, and is not retried.

import { scriptedModel } from "@holdfast/testing";
import { HoldfastError } from "@holdfast/upp";
import { expect, test } from "vitest";
import { Agent } from "../agent/agent.ts";
import { encodeFact } from "../facts/index.ts";
import { memoryHost } from "../host/memory-host.ts";
import { tool } from "../tools/index.ts";

/** A host whose journal refuses facts of more than 5,000 characters. */
function narrowHost() {
	const host = memoryHost();
	const { acquire } = host.journal;
	host.journal.acquire = async (...given) => {
		const acquired = await acquire.apply(host.journal, given);
		if (!acquired.ok) return acquired;
		const { lease } = acquired;
		const append = lease.append.bind(lease);
		lease.append = (batch) => {
			if (batch.facts.some((fact) => JSON.stringify(encodeFact(fact)).length > 5_000))
				throw new HoldfastError("value_too_large", "Too large.");
			return append(batch);
		};
		return acquired;
	};
	return host;
}

const large = "x".repeat(6_000);
const tells = tool({
	name: "tells",
	description: "Tells.",
	parameters: { type: "object" },
	run: () => large,
});

test.each([
	["an input", large, ["never"]],
	["an answer", "go", [large]],
	["a tool's result", "go", [{ toolCalls: [{ name: "tells" }] }, "never"]],
])("%s that is too large ends its run, and the session continues", async (_, input, replies) => {
	const host = narrowHost();
	let asked = 0;
	const model = scriptedModel(() => replies[asked++] ?? "next");
	const agent = new Agent({ model, host, tools: [tells] });
	const session = agent.session("s");
	const result = await (await session.send(input)).result();
	expect(result).toMatchObject({ outcome: "error", error: { code: "value_too_large" } });
	expect((await host.journal.head("s"))?.openRunId).toBeUndefined();
	asked = replies.length;
	expect((await (await session.send("again")).result()).text).toBe("next");
	await agent.close();
	await host.close();
});
