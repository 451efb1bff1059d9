// A large result of a tool without its own limit: the model sees its beginning and its end, and a warning names the tool.
import { scriptedModel } from "@holdfast/testing";
import { type HoldfastError, isToolResultMessage, type Message } from "@holdfast/upp";
import { describe, expect, test } from "vitest";
import { Agent } from "../agent/agent.ts";
import { createSubAgentTool } from "../agent/create-sub-agent-tool.ts";
import type { AgentOptions } from "../agent/options.ts";
import { AgentState } from "../state/index.ts";
import type { AnyTool } from "../tools/index.ts";

const large = `first\n${"x".repeat(50_000_000)}\nlast`;
const shown = /^first\nx{79994}\n\[cut: characters 80,000 to 49,980,011 of 50,000,011 .*\]\nx{19995}\nlast$/s;
const parameters = { type: "object" } as const;
const makes = (name: string, more: Partial<AnyTool> = {}): AnyTool & { readonly name: string } => ({
	description: "Tells.",
	parameters,
	run: () => large,
	...more,
	name,
});

function results(messages: readonly Message[]): unknown[] {
	return messages
		.filter(isToolResultMessage)
		.flatMap((message) => message.results.map(({ result }) => result));
}

function clerk(options: Partial<AgentOptions>, script: Parameters<typeof scriptedModel>[0]) {
	const warnings: HoldfastError[] = [];
	const model = scriptedModel(script);
	const agent = new Agent({ model, onWarning: (warning) => warnings.push(warning), ...options });
	return { agent, model, warnings, sent: () => results(model.requests.at(-1)?.messages ?? []) };
}

describe("a result of 50 MB", () => {
	test("of a local tool is cut for the model, kept in the history, and announced once", async () => {
		const call = { toolCalls: [{ name: "tells" }, { name: "tells" }] };
		const { agent, sent, warnings } = clerk({ tools: [makes("tells")] }, [call, "done"]);
		const session = agent.session("s");
		await (await session.send("go")).result();
		expect(sent()).toEqual([expect.stringMatching(shown), expect.stringMatching(shown)]);
		expect(results((await session.state()).messages)).toEqual([large, large]);
		expect(warnings).toMatchObject([
			{ code: "result_cut", data: { name: "tells", characters: large.length } },
		]);
		expect(warnings[0]?.message).toContain("largeResults()");
	});

	test("of a remote tool that a client answers is cut", async () => {
		const remote = { name: "asks", description: "Asks.", parameters };
		const { agent, sent, warnings } = clerk({ tools: [remote] }, [
			{ toolCalls: [{ id: "c", name: "asks" }] },
			"done",
		]);
		const session = agent.session("s");
		await (await session.send("go")).result();
		await session.answer([{ toolCallId: "c", output: large }]);
		await (await session.resume())?.result();
		expect(sent()).toEqual([expect.stringMatching(shown)]);
		expect(warnings[0]).toMatchObject({ code: "result_cut", data: { name: "asks" } });
	});

	test("of a sub-agent is cut, in each way to call one", async () => {
		const helper = new Agent({
			name: "helper",
			description: "Helps.",
			model: scriptedModel(() => "x".repeat(200_000)),
		});
		const asks = { type: "object", properties: { prompt: { type: "string" } } };
		const works = createSubAgentTool({
			name: "works",
			description: "Works.",
			parameters: asks,
			agent: helper,
		});
		const names = ["delegate_to_helper", "works"];
		const toolCalls = names.map((name) => ({ name, arguments: { prompt: "Go." } }));
		const { agent, sent } = clerk({ tools: [works], subagents: [helper] }, [{ toolCalls }, "done"]);
		await (await agent.session("s").send("go")).result();
		expect(sent()).toEqual(names.map(() => expect.stringMatching(/x{79900,}\n\[cut: .*\]\nx{19000,}/)));
	});

	test("is cut as text if it is data, and its files are kept", async () => {
		const image = {
			type: "image",
			mimeType: "image/png",
			source: { type: "base64", data: "A".repeat(200_000) },
		};
		const outputs = [{ rows: large }, [image, { type: "text", text: large }], [image]];
		const tools = outputs.map((output, at) => makes(`t${at}`, { run: () => output } as never));
		const toolCalls = tools.map(({ name }) => ({ name }));
		const { agent, sent } = clerk({ tools }, [{ toolCalls }, "done"]);
		await agent.generate("go");
		expect(sent()).toEqual([
			expect.stringMatching(/^\{"rows":"first.{100000,100200}last"\}$/s),
			[{ type: "text", text: expect.stringMatching(shown) }, image],
			[image],
		]);
	});

	test("is sent whole if the tool has no limit", async () => {
		const tells = makes("tells", { maxModelCharacters: Number.POSITIVE_INFINITY });
		const { agent, sent, warnings } = clerk({ tools: [tells] }, [{ toolCalls: [{ name: "tells" }] }, "done"]);
		await agent.generate("go");
		expect(sent()).toEqual([large]);
		expect(warnings).toEqual([]);
	});

	test("is cut in later calls that continue from its state, also if its tool is gone", async () => {
		const { agent } = clerk({ tools: [makes("tells")] }, [{ toolCalls: [{ name: "tells" }] }, "done"]);
		const { state } = await agent.generate("go");
		for (const tools of [[makes("tells")], []]) {
			const later = clerk({ tools }, ["done", "done"]);
			await later.agent.generate("again", AgentState.fromJSON(state.toJSON()));
			expect(later.sent()).toEqual([expect.stringMatching(shown)]);
			expect((await later.agent.generate("again", state)).state.messages).toEqual(
				expect.arrayContaining([...state.messages]),
			);
		}
	});
});
