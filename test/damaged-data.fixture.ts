// One damaged row must not fail the inspector's lists, totals, search and actions: the session is shown as unreadable, and
// everything else works. Sessions and threads, in every store.
import { inspector } from "@holdfast/inspector";
import { createServer, type Server, sessionService } from "@holdfast/server";
import { scriptedModel } from "@holdfast/testing";
import {
	defineAgent,
	defineModel,
	definePrompt,
	inspectThreads,
	threads as makeThreads,
	type ProviderRequest,
	type ProviderResponse,
	threadRoutes,
} from "@holdfast/threads";
import { Agent } from "holdfast";
import { expect, onTestFinished, test } from "vitest";
import type { DamagedStore } from "./damaged-stores.fixture.ts";
import { valueProject } from "./simulation/threads-project.fixture.ts";

// biome-ignore lint/suspicious/noExplicitAny: tests look at what they expect
type Body = any;
type Ask = (method: string, path: string, body?: unknown) => Promise<Body>;
interface Served {
	readonly ask: Ask;
	close(): Promise<void>;
}

function asking(server: Pick<Server, "fetch">): Ask {
	return async (method, path, body) => {
		const init = { method, headers: { "content-type": "application/json" } };
		const text = body === undefined ? {} : { body: JSON.stringify(body) };
		const response = await server.fetch(new Request(`http://localhost${path}`, { ...init, ...text }));
		const answer = await response.text();
		return answer.startsWith("{") || answer.startsWith("[") ? JSON.parse(answer) : answer;
	};
}

function serveSessions(store: DamagedStore): Served {
	const host = store.open();
	const helper = new Agent({ name: "helper", description: "Helps.", model: scriptedModel(() => "Helped.") });
	const model = scriptedModel(({ messages }) => {
		const { text = "" } = (messages.at(-1) ?? {}) as { text?: string };
		return text.startsWith("Delegate")
			? { toolCalls: [{ name: "delegate_to_helper", arguments: { prompt: "Help." } }] }
			: "Done.";
	});
	const service = sessionService({ host, agent: { model, subagents: [helper] } });
	const server = createServer({ service, ...inspector() });
	return {
		ask: asking(server),
		async close() {
			await server.close({ drainMs: 0 });
			await service.close();
			await host.close();
		},
	};
}

const usage = { promptTokens: 1, completionTokens: 1, totalTokens: 2 };
function reply({ messages }: ProviderRequest): ProviderResponse {
	const { role, content } = messages.at(-1) ?? { role: "user", content: "" };
	return role === "user" && String(content).startsWith("Delegate")
		? {
				content: null,
				toolCalls: [{ id: "call", name: "reader", arguments: { task: "Read." } }],
				finishReason: "tool_calls",
				usage,
			}
		: { content: "Done.", finishReason: "stop", usage };
}

function serveThreads(store: DamagedStore): Served & { quiet(): Promise<void> } {
	const host = store.open();
	const prompt = (name: string, tools: readonly object[]) =>
		definePrompt({ name, toolDescription: "x", prompt: "You help.", model: "main", tools: tools as never });
	const agent = (name: string) =>
		defineAgent({ name, toolDescription: "Helps.", exposeAsTool: true, sideA: { prompt: `${name}_prompt` } });
	const running = makeThreads({
		host,
		project: valueProject({
			agent: { helper: agent("helper"), reader: agent("reader") },
			prompt: {
				helper_prompt: prompt("helper_prompt", [{ name: "reader", initUserMessageProperty: "task" }]),
				reader_prompt: prompt("reader_prompt", []),
			},
			model: {
				main: defineModel({
					name: "main",
					model: "m",
					provider: () => ({
						name: "scripted",
						specificationVersion: "1",
						generate: async (request) => reply(request),
						async *stream(request) {
							const { content, toolCalls = [], finishReason } = reply(request);
							if (content !== null) yield { type: "content-delta", delta: content };
							for (const { id, name, arguments: args } of toolCalls) {
								yield { type: "tool-call-start", id, name };
								yield { type: "tool-call-done", id, arguments: args };
							}
							yield { type: "finish", finishReason, usage };
						},
					}),
				}),
			},
			tool: {},
			hook: {},
			effect: {},
			provider: {},
		}),
	});
	const { routes, publicPaths } = inspector({ inspection: inspectThreads(running) });
	const server = createServer({
		routes: [...threadRoutes({ threads: running }), ...routes],
		publicPaths,
	});
	return {
		ask: asking(server),
		quiet: () => running.quiet(),
		async close() {
			await running.close();
			await server.close({ drainMs: 0 });
			await host.close();
		},
	};
}

const statusesOf = (sessions: Body): Readonly<Record<string, string>> =>
	Object.fromEntries(sessions.map(({ sessionId, status }: Body) => [sessionId, status]));
const idsOf = (list: Body): readonly string[] => list.map(({ sessionId }: Body) => sessionId).sort();

/** Adds the tests of a store. */
export function testDamagedData(name: string, make: () => DamagedStore | Promise<DamagedStore>): void {
	test(`sessions with damaged rows ${name} are shown as unreadable, and the others work`, async () => {
		const store = await make();
		onTestFinished(() => store.close());
		const first = serveSessions(store);
		const plan = { fine: "Hello", first: "Hello", middle: "Delegate, hello", last: "Hello", setup: "Hello" };
		for (const [sessionId, input] of Object.entries({ ...plan, parent: "Delegate, hello", forked: "Hello" }))
			await first.ask("POST", "/api/agent/execute", { sessionId, input, context: {} });
		const { seq } = await first.ask("POST", "/api/inspect/session/forked/fork", { to: "fork" });
		const { children } = await first.ask("GET", "/api/inspect/session/parent");
		expect([seq, children.length]).toEqual([4, 1]);
		await first.close();
		await store.damage([
			{ kind: "entry", key: /first$/, seq: 1 },
			{ kind: "entry", key: /0middle$|\0middle$/, seq: 5 },
			{ kind: "entry", key: /last$/, seq: 4 },
			{ kind: "value", key: /setup$/, name: "session" },
			{ kind: "entry", key: /parent.*helper/s, seq: 4 },
			{ kind: "value", key: /fork$/, name: "origin" },
		]);
		const { ask, close } = serveSessions(store);
		onTestFinished(close);

		const { sessions } = await ask("GET", "/api/inspect/sessions");
		expect(statusesOf(sessions)).toEqual({
			...{ fine: "completed", first: "unreadable", middle: "completed", last: "unreadable" },
			...{ setup: "completed", parent: "completed", forked: "completed", fork: "completed" },
		});
		const unreadable = sessions.filter(({ status }: Body) => status === "unreadable");
		for (const { failure } of unreadable) expect(failure).toMatchObject({ code: "journal_corrupt" });
		const some = await ask("GET", "/api/inspect/sessions?ids=fine,first,none");
		expect(statusesOf(some.sessions)).toEqual({ fine: "completed", first: "unreadable" });

		const { counts } = await ask("GET", "/api/inspect/counts?ids=fine,first,middle,last,setup");
		expect(Object.fromEntries(counts.map((each: Body) => [each.sessionId, each.counts.unreadable]))).toEqual({
			fine: 0,
			first: 1,
			middle: 1,
			last: 1,
			setup: 0,
		});
		expect((await ask("GET", "/api/inspect/usage")).sessions).toBe(8);
		const found = await ask("GET", "/api/inspect/search?q=hello&ids=fine,first,middle,last,setup");
		expect(idsOf(found.found)).toEqual(["fine", "first", "last", "middle", "setup"]);
		expect(idsOf(found.unreadable)).toEqual(["first"]);

		for (const [id, bad] of [
			["first", 1],
			["middle", 5],
			["last", 4],
			["setup", undefined],
		] as const) {
			const { entries, isLast } = await ask("GET", `/api/inspect/session/${id}/entries`);
			const kinds: readonly string[] = entries.map(({ kind }: Body) => kind);
			expect(isLast).toBe(true);
			expect(entries.map((each: Body) => each.seq)).toEqual(kinds.map((_, at) => at + 1));
			expect(kinds.indexOf("unreadable") + 1 || undefined).toBe(bad);
			expect((await ask("GET", `/api/inspect/session/${id}`)).sessionId).toBe(id);
		}
		expect(await ask("GET", "/api/inspect/session/last/entries/4")).toMatchObject({
			kind: "unreadable",
			body: { code: "journal_corrupt" },
		});
		const parent = await ask("GET", "/api/inspect/session/parent");
		expect(parent.children).toMatchObject([{ status: "unreadable", failure: { code: "journal_corrupt" } }]);
		const { child } = parent.children[0];
		const own = await ask("GET", `/api/inspect/session/parent/entries?child=${encodeURIComponent(child)}`);
		expect(own.entries.map(({ kind }: Body) => kind === "unreadable")).toEqual([false, false, false, true]);
		const damage = async (id: string): Promise<Body> =>
			(await ask("GET", `/api/inspect/session/${id}`)).damage?.map(({ part }: Body) => part);
		expect([await damage("fork"), await damage("setup"), await damage("fine")]).toEqual([
			["origin"],
			["agent"],
			undefined,
		]);
		// What needs the damaged part is refused with the reason.
		expect((await ask("GET", "/api/inspect/session/middle/steps/6")).code).toBe("journal_corrupt");
		expect((await ask("POST", "/api/inspect/session/setup/fork", {})).code).toBe("journal_corrupt");

		const { position } = await ask("GET", "/api/inspect/changes?wait=0");
		await ask("POST", "/api/agent/execute", { sessionId: "fine", input: "Again" });
		expect((await ask("GET", `/api/inspect/changes?after=${position}`)).changed).toEqual(["fine"]);
		for (const id of ["first", "middle", "last", "setup", "parent"])
			await ask("DELETE", `/api/agent/session/${id}`);
		expect(idsOf((await ask("GET", "/api/inspect/sessions")).sessions)).toEqual(["fine", "fork", "forked"]);
	});

	test(`threads with damaged rows ${name} are shown as unreadable, and the others work`, async () => {
		const store = await make();
		onTestFinished(() => store.close());
		const first = serveThreads(store);
		const ids: Record<string, string> = {};
		for (const each of ["fine", "record", "place", "entry", "parent", "child", "later"]) {
			const content = each === "parent" || each === "child" ? "Delegate, hello" : "Hello";
			ids[each] = (await first.ask("POST", "/api/threads", { agent_id: "helper" })).id;
			await first.ask("POST", `/api/threads/${ids[each]}/messages`, { content });
		}
		await first.quiet();
		const childOf = async (id: string): Promise<string> =>
			(await first.ask("GET", `/api/inspect/session/${id}`)).children[0].sessionId;
		const [readable, unreadable] = [await childOf(ids.parent ?? ""), await childOf(ids.child ?? "")];
		await first.close();
		await store.damage([
			{ kind: "record", shelf: "threads", name: new RegExp(ids.record ?? "") },
			{ kind: "record", shelf: "threads/made", name: new RegExp(ids.place ?? "") },
			{ kind: "record", shelf: "threads", name: new RegExp(unreadable) },
			{ kind: "entry", key: new RegExp(ids.entry ?? ""), seq: 2 },
			{ kind: "entry", key: new RegExp(readable), seq: 3 },
		]);
		const { ask, close, quiet } = serveThreads(store);
		onTestFinished(close);

		const { sessions } = await ask("GET", "/api/inspect/sessions");
		const nameOf = (id: string): string => Object.entries(ids).find(([, each]) => each === id)?.[0] ?? "";
		expect(Object.fromEntries(sessions.map((each: Body) => [nameOf(each.sessionId), each.status]))).toEqual({
			...{ fine: "completed", record: "unreadable", place: "completed", entry: "unreadable" },
			...{ parent: "completed", child: "completed", later: "completed", "": "unreadable" },
		});
		// A page that ends at the damaged one is continued after it.
		const pages: string[] = [];
		for (let after = ""; ; ) {
			const page = await ask("GET", `/api/inspect/sessions?limit=1${after}`);
			pages.push(...idsOf(page.sessions));
			if (page.next === undefined) break;
			after = `&after=${page.next}`;
		}
		expect(pages.toSorted()).toEqual(idsOf(sessions));
		const some = await ask("GET", `/api/inspect/sessions?ids=${ids.fine},${ids.record}`);
		expect(some.sessions.map(({ status }: Body) => status).sort()).toEqual(["completed", "unreadable"]);
		const every = Object.values(ids).join();
		expect((await ask("GET", `/api/inspect/counts?ids=${every}`)).counts).toHaveLength(6);
		expect((await ask("GET", "/api/inspect/usage")).sessions).toBe(6);
		const found = await ask("GET", `/api/inspect/search?q=hello&ids=${every}`);
		expect([found.found.length, idsOf(found.unreadable)]).toEqual([5, [ids.record, ids.entry].toSorted()]);
		expect((await ask("GET", `/api/inspect/session/${ids.child}`)).children).toMatchObject([
			{ status: "unreadable", failure: { code: "journal_corrupt" } },
		]);
		const { children } = await ask("GET", `/api/inspect/session/${ids.parent}`);
		const own = await ask("GET", `/api/inspect/session/${ids.parent}/entries?child=${children[0].child}`);
		expect(own.entries[2].kind).toBe("unreadable");
		expect((await ask("GET", `/api/inspect/session/${ids.record}`)).code).toBe("journal_corrupt");
		expect((await ask("GET", "/api/threads")).threads?.length ?? 0).toBeGreaterThan(0);

		const { position } = await ask("GET", "/api/inspect/changes?wait=0");
		await ask("POST", `/api/threads/${ids.fine}/messages`, { content: "Again" });
		await quiet();
		expect((await ask("GET", `/api/inspect/changes?after=${position}`)).changed).toEqual([ids.fine]);
		expect((await ask("DELETE", `/api/threads/${ids.entry}`)).code).toBeUndefined();
		expect(idsOf((await ask("GET", "/api/inspect/sessions")).sessions)).not.toContain(ids.entry);
	});
}
