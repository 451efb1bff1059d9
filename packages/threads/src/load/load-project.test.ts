import { join } from "node:path";
import { isHoldfastError } from "@holdfast/upp";
import { describe, expect, test } from "vitest";
import {
	agentSource,
	type Files,
	modelSource,
	promptSource,
	smallProject,
	source,
	toolSource,
	writeProject,
} from "../project.fixture.ts";
import { loadProject, type ProjectProblem } from "./index.ts";

const global = { type: "global" } as const;

/** What is wrong with the small project once these files are in it. */
async function problemsOf(files: Files): Promise<readonly ProjectProblem[]> {
	const folder = writeProject({ ...smallProject, ...files });
	const error: unknown = await loadProject(folder).catch((reason) => reason);
	if (!isHoldfastError(error)) return [];
	expect(error.code).toBe("project_invalid");
	const problems = error.data?.problems as readonly ProjectProblem[];
	for (const { file } of problems) expect(error.message).toContain(file.slice(folder.length + 1));
	return problems.map((problem) => ({ ...problem, file: problem.file.slice(folder.length + 1) }));
}

describe("the contents of a project", () => {
	test("are found by its folders, without registration [SA-216]", async () => {
		const project = await loadProject(
			writeProject({
				...smallProject,
				"agents/tools/send_mail.ts": toolSource(),
				"agents/tools/send_mail.test.ts": "throw new Error('a test is no tool')",
				"agents/tools/inside/helper.ts": "export const no = 'tool';",
				"agents/tools/notes.md": "no tool",
				"agents/hooks/keep.ts": source(
					"Hook",
					`{ hook: "filter_messages", id: "keep_recent", execute: (_s, m) => m }`,
				),
				"agents/effects/tidy.ts": `import { defineEffect } from "@holdfast/threads";\nexport default defineEffect("Tidies.", () => {});`,
				"agents/api/files/[id].post.ts": `import { defineThreadEndpoint } from "@holdfast/threads";\nexport default defineThreadEndpoint(() => new Response("ok"));`,
				"agents/packed/shop/package.json": { name: "shop", standardagent: { entryAgents: ["seller"] } },
				"agents/packed/shop/agents/agents/seller.ts": agentSource("seller", "sell"),
				"agents/packed/shop/agents/prompts/sell.ts": promptSource("sell"),
				"agents/packed/shop/agents/models/small.ts": modelSource("small"),
				"agents/packed/shop/agents/providers/none.ts": smallProject["agents/providers/none.ts"] ?? "",
			}),
		);
		expect([...project.agents.keys()]).toEqual(["helper", "shop/seller"]);
		expect([...project.prompts.keys()]).toEqual(["help", "shop/sell"]);
		expect([...project.tools.keys()]).toEqual(["send_mail"]);
		expect([...project.models.keys()]).toEqual(["small", "shop/small"]);
		expect([...project.hooks.keys()]).toEqual(["keep_recent"]);
		expect([...project.effects.keys()]).toEqual(["tidy"]);
		expect([...project.providers.keys()]).toEqual(["none", "shop/none"]);
		expect(project.endpoints.map(({ method, route }) => `${method} ${route}`)).toEqual(["POST files/[id]"]);
		expect(project.warnings).toEqual([]);
	});

	test("lists the values of `env` that are too short to be masked", async () => {
		const helper = agentSource("helper", "help").replace(
			"{ name:",
			'{ env: { LANGUAGE: "en", DEBUG: "true", KEY: "a-long-key" }, name:',
		);
		const project = await loadProject(writeProject({ ...smallProject, "agents/agents/helper.ts": helper }));
		expect(project.agents.get("helper")?.definition.env).toMatchObject({ LANGUAGE: "en" });
		expect(project.warnings).toEqual([
			expect.stringMatching(/LANGUAGE .*"helper" is shorter than 6 characters/),
		]);
	});

	test("can be empty, and only the folder `agents` is required [SA-216]", async () => {
		const project = await loadProject(writeProject({ "agents/README.md": "" }));
		expect(project.agents.size + project.tools.size + project.endpoints.length).toBe(0);
		const folder = writeProject({});
		await expect(loadProject(folder)).rejects.toMatchObject({ code: "project_missing" });
	});

	test("a tool has only the name of its file [SA-035]", async () => {
		const project = await loadProject(
			writeProject({ ...smallProject, "agents/tools/send_mail.ts": toolSource() }),
		);
		expect(project.names(global, "tool")).toEqual(["send_mail"]);
		expect(project.visible(global, "tool", "send_mail")?.definition.description).toBe("x");
		for (const name of ["send_mail.ts", "sendMail", "tools/send_mail", "SEND_MAIL"])
			expect(project.visible(global, "tool", name)).toBeUndefined();
		const wrong = await problemsOf({ "agents/tools/1st.ts": toolSource() });
		expect(wrong).toMatchObject([{ file: "agents/tools/1st.ts" }]);
	});

	test("can be loaded again when a file changes", async () => {
		const load = async (text: string): Promise<string> => {
			const files = { ...smallProject, "agents/tools/a.ts": toolSource(text) };
			return (await loadProject(writeProject(files))).version;
		};
		expect(await load("one")).not.toBe(await load("two"));
	});
});

describe("problems", () => {
	test("code outside the folder of its kind is a warning", async () => {
		const files = {
			"agents/clerk.ts": "export default {};",
			"agents/types.d.ts": "",
			"agents/README.md": "",
		};
		const folder = writeProject({ ...smallProject, ...files });
		expect((await loadProject(folder)).warnings).toEqual([
			`${join(folder, "agents/clerk.ts")} is not loaded. An agent belongs in agents/agents/clerk.ts, a tool in agents/tools/.`,
		]);
	});

	test("an import without the file extension is explained", async () => {
		const folder = writeProject({ "agents/agents/a.ts": 'import "./other";\nexport default {};' });
		await expect(loadProject(folder)).rejects.toThrow(
			/ Imports need the file extension, such as \.\/other\.ts\./,
		);
	});

	test("all files that cannot be loaded are reported together [SA-218]", async () => {
		const problems = await problemsOf({
			"agents/tools/broken.ts": "export default {{{",
			"agents/tools/empty.ts": "export const tool = 1;",
			"agents/tools/throwing.ts": "throw new Error('not today');",
			"agents/prompts/wrong.ts": source("Prompt", `{ name: "wrong", toolDescription: "x", model: "small" }`),
			"agents/effects/odd.ts": "export default 'odd';",
			"agents/api/odd.ts": "export default 'odd';",
			"agents/providers/odd.ts": "export default 'odd';",
			"agents/agents/tool.ts": toolSource(),
		});
		expect(problems.map(({ file }) => file)).toEqual([
			"agents/agents/tool.ts",
			"agents/api/odd.ts",
			"agents/effects/odd.ts",
			"agents/prompts/wrong.ts",
			"agents/providers/odd.ts",
			"agents/tools/broken.ts",
			"agents/tools/empty.ts",
			"agents/tools/throwing.ts",
		]);
		expect(problems[3]).toMatchObject({ field: "prompt" });
		expect(problems[6]?.message).toContain("no default export");
		expect(problems[7]?.message).toContain("not today");
	});

	test("duplicate names are reported with both files [SA-217]", async () => {
		const hook = source("Hook", `{ hook: "filter_messages", id: "keep", execute: (_s, m) => m }`);
		const effect = `import { defineEffect } from "@holdfast/threads";\nexport default defineEffect("x", () => {});`;
		const problems = await problemsOf({
			"agents/agents/help.ts": agentSource("help", "help"),
			"agents/tools/help.ts": toolSource(),
			"agents/models/zz.ts": modelSource("small"),
			"agents/hooks/a.ts": hook,
			"agents/hooks/b.ts": hook,
			"agents/effects/e.ts": effect,
			"agents/effects/e.js": effect,
		});
		const said = problems.map(({ file, message }) => {
			return `${file} ${/name of the \w+ in \S*?(?<other>agents\/\S+?)\. /.exec(message)?.groups?.other}`;
		});
		expect(said.sort()).toEqual([
			"agents/effects/e.ts agents/effects/e.js",
			"agents/hooks/b.ts agents/hooks/a.ts",
			"agents/models/zz.ts agents/models/small.ts",
			"agents/prompts/help.ts agents/agents/help.ts",
			"agents/tools/help.ts agents/agents/help.ts",
		]);
	});

	test("an unknown tool is reported with the prompt, except tools of providers and of MCP [SA-026]", async () => {
		const problems = await problemsOf({
			"agents/tools/known.ts": toolSource(),
			"agents/agents/child.ts": agentSource("child", "help", `exposeAsTool: true, toolDescription: "x"`),
			"agents/prompts/other.ts": promptSource("other"),
			"agents/prompts/help.ts": promptSource(
				"help",
				`tools: ["known", "provider:web_search", "mcp:files.read", "unknown", { name: "other", includeErrors: false },
				{ name: "known", env: { A: "b" }, options: {} }, { name: "child", blocking: false }, { name: "nobody", resumable: false }]`,
			),
		});
		expect(problems.map(({ file, field }) => `${file} ${field}`)).toEqual([
			"agents/prompts/help.ts tools[3]",
			"agents/prompts/help.ts tools[7]",
		]);
		expect(problems[0]?.message).toMatch(/"help".*"unknown"/);
	});

	test("a prompt can list only exposed agents [SA-014]", async () => {
		const problems = await problemsOf({
			"agents/agents/hidden.ts": agentSource("hidden", "help"),
			"agents/agents/open.ts": agentSource("open", "help", `exposeAsTool: true, toolDescription: "Opens."`),
			"agents/prompts/help.ts": promptSource("help", `tools: ["open", "hidden", { name: "hidden" }]`),
		});
		expect(problems.map(({ field }) => field)).toEqual(["tools[1]", "tools[2]"]);
		expect(problems[0]?.message).toMatch(/"help".*"hidden"/);
	});

	test("an unknown include and a cycle of includes are reported with the prompts' names [SA-018]", async () => {
		const including = (name: string, other: string): string => {
			return source(
				"Prompt",
				`{ name: "${name}", toolDescription: "x", model: "small", prompt: [{ type: "include", prompt: "${other}" }] }`,
			);
		};
		const problems = await problemsOf({
			"agents/prompts/a.ts": including("a", "b"),
			"agents/prompts/b.ts": including("b", "c"),
			"agents/prompts/c.ts": including("c", "a"),
			"agents/prompts/d.ts": including("d", "gone"),
			"agents/prompts/e.ts": including("e", "a"),
		});
		expect(problems.map(({ message }) => message)).toEqual([
			"These prompts include each other: a → b → c → a.",
			'The prompt "d" names the prompt "gone", which does not exist.',
		]);
	});

	test("a prompt must not show declared secrets [SA-020]", async () => {
		const shown = `{ name: "shown", toolDescription: "x", model: "small", prompt: [{ type: "text", content: "a" }, { type: "env", property: "KEY" }, { type: "env", property: "CITY" }],
			variables: [{ name: "KEY", type: "secret", required: true, description: "x" }, { name: "CITY", type: "text", required: true, description: "x" }] }`;
		const problems = await problemsOf({ "agents/prompts/shown.ts": source("Prompt", shown) });
		expect(problems).toMatchObject([{ file: "agents/prompts/shown.ts", field: "prompt[1].property" }]);
		expect(problems[0]?.message).toContain('"KEY"');
		const declaredByATool = await problemsOf({
			"agents/tools/t.ts": source(
				"Tool",
				`{ description: "x", execute: () => ({ status: "success" }), variables: [{ name: "CITY", type: "secret", required: true, description: "x" }] }`,
			),
			"agents/prompts/shown.ts": source("Prompt", shown),
		});
		expect(declaredByATool.map(({ field }) => field)).toEqual(["prompt[1].property", "prompt[2].property"]);
	});

	test("an unknown hook is reported where it is declared [SA-049]", async () => {
		const problems = await problemsOf({
			"agents/agents/helper.ts": agentSource("helper", "help", `hooks: ["gone"]`),
			"agents/prompts/help.ts": promptSource("help", `hooks: ["away"]`),
		});
		expect(problems.map(({ file, field, message }) => [file, field, message])).toEqual([
			["agents/agents/helper.ts", "hooks", 'The agent "helper" names the hook "gone", which does not exist.'],
			["agents/prompts/help.ts", "hooks", 'The prompt "help" names the hook "away", which does not exist.'],
		]);
	});

	test("an unknown tool of the provider is reported with the model [SA-034]", async () => {
		const problems = await problemsOf({
			"agents/models/big.ts": modelSource("big", `providerTools: ["web_search", "x_search"]`),
		});
		expect(problems).toMatchObject([{ file: "agents/models/big.ts", field: "providerTools" }]);
		expect(problems[0]?.message).toMatch(/"big".*"x_search"/);
		const silent = await problemsOf({
			"agents/providers/none.ts": "export default () => { throw new Error('no key'); };",
			"agents/models/big.ts": modelSource("big", `providerTools: ["web_search"]`),
		});
		expect(silent[0]?.message).toContain("no key");
	});

	test("unknown names of prompts, models, tools and fallbacks are reported with their fields", async () => {
		const problems = await problemsOf({
			"agents/agents/helper.ts": source(
				"Agent",
				`{ name: "helper", type: "dual_ai", sideA: { prompt: "help", stopTool: "s", sessionStop: { name: "t" } }, sideB: { prompt: "p", sessionFail: "u" } }`,
			),
			"agents/prompts/other.ts": promptSource("other").replace('"small"', '"large"'),
			"agents/models/small.ts": modelSource("small", `fallbacks: ["larger"]`),
			"agents/tools/t2.ts": source(
				"Tool",
				`{ description: "x", uses: ["v"], execute: () => ({ status: "success" }) }`,
			),
		});
		expect(problems.map(({ field }) => field).sort()).toEqual([
			"fallbacks",
			"model",
			"sideA.sessionStop",
			"sideA.stopTool",
			"sideB.prompt",
			"sideB.sessionFail",
			"uses",
		]);
	});
});
