import { cpSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { loadProject } from "../load/index.ts";
import {
	agentSource,
	type Files,
	modelSource,
	promptSource,
	smallProject,
	toolSource,
	writeProject,
} from "../project.fixture.ts";
import type { Project } from "../types/index.ts";
import { packAgents, unpackAgents } from "./index.ts";

const effect = `import { defineEffect } from "@holdfast/threads";\nexport default defineEffect("x", () => {});`;
const endpoint = (text: string): string =>
	`import { defineThreadEndpoint } from "@holdfast/threads";\nexport default defineThreadEndpoint(() => new Response("${text}"));`;

/** A shop whose agent needs some of what there is. */
const shop: Files = {
	...smallProject,
	"package.json": {
		name: "the-shop",
		type: "module",
		dependencies: { zod: "^4.0.0", "some-helper": "^2.1.0" },
	},
	"agents/agents/seller.ts": agentSource(
		"seller",
		"sell",
		`description: "Sells.", version: "1.2.3", license: "MIT", hooks: ["keep"]`,
	),
	"agents/prompts/sell.ts": promptSource("sell", `tools: ["search", "price"]`).replace(
		'"Be."',
		`[{ type: "include", prompt: "tone" }]`,
	),
	"agents/prompts/tone.ts": promptSource("tone"),
	"agents/prompts/price.ts": promptSource("price"),
	"agents/models/small.ts": modelSource("small", `fallbacks: ["spare"]`),
	"agents/models/spare.ts": modelSource("spare"),
	"agents/tools/search.ts": `import { defineTool } from "@holdfast/threads";
import { z } from "zod";
import { found, type Found } from "../../lib/found.ts";
const later = (): Promise<{ readonly text: string }> => import("../../lib/later.ts");
export default defineTool({
	description: "Searches.",
	args: z.object({ text: z.string() }),
	uses: ["count"],
	execute: async (_state, { text }) => ({ status: "success", result: (found as Found) + text + (await later()).text }),
});`,
	"agents/tools/count.ts": toolSource(),
	"agents/tools/unused.ts": toolSource(),
	"agents/hooks/keep.ts": `import { defineHook } from "@holdfast/threads";
export default defineHook({ hook: "filter_messages", id: "keep", execute: async (state, rows) => {
	await state.scheduleEffect("inner");
	return rows;
} });`,
	"agents/effects/tidy.ts": effect,
	"agents/effects/inner.ts": effect,
	"agents/effects/other.ts": effect,
	"agents/api/status.get.ts": endpoint("packed"),
	"agents/api/hidden.ts": endpoint("hidden"),
	"lib/found.ts": `export type Found = string;\nexport const found: Found = "found ";`,
	"lib/later.ts": `export const text: string = " later";`,
};

/** A project with the shop's package in a folder of it. */
async function withPackage(place: string, more: Files = {}, options: object = {}): Promise<string> {
	const folder = writeProject({ ...smallProject, ...more });
	await packAgents({
		directory: writeProject(shop),
		agents: ["seller"],
		name: "shop",
		out: join(folder, place),
		...options,
	});
	return folder;
}

async function search(project: Project, name: string): Promise<unknown> {
	const tool = project.tools.get(name)?.definition;
	return (await tool?.execute({} as never, { text: "shoes" }))?.result;
}

describe("packAgents", () => {
	test("packs an agent with everything it names, also in its code, as JavaScript", async () => {
		const out = join(writeProject({}), "out");
		const result = await packAgents({
			directory: writeProject(shop),
			agents: ["seller"],
			name: "@a/shop",
			out,
			effects: ["tidy"],
			threadEndpoints: ["status.get"],
		});
		expect(result.items).toEqual([
			"agent seller",
			"effect inner",
			"effect tidy",
			"hook keep",
			"model small",
			"model spare",
			"prompt price",
			"prompt sell",
			"prompt tone",
			"tool count",
			"tool search",
		]);
		expect(result.files).toEqual(
			[
				"agents/agents/seller.js",
				"agents/api/status.get.js",
				"agents/effects/inner.js",
				"agents/effects/tidy.js",
				"agents/hooks/keep.js",
				"agents/models/small.js",
				"agents/models/spare.js",
				"agents/prompts/price.js",
				"agents/prompts/sell.js",
				"agents/prompts/tone.js",
				"agents/providers/none.js",
				"agents/tools/count.js",
				"agents/tools/search.js",
				"lib/found.js",
				"lib/later.js",
				"package.json",
			].sort(),
		);
		expect(JSON.parse(readFileSync(join(out, "package.json"), "utf8"))).toEqual({
			name: "@a/shop",
			version: "1.2.3",
			description: "Sells.",
			license: "MIT",
			type: "module",
			standardagent: { entryAgents: ["seller"], effects: ["tidy"], threadEndpoints: ["status.get"] },
			peerDependencies: { "@holdfast/threads": "*", zod: "^4.0.0" },
		});
		expect(readFileSync(join(out, "agents/tools/search.js"), "utf8")).not.toMatch(/\.ts"|Found\b.*=/);
	});

	test("rejects a tool that uses features of this runtime only, which still runs unpacked [SA-215]", async () => {
		const bound = `import { defineTool } from "@holdfast/threads";
import { read } from "../../lib/read.ts";
export default defineTool({ description: "x", execute: (state) => ({ status: "success", result: read(state) }) });`;
		const folder = writeProject({
			...shop,
			"agents/tools/count.ts": bound,
			"lib/read.ts": `import type { ThreadState } from "@holdfast/threads";
export const read = (state: ThreadState): string => String(state._notPackableRuntimeContext?.database);`,
		});
		const out = join(folder, "out");
		const packing = packAgents({ directory: folder, agents: ["seller"], name: "shop", out });
		await expect(packing).rejects.toMatchObject({ code: "not_packable", data: { items: ['tool "count"'] } });
		await expect(packing).rejects.toThrow('tool "count"');
		expect(existsSync(out)).toBe(false);
		const tool = (await loadProject(folder)).tools.get("count")?.definition;
		const state = { _notPackableRuntimeContext: { database: "the database" } };
		expect(await tool?.execute(state as never)).toMatchObject({ result: "the database" });
	});

	test("rejects unknown agents, an existing folder, and invalid names", async () => {
		const directory = writeProject({
			...shop,
			"agents/tools/count.ts": `import "../../gone.ts";\n${toolSource()}`,
		});
		const out = join(directory, "out");
		const pack = (options: object): Promise<unknown> =>
			packAgents({ directory: writeProject(shop), agents: ["seller"], name: "shop", out, ...options });
		await expect(pack({ agents: ["nobody"] })).rejects.toMatchObject({ code: "pack_refused" });
		await expect(pack({ agents: [] })).rejects.toMatchObject({ code: "pack_refused" });
		await expect(pack({ effects: ["gone"] })).rejects.toMatchObject({ code: "pack_refused" });
		await expect(pack({ threadEndpoints: ["gone"] })).rejects.toMatchObject({ code: "pack_refused" });
		await expect(pack({ name: "../shop" })).rejects.toMatchObject({ code: "pack_refused" });
		await expect(pack({ directory })).rejects.toMatchObject({ code: "project_invalid" });
		await pack({});
		await expect(pack({})).rejects.toMatchObject({ code: "pack_refused" });
	});
});

describe("a packed package", () => {
	test.each(["node_modules/shop", "agents/packed/shop"])("is found in %s [SA-209]", async (place) => {
		const project = await loadProject(await withPackage(place));
		expect([...project.agents.keys()]).toEqual(["helper", "shop/seller"]);
		expect(await search(project, "shop/search")).toBe("found shoes later");
	});

	test("is found under a scope, and below a folder above [SA-209]", async () => {
		const folder = await withPackage("node_modules/@a/shop", {}, { name: "@a/shop" });
		expect([...(await loadProject(folder)).agents.keys()]).toContain("@a/shop/seller");
		const inner = join(folder, "packages/inner");
		mkdirSync(inner, { recursive: true });
		cpSync(join(folder, "agents"), join(inner, "agents"), { recursive: true });
		cpSync(
			join(writeProject({ "package.json": { dependencies: { "@a/shop": "*" } } }), "package.json"),
			join(inner, "package.json"),
		);
		expect([...(await loadProject(inner)).agents.keys()]).toContain("@a/shop/seller");
	});

	test("needs `standardagent.entryAgents` [SA-209]", async () => {
		const folder = await withPackage("node_modules/shop", {
			"node_modules/plain/package.json": { name: "plain" },
			"node_modules/plain/agents/agents/a.js": agentSource("a", "b"),
			"node_modules/empty/package.json": { name: "empty", standardagent: {} },
			"node_modules/empty/agents/agents/a.js": agentSource("a", "b"),
		});
		const project = await loadProject(folder);
		expect([...project.agents.keys()]).toEqual(["helper", "shop/seller"]);
	});

	test("keeps its own item if the project has one of the same name [SA-210]", async () => {
		const folder = await withPackage("node_modules/shop", {
			"agents/tools/search.ts": toolSource("the project's"),
			"agents/prompts/help.ts": promptSource("help", `tools: ["search"]`),
		});
		const project = await loadProject(folder);
		expect(await search(project, "search")).toBe("the project's");
		expect(await search(project, "shop/search")).toBe("found shoes later");
		for (const [prompt, tool] of [
			["help", "search"],
			["shop/sell", "shop/search"],
		] as const) {
			const { namespace } = project.prompts.get(prompt) ?? {};
			expect(project.visible(namespace ?? { type: "global" }, "tool", "search")?.name).toBe(tool);
		}
	});

	test("is closed to the project's prompts and agents [SA-211]", async () => {
		const listing = (...tools: readonly string[]): Files => ({
			"agents/prompts/help.ts": promptSource("help", `tools: ${JSON.stringify(tools)}`),
		});
		const hidden = await withPackage("node_modules/shop", listing("shop/search", "shop/price", "seller"));
		await expect(loadProject(hidden)).rejects.toMatchObject({
			data: { problems: [{ field: "tools[0]" }, { field: "tools[1]" }, { field: "tools[2]" }] },
		});
		const side = await withPackage("node_modules/shop", {
			"agents/agents/helper.ts": agentSource("helper", "shop/sell"),
		});
		await expect(loadProject(side)).rejects.toMatchObject({
			data: { problems: [{ field: "sideA.prompt" }] },
		});
	});

	test("can declare effects and endpoints, which are otherwise private [SA-213]", async () => {
		const bare = await loadProject(await withPackage("node_modules/shop"));
		expect([...bare.names({ type: "global" }, "effect"), ...bare.endpoints]).toEqual([]);
		const declared = { effects: ["tidy"], threadEndpoints: ["status.get"] };
		const more = {
			"node_modules/shop/agents/api/inner.js": endpoint("inner"),
		};
		const project = await loadProject(await withPackage("node_modules/shop", more, declared));
		expect(project.names({ type: "global" }, "effect")).toEqual(["shop/tidy"]);
		expect(project.names({ type: "packed", packageId: "shop" }, "effect")).toEqual(["inner", "tidy"]);
		expect(project.visible({ type: "global" }, "effect", "shop/tidy")?.name).toBe("shop/tidy");
		expect(project.visible({ type: "global" }, "effect", "tidy")).toBeUndefined();
		expect(project.endpoints).toMatchObject([{ route: "status", method: "GET", packageId: "shop" }]);
	});

	test("gives way to the project's routes with a warning, and to no other package", async () => {
		const declared = { threadEndpoints: ["status.get"] };
		const folder = await withPackage(
			"node_modules/shop",
			{ "agents/api/status.ts": endpoint("local") },
			declared,
		);
		const project = await loadProject(folder);
		expect(project.endpoints).toMatchObject([{ route: "status", packageId: null }]);
		expect(project.warnings).toEqual([expect.stringContaining("GET /status of the package shop")]);
		const two = await withPackage("node_modules/shop", {}, declared);
		await packAgents({
			directory: writeProject(shop),
			agents: ["seller"],
			name: "mall",
			out: join(two, "node_modules/mall"),
			...declared,
		});
		await expect(loadProject(two)).rejects.toMatchObject({ code: "project_invalid" });
	});

	test("that declares unknown items is reported", async () => {
		const folder = writeProject({
			...smallProject,
			"agents/packed/odd/package.json": {
				name: "odd",
				standardagent: { entryAgents: ["gone"], effects: ["away"] },
			},
			"agents/packed/odder/package.json": { name: "odder", standardagent: { entryAgents: "all" } },
			"agents/packed/oddest/package.json": `{ "standardagent": { "entryAgents": [] }`,
			"agents/packed/odd/agents/README.md": "",
		});
		await expect(loadProject(folder)).rejects.toMatchObject({
			data: {
				problems: [
					{ field: "standardagent.entryAgents", message: expect.stringContaining('"gone"') },
					{ field: "standardagent.effects" },
					{ field: "standardagent.entryAgents", message: "It must be a list of names." },
					{ message: "It is not valid JSON." },
				],
			},
		});
	});

	test("can be one module that exports everything by kind [SA-209]", async () => {
		const folder = writeProject({
			...smallProject,
			"node_modules/whole/package.json": {
				name: "whole",
				exports: { ".": { import: "./all.js" } },
				standardagent: { entryAgents: ["a"] },
			},
			"node_modules/whole/all.js": `
const execute = () => ({ status: "success", result: "whole" });
export const agents = { a: { name: "a", sideA: { prompt: "p" } } };
export const prompts = { p: { name: "p", toolDescription: "x", prompt: "x", model: "m", tools: ["search"] } };
export const tools = { search: { description: "x", execute } };
export const models = { m: { name: "m", model: "x", provider: () => ({}) } };
export const hooks = {};
export const __meta = { packageId: "whole", entryAgents: ["a"] };`,
		});
		const project = await loadProject(folder);
		expect([...project.agents.keys()]).toEqual(["helper", "whole/a"]);
		expect(await search(project, "whole/search")).toBe("whole");
	});
});

describe("unpackAgents", () => {
	test("makes the items of a package the project's own", async () => {
		const folder = writeProject({ "agents/README.md": "" });
		const out = join(folder, "node_modules/shop");
		await packAgents({ directory: writeProject(shop), agents: ["seller"], name: "shop", out });
		const { files, from } = await unpackAgents(folder, "shop");
		expect(files).toContain("agents/tools/search.js");
		expect(files).not.toContain("package.json");
		expect(from).toBe(out);
		const project = await loadProject(folder);
		expect(project.names({ type: "global" }, "agent")).toEqual(["seller", "shop/seller"]);
		expect(await search(project, "search")).toBe("found shoes later");
	});

	test("overwrites nothing, and unpacks nothing if it cannot unpack everything", async () => {
		const folder = await withPackage("node_modules/shop", { "agents/tools/search.ts": toolSource("mine") });
		await expect(unpackAgents(folder, "shop")).rejects.toMatchObject({ code: "unpack_refused" });
		expect(existsSync(join(folder, "agents/tools/count.js"))).toBe(false);
		await expect(unpackAgents(folder, "mall")).rejects.toMatchObject({ code: "unpack_refused" });
	});
});
