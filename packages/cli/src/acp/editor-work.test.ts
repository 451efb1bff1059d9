/** What an editor shows of the assistant's work, and what its user can set: plans, changes, output, modes, commands. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../../../../test/shared/temporary-folder.fixture.ts";
import { type Reply, startModelServer } from "../command/spawn.fixture.ts";
import { Editor } from "./editor.fixture.ts";

const png =
	"iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

async function assistant(replies: readonly Reply[], environment: Record<string, string> = {}) {
	const folder = temporaryFolder();
	const model = await startModelServer(replies);
	onTestFinished(() => model.close());
	const argv = ["--allow-write", "--allow-shell", "--model", model.model];
	const editor = new Editor(folder, argv, environment);
	await editor.initialize();
	return { folder, model, editor };
}

const refused = expect.objectContaining({ code: -32_602 });

test("plans, changes with their places, commands, usage and title are shown", async () => {
	const plan = (status: string): Reply => ({
		calls: [{ id: `plan-${status}`, tool: "update_plan", arguments: { steps: [{ text: "Look", status }] } }],
	});
	const { folder, model, editor } = await assistant(
		[
			plan("in_progress"),
			{ tool: "edit_file", arguments: { path: "a.txt", find: "two", replace: "TWO" } },
			{
				tool: "shell",
				arguments: { command: "echo the-lamp-is-green; sleep 1" },
			},
			plan("done"),
			{ text: "Done.", usage: { prompt_tokens: 900, completion_tokens: 100 } },
		],
		{ HOLDFAST_CONTEXT_WINDOW: "10000" },
	);
	writeFileSync(join(folder, "a.txt"), "one\ntwo\n");
	const sessionId = await editor.create(folder);
	editor.answers.push("allow_once", "allow_once");
	expect(await editor.prompt(sessionId, "Do it.")).toBe("end_turn");
	expect(editor.of("plan").map(({ entries }) => entries)).toEqual([
		[{ content: "Look", priority: "medium", status: "in_progress" }],
		[{ content: "Look", priority: "medium", status: "completed" }],
	]);
	expect(editor.call("update_plan")).toBeUndefined();
	const path = join(folder, "a.txt");
	expect(editor.asked[0]?.toolCall).toMatchObject({
		content: [{ type: "diff", path, oldText: "one\ntwo\n", newText: "one\nTWO\n" }],
		locations: [{ path, line: 2 }],
	});
	expect(editor.call("edit_file")).toMatchObject({
		kind: "edit",
		status: "completed",
		locations: [{ path }],
		content: [{ type: "diff", path, oldText: "two", newText: "TWO" }, { type: "content" }],
	});
	expect(editor.call("shell")).toMatchObject({ kind: "execute", status: "completed" });
	expect(JSON.stringify(editor.of("tool_call_update"))).toContain("```console\\nthe-lamp-is-green");
	expect(editor.of("usage_update").at(-1)).toMatchObject({ used: 1_000, size: 10_000 });
	expect(editor.of("session_info_update")).toMatchObject([{ title: "Do it." }]);
	editor.updates.length = 0;
	await editor.load(sessionId, folder);
	expect(editor.call("edit_file")).toMatchObject({ content: [{ type: "diff" }, { type: "content" }] });
	expect(editor.of("plan")).toHaveLength(2);
	expect(model.requests).toHaveLength(5);
});

test("a mode decides about changes, and a rejection can carry a reason", async () => {
	const write = (id: string): Reply => ({
		calls: [{ id, tool: "write_file", arguments: { path: `${id}.txt`, content: `${id}\n` } }],
	});
	const { folder, model, editor } = await assistant([
		write("one"),
		{ text: "First." },
		write("two"),
		{ text: "Second." },
		write("three"),
		{ text: "Third." },
	]);
	const made = await editor.agent.request("session/new", { cwd: folder, mcpServers: [] });
	const { sessionId } = made;
	expect(made.modes?.currentModeId).toBe("ask");
	expect(made.configOptions?.map(({ id, category }) => [id, category])).toEqual([
		["mode", "mode"],
		["model", "model"],
	]);
	editor.answers.push({ reject: "Not this name." });
	await editor.prompt(sessionId, "Write.");
	expect(JSON.stringify(model.requests[1]?.messages)).toContain("Not this name.");
	await editor.agent.request("session/set_mode", { sessionId, modeId: "accept_edits" });
	expect(editor.of("current_mode_update")).toMatchObject([{ currentModeId: "accept_edits" }]);
	await editor.prompt(sessionId, "Again.");
	expect(readFileSync(join(folder, "two.txt"), "utf8")).toBe("two\n");
	const set = (configId: string, value: string) =>
		editor.agent.request("session/set_config_option", { sessionId, configId, value });
	expect((await set("mode", "read_only")).configOptions[0]).toMatchObject({ currentValue: "read_only" });
	await editor.prompt(sessionId, "Once more.");
	expect(JSON.stringify(model.requests[5]?.messages)).toContain("read only");
	expect(editor.asked).toHaveLength(1);
	await expect(set("mode", "always")).rejects.toEqual(refused);
	await expect(set("model", "openai:unheard-of")).rejects.toEqual(refused);
	await expect(set("speed", "fast")).rejects.toEqual(refused);
	await expect(
		editor.agent.request("session/set_mode", { sessionId, modeId: "constructor" }),
	).rejects.toEqual(refused);
	await set("model", "offline");
	await editor.prompt(sessionId, "What is in two.txt?");
	expect(model.requests).toHaveLength(6);
	expect((await editor.agent.request("session/list", {})).sessions).toHaveLength(1);
});

test("a fork continues with the history, and the commands of the session are offered", async () => {
	const { folder, model, editor } = await assistant([
		{ text: "The lamp is green." },
		{ text: "A short summary." },
		{ text: "Still green." },
	]);
	const sessionId = await editor.create(folder);
	expect(editor.of("available_commands_update")[0]?.availableCommands.map(({ name }) => name)).toEqual([
		"compact",
		"context",
		"init",
	]);
	await editor.prompt(sessionId, "Which lamp?");
	await editor.prompt(sessionId, "/compact");
	expect(editor.text()).toContain("A short summary.");
	await editor.prompt(sessionId, "/context");
	expect(model.requests).toHaveLength(2);
	const fork = await editor.agent.request("session/fork", { sessionId, cwd: folder });
	expect(fork.sessionId).not.toBe(sessionId);
	await editor.prompt(fork.sessionId, "And now?");
	const sent = JSON.stringify(model.requests[2]?.messages);
	expect(sent).toContain("A short summary.");
	expect(sent).not.toContain("The lamp is green.");
	editor.updates.length = 0;
	await editor.load(fork.sessionId, folder);
	expect(editor.text("user_message_chunk")).toBe("Which lamp?And now?");
	editor.updates.length = 0;
	await editor.load(sessionId, folder);
	expect(editor.text("user_message_chunk")).toBe("Which lamp?");
	const { sessions } = await editor.agent.request("session/list", {});
	expect(new Set(sessions.map((each) => each.sessionId))).toEqual(new Set([sessionId, fork.sessionId]));
	await expect(
		editor.agent.request("session/fork", { sessionId: "nobody", cwd: folder }),
	).rejects.toMatchObject({ code: -32_002 });
});

test("an image reaches a model that accepts images, and no other", async () => {
	const { folder, model, editor } = await assistant([{ text: "A dot." }]);
	const sessionId = await editor.create(folder);
	const prompt = (mimeType: string, data: string) =>
		editor.agent.request("session/prompt", {
			sessionId,
			prompt: [
				{ type: "text", text: "What is this?" },
				{ type: "image", mimeType, data },
			],
		});
	expect(await prompt("image/png", png)).toEqual({ stopReason: "end_turn" });
	expect(JSON.stringify(model.requests[0]?.messages)).toContain(`data:image/png;base64,${png}`);
	await expect(prompt("text/html", png)).rejects.toEqual(refused);
	await expect(prompt("image/png", "<svg>")).rejects.toEqual(refused);
	await editor.agent.request("session/set_config_option", { sessionId, configId: "model", value: "offline" });
	await expect(prompt("image/png", png)).rejects.toEqual(refused);
	expect(model.requests).toHaveLength(1);
});
