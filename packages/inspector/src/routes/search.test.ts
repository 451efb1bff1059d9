// The search in what sessions say: what it finds, what it must not reveal, and its bounds.
import { join } from "node:path";
import type { SessionInspection } from "@holdfast/server";
import { memoryHost, tool } from "holdfast";
import { eventsExpired } from "holdfast/host";
import { sqliteHost } from "holdfast/sqlite";
import { afterEach, describe, expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/shared/temporary-folder.fixture.ts";
import { type Inspected, type InspectedOptions, inspect } from "./inspected.fixture.ts";

const key = "sk-abcDEF0123456789abcDEF0123456789";
const opened: Inspected[] = [];
afterEach(async () => {
	for (const each of opened.splice(0)) await each.close();
});

function open(script: Parameters<typeof inspect>[0], options?: InspectedOptions): Inspected {
	const made = inspect(script, options);
	opened.push(made);
	return made;
}

const hosts = { memory: memoryHost, sqlite: () => sqliteHost(join(temporaryFolder(), "sessions.db")) };

describe.each(Object.entries(hosts))("a search in messages (%s)", (_, host) => {
	test("finds words of messages, calls, results and errors, in any case, and returns where they are", async () => {
		const lookUp = tool({
			name: "look_up",
			description: "Looks up.",
			parameters: { type: "object" },
			run: () => ({ place: 'the "Old" Harbour' }),
		});
		const { get, say } = open(
			({ messages }) => {
				if (messages.at(-1)?.type === "tool_result") return "It is found.";
				const said = messages.at(-1)?.text ?? "";
				if (said.includes("fail")) return { error: new Error("The provider is overloaded.") };
				return { toolCalls: [{ name: "look_up", arguments: { street: "Cedar Row" } }] };
			},
			{ host: host(), tools: [lookUp] },
		);
		await say("lamp", "Where is the brass LAMP?");
		await say("broken", "Please fail");
		const found = async (words: string) =>
			(await get(`search?q=${encodeURIComponent(words)}&ids=lamp,broken,absent`)).body;
		expect(await found("brass lamp")).toMatchObject({
			found: [{ sessionId: "lamp", kind: "input", excerpt: "Where is the brass LAMP?" }],
			searched: 3,
			cut: [],
		});
		expect((await found("cedar row")).found).toMatchObject([{ sessionId: "lamp", kind: "assistant" }]);
		expect((await found('"old" harbour')).found).toMatchObject([{ sessionId: "lamp", kind: "tool.settled" }]);
		expect((await found("overloaded")).found).toMatchObject([{ sessionId: "broken", kind: "run.ended" }]);
		expect((await found("lamp overloaded")).found).toEqual([]);
		const [{ seq }] = (await found("cedar")).found;
		expect((await get(`session/lamp/entries/${seq}`)).body.kind).toBe("assistant");
	});
});

test("a search finds nothing of a credential, and its excerpts are masked", async () => {
	const { get, say } = open([`The key is ${key}.`]);
	await say("s", "Which key?");
	for (const part of [key.toLowerCase(), key.slice(0, 12), key.slice(-8)])
		expect((await get(`search?q=${part}&ids=s`)).body.found).toEqual([]);
	const { found } = (await get("search?q=the+key+is&ids=s")).body;
	expect(found).toHaveLength(1);
	expect(JSON.stringify(found)).not.toContain(key.slice(0, 12));
});

test("a search does not reach the sessions of another tenant", async () => {
	const { get, say } = open(["Hi."], { handler: { apiKeys: { "key-of-a": "a", "key-of-b": "b" } } });
	await say("s", "Hello there", { "x-api-key": "key-of-a" });
	const of = async (apiKey: string) =>
		(await get("search?q=hello&ids=s", { "x-api-key": apiKey })).body.found;
	expect(await of("key-of-a")).toHaveLength(1);
	expect(await of("key-of-b")).toEqual([]);
	expect((await get("search?q=hello&ids=s")).status).toBe(401);
});

test("a search without words, or of too much, is refused", async () => {
	const { get } = open(["Hi."]);
	for (const query of ["q=&ids=s", "q=%20&ids=s", `q=${"x".repeat(201)}&ids=s`])
		expect((await get(`search?${query}`)).body.code).toBe("invalid_input");
	const ids = Array.from({ length: 51 }, (_, at) => `s${at}`).join(",");
	expect((await get(`search?q=x&ids=${ids}`)).body.code).toBe("invalid_input");
});

test("a request reads a bounded part, and says how many sessions and which part of a long one", async () => {
	const host = memoryHost();
	const { get, say } = open(() => "y".repeat(3_000_000), { host });
	for (const id of ["a", "b", "c", "d", "e"]) await say(id, "Say much");
	const { body } = await get("search?q=nowhere&ids=a,b,c,d,e");
	expect(body.searched).toBe(3);
	expect((await get("search?q=nowhere&ids=d,e")).body.searched).toBe(2);
});

test("a search of a session that was folded since begins with the fold", async () => {
	const { host, say } = open(["First answer.", "Second answer."]);
	await say("s", "The walnut question");
	const [{ key: storeKey = "" } = {}] = await host.journal.list();
	const head = { sessionId: "s", incarnation: "1", seq: 6_000, createdAt: 1, updatedAt: 1, waiting: 0 };
	const asked: number[] = [];
	const { get } = open(["Hi."], {
		inspector: {
			inspection: {
				head: async () => head,
				entries: async (_: unknown, __: string, { after = 0 }: { after?: number } = {}) => {
					asked.push(after);
					if (after === 1_000) throw eventsExpired(storeKey, after, 2_000);
					return after === 0 ? host.journal.read(storeKey) : [];
				},
			} as unknown as SessionInspection,
		},
	});
	const { body } = await get("search?q=walnut&ids=s");
	expect(body).toMatchObject({ found: [{ excerpt: "The walnut question" }], cut: ["s"] });
	expect(asked).toEqual([1_000, 0]);
});
