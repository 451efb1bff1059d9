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

async function open(waitMs: number, fixture = "waiting-agent", host = memoryHost()) {
	process.env.HOLDFAST_TEST_WAIT_MS = `${waitMs}`;
	if (fixture !== "background-agent") vi.resetModules(); // The agent is created when its module is loaded.
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
	const parts = { host, db: join(dir, "chat.db"), transcript, yes: true };
	const conversation = await Conversation.open({ ...parts, setup: setup as never });
	const shown = (): string =>
		transcript
			.entriesAfter(0)
			.map((entry) => ("text" in entry ? entry.text : ""))
			.join("\n");
	return { conversation, transcript, shown, host };
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

/** A conversation in which two messages wait for the end of a call. */
async function busy() {
	const opened = await open(0, "busy-agent");
	void opened.conversation.say("Go.");
	await expect.poll(() => opened.transcript.live.calls).toHaveLength(1);
	await opened.conversation.say("one");
	await opened.conversation.say("two");
	expect(opened.transcript.live.queued).toEqual(["one", "two"]);
	return opened;
}

test("messages that wait reach the run when its call ends", async () => {
	const { conversation, transcript, shown } = await busy();
	process.emit("holdfast-test" as never, "done" as never);
	await conversation.settled();
	expect(shown()).toMatch(/one\ntwo\n+Heard two$/);
	expect(transcript.live).toMatchObject({ queued: [], status: "idle" });
	await conversation.leave();
});

test("messages that wait are the next turns, in their order, if the run is interrupted", async () => {
	const { conversation, transcript, shown } = await busy();
	conversation.interrupt();
	await conversation.settled();
	await expect.poll(shown).toMatch(/Interrupted\.[\s\S]*\none\n[\s\S]*Heard one[\s\S]*Heard two/);
	await expect.poll(() => transcript.live).toMatchObject({ queued: [], status: "idle" });
	await conversation.leave();
});

test("messages that wait are the next turns if the chat is left", async () => {
	const { conversation, host } = await busy();
	await conversation.leave();
	const again = await open(0, "busy-agent", host);
	expect(again.transcript.live.queued).toEqual([]);
	await expect.poll(again.shown).toMatch(/Done\.[\s\S]*one\n+Heard one[\s\S]*two\n+Heard two$/);
	await again.conversation.leave();
});

test("messages that were taken back are not sent", async () => {
	const { conversation, shown } = await busy();
	expect([conversation.recall(), conversation.recall(), conversation.recall()]).toEqual([
		"two",
		"one",
		undefined,
	]);
	process.emit("holdfast-test" as never, "done" as never);
	await conversation.settled();
	expect(shown()).toMatch(/Done\.$/);
	await conversation.leave();
});
