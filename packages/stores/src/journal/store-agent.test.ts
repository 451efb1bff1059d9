import { execFile } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { scriptedModel } from "@holdfast/testing";
import { Agent, type AgentRun } from "holdfast";
import type { SessionStore, StoredSession } from "holdfast/host";
import type { AgentEvent } from "holdfast/types";
import { beforeEach, describe, expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/shared/temporary-folder.fixture.ts";
import { FileSessionStore } from "../session-store/file-session-store.ts";
import { MemorySessionStore } from "../session-store/memory-session-store.ts";

type Message = { readonly text: string };

/** A model that answers `re: <message>`, once `gate` lets it. */
function echo(gate?: Promise<unknown>) {
	return scriptedModel((request) => {
		const { text } = request.messages.at(-1) as unknown as Message;
		return { text: `re: ${text}`, ...(gate === undefined ? {} : { gate }) };
	});
}

async function eventsOf(run: AgentRun): Promise<readonly AgentEvent[]> {
	const events: AgentEvent[] = [];
	for await (const event of run.events()) events.push(event);
	return events;
}

async function say(agent: Agent, key: string, text: string): Promise<readonly AgentEvent[]> {
	return eventsOf(await agent.session(key).send(text));
}

function shown(model: ReturnType<typeof echo>): readonly string[] {
	return (model.requests.at(-1)?.messages ?? []).map((message) => (message as unknown as Message).text);
}

/** A store with visible contents. */
class OpenStore implements SessionStore {
	readonly documents = new Map<string, StoredSession>();
	calls = 0;
	bytes = 0;
	#inner = new MemorySessionStore();

	async load(key: string): Promise<StoredSession | null> {
		this.calls++;
		return this.#inner.load(key);
	}

	async commit(
		...[key, next, options]: Parameters<SessionStore["commit"]>
	): ReturnType<SessionStore["commit"]> {
		this.calls++;
		this.bytes += JSON.stringify(next.state).length;
		const result = await this.#inner.commit(key, next, options);
		if (result.ok) this.documents.set(key, (await this.#inner.load(key)) as StoredSession);
		return result;
	}

	async delete(key: string): Promise<void> {
		this.calls++;
		this.documents.delete(key);
		await this.#inner.delete(key);
	}

	/** Replaces a document as another writer would. */
	async put(key: string, state: unknown): Promise<void> {
		const expectedVersion = this.documents.get(key)?.version ?? null;
		expect((await this.commit(key, { state }, { expectedVersion })).ok).toBe(true);
	}
}

/** A store that a process has until it dies, before or after its call of that number. */
function dyingStore(inner: SessionStore, last: number, when: "before" | "after") {
	let calls = 0;
	const through = async <T>(call: () => Promise<T>): Promise<T> => {
		if (++calls < last) return call();
		if (calls === last && when === "after") await call();
		throw new Error("the process is dead");
	};
	const store: SessionStore = {
		load: (key) => through(() => inner.load(key)),
		commit: (...parameters) => through(() => inner.commit(...parameters)),
		delete: (key) => through(() => inner.delete(key)),
	};
	return { store, died: () => calls >= last };
}

const tool = {
	name: "look",
	description: "Looks.",
	parameters: { type: "object" } as const,
	retryPolicy: "pure" as const,
	run: () => "seen",
};

/** A model that looks once and then answers. */
function working() {
	return scriptedModel(({ messages }) =>
		messages.at(-1)?.type === "tool_result" ? "done" : { toolCalls: [{ name: "look" }] },
	);
}

/** A model that passes its input to the researcher, always in the same child session, and then ends. */
function delegating() {
	return scriptedModel(({ messages }) => {
		const last = messages.at(-1) as unknown as { type: string; text: string };
		if (last.type === "tool_result") return "done";
		const given = { prompt: last.text, sessionKey: "notes" };
		return { toolCalls: [{ name: "delegate_to_researcher", arguments: given }] };
	});
}

const code = (events: readonly AgentEvent[]): string | undefined => {
	const last = events.at(-1);
	return last?.type === "turn-error" ? last.code : last?.type;
};

describe("a session over a plain store", () => {
	test("needs only load, commit and delete, and returns versions unchanged [SES-080]", async () => {
		const minted = new Map<string, { state: string; version: unknown }>();
		const forms: readonly (() => unknown)[] = [
			() => 0,
			() => "",
			() => Object.freeze({ etag: [1] }),
			() => Symbol("v"),
			() => 7n,
		];
		let count = 0;
		const used = new Set<PropertyKey>();
		const bare = {
			async load(key: string) {
				const found = minted.get(key);
				return found === undefined ? null : { state: JSON.parse(found.state), version: found.version };
			},
			async commit(key: string, next: { state: unknown }, options: { expectedVersion: unknown }) {
				expect(Object.keys(next)).toEqual(["state"]);
				const current = minted.has(key) ? minted.get(key)?.version : null;
				if (options.expectedVersion !== current) return { ok: false, reason: "conflict" };
				const version = forms[count++ % forms.length]?.();
				minted.set(key, { state: JSON.stringify(next.state), version });
				return { ok: true, version };
			},
			async delete(key: string) {
				minted.delete(key);
			},
		};
		const sessionStore = new Proxy(bare, {
			get(target, name) {
				used.add(name);
				return Reflect.get(target, name);
			},
		}) as unknown as SessionStore;
		const model = echo();
		const agent = new Agent({ model, host: { sessionStore } });
		for (let turn = 1; turn <= 10; turn++) expect(code(await say(agent, "k", `${turn}`))).toBe("turn-end");
		await agent.close();
		const again = new Agent({ model, host: { sessionStore } });
		expect(code(await say(again, "k", "more"))).toBe("turn-end");
		expect(shown(model)).toHaveLength(21);
		await again.session("k").delete();
		expect([...minted.keys()]).toEqual([]);
		expect([...used].filter((name) => name !== "load" && name !== "commit" && name !== "delete")).toEqual([]);
	});

	test("ends a run with session_conflict if another writer was faster, whose state stays [SES-082]", async () => {
		const sessionStore = new MemorySessionStore();
		let open = (): void => {};
		const gate = new Promise<void>((resolve) => {
			open = resolve;
		});
		const [slow, quick] = [echo(gate), echo()];
		const one = new Agent({ model: slow, host: { sessionStore } });
		const two = new Agent({ model: quick, host: { sessionStore } });
		const run = await one.session("k").send("slow");
		const told = eventsOf(run);
		expect(code(await say(two, "k", "quick"))).toBe("turn-end");
		const before = (await two.session("k").state()).messages.length;
		open();
		const events = await told;
		expect(code(events)).toBe("session_conflict");
		expect(events.map(({ type }) => type)).not.toContain("step-end");
		expect((await two.session("k").state()).messages).toHaveLength(before);
		expect(code(await say(one, "k", "again"))).toBe("turn-end");
		expect(shown(slow)).toEqual(["slow", "re: slow", "quick", "re: quick", "again"]);
	});

	test("reports a conflict at the first commit of a run in the run, and continues with the other writer's entries [SES-082]", async () => {
		const sessionStore = new MemorySessionStore();
		const [first, second] = [echo(), echo()];
		const one = new Agent({ model: first, host: { sessionStore } });
		const two = new Agent({ model: second, host: { sessionStore } });
		await say(one, "k", "a");
		await say(two, "k", "b");
		expect(code(await say(one, "k", "c"))).toBe("session_conflict");
		expect(code(await say(one, "k", "d"))).toBe("turn-end");
		expect(shown(first)).toEqual(["a", "re: a", "b", "re: b", "d"]);
	});

	test("treats an error that the store marks as a conflict as one, without another state [SES-082]", async () => {
		for (const refused of [1, 2, 3, 4, 5, 6]) {
			const sessionStore = new OpenStore();
			let commits = 0;
			const { commit } = sessionStore;
			sessionStore.commit = async (...parameters) =>
				++commits === refused ? { ok: false, reason: "conflict" } : commit.apply(sessionStore, parameters);
			const agent = new Agent({ model: echo(), host: { sessionStore } });
			expect(code(await say(agent, "k", "a"))).toBe("session_conflict");
			expect(code(await say(agent, "k", "b"))).toBe("turn-end");
		}
	});

	test("costs the same at turn 1,000 as at turn 10, in calls and in bytes [SES-089]", async () => {
		const sessionStore = new OpenStore();
		const agent = new Agent({ model: echo(), host: { sessionStore } });
		const session = agent.session("k");
		const costs: { calls: number; bytes: number }[] = [];
		for (let turn = 1; turn <= 1_000; turn++) {
			const { calls, bytes } = sessionStore;
			await (await session.send(`turn ${String(turn).padStart(5, "0")}`)).result();
			costs.push({ calls: sessionStore.calls - calls, bytes: sessionStore.bytes - bytes });
		}
		const [tenth, last] = [costs[9], costs[999]] as [(typeof costs)[number], (typeof costs)[number]];
		expect(last.calls).toBe(tenth.calls);
		expect(last.bytes).toBeLessThanOrEqual(2 * tenth.bytes);
		expect(Math.max(...costs.slice(10).map(({ calls }) => calls))).toBe(tenth.calls);
	});

	test.each(["newer", "damaged"] as const)(
		"ends a run with a clear code if the stored data is %s, and does not change it [SES-088]",
		async (kind) => {
			const bad = kind === "newer" ? "journal_newer" : "journal_corrupt";
			const first = new OpenStore();
			await say(new Agent({ model: echo(), host: { sessionStore: first } }), "k", "a");
			const whole = [...first.documents].map(([key, { state }]) => [key, state] as const);
			for (const [at, [, intact]] of whole.entries()) {
				const states =
					kind === "newer"
						? [{ ...(intact as object), format: 2 }, { format: 99 }]
						: [null, "", 7, [], {}, { format: 1 }, { ...(intact as object), seq: "x" }];
				for (const state of states) {
					const sessionStore = new OpenStore();
					for (const [key, each] of whole) await sessionStore.put(key, each);
					const [key] = whole[at] as (typeof whole)[number];
					await sessionStore.put(key, state);
					const before = JSON.stringify([...sessionStore.documents]);
					const model = echo();
					const agent = new Agent({ model, host: { sessionStore } });
					expect(code(await say(agent, "k", "b"))).toBe(bad);
					expect(code(await say(agent, "k", "c"))).toBe(bad);
					expect(model.requests).toHaveLength(0);
					expect(JSON.stringify([...sessionStore.documents])).toBe(before);
				}
			}
		},
	);

	test.each(["before", "after"] as const)(
		"continues in another process wherever its process dies, %s any call of the store",
		async (when) => {
			let died = true;
			for (let last = 1; died; last++) {
				const store = new OpenStore();
				const mortal = dyingStore(store, last, when);
				const first = new Agent({ model: working(), tools: [tool], host: { sessionStore: mortal.store } });
				const accepted = await first
					.session("k")
					.send("go")
					.then((run) => run.result())
					.catch(() => undefined);
				died = mortal.died();
				const model = working();
				const next = new Agent({ model, tools: [tool], host: { sessionStore: store } });
				const resumed = await next.session("k").resume();
				if (resumed !== null) expect((await resumed.result()).outcome).toBe("completed");
				const said = (await next.session("k").state()).messages.map(({ type }) => type);
				expect([[], ["user", "assistant", "tool_result", "assistant"]]).toContainEqual(said);
				if (accepted !== undefined) expect(said).toHaveLength(4);
				await next.session("k").delete();
				// The first segment of a lease whose first head was never written is the only thing that cannot be found.
				expect([...store.documents.keys()].filter((key) => !key.endsWith(".1"))).toEqual([]);
			}
		},
	);

	test("is visible only to agents of its namespace, with its child sessions, also to recreated ones [SES-087]", async () => {
		const sessionStore = new MemorySessionStore();
		const ask = async (namespace: string, text: string) => {
			const [parents, children] = [delegating(), echo()];
			const researcher = new Agent({ name: "researcher", description: "Researches.", model: children });
			const subagents = [researcher];
			const agent = new Agent({ model: parents, namespace, subagents, host: { sessionStore } });
			expect(code(await say(agent, "k", text))).toBe("turn-end");
			await agent.close();
			return { parent: shown(parents).filter((each) => /^\w/.test(each)), child: shown(children) };
		};
		expect(await ask("house", "a")).toEqual({ parent: ["a"], child: ["a"] });
		expect(await ask("barn", "b")).toEqual({ parent: ["b"], child: ["b"] });
		expect(await ask("house", "c")).toEqual({ parent: ["a", "done", "c"], child: ["a", "re: a", "c"] });
		expect(await ask("barn", "d")).toEqual({ parent: ["b", "done", "d"], child: ["b", "re: b", "d"] });
	});

	test("is removed with its child sessions: the store keeps no document of either [SES-048]", async () => {
		const sessionStore = new OpenStore();
		const researcher = new Agent({ name: "researcher", description: "Researches.", model: echo() });
		const host = { sessionStore };
		const agent = new Agent({ model: delegating(), namespace: "house", subagents: [researcher], host });
		await say(agent, "k", "a");
		await say(agent, "k", "b");
		expect(JSON.stringify([...sessionStore.documents.values()])).toContain("re: b");
		await agent.session("k").delete();
		expect([...sessionStore.documents.keys()]).toEqual([]);
	});

	test("is removed with all its documents, and unchanged if the store fails to remove it", async () => {
		const sessionStore = new OpenStore();
		const agent = new Agent({ model: echo(), host: { sessionStore } });
		for (const text of ["a", "b", "c"]) await say(agent, "k", text);
		await say(agent, "other", "x");
		const { delete: remove } = sessionStore;
		sessionStore.delete = async () => {
			throw new Error("not now");
		};
		await expect(agent.session("k").delete()).rejects.toMatchObject({ code: "journal_failed" });
		sessionStore.delete = remove;
		expect((await agent.session("k").state()).messages).toHaveLength(6);
		await agent.session("k").delete();
		expect([...sessionStore.documents.keys()].filter((key) => key.startsWith("k"))).toEqual([]);
		expect((await agent.session("other").state()).messages).toHaveLength(2);
	});
});

describe("the location of sessions", () => {
	let dir: string;
	beforeEach(() => {
		dir = temporaryFolder();
	});

	async function inProcess(...parameters: readonly string[]): Promise<{ outcome: string; shown: string[] }> {
		const fixture = join(import.meta.dirname, "store-agent-process.fixture.ts");
		const options = ["--conditions=holdfast-source", "--no-warnings", fixture, dir, ...parameters];
		const { stdout } = await promisify(execFile)(process.execPath, options);
		return JSON.parse(stdout);
	}

	test("is memory if no host is given: another agent does not see them [SES-083]", async () => {
		const model = echo();
		await say(new Agent({ model }), "k", "a");
		await say(new Agent({ model }), "k", "b");
		expect(shown(model)).toEqual(["b"]);
	});

	test("is the folder of a FileSessionStore, where a new process continues with the conversation [SES-083]", async () => {
		const key = "room:1/../user:ü";
		await inProcess("house", key, "one");
		expect(await inProcess("house", key, "two")).toEqual({
			outcome: "completed",
			shown: ["one", "re: one", "two"],
		});
		expect((await inProcess("house", "another", "three")).shown).toEqual(["three"]);
		expect((await inProcess("barn", key, "four")).shown).toEqual(["four"]);
	});

	test("a damaged file ends the run with a clear code and stays as it is [SES-088]", async () => {
		const host = { sessionStore: new FileSessionStore(dir) };
		await say(new Agent({ model: echo(), host }), "k", "a");
		const names = readdirSync(dir).filter((name) => name.endsWith(".json"));
		expect(names.length).toBeGreaterThan(2);
		for (const name of names) {
			const path = join(dir, name);
			const whole = readFileSync(path, "utf8");
			writeFileSync(path, whole.slice(0, whole.length / 2));
			const model = echo();
			expect(code(await say(new Agent({ model, host }), "k", "b"))).toBe("journal_corrupt");
			expect(model.requests).toHaveLength(0);
			expect(readFileSync(path, "utf8")).toBe(whole.slice(0, whole.length / 2));
			writeFileSync(path, whole);
		}
		const model = echo();
		expect(code(await say(new Agent({ model, host }), "k", "b"))).toBe("turn-end");
		expect(shown(model)).toEqual(["a", "re: a", "b"]);
	});

	test("keys of 10,000 characters reach their conversation, also over files [SES-086]", async () => {
		const host = { sessionStore: new FileSessionStore(dir) };
		const [one, two] = [`${"k".repeat(9_999)}1`, `${"k".repeat(9_999)}2`];
		const model = echo();
		await say(new Agent({ model, host }), one, "a");
		await say(new Agent({ model, host }), two, "b");
		expect(shown(model)).toEqual(["b"]);
		await say(new Agent({ model, host }), one, "c");
		expect(shown(model)).toEqual(["a", "re: a", "c"]);
		await new Agent({ model, host }).session(one).delete();
		await say(new Agent({ model, host }), one, "d");
		expect(shown(model)).toEqual(["d"]);
	});
});
