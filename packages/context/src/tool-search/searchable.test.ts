import { scriptedModel } from "@holdfast/testing";
import type { LLMRequest } from "@holdfast/upp";
import { Agent, agent, createSession, execute, tool } from "holdfast";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { catalog } from "./catalog.fixture.ts";
import { searchable } from "./searchable.ts";

const search = (query: string) => ({ toolCalls: [{ name: "search_tools", arguments: { query } }] });
const call = (name: string) => ({ toolCalls: [{ name }] });

function offered(requests: readonly LLMRequest[]): (readonly string[])[] {
	return requests.map(({ tools = [] }) => tools.map(({ name }) => name));
}

/** What the tools of a request cost, at four characters a token. */
function tokensOf({ tools = [] }: LLMRequest): number {
	return tools.reduce(
		(sum, { name, description, parameters }) =>
			sum + JSON.stringify({ name, description, parameters }).length / 4,
		0,
	);
}

/** So many tools: those of the catalog, again and again. */
function many(count: number) {
	return Array.from({ length: count }, (_, at) => {
		const one = catalog[at % catalog.length] as (typeof catalog)[number];
		return { ...one, name: `${one.name}_${Math.floor(at / catalog.length)}` };
	});
}

describe("searchable()", () => {
	test("sends the search and the chosen tools, and appends the tools it finds", async () => {
		const model = scriptedModel([search("refund a payment"), call("stripe_create_refund"), "Refunded."]);
		const clerk = agent({ model, tools: searchable(catalog, { always: ["web_fetch"], limit: 2 }) });
		const turn = await clerk.query("Refund Ada.");
		const first = ["web_fetch", "search_tools"];
		expect(offered(model.requests)[0]).toEqual(first);
		expect(offered(model.requests)[1]?.slice(0, 3)).toEqual([...first, "stripe_create_refund"]);
		expect(offered(model.requests)[1]).toHaveLength(4);
		expect(turn.toolExecutions[1]).toMatchObject({ isError: false, result: "ran stripe_create_refund" });
		expect(turn.toolExecutions[0]?.result).toMatch(
			/^You can call these tools now:\n- stripe_create_refund: Refunds a payment, in full or in part\.\n/,
		);
	});

	test("a tool that was not found yet cannot be called, and the model is asked to search", async () => {
		const model = scriptedModel([call("git_status"), "Done."]);
		const { toolExecutions } = await agent({ model, tools: searchable(catalog) }).query("Go.");
		expect(toolExecutions[0]?.result).toBe(
			'The tool "git_status" is not loaded, so it did not run. Call "search_tools" to load it, then call it again.',
		);
	});

	test("1,000 tools cost less than 2,000 tokens of the prompt, also after a search", async () => {
		const model = scriptedModel([search("send an email"), "Done."]);
		await agent({ model, tools: searchable(many(1_000)) }).query("Go.");
		const [before, after] = model.requests.map(tokensOf);
		expect(before).toBeLessThan(200);
		expect(after).toBeLessThan(1_000);
	});

	test("a search without a match loads nothing and suggests other words", async () => {
		const model = scriptedModel([search("qwxz"), search("the"), "Done."]);
		const { toolExecutions } = await agent({ model, tools: searchable(catalog) }).query("Go.");
		expect(toolExecutions.map(({ result }) => result)).toEqual(
			Array(2).fill(expect.stringMatching(/^No tool matches\. Search again with other words/)),
		);
		expect(offered(model.requests).at(-1)).toEqual(["search_tools"]);
	});

	test("accepts records, zod schemas and the shape of the AI SDK, and keeps their form", async () => {
		const tools = searchable({
			brew: {
				description: "Makes tea.",
				inputSchema: z.object({ kettle: z.string() }),
				execute: () => "Tea.",
			},
			walk: tool({ name: "walk", description: "Walks.", parameters: z.object({}), run: () => "Far." }),
		});
		expect(Object.keys(tools)).toEqual(["brew", "walk", "search_tools"]);
		const model = scriptedModel([
			search("kettle"),
			{ toolCalls: [{ name: "brew", arguments: { kettle: "k" } }] },
			"Tea.",
		]);
		const { toolExecutions } = await agent({ model, tools }).query("Tea?");
		expect(toolExecutions[1]?.result).toBe("Tea.");
		expect(offered(model.requests)[1]).toEqual(["search_tools", "brew"]);
	});

	test("found tools stay in a session, and sub-agents find their own", async () => {
		const helperModel = scriptedModel([search("weather forecast"), call("weather_get_forecast"), "Sun."]);
		const helper = new Agent({
			model: helperModel,
			name: "helper",
			description: "Helps.",
			tools: searchable(catalog, { limit: 1 }),
		});
		const model = scriptedModel([
			search("git status"),
			{ toolCalls: [{ name: "delegate_to_helper", arguments: { prompt: "Weather?" } }] },
			"Sun.",
			"Still.",
		]);
		const clerk = new Agent({ model, subagents: [helper], tools: searchable(catalog, { limit: 1 }) });
		const session = clerk.session("s");
		await (await session.send("Weather?")).result();
		await (await session.send("And now?")).result();
		expect(offered(model.requests).map((names) => names.includes("git_status"))).toEqual([
			false,
			true,
			true,
			true,
		]);
		expect(offered(helperModel.requests)[1]).toEqual(["search_tools", "weather_get_forecast"]);
		expect(offered(model.requests).flat()).not.toContain("weather_get_forecast");
	});

	test("works in createSession()", async () => {
		const model = scriptedModel([search("git status"), call("git_status"), "Clean."]);
		const session = createSession("s", { tools: searchable(catalog, { limit: 1 }) }, { model });
		await execute(session, "Go.").result();
		expect(offered(model.requests)).toEqual([
			["search_tools"],
			["search_tools", "git_status"],
			["search_tools", "git_status"],
		]);
	});

	test("10,000 tools take linear time", async () => {
		const timed = async (count: number): Promise<number> => {
			const model = scriptedModel([search("send an email"), "Done."]);
			const tools = many(count);
			const { user } = process.cpuUsage();
			await agent({ model, tools: searchable(tools) }).query("Go.");
			return process.cpuUsage().user - user;
		};
		await timed(500);
		const few = Math.min(await timed(1_000), await timed(1_000), await timed(1_000));
		const most = Math.min(await timed(10_000), await timed(10_000));
		expect(most / few).toBeLessThan(30);
	});

	test("does not change the given tools", async () => {
		const own = catalog[0] as (typeof catalog)[number];
		searchable([own]);
		expect(own).not.toHaveProperty("loadedBy");
	});

	const invalid: readonly (readonly [string, () => unknown, string, RegExp])[] = [
		[
			"unknown tool",
			() => searchable(catalog, { always: ["git_statu"] }),
			"invalid_option",
			/Did you mean "git_status"/,
		],
		["unknown option", () => searchable(catalog, { allways: [] } as never), "invalid_option", /allways/],
		["taken name", () => searchable(catalog, { name: "git_status" }), "invalid_option", /already named/],
		["empty name", () => searchable(catalog, { name: "" }), "invalid_option", /non-empty/],
		["wrong limit", () => searchable(catalog, { limit: 0 }), "invalid_option", /from 1 to 50/],
		["no list", () => searchable(catalog, { always: "git_status" as never }), "invalid_option", /list/],
		["promise", () => searchable(Promise.resolve([]) as never), "invalid_tool", /await/],
		["not a tool", () => searchable([5 as never]), "invalid_tool", /"0"/],
		[
			"two of one name",
			() => agent({ tools: searchable([...catalog, catalog[0] as never]) }),
			"duplicate_tool",
			/Two tools/,
		],
	];
	test.each(invalid)("%s: rejected before anything is sent", (_, make, code, message) => {
		expect(make).toThrow(expect.objectContaining({ code, message: expect.stringMatching(message) }));
	});

	test("without tools to find there is no search", () => {
		expect(searchable([])).toEqual([]);
		const provided = { type: "provider", id: "x.web_search", args: {}, name: "web_search" } as never;
		expect(searchable([provided])).toEqual([provided]);
	});
});
