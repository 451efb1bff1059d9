// Executions: the order of a step, one step at a time, what tools see of it; and images in requests.
import { join } from "node:path";
import { sqliteHost } from "holdfast/sqlite";
import { expect, test } from "vitest";
import { defineHook, defineTool } from "../define/index.ts";
import { temporaryFolder } from "../files/files.fixture.ts";
import type { ContentPart, Message, ToolAttachment } from "../types/index.ts";
import { oneAgent, type Reply, said, say, scripted, start } from "./threads.fixture.ts";

const call = (name: string, args: unknown = {}): Reply => ({ calls: [{ name, args }] });
const png = (name: string): ToolAttachment => ({
	name,
	mimeType: "image/png",
	data: Buffer.from(name).toString("base64"),
});

test("a step drains, assembles, calls, persists, runs tools, persists and checks whether to stop, in this order [SA-126]", async () => {
	const log: unknown[] = [];
	const kinds = async (threadId: string): Promise<string> =>
		(await host.journal.read(threadId)).map(({ fact }) => fact.kind).join(" ");
	const hooks = [
		defineHook({
			hook: "filter_messages",
			id: "assembles",
			execute: async (state, messages) => {
				log.push(["assembles", messages.map(({ content }) => content), await kinds(state.threadId)]);
				return messages;
			},
		}),
	];
	const more = defineTool({
		description: "x",
		execute: async (state) => {
			await state.queueMessage({ content: "By the way" });
			log.push(["runs", await kinds(state.threadId)]);
			return { status: "success", result: "ok" };
		},
	});
	const plain = defineTool({ description: "x", execute: async () => ({ status: "success", result: "ok" }) });
	const provider = scripted(async (_request, at) => {
		log.push(["calls", at]);
		if (at === 0) return call("more");
		if (at === 2) return { calls: [{ name: "plain" }, { name: "plain" }] };
		return at === 4 ? { calls: [{ name: "plain" }, { name: "stop" }] } : "Done.";
	});
	const agent = { hooks: ["assembles"], sideA: { prompt: "help", stopTool: "stop" } };
	const { threads, host } = start(oneAgent(provider, { hooks, tools: { more, plain, stop: plain }, agent }));
	const { threadId } = await threads.createThread({ agentId: "helper", message: "Go" });
	await threads.quiet();
	const begun = "run.started input decision";
	const asked = `${begun} assistant tool.started`;
	expect(log).toEqual([
		["assembles", ["Go"], begun],
		["calls", 0],
		["runs", asked],
		["assembles", ["Go", null, "ok", "By the way"], `${asked} tool.settled input`],
		["calls", 1],
	]);
	const first = `${asked} tool.settled input assistant run.ended`;
	expect(await kinds(threadId)).toBe(first);
	// Whether to stop is asked once all results are there: the model has the last word.
	await say(threads, threadId, "Again");
	const calls = "tool.started tool.settled tool.started tool.settled";
	const second = `${first} ${begun} assistant ${calls} assistant run.ended`;
	expect(await kinds(threadId)).toBe(second);
	// A condition that the last of the results meets.
	await say(threads, threadId, "And stop");
	expect(await kinds(threadId)).toBe(`${second} ${begun} assistant ${calls} run.ended`);
	await threads.close();
});

test("an execution's messages and its path of prompts can be read, but not changed [SA-134]", async () => {
	const seen: unknown[] = [];
	const refused: unknown[] = [];
	const look = defineTool({
		description: "x",
		execute: async ({ execution }) => {
			const history = execution?.messageHistory as Message[];
			seen.push([history.map(({ role, content }) => `${role}: ${content}`), execution?.promptPath]);
			for (const change of [
				() => history.push(history[0] as Message),
				() => Object.assign(history[0] as Message, { content: "changed" }),
				() => ((execution as NonNullable<typeof execution>).promptPath as string[]).push("x"),
			])
				try {
					refused.push(change());
				} catch (error) {
					refused.push((error as Error).name);
				}
			return { status: "success", result: "seen" };
		},
	});
	const provider = scripted(["Earlier.", call("look"), "ok"]);
	const { threads } = start(oneAgent(provider, { tools: { look } }));
	const { threadId } = await threads.createThread({ agentId: "helper", message: "Before" });
	await threads.quiet();
	await say(threads, threadId, "Go");
	expect(seen).toEqual([[["user: Go", "assistant: null"], ["help"]]]);
	expect(refused).toEqual(["TypeError", "TypeError", "TypeError"]);
	expect((await said(threads, threadId))[2]).toBe("user: Go");
	await threads.close();
});

test("a call that was interrupted by the end of its process has an error that explains it, and the model decides [SA-136]", async () => {
	const path = join(temporaryFolder(), "threads.db");
	const ran: number[] = [];
	const begun = Promise.withResolvers<void>();
	const send = defineTool({
		description: "x",
		execute: () => {
			ran.push(1);
			begun.resolve();
			return new Promise(() => {});
		},
	});
	const provider = scripted(({ messages }) =>
		messages.at(-1)?.role === "tool" ? "I ask first." : call("send"),
	);
	const project = oneAgent(provider, { tools: { send } });
	const first = sqliteHost(path);
	const { threads } = start(project, { host: first });
	const { threadId } = await threads.createThread({ agentId: "helper", message: "Go" });
	await begun.promise;
	await threads.close(); // suspended inside the call
	await first.close();
	const second = sqliteHost(path);
	const { threads: restarted } = start(project, { host: second });
	for await (const run of restarted.recover()) await run.result();
	expect(ran).toEqual([1]);
	expect(await said(restarted, threadId)).toEqual([
		"user: Go",
		"assistant: <send>",
		expect.stringMatching(/^tool: The call was interrupted\./),
		"assistant: I ask first.",
	]);
	await restarted.close();
	await second.close();
});

const partsOf = (content: unknown): string[] =>
	typeof content === "string"
		? [content]
		: (content as ContentPart[]).map((part) => (part.type === "text" ? part.text : part.type));

test("only images of the last messages are in the request; stored messages keep theirs [SA-027]", async () => {
	const run = async (recentImageThreshold: number | undefined, messages: number): Promise<unknown> => {
		const provider = scripted(["ok"]);
		const prompt = recentImageThreshold === undefined ? {} : { recentImageThreshold };
		const { threads } = start(oneAgent(provider, { prompt }));
		const state = await threads.createThread({ agentId: "helper" });
		for (let at = 0; at < messages; at++)
			await state.injectMessage({ role: "user", content: `m${at}`, attachments: [png(`p${at}.png`)] });
		await say(threads, state.threadId, "Look");
		const { messages: stored } = await state.getMessages({ limit: 100 });
		expect(stored.filter(({ attachments }) => attachments?.length === 1)).toHaveLength(messages);
		const asked = provider.requests[0]?.messages.slice(1) ?? [];
		await threads.close();
		const shown = asked.map(({ content }) => partsOf(content).some((part) => part === "image"));
		for (const [at, isImage] of shown.slice(0, -1).entries())
			expect(partsOf(asked[at]?.content).join("\n")).toMatch(isImage ? `m${at}` : `[image: p${at}.png at `);
		return shown;
	};
	expect(await run(2, 3)).toEqual([false, false, true, false]);
	expect(await run(0, 1)).toEqual([false, false]);
	expect(await run(undefined, 11)).toEqual([...Array(2).fill(false), ...Array(9).fill(true), false]);
});

test("a model without vision is shown no image, and the message keeps its files [SA-033]", async () => {
	for (const supportsImages of [false, true]) {
		const provider = scripted(["ok"]);
		const { threads } = start(oneAgent(provider, { model: { capabilities: { supportsImages } } }));
		const state = await threads.createThread({ agentId: "helper" });
		await state.queueMessage({ content: "Look", attachments: [png("a.png")] });
		await threads.quiet();
		const [message] = (await state.getMessages()).messages;
		expect(message?.attachments).toMatchObject([{ name: "a.png", mimeType: "image/png" }]);
		const parts = partsOf(provider.requests[0]?.messages[1]?.content);
		expect(parts.includes("image")).toBe(supportsImages);
		expect(JSON.stringify(provider.requests[0]).includes(png("a.png").data)).toBe(supportsImages);
		await threads.close();
	}
});

test("files of a result are stored, and its message refers to them [SA-044]", async () => {
	const draw = defineTool({
		description: "x",
		execute: async () => ({ status: "success", result: "drawn", attachments: [png("d.png")] }),
	});
	const provider = scripted([call("draw"), "ok"]);
	const { threads, host } = start(oneAgent(provider, { tools: { draw } }));
	const state = await threads.createThread({ agentId: "helper", message: "Go" });
	await threads.quiet();
	const message = (await state.getMessages()).messages[2];
	const [file] = message?.attachments ?? [];
	expect(file).toMatchObject({ type: "file", name: "d.png", mimeType: "image/png" });
	expect(Buffer.from((await state.readFile(file?.path ?? "")) ?? new ArrayBuffer(0)).toString()).toBe(
		"d.png",
	);
	expect(JSON.stringify(await host.journal.read(state.threadId))).not.toContain(png("d.png").data);
	expect(provider.requests[1]?.messages.at(-1)).toMatchObject({
		attachments: [{ type: "image", data: png("d.png").data }],
	});
	await threads.close();
});
