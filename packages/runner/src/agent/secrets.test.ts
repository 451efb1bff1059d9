// Registered secrets and PII in every place where they can enter a run, looked for in every place where they could leave it.

import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inMemoryClient } from "@holdfast/memory";
import { createRedactor } from "@holdfast/redaction";
import { UserMessage } from "@holdfast/upp";
import { type Host, memoryHost } from "holdfast";
import { sqliteHost } from "holdfast/sqlite";
import { describe, expect, onTestFinished, test } from "vitest";
import type {
	AgentConfig,
	AgentResult,
	AuditRecord,
	LLMClient,
	Planner,
	RunnerEvent,
	RunnerTool,
} from "../contract/index.ts";
import { memoryEventStore } from "../events/index.ts";
import { stubClient } from "../harness/index.ts";
import { configured, echo, finish, made, use } from "./agent.fixture.ts";
import { RunnerAgent } from "./agent.ts";
import { readResult } from "./session.ts";

const secret = 'Kü7/pq+"Zt9 x4Lm';
const pin = "918273645";
const bytes = Buffer.from(secret);
const encoded = [
	secret,
	JSON.stringify(secret).slice(1, -1),
	encodeURIComponent(secret),
	encodeURIComponent(secret).replace(/%../g, (code) => code.toLowerCase()),
	bytes.toString("base64"),
	bytes.toString("base64url"),
	Buffer.concat([Buffer.from("x"), bytes])
		.toString("base64")
		.slice(2, -4),
	Buffer.concat([Buffer.from("xy"), bytes])
		.toString("base64")
		.slice(3, -4),
];
/** The secret in all forms, as it enters. */
const all = `<${[
	...encoded.slice(0, 6),
	Buffer.concat([Buffer.from("x"), bytes]).toString("base64"),
	Buffer.concat([Buffer.from("xy"), bytes, Buffer.from("z")]).toString("base64"),
	pin,
].join("|")}>`;

/** Whether any form is in a text, a part of it that says enough included. */
function formsIn(text: string): string[] {
	return [...encoded, pin, secret.slice(0, 9), bytes.toString("base64").slice(0, 12)].filter((form) =>
		text.includes(form),
	);
}

interface World {
	readonly host: Host;
	/** All that the host has kept, as bytes. */
	kept(): Promise<string>;
}

function inMemory(): World {
	const host = memoryHost();
	return {
		host,
		kept: async () => {
			const parts: unknown[] = [];
			for (const key of [...sessionIds, "a"]) {
				parts.push(await host.journal.read(key));
				for (const space of ["runner", "runner.audit"])
					parts.push(await host.values.values(key, space).list());
			}
			return JSON.stringify(parts);
		},
	};
}

const sessionIds = ["first", "second"];

function inSqlite(): World {
	const folder = mkdtempSync(join(tmpdir(), "holdfast-secrets-"));
	const host = sqliteHost(join(folder, "sessions.db"));
	onTestFinished(async () => {
		await host.close();
		rmSync(folder, { recursive: true, force: true });
	});
	return {
		host,
		kept: async () =>
			readdirSync(folder)
				.map((name) => readFileSync(join(folder, name), "utf8"))
				.join("\n"),
	};
}

/** A client that streams a plan in pieces of a few characters. */
function inPieces(text: string): LLMClient {
	const pieces = text.match(/[\s\S]{1,5}/g) ?? [];
	return {
		deterministic: true,
		call: async () => ({ text }),
		async *stream() {
			for (const piece of pieces) yield { text: piece };
		},
	};
}

describe.each([
	["in memory", inMemory],
	["in SQLite", inSqlite],
])("a registered secret, with a host %s,", (_, world) => {
	test("never leaves the process, regardless of where it entered [RUN-129] [RUN-130]", async () => {
		const { host, kept } = world();
		const seen: unknown[] = [];
		const given: unknown[] = [];
		const audit: AuditRecord[] = [];
		const memory = inMemoryClient();
		const rows: unknown[] = [];
		const store = memoryEventStore();
		const tool: RunnerTool = {
			id: "work",
			async run(input, { memory: stream, database }) {
				given.push(input);
				await stream.append(`notes ${all}`, { text: all, [secret]: Number(pin) });
				await database?.write(`rows ${secret}`, all, { all, n: Number(pin) });
				return {
					ok: true,
					output: { text: all, [all]: [Number(pin)], deep: { json: JSON.stringify({ a: secret }) } },
					meta: { note: all, attachments: { [`${secret}.txt`]: all } },
				};
			},
		};
		const failing: RunnerTool = {
			id: "fail",
			retry: { maxAttempts: 1 },
			run: () => ({ ok: false, meta: { code: "NO", message: all, retriable: false } }),
		};
		const throwing: RunnerTool = { id: "throw", run: () => Promise.reject(new Error(`refused ${all}`)) };
		let turn = 0;
		const plans = [
			JSON.stringify({ type: "tool", toolId: "work", input: { text: all, n: Number(pin) }, reason: all }),
			JSON.stringify({ type: "internal", message: all }),
			JSON.stringify({ type: "message", message: all }),
			JSON.stringify({ type: "finish", input: { answer: all } }),
			JSON.stringify({ type: "tool", toolId: "throw", input: all }),
		];
		const prompts: unknown[] = [];
		const client: LLMClient = {
			async call(prompt) {
				prompts.push(prompt);
				return { text: plans[turn++] as string };
			},
			async *stream(prompt) {
				prompts.push(prompt);
				yield* inPieces(plans[turn++] as string).stream?.("") as AsyncIterable<{ text: string }>;
			},
		};
		const config: AgentConfig = {
			id: "a",
			taskPrompt: `The task is ${all}.`,
			tools: [tool, failing, throwing],
			modelProviders: [{ id: "p", client }],
			host,
			memoryClient: memory,
			databaseClient: {
				write: async (...args) => void rows.push(args),
				read: async () => undefined,
				query: async () => [],
			} as AgentConfig["databaseClient"] & object,
			storeReasoning: true,
			logToolInputs: "raw",
			eventBus: { emit: (event) => void seen.push(event) },
			eventStore: store,
			onStepStart: (...args) => void seen.push(args),
			onModelTokens: (text) => void seen.push(text),
			onToolCall: (...args) => void seen.push(args),
			onError: (error) => void seen.push({ ...error, text: String(error.message) }),
			reflector: { reflect: async () => ({ note: `noted ${all}` }) },
			allowDbWrites: true,
			safety: {
				secrets: [secret, pin],
				auditSink: { write: async (record) => void audit.push(record) },
				sanitizers: [(__, input) => (typeof input === "object" ? { ...input, added: all } : input)],
			},
		};
		const agent = new RunnerAgent(config);
		for (const name of ["step", "tool", "error", "metrics"] as const)
			agent.on(name, (data) => seen.push(data));
		const results: AgentResult[] = [];
		for (const [at, sessionId] of sessionIds.entries())
			results.push(await agent.runOnce({ sessionId, contextKey: all, ...(at === 1 ? { task: all } : {}) }));
		expect(results.map(({ success }) => success)).toEqual([true, false]);
		expect(results[0]?.actions?.[0]).toMatchObject({ toolId: "work", ok: true });

		const records = await Promise.all(sessionIds.map((id) => agent.audit(id)));
		expect(records.flat().length).toBeGreaterThan(0);
		const streams = results.map(({ id }) => store.read(id));
		const reread = await Promise.all(
			sessionIds.map((id) => readResult(host, id, { secrets: [secret, pin] })),
		);
		const hidden = createRedactor({ secrets: [secret, pin] }).maskSecrets(all);
		const entries = await Promise.all([`notes ${hidden}`, hidden].map((key) => memory.read(key)));
		expect(entries.map(({ length }) => length > 0)).toEqual([true, true]);
		for (const key of [`notes ${all}`, all]) expect(await memory.read(key)).toEqual([]);
		const doors: Record<string, unknown> = {
			results,
			reread,
			seen,
			audit,
			records,
			prompts,
			rows,
			given,
			events: await Promise.all(streams),
			metrics: agent.metrics(),
			health: await agent.health(),
			entries,
		};
		for (const [door, what] of Object.entries(doors)) {
			const text = JSON.stringify(what);
			expect(formsIn(text), `${door}: ${text.slice(0, 300)}`).toEqual([]);
		}
		for (const door of [
			"results",
			"seen",
			"prompts",
			"rows",
			"given",
			"events",
			"entries",
			"audit",
			"records",
			"reread",
		])
			expect(JSON.stringify(doors[door]), door).toContain("[REDACTED:secret]");
		expect(seen.filter((each) => typeof each === "string").join("")).toContain("[REDACTED:secret]");
		const bytesKept = await kept();
		expect(bytesKept).toContain("[REDACTED:secret]");
		expect(formsIn(bytesKept)).toEqual([]);
		await agent.stop();
	});
});

describe("a registered secret", () => {
	test("is not in a session's name [RUN-129]", () => {
		const agent = made([finish], { safety: { secrets: [secret] } });
		expect(() => agent.createSession({ sessionId: `s-${secret}` })).toThrow(
			expect.objectContaining({ code: "CONFIG_INVALID" }),
		);
	});

	test("is masked in the result of an injected runner [RUN-129]", async () => {
		const runner = {
			run: async () => ({ id: "r", success: true, result: secret }) as never,
			abort: async () => {},
		};
		const result = await made([finish], { runner, safety: { secrets: [secret] } }).runOnce();
		expect(result.result).toBe("[REDACTED:secret]");
	});

	test("is masked if a message reaches the agent's engine in another way [RUN-129]", async () => {
		const host = memoryHost();
		const agent = made([finish], { host, safety: { secrets: [secret] } });
		await (await agent.engine.session("other").send(`It is ${secret}.`)).result();
		const text = JSON.stringify(await host.journal.read("other"));
		expect(text).toContain("It is [REDACTED:secret].");
		expect(formsIn(text)).toEqual([]);
	});

	test.each([
		["in memory", inMemory],
		["in SQLite", inSqlite],
	])("is masked in an input that waits for its run, with a host %s [RUN-129]", async (_, world) => {
		const { host, kept } = world();
		const [begun, released] = [Promise.withResolvers<void>(), Promise.withResolvers<string>()];
		const work = (): Promise<string> => {
			begun.resolve();
			return released.promise;
		};
		const hold: RunnerTool = { id: "hold", run: work };
		const agent = made([use("hold"), finish], { host, tools: [hold], safety: { secrets: [secret, pin] } });
		const session = agent.engine.session("first");
		const run = await session.send("go");
		const ended = run.result();
		await begun.promise;
		const queued = await session.send(`It is ${secret}.`, { messageId: `m ${pin}`, dedupeKey: "k" });
		await session.edit({ kind: "add", message: new UserMessage(`So it is ${secret}.`) });
		expect(
			(await host.journal.inbox("first")).map(({ id, kind }) => (kind === "message" ? id : kind)),
		).toEqual([`m ${pin}`, "edit"]);
		const waiting = `${JSON.stringify(await host.journal.inbox("first"))}${await kept()}`;
		expect(waiting).toContain("t is [REDACTED:secret].");
		expect(formsIn(waiting.replaceAll(pin, ""))).toEqual([]);
		released.resolve("done");
		await ended;
		await queued.result();
		expect(formsIn((await kept()).replaceAll(pin, ""))).toEqual([]);
		await agent.stop();
	});

	test("that policy adds is masked, too [RUN-129]", async () => {
		const policyEngine = {
			check: ({ point, subject }: { point: string; subject: unknown }) =>
				point === "tool-input" || point === "memory-write"
					? ({ action: "modify", rule: `r ${secret}`, subject: { subject, secret } } as const)
					: ({ action: "allow" } as const),
		};
		const host = memoryHost();
		const agent = made([use("echo", "x"), finish], { host, safety: { secrets: [secret], policyEngine } });
		const result = await agent.runOnce({ sessionId: "s" });
		const everything = JSON.stringify([result, await host.journal.read("s"), await agent.audit("s")]);
		expect(result.actions?.[0]?.input).toEqual({ subject: "x", secret: "[REDACTED:secret]" });
		expect(formsIn(everything)).toEqual([]);
	});

	test("that policy gives as its reason, or a sink as its error, is masked, too [RUN-129]", async () => {
		const blocking = {
			policyEngine: {
				check: () => ({ action: "block", rule: "r", code: "NO", reason: `for ${secret}` }) as const,
			},
		};
		const failing = {
			auditSink: { write: () => Promise.reject(new Error(`no place for ${secret}`)) },
			toolDenylist: ["echo"],
			writeFilters: [{ match: "y", action: "redact" }],
		} as const;
		for (const [safety, toolId] of [
			[blocking, "echo"],
			[failing, "echo"],
			[failing, "other"],
		] as const) {
			const host = memoryHost();
			const other: RunnerTool = { id: "other", run: () => "y" };
			const agent = made([use(toolId, "x"), finish], {
				tools: [echo, other],
				host,
				safety: { secrets: [secret], ...safety },
			});
			const result = await agent.runOnce({ sessionId: "s" });
			const everything = JSON.stringify([result, await host.journal.read("s")]);
			expect(everything).toContain("for [REDACTED:secret]");
			expect(formsIn(everything)).toEqual([]);
		}
	});

	test("that policy adds to a write of a tool is not written [RUN-129]", async () => {
		const memoryClient = inMemoryClient();
		const policyEngine = {
			check: ({ point }: { point: string }) =>
				point === "memory-write"
					? ({ action: "modify", rule: "r", subject: { secret } } as const)
					: ({ action: "allow" } as const),
		};
		const tool: RunnerTool = { id: "write", run: (_, { memory }) => memory.append("notes", "x") };
		const safety = { secrets: [secret], policyEngine };
		await made([use("write"), finish], { tools: [tool], memoryClient, safety }).runOnce();
		expect(await memoryClient.read("notes")).toEqual([{ secret: "[REDACTED:secret]" }]);
	});

	test("is in no prompt, for any planner output [RUN-129]", async () => {
		const client = stubClient(["ok"]);
		const content = `Use ${secret}.`;
		const planner: Planner = {
			plan: async (_, { callModel }) => {
				await callModel({ messages: [{ role: "user", content }] });
				return finish;
			},
		};
		const modelProviders = [{ id: "p", client }];
		await made([], { planner, modelProviders, safety: { secrets: [secret] } }).runOnce();
		expect(client.prompts[0]?.messages).toEqual([{ role: "user", content: "Use [REDACTED:secret]." }]);
	});

	test("is masked in a result that is read from a run before its registration [RUN-129]", async () => {
		const host = memoryHost();
		const input = { answer: secret, [secret]: 1 };
		await made([{ type: "finish", input }], { host }).runOnce({ sessionId: "s" });
		const result = await readResult(host, "s", { secrets: [secret] });
		expect(result?.result).toEqual({ answer: "[REDACTED:secret]", "[REDACTED:secret]": 1 });
	});
});

const email = "ann@example.com";
const card = "4111 1111 1111 1111";
const key = `sk-${"aB3dE5fG7hJ9".repeat(3)}`;

describe("PII", () => {
	const input = { to: email, card, key, password: "hunter2" };
	const run = async (logToolInputs?: "redacted" | "exclude" | "raw") => {
		const events: RunnerEvent[] = [];
		const calls: unknown[] = [];
		const agent = made([use("echo", input), finish], {
			...(logToolInputs === undefined ? {} : { logToolInputs }),
			eventBus: { emit: (event) => void events.push(event) },
			onToolCall: (_, given) => void calls.push(given),
		});
		const result = await agent.runOnce();
		const dataOf = (type: string) =>
			events.find((event) => event.type === type)?.data as Record<string, unknown>;
		const planned = dataOf("plan").planned as { readonly input?: unknown };
		return {
			result,
			inputs: [calls[0], dataOf("tool.call").input, planned.input, result.actions?.[0]?.input],
			events,
		};
	};

	test("in the input of a tool is masked by default, in events, hooks and results [RUN-128]", async () => {
		const masked = {
			to: "[REDACTED:email]",
			card: "[REDACTED:card]",
			key: "[REDACTED:api-key]",
			password: "[REDACTED:password]",
		};
		const { inputs, events } = await run();
		expect(inputs).toEqual([masked, masked, masked, masked]);
		for (const value of Object.values(input)) expect(JSON.stringify(events)).not.toContain(value);
	});

	test("is not in events, hooks and results if inputs are excluded [RUN-128]", async () => {
		const { inputs, events } = await run("exclude");
		expect(inputs).toEqual([undefined, undefined, undefined, undefined]);
		const ofCalls = events.filter(({ type }) => type === "tool.call" || type === "plan");
		expect(JSON.stringify(ofCalls)).not.toContain('"to"');
	});

	test("stays in raw inputs, credentials do not, and outputs are still masked [RUN-128]", async () => {
		const shown = { to: email, card, key: "[REDACTED:api-key]", password: "[REDACTED:password]" };
		const { inputs, events, result } = await run("raw");
		expect(inputs).toEqual([shown, shown, shown, shown]);
		expect(JSON.stringify(result.actions?.[0]?.output)).not.toContain(email);
		expect(JSON.stringify(events.filter(({ type }) => type === "tool.result"))).not.toContain(email);
	});

	test("in an error is masked in the result, in reports of retries, and for error listeners [RUN-030] [RUN-131] [RUN-139]", async () => {
		const heard: string[] = [];
		const failing: RunnerTool = {
			id: "fail",
			retry: { maxAttempts: 2, baseDelayMs: 0 },
			run: (_, { attempt }) => {
				throw Object.assign(new Error("no letter for ann@example.com"), { retriable: attempt === 1 });
			},
		};
		const onError = ({ message }: { readonly message: string }): void => void heard.push(message);
		const result = await made([use("fail"), finish], { tools: [failing], onError }).runOnce();
		expect(result.error?.message).toBe("no letter for [REDACTED:email]");
		expect(result.retryInfo).toEqual({ attempts: 1, lastError: "no letter for [REDACTED:email]" });
		expect(heard).toEqual(["no letter for [REDACTED:email]", "no letter for [REDACTED:email]"]);
	});

	test("stays only in the result [RUN-131] [RUN-127] [RUN-026] [RUN-027]", async () => {
		const say = (text: string) => ({ id: "say", run: () => text }) satisfies RunnerTool;
		const agent = made([use("say"), { type: "finish", input: { reply: `Write to ${email}.` } }], {
			tools: [say(`found ${email}`)],
			onStepStart: () => {
				throw new Error(`no step for ${email}`);
			},
		});
		const { result, actions, eventStream, memoryDeltas, ...rest } = await agent.runOnce();
		expect(result).toEqual({ reply: `Write to ${email}.` });
		expect(memoryDeltas).toHaveLength(1);
		for (const part of [actions, eventStream, memoryDeltas]) {
			expect(JSON.stringify(part)).toContain("[REDACTED:email]");
			expect(JSON.stringify(part)).not.toContain(email);
		}
		expect(JSON.stringify(rest)).not.toContain(email);
		expect(rest.diagnostics?.warnings?.join()).toContain("no step for [REDACTED:email]");
		const text = await made([{ type: "finish", message: `Write to ${email}.` }]).runOnce();
		expect(text).toMatchObject({ result: `Write to ${email}.`, summary: `Write to ${email}.` });
	});

	test("that arrives in pieces is masked in token events, on the bus and in the store [RUN-130]", async () => {
		const store = memoryEventStore();
		const events: RunnerEvent[] = [];
		const tokens: string[] = [];
		const plan = JSON.stringify({ type: "finish", message: `Ask ${email}, ${card}; ${secret} or ${key}.` });
		const agent = new RunnerAgent({
			...configured([]),
			planner: undefined as never,
			modelProviders: [{ id: "p", client: { ...stubClient([]), ...inPieces(plan) } }],
			eventStore: store,
			eventBus: { emit: (event) => void events.push(event) },
			onModelTokens: (text) => void tokens.push(text),
			safety: { secrets: [secret] },
		});
		const result = await agent.runOnce();
		expect(result.success).toBe(true);
		const text = (list: readonly RunnerEvent[]) =>
			list
				.flatMap(({ type, data }) => (type === "model.tokens" ? [(data as { text: string }).text] : []))
				.join("");
		const wanted =
			'{"type":"finish","message":"Ask [REDACTED:email], [REDACTED:card]; [REDACTED:secret] or [REDACTED:api-key]."}';
		for (const got of [tokens.join(""), text(events), text(await store.read(result.id))])
			expect(got).toBe(wanted);
		expect(tokens.length).toBeGreaterThan(3);
	});

	test("at the end of a stream is masked, and not lost [RUN-130]", async () => {
		const tokens: string[] = [];
		const planner: Planner = {
			plan: async (_, { callModel }) => {
				await callModel({ messages: [] });
				return finish;
			},
		};
		const client = { ...stubClient([]), ...inPieces(`Ask ${email}`) };
		const onModelTokens = (text: string) => void tokens.push(text);
		await made([], { planner, modelProviders: [{ id: "p", client }], onModelTokens }).runOnce();
		expect(tokens.join("")).toBe("Ask [REDACTED:email]");
	});
});
