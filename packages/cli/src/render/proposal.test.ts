// What a person sees of a call before approving it.
import { expect, test } from "vitest";
import { effectLines, proposalLines } from "./lines.ts";
import { propose } from "./proposal.ts";

async function shown(input: Record<string, unknown>): Promise<readonly string[]> {
	const call = { toolCallId: "c1", toolName: "send", arguments: input, awaits: "approval" };
	return effectLines(await propose(undefined, call as never)).map(({ text }) => text);
}

test("arguments that fit into the title are not repeated", async () => {
	expect(await shown({ to: "ada", cc: "bob" })).toEqual([]);
});

test("longer arguments are shown completely, with every character visible", async () => {
	const body = `${"a".repeat(200)}\u202e end`;
	const lines = await shown({ to: "ada", body });
	expect(lines).toContain('  "to": "ada",');
	expect(lines.join("\n")).toContain(`${"a".repeat(200)}\\u{202e} end`);
});

test("arguments whose white space or control characters are not in the title are shown completely", async () => {
	expect((await shown({ text: "a  b" })).join("\n")).toContain('"a  b"');
	expect((await shown({ text: "a\u0007b" })).join("\n")).toContain('"a\\u0007b"');
});

test("the question in a pipe contains them, too", async () => {
	const call = {
		toolCallId: "c1",
		toolName: "send",
		arguments: { body: "x".repeat(500) },
		awaits: "approval",
	};
	const lines = proposalLines(await propose(undefined, call as never)).map(({ text }) => text);
	expect(lines.join("\n")).toContain("x".repeat(500));
});
