import { cpSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { loadProject, type ProviderRequest, packAgents, threads } from "@holdfast/threads";
import { memoryHost } from "holdfast";
import { sqliteHost } from "holdfast/sqlite";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../../../../test/shared/temporary-folder.fixture.ts";
import { UsageError } from "../work/index.ts";
import { ownSkills, projectContext, skillProblems } from "./project-context.ts";

let project: string;
beforeEach(() => {
	project = temporaryFolder();
	write("package.json", "{}");
});
const write = (path: string, text: string): void => {
	mkdirSync(dirname(join(project, path)), { recursive: true });
	writeFileSync(join(project, path), text);
};
const settings = (holdfast: unknown): void => write("package.json", JSON.stringify({ holdfast }));
const skill = (name: string, body = "Body."): string =>
	`---\nname: ${name}\ndescription: Does ${name}.\nversion: 1\n---\n${body}\n`;
const usage =
	(message: RegExp) =>
	(error: unknown): boolean =>
		error instanceof UsageError && message.test(error.message);
const notices: string[] = [];
const context = (reload: "never" | "each-run" = "never") =>
	projectContext(project, { reload, onNotice: (notice) => notices.push(notice) });
const names = async (): Promise<readonly (string | undefined)[]> =>
	(await Promise.all((await context()).map((plugin) => plugin.skills?.() ?? [])))
		.flat()
		.map(({ name }) => name);

describe("the skills of a project", () => {
	test("are in its folder `skills`, unless its package.json names others", async () => {
		expect(await context()).toEqual([]);
		write("skills/refunds/SKILL.md", skill("refunds"));
		write(".claude/skills/review/SKILL.md", skill("review"));
		write("node_modules/@acme/tips/skills/tips/SKILL.md", skill("tips"));
		expect(await names()).toEqual(["refunds"]);
		settings({ skills: ["./skills", ".claude/skills", "@acme/tips"] });
		expect(await names()).toEqual(["refunds", "review", "tips"]);
		settings({ skills: [] });
		expect(await names()).toEqual([]);
	});

	test("fail the start if one is invalid, and are left out with a notice in development", async () => {
		write("skills/refunds/SKILL.md", skill("refunds"));
		write("skills/wrong/SKILL.md", "no front matter");
		await expect(context()).rejects.toSatisfy(usage(/"wrong"/));
		expect(await skillProblems(project)).toEqual([expect.stringContaining('"wrong"')]);
		const [plugin] = await context("each-run");
		expect((await plugin?.skills?.())?.map(({ name }) => name)).toEqual(["refunds"]);
		await plugin?.skills?.();
		expect(notices).toEqual([expect.stringContaining('"wrong"')]);
	});

	test.each(["yes", { agentsMD: true }, { agentsMd: 1 }, { skills: "./skills" }, { skills: [""] }])(
		"are refused with the settings %j",
		async (given) => {
			settings(given);
			await expect(context()).rejects.toSatisfy(usage(/package\.json/));
		},
	);

	test("are refused with a package or a folder that does not exist", async () => {
		settings({ skills: ["@acme/none"] });
		await expect(context()).rejects.toSatisfy(usage(/not installed/));
		settings({ skills: ["./none"] });
		await expect(context()).rejects.toSatisfy(usage(/does not exist/));
	});
});

describe("the threads of a project", () => {
	type Reply = {
		readonly text?: string;
		readonly calls?: readonly (readonly [string, object])[];
		readonly hangs?: true;
	};
	const scripted = (replies: readonly Reply[]) => {
		const systems: string[] = [];
		const results: string[] = [];
		const provider = Object.assign(
			() => ({
				name: "scripted",
				specificationVersion: "1" as const,
				generate: () => Promise.reject(new Error("It streams.")),
				async *stream(request: ProviderRequest) {
					systems.push(String(request.messages[0]?.content));
					results.push(
						...request.messages.filter(({ role }) => role === "tool").map(({ content }) => String(content)),
					);
					const { text, calls = [], hangs } = replies[systems.length - 1] ?? {};
					if (hangs) await new Promise((_, reject) => request.signal?.addEventListener("abort", reject));
					if (text !== undefined) yield { type: "content-delta" as const, delta: text };
					for (const [at, [name, args]] of calls.entries()) {
						yield { type: "tool-call-start" as const, id: `c${systems.length}_${at}`, name };
						yield {
							type: "tool-call-done" as const,
							id: `c${systems.length}_${at}`,
							arguments: args as Record<string, unknown>,
						};
					}
					yield {
						type: "finish" as const,
						finishReason: calls.length > 0 ? ("tool_calls" as const) : ("stop" as const),
						usage: { promptTokens: 1, completionTokens: 1, totalTokens: 2 },
					};
				},
			}),
			{},
		);
		return { provider, systems, results };
	};

	test("show skills to the model, load them, and follow AGENTS.md if the project says so", async () => {
		write("AGENTS.md", "Be polite.");
		write("skills/refunds/SKILL.md", skill("refunds", "Refund within 30 days."));
		const { provider, systems, results } = scripted([
			{ calls: [["load_skill", { name: "refunds" }]] },
			{ text: "Refunded." },
			{ text: "Hello." },
		]);
		const loaded = await projectWith(provider);
		const host = memoryHost();
		const open = async (settled: object) => {
			settings(settled);
			const running = threads({ project: loaded, host, plugins: await context() });
			onTestFinished(() => running.close());
			return running;
		};
		const first = await open({});
		const { threadId } = await first.createThread({ agentId: "clerk", message: "Refund it." });
		await first.quiet();
		expect(systems[1]).toMatch(/^You help\.\n\nSkills\n.*\n- refunds: Does refunds\.$/);
		expect(results).toEqual([expect.stringContaining("Refund within 30 days.")]);
		await first.close();
		const second = await open({ agentsMd: true });
		await second.queueMessage(threadId, { content: "Hello." });
		await second.quiet();
		expect(systems[2]).toContain(
			"You help.\n\nThe repository's instructions in AGENTS.md:\nBe polite.\n\nSkills",
		);
	});

	test("continue after a restart with the skill that they loaded", async () => {
		write("AGENTS.md", "Old rules.");
		settings({ agentsMd: true });
		write("skills/refunds/SKILL.md", skill("refunds", "Old."));
		const path = join(temporaryFolder(), "threads.db");
		const load: Reply = { calls: [["load_skill", { name: "refunds" }]] };
		const one = scripted([load, { hangs: true }]);
		const open = async (provider: unknown) =>
			threads({
				project: await projectWith(provider),
				host: sqliteHost(path),
				plugins: await context("each-run"),
			});
		const first = await open(one.provider);
		await first.createThread({ agentId: "clerk", message: "Refund it." });
		await expect.poll(() => one.systems.length).toBe(2);
		await first.close();
		await first.host.close();
		write("AGENTS.md", "New rules.");
		write("skills/refunds/SKILL.md", skill("refunds", "New."));
		const two = scripted([load, { text: "Done." }]);
		const second = await open(two.provider);
		onTestFinished(() => second.close());
		await second.recover();
		await second.quiet();
		expect(two.results.at(-1)).toContain("Old.");
		expect(two.systems).toEqual([one.systems[0], one.systems[0]]);
	});

	test("include the skills of a packed project, which its agents load", async () => {
		write("skills/refunds/SKILL.md", skill("refunds", "See rules.md."));
		write("skills/refunds/rules.md", "Refund within 30 days.");
		write("node_modules/@acme/tips/skills/tips/SKILL.md", skill("tips"));
		settings({ skills: ["./skills", "@acme/tips"] });
		const { provider, systems, results } = scripted([
			{ calls: [["load_skill", { name: "refunds" }]] },
			{ calls: [["read_skill_file", { skill: "refunds", path: "rules.md" }]] },
			{ text: "Refunded." },
		]);
		const { directory } = await projectWith(provider);
		const out = join(temporaryFolder(), "shop");
		const skills = await ownSkills(directory);
		await packAgents({ directory, agents: ["clerk"], name: "shop", out, skills });
		project = temporaryFolder();
		write("package.json", "{}");
		write("skills/tips/SKILL.md", skill("tips", "The project's."));
		cpSync(out, join(project, "agents/packed/shop"), { recursive: true });
		const running = threads({
			project: await loadProject(project),
			host: memoryHost(),
			plugins: await context(),
		});
		onTestFinished(() => running.close());
		await running.createThread({ agentId: "shop/clerk", message: "Refund it." });
		await running.quiet();
		expect(systems[0]).toMatch(/\n- tips: .*\n- refunds: Does refunds\.$/);
		expect(results.at(-1)).toBe("Refund within 30 days.");
		expect(notices.at(-1)).toContain('"tips"');
		write("agents/packed/shop/skills/refunds/rules.md", "Refund within 90 days.");
		await expect(context()).rejects.toSatisfy(usage(/"refunds" of the package shop/));
		expect(await skillProblems(project)).toEqual([expect.stringContaining('"refunds"')]);
	});

	async function projectWith(provider: unknown) {
		write("agents/agents/clerk.mjs", 'export default { name: "clerk", sideA: { prompt: "help" } };');
		write(
			"agents/prompts/help.mjs",
			'export default { name: "help", toolDescription: "Helps.", prompt: "You help.", model: "main" };',
		);
		const shared = `holdfast-test-${project}`;
		(globalThis as Record<string, unknown>)[shared] = provider;
		write(
			"agents/models/main.mjs",
			`export default { name: "main", model: "m", provider: (options) => globalThis[${JSON.stringify(shared)}](options) };`,
		);
		return loadProject(project);
	}
});
