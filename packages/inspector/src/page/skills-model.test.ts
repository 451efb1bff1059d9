import { skills } from "@holdfast/context";
import { scriptedModel } from "@holdfast/testing";
import { Agent, memoryHost, tool } from "holdfast";
import { expect, test } from "vitest";
import { shownEntry } from "../wire/index.ts";
import { skillsOf } from "./skills-model.ts";

const tidyUp = {
	text: "---\nname: tidy-up\ndescription: Tidies a folder.\nallowed-tools: move\n---\nMove files by kind.\n",
	files: { "kinds.md": "Pictures, texts." },
};
const count = { text: "---\nname: count\ndescription: Counts things.\n---\nCount twice.\n" };

test("shows which skills exist, which were loaded with hash, files and allowed tools, and refused calls", async () => {
	const host = memoryHost();
	const call = (name: string, args: Record<string, unknown>) => ({ toolCalls: [{ name, arguments: args }] });
	const model = scriptedModel([
		call("load_skill", { name: "count" }),
		call("load_skill", { name: "tidy-up" }),
		call("read_skill_file", { skill: "tidy-up", path: "kinds.md" }),
		call("erase", {}),
		"Done.",
	]);
	const erase = tool({ name: "erase", description: "Erases.", parameters: { type: "object" }, run: () => 1 });
	const agent = new Agent({
		model,
		host,
		tools: [erase],
		instructions: "Be brief.",
		plugins: [skills({ sources: [tidyUp, count] })],
	});
	await (await agent.session("s").send("Tidy up")).result();
	const entries = (await host.journal.read("s")).map((entry) => shownEntry(entry, (value) => value));
	const { available, loaded, refused } = skillsOf(entries, model.requests[0]?.system);
	expect(available).toEqual([
		{ name: "tidy-up", description: "Tidies a folder." },
		{ name: "count", description: "Counts things." },
	]);
	expect(loaded).toMatchObject([
		{ name: "count", files: [], hasChanged: false },
		{ name: "tidy-up", files: ["kinds.md"], read: ["kinds.md"], allowedTools: ["move"] },
	]);
	expect(loaded[0]).not.toHaveProperty("allowedTools");
	expect(loaded[1]?.hash).toMatch(/^[0-9a-f]{16}$/);
	expect(refused).toMatchObject([{ text: expect.stringContaining('do not allow this call of "erase"') }]);
	await agent.close();
});

test("a session without skills has none", () => {
	expect(skillsOf([], undefined)).toEqual({ available: [], loaded: [], refused: [] });
	expect(skillsOf([], "Skills\nare good.").available).toEqual([]);
});

test("a skill whose text imitates the list of files is read in linear time", () => {
	const text = `[Skill count, sha256 0123456789abcdef.]\n\n[Files, to be read with read_skill_file:\n${"- ".repeat(26)}`;
	const body = { message: { toolCalls: [{ toolCallId: "c", toolName: "load_skill", arguments: {} }] } };
	const about = { at: 1, runId: "r" };
	const started = performance.now();
	const { loaded } = skillsOf(
		[
			{ ...about, seq: 1, kind: "assistant", body },
			{ ...about, seq: 2, kind: "tool.settled", body: { callId: "c", outcome: "done", result: text } },
		],
		undefined,
	);
	expect(loaded).toMatchObject([{ name: "count", files: [] }]);
	expect(performance.now() - started).toBeLessThan(200);
});
