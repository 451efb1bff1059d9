// The store: versions, policy, audit, what is missing, what is counted.
import { createHash } from "node:crypto";
import type { DatabaseClient } from "@holdfast/memory";
import { HoldfastError } from "@holdfast/upp";
import { describe, expect, test, vi } from "vitest";
import type { AuditRecord, PromptEngine, PromptStore, SafetyLayer } from "../contract/index.ts";
import { writePolicy } from "../safety/index.ts";
import { databasePromptStore, memoryPromptStore, type PromptStoreOptions } from "./index.ts";
import type { CreatingDatabase } from "./template-keeper.ts";

/** A database whose writes take a while. `processes` of it share values and nothing else. */
function slowDatabase(values: Map<string, string> = new Map(), hasCreate = false): CreatingDatabase {
	const pause = (): Promise<void> => new Promise((resume) => setImmediate(resume));
	const at = (collection: string, key: string): string => `${collection}/${key}`;
	const database: CreatingDatabase & Pick<DatabaseClient, "read"> = {
		async write(collection, key, value) {
			await pause();
			values.set(at(collection, key), JSON.stringify(value));
		},
		async read(collection, key) {
			await pause();
			return JSON.parse(values.get(at(collection, key)) ?? "null");
		},
		async query(collection, query) {
			const all = [...values]
				.filter(([key]) => key.startsWith(`${collection}/`))
				.map(([, text]) => JSON.parse(text));
			return all.filter((each) => Object.entries(query).every(([name, value]) => each[name] === value));
		},
	};
	if (!hasCreate) return database;
	return {
		...database,
		async create(collection, key, value) {
			await pause();
			if (values.has(at(collection, key))) return false;
			values.set(at(collection, key), JSON.stringify(value));
			return true;
		},
	};
}

const stores: [string, (options?: PromptStoreOptions) => PromptStore][] = [
	["in memory", (options) => memoryPromptStore(options)],
	["over a database", (options) => databasePromptStore(slowDatabase(), options)],
];

describe.each(stores)("a prompt store %s", (_, made) => {
	test("gives each put the next version and a time, and does not change earlier versions [RUN-103]", async () => {
		const clock = { now: () => Date.UTC(2026, 0, 2), monotonic: () => 0 };
		const store = made({ ports: { clock } });
		const metadata = { tags: ["a"] };
		const first = await store.put({ id: "greet", text: "Hi {{name}}", metadata });
		expect(first).toEqual({
			id: "greet",
			version: "1",
			text: "Hi {{name}}",
			metadata: { tags: ["a"] },
			createdAt: "2026-01-02T00:00:00.000Z",
		});
		metadata.tags.push("b");
		expect((await store.put({ id: "greet", text: "Hello {{name}}" })).version).toBe("2");
		expect((await store.put({ id: "other", text: "x" })).version).toBe("1");
		expect(await store.get("greet", "1")).toEqual(first);
	});

	test("gives concurrent puts of one id separate versions [RUN-103]", async () => {
		const store = made();
		const texts = Array.from({ length: 20 }, (_, index) => `text ${index}`);
		const put = await Promise.all(texts.map((text) => store.put({ id: "same", text })));
		expect(put.map(({ version }) => Number(version)).sort((a, b) => a - b)).toEqual(
			texts.map((_, i) => i + 1),
		);
		for (const { version, text } of put) expect((await store.get("same", version))?.text).toBe(text);
	});

	test("returns the latest version or exactly the requested one, or null; rendering rejects [RUN-104]", async () => {
		const store = made();
		for (const text of ["one", "two"]) await store.put({ id: "a", text });
		expect(await store.get("a")).toMatchObject({ version: "2", text: "two" });
		expect(await store.get("a", "1")).toMatchObject({ version: "1", text: "one" });
		for (const version of ["3", "0", "01", "latest", "1.0", ""])
			expect(await store.get("a", version)).toBeNull();
		for (const id of ["b", "__proto__", "constructor", "a:1"]) {
			expect(await store.get(id)).toBeNull();
			await expect(store.render(id)).rejects.toMatchObject({ code: "PROMPT_NOT_FOUND", retryable: false });
		}
		expect(await store.render("a", {}, { version: "1" })).toMatchObject({
			text: "one",
			meta: { version: "1" },
		});
		expect(await store.render("a")).toMatchObject({ text: "two", meta: { version: "2" } });
		await expect(store.render("a", {}, { version: "9" })).rejects.toMatchObject({ code: "PROMPT_NOT_FOUND" });
	});

	test("records the author, and has an audit record with the hash of the text and without the text [RUN-105]", async () => {
		const records: AuditRecord[] = [];
		const store = made({ auditSink: { write: (record) => void records.push(record) }, agentId: "writer" });
		const text = "A very particular text";
		expect(await store.put({ id: "a", text }, { author: "ada@example.org" })).toMatchObject({
			createdBy: "ada@example.org",
		});
		const textHash = createHash("sha256").update(text).digest("hex");
		expect(records).toMatchObject([
			{
				agentId: "writer",
				point: "prompt",
				rule: "prompt.put",
				action: "put",
				subject: { id: "a", version: "1", author: "ada@example.org", textHash },
			},
		]);
		expect(JSON.stringify(records)).not.toContain("particular");
	});

	test("stores nothing and uses no version if the audit record cannot be written [RUN-105]", async () => {
		let isBroken = true;
		const write = (): void => {
			if (isBroken) throw new Error("disk full");
		};
		const store = made({ auditSink: { write } });
		await expect(store.put({ id: "a", text: "x" })).rejects.toMatchObject({ code: "AUDIT_WRITE_FAILED" });
		expect(await store.get("a")).toBeNull();
		isBroken = false;
		expect((await store.put({ id: "a", text: "x" })).version).toBe("1");
	});

	test("lists the latest versions by id; filters by tag and name must both match [RUN-106]", async () => {
		const store = made();
		await store.put({ id: "c", text: "x", name: "N", metadata: { tags: ["t", "u"] } });
		await store.put({ id: "a", text: "old", name: "N", metadata: { tags: ["t"] } });
		await store.put({ id: "a", text: "new", name: "N", metadata: { tag: "u" } });
		await store.put({ id: "b", text: "x", name: "M", metadata: { tags: ["t"] } });
		const ids = async (filter?: { tag?: string; name?: string }) =>
			(await store.list(filter)).map(({ id, version }) => `${id}${version}`);
		expect(await ids()).toEqual(["a2", "b1", "c1"]);
		expect(await ids({ tag: "t" })).toEqual(["b1", "c1"]);
		expect(await ids({ name: "N" })).toEqual(["a2", "c1"]);
		expect(await ids({ tag: "t", name: "N" })).toEqual(["c1"]);
		expect(await ids({ tag: "none" })).toEqual([]);
	});

	test("stores nothing and uses no version for invalid templates or those that policy blocks [RUN-108]", async () => {
		const asked: unknown[][] = [];
		const checkWrite: SafetyLayer["checkWrite"] = async (...question) => {
			asked.push(question);
			const { text } = question[2] as { text: string };
			if (text.includes("blocked")) throw new HoldfastError("POLICY_BLOCKED", "No.");
			if (text.includes("dropped")) return undefined;
			return { value: { ...(question[2] as object), text: text.replace("sk-1", "[REDACTED:key]") } };
		};
		const sink = vi.fn();
		const store = made({ safety: { checkWrite }, auditSink: { write: sink } });
		for (const text of ["{{#if x}}", "blocked", "dropped"])
			await expect(store.put({ id: "a", text })).rejects.toMatchObject({ code: "PROMPT_INVALID" });
		expect(await store.get("a")).toBeNull();
		expect(await store.list()).toEqual([]);
		expect(sink).not.toHaveBeenCalled();
		expect(
			await store.put({ id: "a", text: "key sk-1", engine: "fstring" }, { author: "ada" }),
		).toMatchObject({
			version: "1",
			text: "key [REDACTED:key]",
			engine: "fstring",
			createdBy: "ada",
		});
		expect(asked.at(-1)).toEqual(["prompt-write", "a", { text: "key sk-1" }, { agentId: "prompts" }]);
	});

	test("rejects an invalid template with a code [RUN-108]", async () => {
		const store = made();
		const circle: Record<string, unknown> = {};
		circle.circle = circle;
		const wrong: object[] = [
			{ id: "", text: "x" },
			{ id: "x".repeat(201), text: "x" },
			{ id: 1, text: "x" },
			{ id: "a", text: 1 },
			{ id: "a", text: "x", engine: "constructor" },
			{ id: "a", text: "x", requiredVars: "name" },
			{ id: "a", text: "x", metadata: [] },
			{ id: "a", text: "x", metadata: circle },
			{ id: "a", text: "x".repeat(100_001) },
		];
		for (const given of wrong)
			await expect(store.put(given as never)).rejects.toMatchObject({ code: "PROMPT_INVALID" });
		expect(await store.list()).toEqual([]);
	});
});

test.each(["redact", "drop"] as const)(
	"a template for which a write filter returns %s is stored accordingly, with a record [RUN-123]",
	async (action) => {
		const records: AuditRecord[] = [];
		const auditSink = { write: (record: AuditRecord) => void records.push(record) };
		const safety = writePolicy({ auditSink, writeFilters: [{ match: "swordfish", action, rule: "words" }] });
		const store = memoryPromptStore({ safety });
		const put = store.put({ id: "a", text: "Say swordfish." });
		if (action === "redact") expect((await put).text).toBe("Say [REDACTED:filtered].");
		else await expect(put).rejects.toMatchObject({ code: "PROMPT_INVALID" });
		expect((await store.get("a"))?.text).toBe(action === "redact" ? "Say [REDACTED:filtered]." : undefined);
		expect(records).toMatchObject([
			{ point: "prompt-write", rule: "words", action: action === "redact" ? "modified" : "dropped" },
		]);
		await store.put({ id: "a", text: "Say nothing." });
		expect(records).toHaveLength(1);
	},
);

test("processes that share a database with `create` get separate versions [RUN-103]", async () => {
	const values = new Map<string, string>();
	const processes = [1, 2, 3].map(() => databasePromptStore(slowDatabase(values, true)));
	const put = await Promise.all(
		processes.flatMap((store, from) =>
			[1, 2, 3].map((each) => store.put({ id: "a", text: `${from} ${each}` })),
		),
	);
	expect(put.map(({ version }) => version).sort()).toEqual(["1", "2", "3", "4", "5", "6", "7", "8", "9"]);
	for (const { version, text } of put) expect((await processes[0]?.get("a", version))?.text).toBe(text);
	expect((await processes[1]?.get("a"))?.version).toBe("9");
});

test("a version whose process died before it became the latest is found, and never written again [RUN-103]", async () => {
	const values = new Map<string, string>();
	const store = databasePromptStore(slowDatabase(values));
	await store.put({ id: "a", text: "one" });
	const noted = values.get("prompts/latest:a") ?? "";
	await store.put({ id: "a", text: "two" });
	values.set("prompts/latest:a", noted);
	expect((await store.get("a"))?.text).toBe("two");
	expect((await store.put({ id: "a", text: "three" })).version).toBe("3");
	expect((await store.get("a", "2"))?.text).toBe("two");
});

test("a store reads and writes a database with its roles", async () => {
	const seen: unknown[] = [];
	const database = slowDatabase();
	const watched: DatabaseClient = {
		write: (...given) => {
			seen.push(given[3]);
			return database.write(...given);
		},
		read: (...given) => {
			seen.push(given[2]);
			return database.read(...given);
		},
		query: (...given) => {
			seen.push(given[2]);
			return database.query(...given);
		},
	};
	const store = databasePromptStore(watched, { roles: ["author"], collection: "texts" });
	await store.put({ id: "a", text: "x" });
	expect(await store.list()).toHaveLength(1);
	expect(seen.length).toBeGreaterThan(3);
	for (const options of seen) expect(options).toEqual({ roles: ["author"] });
});

describe("a missing variable", () => {
	test("rejects with all missing required ones, unless it is allowed: then it is empty and listed [RUN-113]", async () => {
		const store = memoryPromptStore();
		await store.put({ id: "a", text: "[{{x}}{{y}}{{z.q}}]", requiredVars: ["x", "y", "z.q", "constructor"] });
		await expect(store.render("a", { x: 1 })).rejects.toMatchObject({
			code: "PROMPT_VAR_MISSING",
			message: expect.stringContaining("y, z.q, constructor"),
			data: { missing: ["y", "z.q", "constructor"] },
		});
		const came = await store.render("a", { x: 1 }, { throwOnMissing: false });
		expect(came).toMatchObject({ text: "[1]", meta: { missing: ["y", "z.q", "constructor"] } });
		await expect(store.render("a")).rejects.toMatchObject({
			data: { missing: ["x", "y", "z.q", "constructor"] },
		});
	});

	test.each<[PromptEngine, string]>([
		["handlebars", "{{#if n}}{{/if}}{{s}}{{b}}{{#if no}}{{q.r}}{{/if}}"],
		["liquid", "{% if n %}{% endif %}{{s}}{{b}}{% if b %}{{q.r}}{% endif %}{% if no %}{% endif %}"],
		["mustache", "{{#n}}{{/n}}{{s}}{{b}}{{^y}}{{q.r}}{{/y}}{{^no}}{{/no}}"],
		["fstring", "{n}{s}{b}{q.r}{no}"],
	])(
		"with `throwOnMissing` also rejects for other referenced variables in %s; 0, false and empty are present [RUN-114]",
		async (engine, text) => {
			const store = memoryPromptStore();
			await store.put({ id: "a", text, engine });
			const given = { n: 0, s: "", b: false, y: true };
			await expect(store.render("a", given, { throwOnMissing: true })).rejects.toMatchObject({
				code: "PROMPT_VAR_MISSING",
				data: { missing: expect.arrayContaining(["q.r", "no"]) },
			});
			const whole = { ...given, q: { r: "" }, no: false };
			expect((await store.render("a", whole, { throwOnMissing: true })).meta?.missing).toBeUndefined();
			const { meta } = await store.render("a", given);
			expect([...(meta?.missing ?? [])].sort()).toEqual(["no", "q.r"]);
		},
	);

	test("is also detected in the items of a list [RUN-114]", async () => {
		const store = memoryPromptStore();
		await store.put({ id: "a", text: "{{#each items}}{{name}}{{/each}}" });
		const render = (items: object[]) => store.render("a", { items }, { throwOnMissing: true });
		expect((await render([{ name: "x" }])).text).toBe("x");
		await expect(render([{ name: "x" }, {}])).rejects.toMatchObject({ data: { missing: ["name"] } });
	});
});

test("tokens are a quarter of the characters rounded up, or the host's estimate [RUN-115]", async () => {
	const tokens = async (text: string, options: PromptStoreOptions = {}) => {
		const store = memoryPromptStore(options);
		await store.put({ id: "a", text });
		const { meta } = await store.render("a");
		expect(typeof meta?.tokensEstimate).toBe("number");
		return meta?.tokensEstimate;
	};
	expect([await tokens(""), await tokens("abcd"), await tokens("abcde")]).toEqual([0, 1, 2]);
	expect(await tokens("abcde", { estimateTokens: async (text) => text.length * 10 })).toBe(50);
});

test("an engine whose library is not installed reports what to install, and is tried again [RUN-107]", async () => {
	vi.resetModules();
	vi.doMock("liquidjs", () => {
		throw new Error("Cannot find package 'liquidjs'");
	});
	const { memoryPromptStore: fresh } = await import("./index.ts");
	const store = fresh();
	await expect(store.put({ id: "a", text: "x", engine: "liquid" })).rejects.toMatchObject({
		code: "PROMPT_ENGINE_MISSING",
		message: expect.stringContaining("npm install liquidjs"),
	});
	expect(await store.validate("x", "liquid")).toMatchObject({ ok: false });
	expect(await store.validate("x", "fstring")).toEqual({ ok: true });
	vi.doUnmock("liquidjs");
});
