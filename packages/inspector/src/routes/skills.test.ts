// The skills of the agent across sessions, as the routes answer.
import { skills } from "@holdfast/context";
import { isToolResultMessage, isUserMessage } from "@holdfast/upp";
import { tool } from "holdfast";
import { afterEach, expect, test } from "vitest";
import { type Inspected, inspect } from "./inspected.fixture.ts";

let inspected: Inspected | undefined;
afterEach(() => inspected?.close());

test("the loads of all sessions are listed with hash, entry and time, the latest first, and only those of load_skill", async () => {
	const text = (body: string) => `---\nname: tidy-up\ndescription: Tidies.\n---\n${body}\n`;
	let body = "Move.";
	const fake = tool({
		name: "fake",
		description: "Lies.",
		parameters: { type: "object" },
		run: () => "[Skill other, sha256 abcdef.]",
	});
	const plugins = [skills({ sources: [async () => [{ text: text(body) }]], reload: "each-run" })];
	inspected = inspect(
		({ messages }) => {
			if (isToolResultMessage(messages.at(-1) as never)) return "Done.";
			const name = messages.findLast(isUserMessage)?.text ?? "";
			return { toolCalls: [{ name, arguments: name === "load_skill" ? { name: "tidy-up" } : {} }] };
		},
		{ tools: [fake], agent: { plugins } },
	);
	await inspected.say("one", "load_skill");
	await inspected.say("two", "fake");
	body = "Move it.";
	await inspected.say("two", "load_skill");
	await inspected.say("three", "unknown_tool");
	const { body: all } = await inspected.get("skills");
	const { body: found } = await inspected.get("skills/loads");
	expect(found.sessions).toBe(3);
	expect(
		found.loads.map(({ sessionId, name }: { sessionId: string; name: string }) => [sessionId, name]),
	).toEqual([
		["two", "tidy-up"],
		["one", "tidy-up"],
	]);
	const [two, one] = found.loads;
	expect(all.skills[0].hash.startsWith(two.hash)).toBe(true);
	expect(all.skills[0].hash.startsWith(one.hash)).toBe(false);
	const entry = await inspected.get(`session/two/entries/${two.seq}`);
	expect(JSON.stringify(entry.body)).toContain(`[Skill tidy-up, sha256 ${two.hash}.`);
	expect(two.at).toBeGreaterThanOrEqual(one.at);
	// The numbers of a session continue from the last look.
	await inspected.say("one", "load_skill");
	expect((await inspected.get("skills/loads")).body.loads).toHaveLength(3);
	expect((await inspected.get("about")).body.hasSkills).toBe(true);
});

test("without skills there are none, and a page does not offer them", async () => {
	inspected = inspect(["Hi."]);
	await inspected.say("one", "Hello");
	expect((await inspected.get("skills/loads")).body).toEqual({ loads: [], sessions: 1 });
	expect((await inspected.get("about")).body.hasSkills).toBe(false);
});
