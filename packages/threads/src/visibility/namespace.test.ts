import { expect, test } from "vitest";
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
import type { ItemKind, NamespaceContext, ProjectItem } from "../types/index.ts";
import { belongsToPackage, isPacked, isVisibleInNamespace } from "./index.ts";

function packageOf(folder: string, name: string): Files {
	return {
		[`${folder}/package.json`]: { name, standardagent: { entryAgents: ["front"], effects: ["tidy"] } },
		[`${folder}/agents/agents/front.ts`]: agentSource("front", "talk"),
		[`${folder}/agents/agents/back.ts`]: agentSource("back", "talk"),
		[`${folder}/agents/prompts/talk.ts`]: promptSource("talk", `tools: ["search"]`),
		[`${folder}/agents/tools/search.ts`]: toolSource(name),
		[`${folder}/agents/models/small.ts`]: modelSource("small"),
		[`${folder}/agents/effects/tidy.ts`]: `import { defineEffect } from "@holdfast/threads";\nexport default defineEffect("x", () => {});`,
		[`${folder}/agents/effects/own.ts`]: `import { defineEffect } from "@holdfast/threads";\nexport default defineEffect("x", () => {});`,
		[`${folder}/agents/providers/none.ts`]: smallProject["agents/providers/none.ts"] ?? "",
	};
}

const namespaces: readonly NamespaceContext[] = [
	{ type: "global" },
	{ type: "packed", packageId: "shop" },
	{ type: "packed", packageId: "@a/bank" },
	{ type: "packed", packageId: "unknown" },
];

async function load() {
	return await loadProject(
		writeProject({
			...smallProject,
			"agents/tools/search.ts": toolSource("the project"),
			...packageOf("agents/packed/shop", "shop"),
			...packageOf("agents/packed/@a/bank", "@a/bank"),
		}),
	);
}

test("the functions return what a project lets each namespace see, for every item and every name of it [SA-214]", async () => {
	const project = await load();
	const items: readonly ProjectItem[] = [
		...project.agents.values(),
		...project.prompts.values(),
		...project.tools.values(),
		...project.models.values(),
		...project.effects.values(),
		...project.providers.values(),
	];
	expect(items.map(({ packageId }) => packageId)).toEqual(expect.arrayContaining([null, "shop", "@a/bank"]));
	for (const item of items) {
		expect(isPacked(item)).toBe(item.packageId !== null);
		for (const namespace of namespaces) {
			const isVisible = isVisibleInNamespace(item, namespace);
			expect(project.visible(namespace, item.kind, item.name) === item).toBe(isVisible);
			const localName = namespace.type === "packed" ? item.localName : item.name;
			expect(project.names(namespace, item.kind).includes(localName)).toBe(
				items.some(
					(other) =>
						other.kind === item.kind &&
						isVisibleInNamespace(other, namespace) &&
						(namespace.type === "packed" ? other.localName : other.name) === localName,
				),
			);
			if (namespace.type === "packed")
				expect(belongsToPackage(item, namespace.packageId)).toBe(item.packageId === namespace.packageId);
		}
	}
});

test("packed items have names with their package, and each namespace has its own [SA-210]", async () => {
	const project = await load();
	expect([...project.tools.keys()].sort()).toEqual(["@a/bank/search", "search", "shop/search"]);
	const found = namespaces.map((namespace) => project.visible(namespace, "tool", "search")?.packageId);
	expect(found).toEqual([null, "shop", "@a/bank", undefined]);
});

test("a project can use only what a package declares [SA-211]", async () => {
	const project = await load();
	const seen = (kind: ItemKind): readonly string[] => project.names({ type: "global" }, kind);
	expect(seen("agent")).toEqual(["@a/bank/front", "helper", "shop/front"]);
	expect(seen("prompt")).toEqual(["help"]);
	expect(seen("tool")).toEqual(["search"]);
	expect(seen("model")).toEqual(["small"]);
	expect(seen("effect")).toEqual(["@a/bank/tidy", "shop/tidy"]);
	for (const [kind, name] of [
		["agent", "shop/back"],
		["prompt", "shop/talk"],
		["tool", "shop/search"],
		["agent", "front"],
	] as const)
		expect(project.visible({ type: "global" }, kind, name)).toBeUndefined();
});

test("a package sees nothing of the project and of other packages", async () => {
	const project = await load();
	const shop: NamespaceContext = { type: "packed", packageId: "shop" };
	for (const [kind, name] of [
		["agent", "helper"],
		["prompt", "help"],
		["agent", "@a/bank/front"],
		["tool", "@a/bank/search"],
	] as const)
		expect(project.visible(shop, kind, name)).toBeUndefined();
	expect(project.visible(shop, "tool", "shop/search")).toBe(project.visible(shop, "tool", "search"));
});
