import { spawnSync } from "node:child_process";
import { hostname } from "node:os";
import { HoldfastError, memoryHost } from "holdfast";
import { storeKeyOf } from "holdfast/execute";
import { expect, test } from "vitest";
import { Transcript } from "./chat-transcript.ts";
import { QueuedMessages } from "./queued-messages.ts";

function queue(host = memoryHost(), attach = async (text: string) => text) {
	const transcript = new Transcript();
	const messages = new QueuedMessages({ transcript, host, key: "s", attach });
	const values = host.values.values(storeKeyOf(undefined, "s"), "chat-queue");
	const stored = async (): Promise<unknown> => (await values.list()).map(({ value }) => value);
	const add = async (text: string): Promise<void> => {
		transcript.set({ queued: [...transcript.live.queued, text] });
		await messages.add(messages.message(text, ["output"]));
	};
	return { host, transcript, messages, values, stored, add };
}

/** Makes the stored messages those of a process that has ended. */
async function died({ values }: ReturnType<typeof queue>): Promise<void> {
	const { pid } = spawnSync(process.execPath, ["-e", "0"]);
	for (const { name, value } of await values.list()) await values.set(name, { ...(value as object), pid });
}

test("messages are sent in the order in which they were typed, even if the first one takes longer to prepare", async () => {
	const slow = Promise.withResolvers<string>();
	const { messages } = queue(memoryHost(), async (text) => (text === "one" ? slow.promise : text));
	const sent: unknown[] = [];
	const send = async (said: unknown): Promise<void> => void sent.push(said);
	const all = ["one", "two"].map((text) => messages.send(messages.message(text, []), send));
	await new Promise((resolve) => setImmediate(resolve));
	slow.resolve("one");
	await Promise.all(all);
	expect(sent).toEqual(["one", "two"]);
});

test("messages that cannot be sent do not hold back the next one", async () => {
	const { messages } = queue(memoryHost(), async (text) => {
		if (text === "one") throw new Error("No such file.");
		return text;
	});
	await expect(messages.send(messages.message("one", []), async () => "sent")).rejects.toThrow(
		"No such file.",
	);
	expect(await messages.send(messages.message("two", []), async () => "sent")).toBe("sent");
});

test("a message is stored until it is sent or taken back", async () => {
	const { messages, stored, add, transcript } = queue();
	await add("one");
	await add("two");
	const about = { asides: ["output"], pid: process.pid, machine: hostname() };
	expect(await stored()).toEqual([
		{ ...about, text: "one" },
		{ ...about, text: "two" },
	]);
	expect(messages.recall()?.text).toBe("two");
	expect(transcript.live.queued).toEqual(["one"]);
	const [one] = messages.takeAll();
	await messages.send(one as never, async () => "sent");
	await messages.settled();
	expect(await stored()).toEqual([]);
	expect(messages.recall()).toBeUndefined();
});

test("messages of a process that died are queued again, once, and count once", async () => {
	const before = queue();
	await before.add("one");
	await before.add("two");
	const after = queue(before.host);
	await after.messages.restore();
	expect(after.transcript.live.queued).toEqual([]);
	await died(before);
	await after.messages.restore();
	await after.messages.restore();
	expect(after.transcript.live.queued).toEqual(["one", "two"]);
	const other = queue(before.host);
	await other.messages.restore();
	expect(other.transcript.live.queued).toEqual([]);
	const keys = new Set<string | undefined>();
	for (const from of [before, after])
		for (const message of from.messages.takeAll()) {
			const sent = await from.messages.send(message, async (_, { dedupeKey }) => {
				if (keys.has(dedupeKey)) throw new HoldfastError("duplicate_input", "It was accepted before.");
				keys.add(dedupeKey);
				return "sent";
			});
			expect(sent).toBe(from === before ? "sent" : undefined);
		}
	expect(keys.size).toBe(2);
	expect(after.transcript.live.queued).toEqual([]);
	await after.messages.settled();
	expect(await after.stored()).toEqual([]);
});

test("a message of another machine is left to it, and a damaged one is skipped", async () => {
	const { values, messages, transcript } = queue();
	await values.set("1", { text: "one", asides: [], pid: 1, machine: "elsewhere" });
	await values.set("2", { pid: 999_999_999, machine: hostname() });
	await messages.restore();
	expect(transcript.live.queued).toEqual([]);
});
