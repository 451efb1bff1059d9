/** `holdfast acp` as an editor uses it: the protocol's own client over a real process. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { PROTOCOL_VERSION } from "@agentclientprotocol/sdk";
import { expect, test } from "vitest";
import { Editor, place } from "./editor.fixture.ts";

const everything = fileURLToPath(
	import.meta.resolve("@modelcontextprotocol/server-everything/dist/index.js"),
);

test("a prompt streams its answer, and its session is available in the next process", async () => {
	const { folder, open } = place();
	const editor = await open();
	const sessionId = await editor.create(folder);
	expect(await editor.prompt(sessionId, "hello")).toBe("end_turn");
	expect(editor.text()).toBe("You said: hello");
	expect(editor.text("agent_thought_chunk")).toBe("Let me see.");
	expect(await editor.leave()).toBe(0);
	expect(editor.stderr).toContain("A line that an agent prints");
	const next = await open();
	const { sessions } = await next.agent.request("session/list", {});
	expect(sessions).toMatchObject([{ sessionId, cwd: folder, title: "hello" }]);
	expect((await next.agent.request("session/list", { cwd: "/elsewhere" })).sessions).toEqual([]);
	await next.load(sessionId, folder);
	expect(next.text("user_message_chunk")).toBe("hello");
	expect(next.text()).toBe("You said: hello");
	expect(await next.prompt(sessionId, "again")).toBe("end_turn");
	expect(next.text()).toBe("You said: helloYou said: again");
	await next.agent.request("session/delete", { sessionId });
	expect((await next.agent.request("session/list", {})).sessions).toEqual([]);
	await expect(next.load(sessionId, folder)).rejects.toMatchObject({ code: -32_002 });
});

test("initialisation reports the capabilities", async () => {
	const { open } = place();
	const editor = await open();
	expect(await editor.initialize()).toMatchObject({
		protocolVersion: PROTOCOL_VERSION,
		agentCapabilities: {
			loadSession: true,
			sessionCapabilities: { list: {}, resume: {}, fork: {}, close: {}, delete: {} },
		},
	});
});

test.each([
	["allow_once", "2\n", "completed"],
	["reject_once", "", "failed"],
	["made_up", "", "failed"],
] as const)("a call that requires approval follows the editor's answer: %s", async (answer, came, status) => {
	const { folder, open, bookings } = place();
	const editor = await open();
	const sessionId = await editor.create(folder);
	editor.answers.push(answer);
	expect(await editor.prompt(sessionId, "book")).toBe("end_turn");
	expect(bookings()).toBe(came);
	expect(editor.asked).toMatchObject([{ sessionId, toolCall: { rawInput: { seats: 2 } } }]);
	expect(editor.statuses().at(0)).toBe("pending");
	expect(editor.statuses().at(-1)).toBe(status);
});

test("a call that is always allowed does not require approval again, until the session is closed", async () => {
	const { folder, open, bookings } = place();
	const editor = await open();
	const sessionId = await editor.create(folder);
	editor.answers.push("allow_always", "reject_once");
	for (const _ of [1, 2, 3]) await editor.prompt(sessionId, "book");
	expect(bookings()).toBe("2\n2\n2\n");
	await editor.agent.request("session/close", { sessionId });
	await expect(editor.prompt(sessionId, "book")).rejects.toMatchObject({ code: -32_602 });
	await editor.load(sessionId, folder);
	await editor.prompt(sessionId, "book");
	expect([bookings(), editor.asked.length]).toEqual(["2\n2\n2\n", 2]);
});

test("an approval that waits while the process is killed is requested again, and runs once", async () => {
	const { folder, open, bookings } = place();
	const editor = await open();
	const sessionId = await editor.create(folder);
	const lost = editor.prompt(sessionId, "book").catch(() => "lost");
	await expect.poll(() => editor.asked.length).toBe(1);
	await editor.kill();
	expect(await lost).toBe("lost");
	for (const answer of ["reopened", "allow_once"] as const) {
		const next = await open();
		if (answer === "allow_once") next.answers.push(answer);
		await next.load(sessionId, folder);
		await expect.poll(() => next.asked.length).toBe(1);
		if (answer === "reopened") {
			expect(await next.leave()).toBe(0);
			continue;
		}
		await expect.poll(() => next.text()).toBe("Done: booked 2");
		expect(await next.prompt(sessionId, "thanks")).toBe("end_turn");
	}
	expect(bookings()).toBe("2\n");
});

test("a run whose process was killed is continued by the next process that loads it", async () => {
	const { folder, slow, open } = place();
	const editor = await open();
	const sessionId = await editor.create(folder);
	const lost = editor.prompt(sessionId, "slow").catch(() => "lost");
	await expect.poll(() => editor.statuses().includes("in_progress")).toBe(true);
	await editor.kill();
	await lost;
	writeFileSync(slow, "");
	const next = await open();
	await next.load(sessionId, folder);
	await expect.poll(() => next.text()).toBe("Done: waited");
	expect(next.statuses()).toContain("completed");
});

test("a cancelled prompt ends as cancelled, while it runs and while an approval waits", async () => {
	const { folder, open, bookings } = place();
	const editor = await open();
	const sessionId = await editor.create(folder);
	const running = editor.prompt(sessionId, "slow");
	await expect.poll(() => editor.statuses().includes("in_progress")).toBe(true);
	await editor.agent.notify("session/cancel", { sessionId });
	expect(await running).toBe("cancelled");
	const asking = editor.prompt(sessionId, "book");
	await expect.poll(() => editor.asked.length).toBe(1);
	await editor.agent.notify("session/cancel", { sessionId });
	expect(await asking).toBe("cancelled");
	expect(await editor.prompt(sessionId, "hello")).toBe("end_turn");
	expect(bookings()).toBe("");
});

test("a failed run is an error with its code, and the session continues", async () => {
	const { folder, open } = place();
	const editor = await open();
	const sessionId = await editor.create(folder);
	await expect(editor.prompt(sessionId, "fail")).rejects.toMatchObject({
		code: -32_603,
		message: expect.stringContaining("away"),
	});
	expect(await editor.prompt(sessionId, "hello")).toBe("end_turn");
});

test("an approval of a sub-agent's call is requested, also after a restart, and then ends", async () => {
	const { folder, open, bookings } = place();
	const editor = await open();
	const sessionId = await editor.create(folder);
	editor.answers.push("reject_once");
	expect(await editor.prompt(sessionId, "delegate")).toBe("end_turn");
	expect(bookings()).toBe("");
	const nested = (of: Editor): readonly unknown[] => {
		const { toolCallId } = of.asked.at(-1)?.toolCall ?? {};
		return of.updates.flatMap((update) =>
			"toolCallId" in update && update.toolCallId === toolCallId ? [update.status] : [],
		);
	};
	expect(nested(editor)).toEqual(["pending", "failed"]);
	const lost = editor.prompt(sessionId, "delegate").catch(() => {});
	await expect.poll(() => editor.asked.length).toBe(2);
	await editor.kill();
	await lost;
	const next = await open();
	next.answers.push("allow_once");
	await next.load(sessionId, folder);
	await expect.poll(() => nested(next)).toEqual(["pending", "in_progress", "completed"]);
	expect(bookings()).toBe("3\n");
});

test("a session that is loaded again over the same connection shows its calls again", async () => {
	const { folder, open } = place();
	const editor = await open();
	const sessionId = await editor.create(folder);
	editor.answers.push("allow_once");
	await editor.prompt(sessionId, "book");
	editor.updates.length = 0;
	await editor.load(sessionId, folder);
	expect(editor.statuses()).toEqual(["pending", "completed"]);
});

test("a tool of the editor's MCP server requires approval, runs, and is available after a restart", async () => {
	const { folder, open } = place();
	const mcpServers = [
		{ name: "my server", command: process.execPath, args: [everything], env: [{ name: "A", value: "b" }] },
	];
	const editor = await open();
	const sessionId = await editor.create(folder, mcpServers);
	editor.answers.push("allow_once");
	await editor.prompt(sessionId, "echo");
	expect(editor.text()).toContain("Echo: from the editor");
	await editor.leave();
	const next = await open();
	next.answers.push("allow_once");
	await next.agent.request("session/resume", { sessionId, cwd: folder, mcpServers });
	expect(next.text()).toBe("");
	await next.prompt(sessionId, "echo");
	expect(next.text()).toContain("Echo: from the editor");
});

test("bad input is rejected, and nothing is lost", async () => {
	const { folder, open } = place();
	const editor = await open();
	const sessionId = await editor.create(folder);
	const prompt = (content: object[]) =>
		editor.agent.request("session/prompt", { sessionId, prompt: content as never });
	const refused = expect.objectContaining({ code: -32_602 });
	await expect(prompt([])).rejects.toEqual(refused);
	await expect(prompt([{ type: "text", text: " " }])).rejects.toEqual(refused);
	await expect(prompt([{ type: "audio", data: "AA==", mimeType: "audio/wav" }])).rejects.toEqual(refused);
	const blob = { uri: "file:///a.bin", blob: "AA==" };
	await expect(prompt([{ type: "resource", resource: blob }])).rejects.toEqual(refused);
	await expect(editor.prompt("nobody", "hello")).rejects.toEqual(refused);
	await expect(editor.load("nobody", folder)).rejects.toMatchObject({ code: -32_002 });
	await expect(editor.agent.request("session/list", { cursor: "nowhere" })).rejects.toEqual(refused);
	const server = { name: "files", command: "no-such-program", args: [], env: [] };
	const old = { type: "sse" as const, name: "old", url: "http://127.0.0.1:1", headers: [] };
	for (const [mcpServers, code] of [
		[[server, { ...server, name: "files" }], -32_602],
		[[old], -32_602],
		[[server], -32_603],
	] as const)
		await expect(
			editor.agent.request("session/new", { cwd: folder, mcpServers: [...mcpServers] }),
		).rejects.toMatchObject({ code });
	const link = { type: "resource_link", name: "a.ts", uri: "file:///a.ts" };
	const file = { type: "resource", resource: { uri: "file:///b.ts", text: "const b = 1;" } };
	expect(await prompt([{ type: "text", text: "See" }, link, file])).toEqual({ stopReason: "end_turn" });
	expect(editor.text()).toContain("[a.ts](file:///a.ts)");
	expect(editor.text()).toContain("const b = 1;");
});

test("the assistant works in the editor's folder, and another agent's session is rejected", async () => {
	const { folder, open } = place();
	writeFileSync(join(folder, "notes.md"), "# Notes\n\nThe parcel limit is 17.\n");
	const editor = new Editor(folder, []);
	await editor.initialize();
	await expect(editor.create(join(folder, "missing"))).rejects.toMatchObject({ code: -32_602 });
	const sessionId = await editor.create(folder);
	expect(await editor.prompt(sessionId, "What is the parcel limit?")).toBe("end_turn");
	expect(editor.text()).toContain("17");
	const kinds = editor.updates.flatMap((update) =>
		update.sessionUpdate === "tool_call" ? [update.kind] : [],
	);
	expect(kinds).toContain("search");
	await editor.leave();
	const other = await open();
	await expect(other.load(sessionId, folder)).rejects.toMatchObject({ code: -32_602 });
	expect((await other.agent.request("session/list", {})).sessions).toEqual([]);
});
