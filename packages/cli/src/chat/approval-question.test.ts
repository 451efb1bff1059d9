import { expect, test } from "vitest";
import { askToApprove } from "./approval-question.ts";
import type { Question } from "./chat-transcript.ts";

const rule = { label: "every call of shell", covers: () => false };

function ask(given: object, answers: readonly (string | undefined)[], mayEdit = true) {
	const call = {
		runId: "r",
		toolCallId: "internal-7",
		toolName: "t",
		arguments: given,
		awaits: "approval",
		mayEdit,
	};
	const proposal = {
		call,
		word: "internal-7@1f",
		title: "t x",
		change: undefined,
		command: undefined,
		refusal: undefined,
	};
	const left = [...answers];
	const asked: Question[] = [];
	const notes: string[] = [];
	const decision = askToApprove(
		proposal as never,
		rule,
		async (question) => {
			asked.push(question);
			return left.shift();
		},
		(text) => void notes.push(text),
	);
	return { decision, asked, notes };
}

test("the answers are a letter, a word or a reason", async () => {
	expect(await ask({}, ["y"]).decision).toEqual({ type: "once" });
	expect(await ask({}, ["", "always"]).decision).toEqual({ type: "rule" });
	expect(await ask({}, ["N"]).decision).toEqual({ type: "no", reason: undefined });
	expect(await ask({}, ["yes, but later"]).decision).toEqual({ type: "no", reason: "yes, but later" });
	expect(await ask({}, [undefined]).decision).toBeUndefined();
});

test("no question shows an internal id", async () => {
	const { asked, decision } = ask({ a: 1 }, ["e", '{"a":2}']);
	await decision;
	expect(JSON.stringify(asked)).not.toContain("internal");
});

test("a single text is edited directly, other arguments as JSON", async () => {
	const text = ask({ command: "npm test" }, ["e", "npm run test"]);
	expect(await text.decision).toEqual({ type: "edit", input: { command: "npm run test" } });
	expect(text.asked[1]).toMatchObject({ text: "Edit command, then press Enter.", draft: "npm test" });
	const json = ask({ a: 1, b: [2] }, ["e", "{", "[]", '{"a":3}']);
	expect(await json.decision).toEqual({ type: "edit", input: { a: 3 } });
	expect(json.notes).toEqual(["This is not valid JSON.", "The arguments must be a JSON object."]);
	expect(json.asked[2]?.draft).toBe("{");
});

test("arguments are editable only if the tool allows it, and edited ones require approval again", async () => {
	const fixed = ask({ a: 1 }, ["e", "y"], false);
	expect(await fixed.decision).toEqual({ type: "once" });
	expect(fixed.asked[0]?.choices.map(({ text }) => text)).toEqual(["y", "a", "n"]);
	expect(await ask({ a: 1 }, ["e", '{"a":1}', "y"]).decision).toEqual({ type: "once" });
});
