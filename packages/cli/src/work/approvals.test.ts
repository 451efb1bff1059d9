import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { PendingToolCall } from "holdfast";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/shared/temporary-folder.fixture.ts";
import { Approvals, type Decision } from "./approvals.ts";

const call = (toolName: string, given: object, more: Partial<PendingToolCall> = {}): PendingToolCall => ({
	runId: "r",
	toolCallId: `${toolName} ${JSON.stringify(given)}`,
	toolName,
	arguments: given as PendingToolCall["arguments"],
	awaits: "approval",
	...more,
});
const write = (path: string, content = "new\n") => call("write_file", { path, content });

function approvals(decisions: readonly Decision[], dir: string | undefined = temporaryFolder()) {
	if (dir !== undefined) mkdirSync(join(dir, "src"), { recursive: true });
	const asked: string[] = [];
	const left = [...decisions];
	const notes: string[] = [];
	const renderer = {
		begin() {},
		event() {},
		proposed() {},
		end() {},
		note: (text: string) => void notes.push(text),
	};
	const options = { yes: false, approve: [], deny: [], reason: undefined };
	const made = new Approvals({
		dir,
		options,
		renderer,
		async decide({ title }) {
			asked.push(title);
			return left.shift();
		},
	});
	return { made, asked, notes, dir };
}

test("a rule approves later changes in the same folder, and no others", async () => {
	const { made, asked, notes } = approvals([{ type: "rule" }]);
	expect(await made.next([write("src/a.ts")])).toMatchObject({ approved: true });
	expect(made.rules.map(({ label }) => label)).toEqual(["changes in src/"]);
	expect(await made.next([write("src/b.ts")])).toMatchObject({ approved: true });
	expect(notes).toEqual(["Approved by your rule: changes in src/."]);
	for (const path of ["src2/a.ts", "a.ts"]) expect(await made.next([write(path)])).toBeUndefined();
	expect(asked).toHaveLength(3);
});

test("a rule for a file at the top level covers only that file", async () => {
	const { made } = approvals([{ type: "rule" }]);
	await made.next([write("a.ts")]);
	expect(await made.next([write("a.ts", "other\n")])).toMatchObject({ approved: true });
	expect(await made.next([write("b.ts")])).toBeUndefined();
});

test("a rule for a tool does not cover the tool of the same name of a sub-agent", async () => {
	const { made } = approvals([{ type: "rule" }], undefined);
	await made.next([call("remove", { id: 1 })]);
	expect(await made.next([call("remove", { id: 2 })])).toMatchObject({ approved: true });
	const nested = call("remove", { id: 3 }, { path: [{ agent: "worker", toolCallId: "c" }] });
	expect(await made.next([nested])).toBeUndefined();
});

test("a revoked rule approves nothing", async () => {
	const { made } = approvals([{ type: "rule" }]);
	await made.next([write("src/a.ts")]);
	for (const rule of made.rules) made.revoke(rule);
	expect(await made.next([write("src/b.ts")])).toBeUndefined();
});

test("edited arguments are shown for approval again, and approved as shown", async () => {
	const input = { path: "src/b.ts", content: "edited\n" };
	const { made, asked } = approvals([{ type: "edit", input }, { type: "once" }]);
	const answer = await made.next([write("src/a.ts")]);
	expect(asked).toEqual(["write_file src/a.ts", "write_file src/b.ts"]);
	expect(answer).toMatchObject({ approved: true, input, basis: { before: null } });
});

test("an impossible edit changes nothing, and the call is shown for approval again", async () => {
	const edited = { path: "../outside", content: "" };
	const { made, asked, dir } = approvals([{ type: "edit", input: edited }, { type: "once" }]);
	writeFileSync(join(dir ?? "", "a.ts"), "old\n");
	const answer = await made.next([write("a.ts")]);
	expect(asked).toEqual(["write_file a.ts", "write_file a.ts"]);
	expect(answer).not.toHaveProperty("input");
});
