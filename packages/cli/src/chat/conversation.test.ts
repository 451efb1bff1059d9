// A conversation whose agent waits for its provider.
import { join } from "node:path";
import { memoryHost } from "holdfast";
import { afterEach, expect, test, vi } from "vitest";
import { temporaryFolder } from "../../../../test/shared/temporary-folder.fixture.ts";
import { Transcript } from "./chat-transcript.ts";
import { Conversation } from "./conversation.ts";

afterEach(() => {
	delete process.env.HOLDFAST_TEST_WAIT_MS;
});

async function open(waitMs: number, fixture = "waiting-agent") {
	process.env.HOLDFAST_TEST_WAIT_MS = `${waitMs}`;
	if (waitMs > 0) vi.resetModules(); // The agent is created when its module is loaded.
	const dir = temporaryFolder();
	const transcript = new Transcript();
	const agent = `${join(import.meta.dirname, `${fixture}.fixture.ts`)}`;
	const setup = {
		key: "s",
		dir,
		model: { name: "", model: undefined },
		allowNetwork: false,
		allowWrite: false,
		allowShell: false,
		allowedCommands: [],
		agent,
	};
	const parts = { host: memoryHost(), db: join(dir, "chat.db"), transcript, yes: true };
	const conversation = await Conversation.open({ ...parts, setup: setup as never });
	const shown = (): string =>
		transcript
			.entriesAfter(0)
			.map((entry) => ("text" in entry ? entry.text : ""))
			.join("\n");
	return { conversation, transcript, shown };
}

test("a call of a background task is shown for approval when a turn ends", async () => {
	const { conversation, shown } = await open(0, "background-agent");
	await conversation.say("Go.");
	await conversation.settled();
	if (!shown().includes("continues in the background")) {
		await expect.poll(() => conversation.session.pending()).toHaveLength(1);
		await conversation.say("And?");
		await conversation.settled();
	}
	expect(shown()).toMatch(/The task bg_\S+ continues in the background\./);
	expect(await conversation.session.pending()).toEqual([]);
	await conversation.leave();
});

test("a wait for the provider is shown, and the answer follows automatically", async () => {
	const { conversation, transcript, shown } = await open(20);
	await conversation.say("Go.");
	await conversation.settled();
	expect(shown()).toMatch(/Waiting for the provider until \d\d:\d\d:\d\d\.\n+Here it is\./);
	expect(transcript.live.status).toBe("idle");
	await conversation.leave();
});

test("a message during the wait ends it", async () => {
	const said = await open(3_600_000);
	void said.conversation.say("Go.");
	await expect.poll(said.shown).toContain("Waiting for the provider");
	await said.conversation.say("Hurry.");
	await said.conversation.settled();
	expect(said.shown()).toContain("Here it is.");
	await said.conversation.leave();
});

test("leaving during the wait ends nothing, and does not wait", async () => {
	const { conversation, shown } = await open(3_600_000);
	void conversation.say("Go.");
	await expect.poll(shown).toContain("Waiting for the provider");
	await conversation.leave();
	expect(await conversation.session.pending().catch(() => [])).toEqual([]);
});

test("interrupting ends the waiting run", async () => {
	const { conversation, shown } = await open(3_600_000);
	void conversation.say("Go.");
	await expect.poll(shown).toContain("Waiting for the provider");
	conversation.interrupt();
	await conversation.settled();
	expect(shown()).toContain("Interrupted.");
	expect(shown()).not.toContain("Here it is.");
	await conversation.leave();
});
