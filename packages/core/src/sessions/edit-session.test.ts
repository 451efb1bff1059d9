// Changes of the history from outside: they wait in the inbox, and the next run applies them.

import { join } from "node:path";
import { scriptedModel } from "@holdfast/testing";
import { AssistantMessage, type Message, ToolResultMessage, UserMessage } from "@holdfast/upp";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/shared/temporary-folder.fixture.ts";
import { Agent } from "../agent/agent.ts";
import { foldEntries } from "../facts/journal-fold.ts";
import { readEdit } from "../facts/message-edit.ts";
import type { Host } from "../host/host-port.ts";
import { memoryHost } from "../host/memory-host.ts";
import { sqliteHost } from "../sqlite.ts";
import { tool } from "../tools/tool.ts";
import type { Session } from "./session.ts";

const hosts: readonly (readonly [string, () => Host])[] = [
	["memory", () => memoryHost()],
	["SQLite", () => sqliteHost(join(temporaryFolder(), "sessions.db"))],
];

const textOf = (message: Message): string => (message as UserMessage).text;
const said = async (session: Session): Promise<readonly string[]> =>
	(await session.state()).messages.map(textOf);

describe.each(hosts)("with sessions in %s", (_name, makeHost) => {
	test("a change starts no run, and precedes the next message", async () => {
		const host = makeHost();
		const model = scriptedModel(["Welcome back.", "Bye."]);
		const agent = new Agent({ model, host });
		const session = agent.session("s");
		await session.edit({ kind: "add", message: new AssistantMessage("Hello.") });
		expect(model.requests).toHaveLength(0);
		expect(await host.journal.inbox("s")).toMatchObject([{ kind: "edit" }]);
		await (await session.send("Hi.")).result();
		expect(await said(session)).toEqual(["Hello.", "Hi.", "Welcome back."]);
		expect(model.requests[0]?.messages.map(textOf)).toEqual(["Hello.", "Hi."]);
		const [hello, hi] = (await session.state()).messages;
		await session.edit({ kind: "delete", messageId: hello?.id ?? "" });
		await session.edit({ kind: "update", message: new UserMessage("Hi!", { id: hi?.id ?? "" }) });
		await (await session.send("Go.")).result();
		expect(await said(session)).toEqual(["Hi!", "Welcome back.", "Go.", "Bye."]);
		expect(await host.journal.inbox("s")).toEqual([]);
		const folded = foldEntries(await host.journal.read("s"));
		expect(folded.agent.messages.map(textOf)).toEqual(["Hi!", "Welcome back.", "Go.", "Bye."]);
		await agent.close();
		await host.close();
	});

	test("the active run applies a change between two steps, and makes no additional step", async () => {
		const host = makeHost();
		const look = tool({
			name: "look",
			description: "Looks.",
			parameters: { type: "object", properties: {} },
			run: async () => {
				await session.edit({ kind: "add", message: new UserMessage("By the way.") });
				return "seen";
			},
		});
		const model = scriptedModel([{ toolCalls: [{ name: "look" }] }, "Done."]);
		const agent = new Agent({ model, host, tools: [look] });
		const session = agent.session("s");
		const { outcome, steps } = await (await session.send("Look.")).result();
		expect([outcome, steps]).toEqual(["completed", 2]);
		expect(await said(session)).toEqual(["Look.", "", "seen", "By the way.", "Done."]);
		await agent.close();
		await host.close();
	});
});

test.each([undefined, {}, { edit: "delete" }, { edit: "add", message: {} }, { edit: "burn", message: 1 }])(
	"an invalid change is rejected: %j",
	(body) => {
		expect(() => readEdit(body)).toThrow(expect.objectContaining({ code: "journal_corrupt" }));
	},
);

test("a message with calls or results is not added, because it would lack its counterpart", async () => {
	const agent = new Agent({ model: scriptedModel([]) });
	const session = agent.session("s");
	const call = { toolCallId: "a", toolName: "look", arguments: {} };
	for (const message of [
		new AssistantMessage("Let me see.", [call]),
		new ToolResultMessage([{ toolCallId: "a", result: "seen" }]),
	])
		await expect(session.edit({ kind: "add", message })).rejects.toMatchObject({ code: "invalid_input" });
	await agent.close();
});

test("deleting a result while an approval waits also deletes its call, and the model is still called", async () => {
	const erase = tool({ name: "erase", description: "Erases.", needsApproval: true, run: () => "erased" });
	const model = scriptedModel([
		{ toolCalls: [{ name: "erase", id: "one" }] },
		{ toolCalls: [{ name: "erase", id: "two" }] },
		"Done.",
	]);
	const agent = new Agent({ model, tools: [erase] });
	const session = agent.session("s");
	await (await session.send("Go.")).result();
	await (await session.answer([{ toolCallId: "one", approved: true }])).result();
	const [, asked, results] = (await session.state()).messages;
	await session.edit({ kind: "delete", messageId: results?.id ?? "" });
	await (await session.answer([{ toolCallId: "two", approved: true }])).result();
	expect(model.requests.at(-1)?.messages.map(({ type }) => type)).toEqual([
		"user",
		"assistant",
		"tool_result",
	]);
	expect(model.requests.at(-1)?.messages.some(({ id }) => id === asked?.id)).toBe(false);
	await agent.close();
});

describe.each(hosts)("with sessions in %s, ids of messages are unique:", (_name, makeHost) => {
	test("an added message whose id is in the history or in a waiting change is rejected", async () => {
		const host = makeHost();
		const agent = new Agent({ model: scriptedModel(() => "Noted."), host });
		const session = agent.session("s");
		const duplicate = { code: "duplicate_message" };
		await (await session.send(new UserMessage("Hi.", { id: "m1" }))).result();
		const add = (id: string) => session.edit({ kind: "add", message: new UserMessage("Again.", { id }) });
		await expect(add("m1")).rejects.toMatchObject(duplicate);
		const [, answer] = (await session.state()).messages;
		await expect(add(answer?.id ?? "")).rejects.toMatchObject(duplicate);
		await add("m2");
		await expect(add("m2")).rejects.toMatchObject(duplicate);
		const other = new Agent({ model: scriptedModel(() => "Noted."), host }).session("s");
		const again = { kind: "add", message: new UserMessage("Again.", { id: "m2" }) } as const;
		await expect(other.edit(again)).rejects.toMatchObject(duplicate);
		await (await session.send("Go.")).result();
		await expect(add("m2")).rejects.toMatchObject(duplicate);
		expect((await session.state()).messages).toHaveLength(5);
		await agent.close();
		await host.close();
	});

	test("a sent or steered message whose id is in the history gets a new one", async () => {
		const host = makeHost();
		const open = Promise.withResolvers<string>();
		const answers = ["One.", "Two.", "Three."];
		const model = scriptedModel(() => answers.shift() ?? open.promise);
		const agent = new Agent({ model, host });
		const session = agent.session("s");
		const message = new UserMessage("Hi.", { id: "m1" });
		await (await session.send(message)).result();
		await (await session.send(message)).result();
		await (await session.start(message)).result();
		const run = await session.send("Go.");
		await session.steer(message);
		const queued = await session.send(message);
		open.resolve("Done.");
		await run.result();
		await queued.result();
		const { messages } = await session.state();
		expect(messages.filter((each) => textOf(each) === "Hi.")).toHaveLength(5);
		expect(new Set(messages.map(({ id }) => id)).size).toBe(messages.length);
		await agent.close();
		await host.close();
	});
});

const foreign = fc.oneof(
	fc.anything({ maxDepth: 2 }),
	fc.record(
		{
			kind: fc.constantFrom("add", "update", "delete", "remove"),
			id: fc.string(),
			messageId: fc.oneof(fc.string(), fc.integer()),
			message: fc.oneof(
				fc.anything({ maxDepth: 2 }),
				fc.constant({ id: "m", role: "user", content: "Hi." }),
				fc.string().map((text) => new UserMessage(text)),
			),
		},
		{ requiredKeys: [] },
	),
);

test("a change that could not be read later is refused, and a session never becomes unreadable", async () => {
	let accepted = 0;
	await fc.assert(
		fc.asyncProperty(fc.array(foreign, { minLength: 1, maxLength: 5 }), async (changes) => {
			const session = new Agent({ model: scriptedModel(() => "Noted.") }).session("s");
			for (const change of changes) {
				const refusal = await session.edit(change as never).then(
					() => undefined,
					(error) => error.code,
				);
				if (refusal === undefined) accepted++;
				else expect(["invalid_input", "duplicate_message"]).toContain(refusal);
			}
			expect((await (await session.send("Go.")).result()).text).toBe("Noted.");
		}),
	);
	expect(accepted).toBeGreaterThan(0);
});
