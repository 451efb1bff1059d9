// Every option that is a duration, in every package: what it accepts, and that what makes no sense is refused where it is given.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { remoteAgent } from "@holdfast/a2a";
import { createClient } from "@holdfast/client";
import { connectMcp } from "@holdfast/mcp";
import { mcpServer } from "@holdfast/mcp/server";
import { inMemoryClients } from "@holdfast/memory";
import { postgresClients } from "@holdfast/memory/postgres";
import { redisClients } from "@holdfast/memory/redis";
import { sqliteClients } from "@holdfast/memory/sqlite";
import { observe } from "@holdfast/otel";
import { postgresHost } from "@holdfast/postgres";
import { RunnerAgent as Runner } from "@holdfast/runner";
import { httpConnector, shellConnector, sqlConnector } from "@holdfast/runner/connectors";
import { memoryPromptStore } from "@holdfast/runner/prompts";
import { createSandbox } from "@holdfast/sandbox";
import { createHandler, createServer, sessionService } from "@holdfast/server";
import { scriptedModel } from "@holdfast/testing";
import { threads, watchProject } from "@holdfast/threads";
import { exponentialBackoff, llm } from "@holdfast/upp";
import { Agent, memoryHost, tool } from "holdfast";
import { retry } from "holdfast/middleware";
import { sqliteHost } from "holdfast/sqlite";
import { afterAll, expect, test } from "vitest";
import { listSources } from "../tools/list-sources.ts";

const root = join(import.meta.dirname, "..");
const folder = mkdtempSync(join(tmpdir(), "holdfast-durations-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const day = 24 * 60 * 60_000;
const never = Number.POSITIVE_INFINITY;

/** Which of 0, 30 days, 60 days and Infinity an option accepts. All accept 20 days, and none a negative number or NaN. */
const ranges = {
	finite: [30 * day, 60 * day],
	orNever: [30 * day, 60 * day, never],
	fromZero: [0, 30 * day, 60 * day],
	fromZeroOrNever: [0, 30 * day, 60 * day, never],
	/** A driver or a database counts it, in 32 bits. */
	foreign: [],
	foreignFromZero: [0],
} as const;

interface Row {
	readonly option: string;
	readonly range: keyof typeof ranges;
	/** Gives the option; what it returns is closed. */
	readonly give: (milliseconds: number) => unknown;
}

const model = () => scriptedModel([]);
const agent = (options: object) => new Agent({ model: model(), ...options });
const service = (options: object = {}) =>
	sessionService({ host: memoryHost(), agent: { model: model() }, ...options });
const handler = (options: object) => createHandler({ service: service(), ...options });
const runner = (options: object) =>
	new Runner({
		id: "a",
		taskPrompt: "Do it.",
		tools: [],
		modelProviders: [],
		planner: { plan: () => ({}) },
		...options,
	} as never);
const runnerTool = (options: object) => runner({ tools: [{ id: "t", run: () => 1, ...options }] });
const offline = async (): Promise<never> => Promise.reject(new Error("offline"));
const unencrypted = { unencrypted: true } as const;
const postgres = (options: object) =>
	postgresHost({ connectionString: "postgres://127.0.0.1:1/none", ...options });
const nowhere = { url: "http://127.0.0.1:1/mcp" };

/** Rows of options that are given in the same way. */
function rows(
	names: readonly string[],
	range: Row["range"],
	give: (options: Readonly<Record<string, number>>) => unknown,
	of = "",
): readonly Row[] {
	return names.map((name) => ({ option: `${of}${name}`, range, give: (value) => give({ [name]: value }) }));
}

const table: Readonly<Record<string, readonly Row[]>> = {
	upp: [
		...rows(["timeout", "silenceMs"], "orNever", (config) => llm({ model: model(), config })),
		...rows(["initialDelayMs"], "fromZero", exponentialBackoff),
		...rows(["maxDelayMs", "maxRetryAfterMs"], "fromZeroOrNever", exponentialBackoff),
	],
	core: [
		...rows(["remoteToolTimeoutMs", "keepDeltasMs"], "orNever", agent),
		...rows(["atMostMs", "longestMs"], "orNever", (modelWait) => agent({ modelWait }), "modelWait."),
		...rows(["firstMs"], "finite", (modelWait) => agent({ modelWait }), "modelWait."),
		...rows(["timeoutMs"], "orNever", (options) =>
			agent({
				tools: [
					tool({ name: "t", description: "d", parameters: { type: "object" }, run: () => 1, ...options }),
				],
			}),
		),
		...rows(["delay"], "fromZero", (options) => retry(model(), options)),
		...rows(["lookEveryMs"], "finite", (options) =>
			agent({ host: memoryHost() })
				.work({ until: "done", ...options })
				.next(),
		),
		...rows(
			["lookEveryMs"],
			"finite",
			async (options) => {
				const supervised = agent({ model: model(), host: memoryHost() });
				await supervised.supervise(options);
				await supervised.close();
			},
			"supervise: ",
		),
		...rows(["drainMs"], "fromZeroOrNever", (options) => agent({ host: memoryHost() }).close(options)),
		...rows(["leaseTtlMs"], "foreign", (options) => sqliteHost({ path: join(folder, "a.db"), ...options })),
	],
	server: [
		...rows(["heartbeatMs"], "finite", handler),
		...rows(
			["windowMs"],
			"finite",
			(limit) => handler({ rateLimit: { requests: 1, ...limit } }),
			"rateLimit.",
		),
		...rows(
			["windowMs"],
			"finite",
			(limit) => handler({ failedAttempts: { attempts: 1, ...limit } }),
			"failedAttempts.",
		),
		...rows(["remoteToolTimeoutMs", "deltaFlushMs"], "orNever", service),
		...rows(["recoverEveryMs"], "finite", service),
		...rows(["drainMs"], "fromZeroOrNever", (options) => service().close(options), "service: "),
		...rows(
			["drainMs"],
			"fromZeroOrNever",
			(options) => createServer({ service: service() }).close(options),
			"server: ",
		),
	],
	client: [
		...rows(["idleTimeoutMs"], "fromZeroOrNever", (options) => createClient({ url: "", ...options })),
		...rows(["reconnectDelayMs", "maxReconnectDelayMs"], "fromZero", (options) =>
			createClient({ url: "", ...options }),
		),
	],
	a2a: [
		...rows(["pollEveryMs"], "fromZero", (options) =>
			remoteAgent({ url: "http://a.test", fetch: offline, ...options }),
		),
		...rows(["silenceMs", "deadlineMs"], "orNever", (options) =>
			remoteAgent({ url: "http://a.test", fetch: offline, ...options }),
		),
	],
	mcp: [
		...rows(["timeoutMs"], "orNever", (options) => connectMcp({ a: { ...nowhere, ...options } })),
		...rows(["connectTimeoutMs"], "foreign", (options) => connectMcp({ a: { ...nowhere, ...options } })),
		...rows(["pollEveryMs"], "finite", (options) => mcpServer({ service: service(), tools: {}, ...options })),
		...rows(["resendMs"], "fromZeroOrNever", (options) =>
			mcpServer({ service: service(), tools: {}, ...options }),
		),
	],
	memory: [
		...rows(
			["connectTimeoutMs", "commandTimeoutMs"],
			"foreign",
			(options) => redisClients({ command: offline, ...unencrypted, ...options }),
			"Redis: ",
		),
		...rows(
			["connectTimeoutMs", "commandTimeoutMs"],
			"foreign",
			(options) => postgresClients({ url: "postgres://127.0.0.1:1/none", ...unencrypted, ...options }),
			"Postgres: ",
		),
		...rows(["busyTimeoutMs"], "fromZeroOrNever", (options) =>
			sqliteClients({ file: join(folder, "m.db"), ...unencrypted, ...options }),
		),
		...rows(["maxAgeMs"], "fromZero", (retention) => inMemoryClients({ retention }), "retention."),
	],
	otel: rows(["saveEveryMs"], "foreign", (options) => observe(memoryHost(), options)),
	postgres: rows(
		["pollMs", "leaseTtlMs", "connectTimeoutMs", "statementTimeoutMs", "lockTimeoutMs", "patienceMs"],
		"foreign",
		postgres,
	),
	runner: [
		...rows(["abortGraceMs", "shutdownTimeoutMs", "modelTimeoutMs"], "fromZeroOrNever", runner),
		...rows(["policyTimeoutMs"], "orNever", (safety) => runner({ safety }), "safety."),
		...rows(
			["windowMs"],
			"orNever",
			(limit) => runner({ safety: { requestRateLimit: { t: { max: 1, ...limit } } } }),
			"safety.requestRateLimit.",
		),
		...rows(["timeoutMs"], "orNever", runnerTool, "tool: "),
		...rows(["baseDelayMs", "maxDelayMs"], "fromZero", (retry) => runnerTool({ retry }), "tool: retry."),
		...rows(["baseDelayMs", "maxDelayMs"], "fromZero", (retry) => runner({ retry }), "retry."),
		...rows(["timeoutMs"], "finite", httpConnector, "http: "),
		...rows(["timeoutMs"], "finite", (options) => shellConnector({ root: folder, ...options }), "shell: "),
		...rows(
			["timeoutMs"],
			"foreign",
			(options) => sqlConnector({ driver: {} as never, ...options }),
			"sql: ",
		),
		...rows(["renderMs"], "orNever", (limits) => memoryPromptStore({ limits }), "limits."),
	],
	sandbox: [
		...rows(["timeLimitMs"], "orNever", createSandbox),
		...rows(["cpuLimitMs"], "foreign", createSandbox),
	],
	threads: [
		...rows(["keepDeltasMs"], "orNever", (options) =>
			threads({ host: memoryHost(), project: { prompts: new Map() } as never, ...options }),
		),
		...rows(["quiet"], "foreignFromZero", (options) =>
			watchProject(folder, { signal: AbortSignal.abort(), ...options }),
		),
	],
};

/** Codes with which packages refuse an option. */
const refusals: ReadonlySet<unknown> = new Set([
	...["invalid_option", "invalid_tool", "invalid_code_options", "invalid_mcp_server"],
	...["OPTION_INVALID", "CONFIG_INVALID", "TOOL_INVALID", "SCHEMA_INVALID"],
]);

/** Codes for what this test does not have: servers and a project. */
const absences: ReadonlySet<unknown> = new Set([
	"a2a_unreachable",
	"mcp_connect_failed",
	"project_unwatched",
]);

async function isAccepted(give: Row["give"], value: number): Promise<boolean> {
	try {
		const made = (await give(value)) as { close?(): unknown } | undefined;
		await made?.close?.();
		return true;
	} catch (error) {
		const { code, message } = error as { readonly code?: unknown; readonly message: string };
		if (absences.has(code)) return true;
		expect(refusals, message).toContain(code);
		expect(message).toMatch(/number|finite|integer/);
		return false;
	}
}

const all = Object.entries(table).flatMap(([name, options]) => options.map((row) => ({ name, ...row })));

test.each(all)(
	"$name: $option accepts $range durations and rejects others with a code",
	async ({ range, give }) => {
		const accepted: number[] = [];
		for (const value of [Number.NaN, -1, 0, 30 * day, 60 * day, never, 20 * day])
			if (await isAccepted(give, value)) accepted.push(value);
		expect(accepted).toEqual([...ranges[range], 20 * day]);
	},
);

/** What looks like such an option, and is none that users give. */
const others: Readonly<Record<string, readonly string[]>> = {
	cli: ["patience", "timeLimit"],
	cloudflare: ["silenceMs", "patienceMs"],
	core: ["leaseMs", "nowMs", "runAfterMs"],
	runner: ["durationMs", "retryAfterMs"],
	server: ["delayMs"],
	threads: ["claimMs", "timeout"],
};

test("the table has every option that is a duration", () => {
	const missing: string[] = [];
	for (const file of listSources(root)) {
		const [, name = ""] = /^packages\/([\w-]+)\/src\/(?!.*\.(?:test|test-d|fixture)\.ts$)/.exec(file) ?? [];
		if (name === "" || name === "testing" || name === "inspector") continue;
		const text = readFileSync(join(root, file), "utf8");
		const options = text.matchAll(
			/^\t+(?:readonly )?(\w+Ms|timeout|timeLimit|delay|quiet|patience|interval|ttl)\?: number/gm,
		);
		for (const [, option = ""] of options) {
			const listed = (table[name] ?? []).some(({ option: given }) => given.split(/\.|: /).at(-1) === option);
			if (!listed && !(others[name] ?? []).includes(option)) missing.push(`${file}: ${option}`);
		}
	}
	expect(missing).toEqual([]);
});
