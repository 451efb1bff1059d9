/** Editors that share a session, that disconnect, and that send what the protocol does not allow. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../../../../test/shared/temporary-folder.fixture.ts";
import { place } from "./editor.fixture.ts";

test("two editors have one session open: both show its turns, and one answer closes both questions", async () => {
	const { folder, slow, open, bookings } = place();
	const [one, two, third] = await Promise.all([open(), open(), open()]);
	const sessionId = await one.create(folder);
	await one.prompt(sessionId, "hello");
	await two.load(sessionId, folder);
	expect(two.text()).toBe("You said: hello");
	expect(await one.prompt(sessionId, "again")).toBe("end_turn");
	await expect.poll(() => two.text()).toBe("You said: helloYou said: again");
	expect(two.text("user_message_chunk")).toBe("helloagain");

	two.answers.push(undefined, "allow_once");
	const booking = one.prompt(sessionId, "book");
	await expect.poll(() => [one.asked.length, two.asked.length]).toEqual([1, 1]);
	third.answers.push("allow_once");
	await third.load(sessionId, folder);
	expect(await booking).toBe("end_turn");
	expect(bookings()).toBe("2\n");
	for (const editor of [one, two, third]) await expect.poll(() => editor.text()).toContain("Done: booked 2");

	const running = one.prompt(sessionId, "slow");
	await expect.poll(() => one.call("slow")?.status).toBe("in_progress");
	await expect.poll(() => two.call("slow")?.status).toBe("in_progress");
	const queued = two.prompt(sessionId, "after it");
	await two.agent.request("session/close", { sessionId: "nobody" }).catch(() => {});
	writeFileSync(slow, "");
	expect(await running).toBe("end_turn");
	expect(await queued).toBe("end_turn");
	await expect.poll(() => one.text()).toContain("You said: after it");
	await expect.poll(() => two.text()).toContain("You said: after it");
	expect(two.text().match(/You said: after it/g)).toHaveLength(1);
});

test("a run whose process is killed continues in another editor that has the session open", async () => {
	const { folder, slow, open } = place();
	const [one, two] = await Promise.all([open(), open()]);
	const sessionId = await one.create(folder);
	await one.prompt(sessionId, "hello");
	await two.load(sessionId, folder);
	const lost = one.prompt(sessionId, "slow").catch(() => "lost");
	await expect.poll(() => two.call("slow")?.status).toBe("in_progress");
	await one.kill();
	await lost;
	writeFileSync(slow, "");
	await expect.poll(() => two.text()).toContain("Done: waited");
	expect(await two.prompt(sessionId, "again")).toBe("end_turn");
});

test("an editor that disconnects in mid-answer leaves the run to the next one", async () => {
	const { folder, slow, open } = place();
	const editor = await open();
	const sessionId = await editor.create(folder);
	const lost = editor.prompt(sessionId, "slow").catch(() => "lost");
	await expect.poll(() => editor.call("slow")?.status).toBe("in_progress");
	expect(await editor.leave()).toBe(0);
	await lost;
	writeFileSync(slow, "");
	const next = await open();
	await next.agent.request("session/resume", { sessionId, cwd: folder, mcpServers: [] });
	await expect.poll(() => next.text()).toBe("Done: waited");
	expect(next.text("user_message_chunk")).toBe("");
	expect(await next.prompt(sessionId, "hello")).toBe("end_turn");
});

test("lines and requests that the protocol does not allow are errors, and the process continues", async () => {
	const folder = temporaryFolder();
	const program = join(import.meta.dirname, "../../bin/holdfast.js");
	const argv = ["--conditions=holdfast-source", program, "acp", "--model", "offline"];
	const child = spawn(process.execPath, argv, { cwd: folder, stdio: ["pipe", "pipe", "ignore"] });
	onTestFinished(() => void child.kill("SIGKILL"));
	const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
	const send = (text: string): void => void child.stdin.write(`${text}\n`);
	const ask = async (id: number, method: string, params: unknown): Promise<unknown> => {
		send(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
		for (;;) {
			const message = JSON.parse((await lines.next()).value as string);
			if (message.id === id) return message;
		}
	};
	const error = (code: number) => ({ error: { code } });
	expect(await ask(1, "session/new", { cwd: folder, mcpServers: [] })).toMatchObject(error(-32_600));
	expect(await ask(2, "initialize", { protocolVersion: "new" })).toMatchObject(error(-32_602));
	expect(await ask(3, "initialize", { protocolVersion: 99, clientCapabilities: {} })).toMatchObject({
		result: { protocolVersion: 1 },
	});
	send("this is no JSON");
	send("[]");
	send('{"jsonrpc":"2.0","id":7}');
	expect(await ask(8, "session/made_up", {})).toMatchObject(error(-32_601));
	expect(await ask(9, "session/new", { cwd: 5 })).toMatchObject(error(-32_602));
	expect(await ask(10, "session/new", { cwd: "relative", mcpServers: [] })).toMatchObject(error(-32_602));
	expect(await ask(11, "session/new", { cwd: folder, mcpServers: [] })).toMatchObject({
		result: { sessionId: expect.any(String) },
	});
	const exit = once(child, "exit");
	child.stdin.end();
	expect((await exit)[0]).toBe(0);
});
