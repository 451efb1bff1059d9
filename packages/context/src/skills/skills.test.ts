import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type ScriptedReply, scriptedModel } from "@holdfast/testing";
import { isToolResultMessage, type Message } from "@holdfast/upp";
import { Agent, type AgentOptions, memoryHost, tool } from "holdfast";
import { sqliteHost } from "holdfast/sqlite";
import { describe, expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/shared/temporary-folder.fixture.ts";
import { isAllowed } from "./allowed-tools.ts";
import { type SkillsOptions, skills } from "./skills.ts";

const textOf = (body: string, more = ""): string =>
	`---\nname: tidy\ndescription: Tidies\n  a folder.\n${more}---\n${body}\n`;
const ask = (id: string, name: string, args: object = {}): ScriptedReply => ({
	toolCalls: [{ id, name, arguments: args } as never],
});
const load = (id: string, name = "tidy"): ScriptedReply => ask(id, "load_skill", { name });
const read = (id: string, path: string): ScriptedReply => ask(id, "read_skill_file", { skill: "tidy", path });
const inline = {
	sources: [{ text: textOf("Move files by kind."), files: { "references/kinds.md": "Kinds." } }],
};

function results(messages: readonly Message[]): readonly unknown[] {
	return messages
		.filter(isToolResultMessage)
		.flatMap((message) => message.results.map(({ result }) => result));
}

function agentOf(
	script: readonly (string | ScriptedReply)[],
	options: SkillsOptions = inline,
	more: Partial<AgentOptions> = {},
) {
	const model = scriptedModel(script);
	return { model, agent: new Agent({ model, plugins: [skills(options)], host: memoryHost(), ...more }) };
}

async function turn(agent: Agent, key = "ann"): Promise<readonly unknown[]> {
	await (await agent.session(key).send("go")).result();
	return results((await agent.session(key).state()).messages);
}

/** A folder with one skill, whose files can be written again. */
function folderOf(body: string): {
	readonly folders: readonly string[];
	write(path: string, text: string): void;
} {
	const folder = temporaryFolder();
	mkdirSync(join(folder, "tidy"));
	const write = (path: string, text: string): void => writeFileSync(join(folder, "tidy", path), text);
	write("SKILL.md", textOf(body));
	write("kinds.md", "Kinds.");
	return { folders: [folder], write };
}

describe("skills", () => {
	test("shows names and descriptions in the instructions, and bodies and files on demand", async () => {
		const { agent, model } = agentOf([load("c1"), read("c2", "references/kinds.md"), "done"], inline, {
			instructions: "Be kind.",
		});
		const [body, file] = await turn(agent);
		expect(model.requests[0]?.system).toMatch(/^Be kind\.\n\nSkills\n[^\n]+\n- tidy: Tidies a folder\.$/);
		expect(body).toMatch(
			/^\[Skill tidy, sha256 [0-9a-f]{16}\.\]\n\nMove files by kind\.\n\n\[Files.*\n- references\/kinds\.md\]$/,
		);
		expect(file).toBe("Kinds.");
	});

	test("works in calls", async () => {
		const { agent, model } = agentOf([load("c1"), read("c2", "references/kinds.md"), "done"]);
		const { state } = await agent.generate("go");
		expect(results(state.messages)[1]).toBe("Kinds.");
		expect(model.requests[0]?.system).toContain("- tidy: ");
	});

	test("answers wrong names and paths with a sentence", async () => {
		const { agent } = agentOf([
			load("c1", "other"),
			read("c2", "references/kinds.md"),
			load("c3"),
			read("c4", "../secret"),
			read("c5", "nothing.md"),
			"done",
		]);
		expect(await turn(agent)).toEqual([
			expect.stringContaining("There is no skill"),
			expect.stringContaining("with load_skill first"),
			expect.stringContaining("Move files"),
			expect.stringContaining("leads out of the folder"),
			expect.stringContaining("has no text file"),
		]);
	});

	test("fails the setup, and with it the run, for a bad skill before anything is sent", async () => {
		const { agent, model } = agentOf(["done"], { sources: [{ text: "no front matter" }] });
		const sent = agent
			.session("ann")
			.send("go")
			.then((run) => run.result());
		await expect(sent).rejects.toMatchObject({ code: "plugin_failed", cause: { code: "skill_invalid" } });
		expect(model.requests).toEqual([]);
	});

	test("keeps the skills that a run has loaded and rejects changed ones until a new agent reads them", async () => {
		const folder = folderOf("Old.");
		const host = memoryHost();
		const change = tool({
			name: "change",
			description: "Changes the skill.",
			run() {
				folder.write("SKILL.md", textOf("New."));
				folder.write("kinds.md", "Other kinds.");
				return "changed";
			},
		});
		const script = [
			load("c1"),
			ask("c2", "change"),
			load("c3"),
			read("c4", "kinds.md"),
			"done",
			load("c5"),
			"done",
		];
		const { agent } = agentOf(script, { folders: folder.folders }, { tools: [change], host });
		const [first, , again, file] = (await turn(agent)) as string[];
		expect(first).toContain("Old.");
		expect(again).toBe(first);
		expect(file).toContain('The file "kinds.md" of the skill "tidy" has changed.');
		expect((await turn(agent))[4]).toContain('The SKILL.md of the skill "tidy" has changed.');

		const next = agentOf([load("c6"), read("c7", "kinds.md"), "done"], { folders: folder.folders }, { host });
		const shown = (await turn(next.agent)).slice(5) as string[];
		expect(shown[0]).toContain("It has changed since this session loaded it.");
		expect(shown[0]).toContain("New.");
		expect(shown[1]).toBe("Other kinds.");
	});

	test("continues a waiting run in a new process with the text that it started with", async () => {
		const path = join(temporaryFolder(), "sessions.db");
		const folder = folderOf("Old.");
		const remote = tool({ name: "confirm", description: "Asks the user." });
		const more = { tools: [remote] };
		const one = agentOf(
			[load("c1"), ask("c2", "confirm")],
			{ folders: folder.folders },
			{ ...more, host: sqliteHost(path) },
		);
		await (await one.agent.session("ann").send("go")).result();
		await one.agent.close();
		folder.write("SKILL.md", textOf("New."));
		const two = agentOf(
			[load("c3"), read("c4", "kinds.md"), "done"],
			{ folders: folder.folders },
			{ ...more, host: sqliteHost(path) },
		);
		await two.agent.session("ann").answer([{ toolCallId: "c2", output: "yes" }]);
		await expect
			.poll(async () => results((await two.agent.session("ann").state()).messages).slice(2))
			.toEqual([expect.stringContaining("Old."), "Kinds."]);
		await two.agent.close();
	});

	test("with reload, a run keeps what it has loaded, and the next one uses new and changed skills", async () => {
		const folder = folderOf("Old.");
		const change = tool({
			name: "change",
			description: "Changes the skills.",
			run() {
				folder.write("SKILL.md", textOf("New."));
				mkdirSync(join(folder.folders[0] as string, "sweep"));
				folder.write("../sweep/SKILL.md", textOf("Sweep.").replace("tidy", "sweep"));
				return "changed";
			},
		});
		const script = [
			load("c1"),
			ask("c2", "change"),
			load("c3"),
			"done",
			load("c4"),
			load("c5", "sweep"),
			"done",
		];
		const options = { folders: folder.folders, reload: "each-run" } as const;
		const { agent, model } = agentOf(script, options, { tools: [change], instructions: "Be kind." });
		const [first, , again] = (await turn(agent)) as string[];
		expect(first).toContain("Old.");
		expect(again).toBe(first);
		const [changed, added] = (await turn(agent)).slice(3);
		expect(changed).toContain("It has changed since this session loaded it.]\n\nNew.");
		expect(added).toContain("Sweep.");
		const catalogs = model.requests.map(({ system }) =>
			String(system)
				.match(/^- \w+/gm)
				?.join(),
		);
		expect(catalogs).toEqual([...Array(4).fill("- tidy"), ...Array(3).fill("- sweep,- tidy")]);
		expect(String(model.requests[0]?.system)).toMatch(/^Be kind\.\n\nSkills\n/);
	});

	test("with reload, an agent begins without skills, and a table can be their source", async () => {
		const table: { text: string }[] = [];
		const { agent, model } = agentOf(["hi", load("c1"), "done"], {
			sources: [() => table],
			reload: "each-run",
		});
		await turn(agent);
		table.push({ text: textOf("Move files by kind.") });
		expect((await turn(agent))[0]).toContain("Move files by kind.");
		expect(model.requests.map(({ system }) => String(system ?? "").includes("- tidy: "))).toEqual([
			false,
			true,
			true,
		]);
	});

	test("with reload, a run that is resumed in a new process keeps its catalog", async () => {
		const path = join(temporaryFolder(), "sessions.db");
		const folder = folderOf("Old.");
		const confirm = tool({ name: "confirm", description: "Asks the user." });
		const options = { folders: folder.folders, reload: "each-run" } as const;
		const one = agentOf([ask("c1", "confirm")], options, { tools: [confirm], host: sqliteHost(path) });
		await (await one.agent.session("ann").send("go")).result();
		await one.agent.close();
		folder.write("SKILL.md", textOf("New.").replace("Tidies", "Sweeps"));
		const two = agentOf([load("c2"), "done", "done"], options, { tools: [confirm], host: sqliteHost(path) });
		await two.agent.session("ann").answer([{ toolCallId: "c1", output: "yes" }]);
		await expect.poll(() => two.model.requests.length).toBe(2);
		expect(String(two.model.requests[0]?.system)).toContain("Tidies");
		await (await two.agent.session("ann").send("again")).result();
		expect(String(two.model.requests[2]?.system)).toContain("Sweeps");
		await two.agent.close();
	});

	test("with reload, a skill that has become invalid fails the next run, or is left out with onInvalid", async () => {
		const folder = folderOf("Old.");
		const options = { folders: folder.folders, reload: "each-run" } as const;
		const strict = agentOf(["hi", "hi"], options);
		const problems: string[] = [];
		const lenient = agentOf(["hi", "hi"], {
			...options,
			onInvalid: ({ message }) => void problems.push(message),
		});
		await turn(strict.agent);
		await turn(lenient.agent);
		folder.write("SKILL.md", "no front matter");
		const run = await strict.agent.session("ann").send("go");
		expect(await run.result()).toMatchObject({ outcome: "error", error: { code: "skill_invalid" } });
		await turn(lenient.agent);
		expect(problems).toEqual([expect.stringContaining("has no front matter")]);
		expect(strict.model.requests).toHaveLength(1);
	});

	test("lists the skills for user interfaces", async () => {
		const plugin = skills(inline);
		expect(await plugin.skills?.()).toEqual([
			{
				name: "tidy",
				description: expect.stringContaining("Tidies"),
				hash: expect.stringMatching(/^[0-9a-f]{64}$/),
				files: ["references/kinds.md"],
			},
		]);
	});

	test("a fork keeps the skills that its history has loaded", async () => {
		const { agent } = agentOf([
			"hi",
			load("c1"),
			"done",
			read("c2", "references/kinds.md"),
			"done",
			read("c3", "references/kinds.md"),
			"done",
		]);
		const first = await agent.session("ann").send("hi");
		await first.result();
		await turn(agent);
		await agent.session("ann").fork("late");
		await agent.session("ann").fork("early", { at: first.runId });
		expect((await turn(agent, "late"))[1]).toBe("Kinds.");
		expect((await turn(agent, "early"))[0]).toContain("with load_skill first");
	});

	test("enforces allowed-tools from the load to the end of the turn", async () => {
		const text = textOf("Look only.", "allowed-tools: Read Bash(git diff:*)\n");
		const made = (name: string) =>
			tool<object>({ name, description: name, parameters: { type: "object" }, run: () => `ran ${name}` });
		const tools = ["view", "shell", "remove"].map(made);
		const script = [
			ask("c0", "remove"),
			load("c1"),
			ask("c2", "remove"),
			ask("c3", "view"),
			ask("c4", "shell", { command: "git diff --stat" }),
			ask("c5", "shell", { command: "git diff; rm -rf ." }),
			"done",
			ask("c6", "remove"),
			"done",
		];
		const options = { sources: [{ text }], toolNames: { Read: "view", Bash: ["shell"] } };
		const { agent } = agentOf(script, options, { tools });
		expect((await turn(agent)).filter((_, at) => at !== 1)).toEqual([
			"ran remove",
			expect.stringContaining('do not allow this call of "remove"'),
			"ran view",
			"ran shell",
			expect.stringContaining('do not allow this call of "shell"'),
		]);
		expect((await turn(agent)).at(-1)).toBe("ran remove");
		const ignoring = agentOf(
			[load("c1"), ask("c2", "remove"), "done"],
			{ sources: [{ text }], allowedTools: "ignore" },
			{ tools },
		);
		expect((await turn(ignoring.agent))[1]).toBe("ran remove");
	});

	test.each([
		["Read", "Read", {}, true],
		["Read", "Write", {}, false],
		["Bash(git:*)", "Bash", { command: "git status" }, true],
		["Bash(git:*)", "Bash", { command: "gitk" }, false],
		["Bash(git *)", "Bash", { command: "git log | sh" }, false],
		["Bash(git:*)", "Bash", { command: "git log", cwd: "/" }, false],
		["Bash(git:*)", "Bash", { command: "git log", options: { cwd: "/" } }, false],
		["Bash(git:*)", "Bash", { command: "git log", next: [["rm -rf /"]] }, false],
		["Bash(git:*)", "Bash", { command: ["git log", "rm -rf /"] }, false],
		["Bash(git:*)", "Bash", { run: { command: "git log", wait: true } }, true],
		["Bash(npm test)", "Bash", { command: "npm test" }, true],
		["Bash(npm test)", "Bash", { command: "npm test x" }, false],
		["Bash(*)", "Bash", { command: "rm -rf /" }, true],
	])("the pattern %s and a call of %s with %o: %s", (pattern, name, input, expected) => {
		expect(isAllowed([pattern], name, input)).toBe(expected);
	});

	test.each([
		[{}],
		[{ sources: [], toolNames: {} }],
		[{ ...inline, allowedTools: "ignore", toolNames: {} }],
		[{ ...inline, folder: "x" }],
		[{ ...inline, reload: "always" }],
	])("rejects the options %o", async (options) => {
		const setUp = async () => Agent.create({ model: scriptedModel([]), plugins: [skills(options as never)] });
		const code = await setUp().then(
			() => "resolved",
			(error) => (error.code === "plugin_failed" ? error.cause.code : error.code),
		);
		expect(code).toBe("invalid_option");
	});
});
