import { readdirSync } from "node:fs";
import { join } from "node:path";
import { scriptedModel } from "@holdfast/testing";
import { Agent } from "holdfast";
import { memory } from "holdfast/plugins";
import { beforeEach, describe, expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/shared/temporary-folder.fixture.ts";
import { FileSessionStore } from "./file-session-store.ts";
import { MemorySessionStore } from "./memory-session-store.ts";
import { sessions } from "./sessions-plugin.ts";

/** Sends and waits for the end of the turn. */
async function sent(agent: Agent, text: string, key: string): Promise<void> {
	await (await agent.session(key).send(text)).result();
}

/** The texts of the messages a session has committed. */
async function historyOf(agent: Agent, key: string): Promise<string[]> {
	const { messages } = await agent.session(key).state();
	return messages.map((message) => message.text);
}

let folder: string;
beforeEach(() => {
	folder = temporaryFolder();
});

describe("sessions.file", () => {
	test("stores sessions as a FileSessionStore does: an agent with that store continues them [SES-140]", async () => {
		const dir = join(folder, "sessions");
		const first = await Agent.create({
			model: scriptedModel(["a1"]),
			plugins: [sessions.file(dir)],
		});
		await sent(first, "q1", "room");
		await first.close();
		expect(readdirSync(dir)).not.toEqual([]);

		const host = { sessionStore: new FileSessionStore(dir) };
		const second = new Agent({ model: scriptedModel(["a2"]), host });
		await sent(second, "q2", "room");
		await second.close();

		const third = await Agent.create({
			model: scriptedModel([]),
			plugins: [sessions.file(dir)],
		});
		expect(await historyOf(third, "room")).toEqual(["q1", "a1", "q2", "a2"]);
	});

	test("is set up before the first turn of an agent created with new [SES-140]", async () => {
		const slow = { name: "slow", setup: () => new Promise<void>((resolve) => setImmediate(resolve)) };
		const first = new Agent({ model: scriptedModel(["a1"]), plugins: [slow, sessions.file(folder)] });
		await sent(first, "q1", "room");
		await first.close();
		const second = new Agent({ model: scriptedModel([]), plugins: [slow, sessions.file(folder)] });
		expect(await historyOf(second, "room")).toEqual(["q1", "a1"]);
	});

	test("together with `host.sessionStore` is a TypeError [SES-140]", async () => {
		const host = { sessionStore: new MemorySessionStore() };
		const created = Agent.create({
			model: scriptedModel([]),
			host,
			plugins: [sessions.file(folder)],
		});
		await expect(created).rejects.toThrow(/a plugin and the option `host`/);
		await expect(created).rejects.toBeInstanceOf(TypeError);
	});

	test("stores notes with the sessions: they survive a restart [SES-139]", async () => {
		const plugins = [sessions.file(folder), memory()];
		const call = (name: string, given: object) => ({
			toolCalls: [{ name, arguments: { ...given } }],
		});
		const writing = scriptedModel([call("memory_set", { name: "colour", text: "green" }), "done"]);
		const first = await Agent.create({ model: writing, plugins });
		await sent(first, "go", "ann");
		await first.close();
		const reading = scriptedModel([call("memory_load", { name: "colour" }), "done"]);
		const second = await Agent.create({ model: reading, plugins });
		await sent(second, "go", "ann");
		expect(reading.requests[1]?.messages.at(-1)?.text).toBe("green");
	});

	test("accepts the path of a folder", () => {
		expect(() => sessions.file("")).toThrow(TypeError);
	});
});
