import { appendFileSync, existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { loadProject } from "../load/index.ts";
import { agentSource, promptSource, smallProject, toolSource, writeProject } from "../project.fixture.ts";
import { type PackableSkill, packAgents, packedSkills, unpackAgents } from "./index.ts";

const text = "---\nname: refunds\ndescription: Rules for refunds.\n---\nSee rules/eu.md.\n";
const image = new Uint8Array([0, 255, 1]);
const refunds: PackableSkill = {
	name: "refunds",
	text,
	files: ["logo.png", "rules/eu.md"],
	readFile: async (path) => (path === "logo.png" ? image : new TextEncoder().encode("14 days.")),
};

async function packed(more: object = {}, files: object = {}) {
	const folder = writeProject({ ...smallProject });
	const out = join(folder, "node_modules/shop");
	const directory = writeProject({ ...smallProject, ...files });
	const result = await packAgents({ directory, agents: ["helper"], name: "shop", out, ...more });
	return { folder, out, result };
}

describe("packAgents with skills", () => {
	test("copies them with all their files, and the project finds them by their hashes", async () => {
		const { folder, out, result } = await packed({ skills: [refunds] });
		expect(result.items).toContain("skill refunds");
		expect(readFileSync(join(out, "skills/refunds/SKILL.md"), "utf8")).toBe(text);
		expect(readFileSync(join(out, "skills/refunds/rules/eu.md"), "utf8")).toBe("14 days.");
		expect([...readFileSync(join(out, "skills/refunds/logo.png"))]).toEqual([...image]);
		const skill = { name: "refunds", packageId: "shop", folder: join(out, "skills/refunds") };
		expect(await packedSkills(folder)).toEqual([skill]);
	});

	test.each([
		["its text changed", (at: string) => appendFileSync(join(at, "SKILL.md"), "More.")],
		["a file changed", (at: string) => writeFileSync(join(at, "rules/eu.md"), "30 days.")],
		["a file was added", (at: string) => writeFileSync(join(at, "new.md"), "")],
		["it was removed", (at: string) => rmSync(at, { recursive: true })],
	])("rejects a copy if %s", async (_, change) => {
		const { folder, out } = await packed({ skills: [refunds] });
		change(join(out, "skills/refunds"));
		await expect(packedSkills(folder)).rejects.toMatchObject({
			code: "packed_skill_changed",
			data: { name: "refunds", packageId: "shop" },
		});
	});

	test("unpacks them into the project's own folder", async () => {
		const { folder } = await packed({ skills: [refunds] });
		for (const path of Object.keys(smallProject)) rmSync(join(folder, path));
		await unpackAgents(folder, "shop");
		expect(readFileSync(join(folder, "skills/refunds/SKILL.md"), "utf8")).toBe(text);
		expect(readFileSync(join(folder, "skills/refunds/rules/eu.md"), "utf8")).toBe("14 days.");
	});

	test.each([
		{ name: ".." },
		{ name: "a/b" },
		{ files: ["../../package.json"] },
		{ files: ["/etc/hosts"] },
		{ files: ["a\\b"] },
	])("rejects the skill %o", async (wrong) => {
		await expect(packed({ skills: [{ ...refunds, ...wrong }] })).rejects.toMatchObject({
			code: "pack_refused",
		});
		await expect(packed({ skills: [refunds, refunds] })).rejects.toMatchObject({ code: "pack_refused" });
	});

	test("a package that lists skills in another form is reported", async () => {
		const manifest = { name: "odd", standardagent: { entryAgents: [], skills: ["refunds"] } };
		const folder = writeProject({ ...smallProject, "agents/packed/odd/package.json": manifest });
		await expect(loadProject(folder)).rejects.toMatchObject({
			data: { problems: [{ field: "standardagent.skills" }] },
		});
	});
});

test("files that code reads next to its module are packed, and modules that it starts as JavaScript", async () => {
	const { out, result } = await packed(
		{},
		{
			"agents/prompts/help.ts": promptSource("help", `tools: ["read"]`),
			"agents/tools/read.ts": `import { readFileSync } from "node:fs";
const text = readFileSync(new URL("../../texts/hello.txt", import.meta.url), "utf8");
const worker = new URL( '../../lib/worker.ts', import.meta.url );
const later = new URL("./not-yet.txt", import.meta.url);
${toolSource()}`,
			"texts/hello.txt": "Hello.",
			"lib/worker.ts": `import { two } from "./two.ts";\nexport const three: number = two;`,
			"lib/two.ts": "export const two: number = 2;",
		},
	);
	expect(result.files).toEqual(expect.arrayContaining(["texts/hello.txt", "lib/worker.js", "lib/two.js"]));
	expect(readFileSync(join(out, "agents/tools/read.js"), "utf8")).toContain(
		"'../../lib/worker.js', import.meta.url",
	);
	expect(existsSync(join(out, "lib/worker.ts"))).toBe(false);
	expect(result.leftOut).toEqual([]);
});

test("what a package cannot contain is listed", async () => {
	const { result } = await packed(
		{},
		{
			"package.json": { name: "x", type: "module", holdfast: { agentsMd: true } },
			"agents/agents/helper.ts": agentSource("helper", "help"),
			"agents/prompts/help.ts": promptSource("help", `tools: ["mcp:clock.now", "mcp:files"]`),
		},
	);
	expect(result.leftOut).toEqual([
		expect.stringContaining('MCP server "clock"'),
		expect.stringContaining('MCP server "files"'),
		expect.stringContaining("AGENTS.md"),
	]);
});
