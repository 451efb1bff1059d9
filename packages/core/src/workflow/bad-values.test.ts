// Values that a store refuses, given to every operation of a workflow: the code receives an error with a code, the run
// continues, and another process replays it to the same end.
import { join } from "node:path";
import { scriptedModel } from "@holdfast/testing";
import { HoldfastError } from "@holdfast/upp";
import { describe, expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/shared/temporary-folder.fixture.ts";
import { Agent } from "../agent/agent.ts";
import { encodeFact } from "../facts/index.ts";
import { type Host, memoryHost } from "../host/index.ts";
import { sqliteHost } from "../sqlite.ts";
import { tool } from "../tools/index.ts";
import { runToEnd } from "./crashes.fixture.ts";
import type { Flow } from "./flow.ts";
import { workflow } from "./workflow.ts";

/** Makes the store refuse facts of more than 50,000 characters. */
function limited(host: Host): Host {
	const { acquire } = host.journal;
	host.journal.acquire = async (...given) => {
		const acquired = await acquire.apply(host.journal, given);
		if (!acquired.ok) return acquired;
		const { lease } = acquired;
		const append = lease.append.bind(lease);
		lease.append = (batch) => {
			if (batch.facts.some((fact) => JSON.stringify(encodeFact(fact)).length > 50_000))
				throw new HoldfastError("value_too_large", "It has more than 50,000 characters.");
			return append(batch);
		};
		return acquired;
	};
	return host;
}

const hosts = {
	memory: () => limited(memoryHost()),
	SQLite: () => limited(sqliteHost(join(temporaryFolder(), "journal.db"))),
};

const large = "x".repeat(60_000);
const cyclic: Record<string, unknown> = {};
cyclic.self = cyclic;
let deep: unknown = 1;
for (let level = 0; level < 20_000; level++) deep = { deep };
const revoked = Proxy.revocable({}, {});
revoked.revoke();

const values: readonly (readonly [name: string, value: unknown])[] = [
	["a lone surrogate", "a\ud800b"],
	["NUL", "a\0b"],
	["a large text", large],
	["a cycle", cyclic],
	["a BigInt", 5n],
	["a function", () => 1],
	["a symbol", Symbol("s")],
	["a promise", Promise.resolve(1)],
	["a getter that throws", Object.defineProperty({}, "x", { enumerable: true, get: () => fails() })],
	["a deep object", deep],
	["a revoked proxy", revoked.proxy],
];

function fails(): never {
	throw new Error("It fails");
}

const echo = tool({
	name: "echo",
	description: "Returns its input.",
	parameters: { type: "object" },
	retryPolicy: "pure",
	run: ({ value, makesLarge }: { value?: unknown; makesLarge?: boolean }) =>
		makesLarge === true ? large : (value ?? null),
});
const writer = new Agent({ name: "writer", description: "Writes.", model: scriptedModel(() => "text") });
const child = workflow({ name: "echoes" }, (_flow: Flow, input: unknown) => input);
const manyWords = new Agent({ name: "talker", description: "Writes.", model: scriptedModel(() => large) });

const operations: Readonly<Record<string, (flow: Flow, value: never) => unknown>> = {
	"step's result": (flow, value) => flow.step("step", () => value),
	"step's error": (flow, value) =>
		flow.step("step", () => {
			throw value;
		}),
	"step's name": (flow, value) => flow.step(value, () => 1),
	"tool's input": (flow, value) => flow.tool(echo, { value }),
	"tool's whole input": (flow, value) => flow.tool(echo, value),
	"tool's name": (flow, value) => flow.tool({ name: value } as never, {} as never),
	"agent's prompt": (flow, value) => flow.agent(writer, value),
	"agent's name": (flow, value) => flow.agent({ name: value }, "text"),
	"model's prompt": (flow, value) =>
		flow.model(
			scriptedModel(() => "text"),
			value,
		),
	"child's input": (flow, value) => flow.child(child, value),
	"spawned child's input": (flow, value) => flow.spawn(child, value).result(),
	"log's message": (flow, value) => flow.log(value),
	"log's data": (flow, value) => flow.log("data", value),
	"state's value": (flow, value) => flow.state(value),
	"event's name": (flow, value) => flow.event(value, { timeout: 1 }),
	"event's timeout": (flow, value) => flow.event("never", { timeout: value }),
	"sleep's duration": (flow, value) => flow.sleep(value),
	"until's time": (flow, value) => flow.until(value),
	"version's name": (flow, value) => flow.version(value),
	"branch's name": (flow, value) => flow.branch(value).now(),
	"approval's details": (flow, value) => Promise.race([flow.approve("go", value), flow.sleep(1)]),
	"question's details": (flow, value) => Promise.race([flow.ask("go", value), flow.sleep(1)]),
	"question's text": (flow, value) => Promise.race([flow.ask(value), flow.sleep(1)]),
};

/** Runs the operation between two steps, up to a wait that a second process continues. */
async function outcome(host: Host, operation: (flow: Flow) => unknown) {
	const started: string[] = [];
	const made = () =>
		workflow(
			{
				name: "bad",
				host,
				tools: [echo],
				subagents: [writer, manyWords],
				workflows: [child],
				onWarning: () => {},
			},
			async (flow) => {
				const beside = flow.step("beside", () => started.push("beside"));
				let result: unknown;
				try {
					result = { isOk: true, type: typeof (await operation(flow)) };
				} catch (error) {
					const { code, message } = error as HoldfastError;
					result = { code, message };
				}
				await beside;
				await flow.step("after", () => started.push("after"));
				await flow.event("go");
				return result;
			},
		);
	const first = made();
	const run = await first.session("s").send(undefined);
	await run.run.result();
	const second = made();
	await second.session("s").signal("go");
	const ended = await runToEnd(second as never);
	expect(ended.outcome, JSON.stringify(ended.error)).toBe("completed");
	expect(started).toEqual(["beside", "after"]);
	return ended.output as { readonly isOk?: true; readonly code?: string; readonly message?: string };
}

describe.each(Object.entries(hosts))("on a host in %s", (name, hostOf) => {
	test.each(Object.entries(operations))("a %s that cannot be stored rejects", async (_what, operation) => {
		const some =
			name === "memory" ? values : values.filter(([, value]) => value === large || value === cyclic);
		for (const [what, value] of some) {
			const host = hostOf();
			const { isOk, code, message } = await outcome(host, (flow) => operation(flow, value as never));
			if (isOk !== true) {
				expect(code, `${what}: ${message}`).toMatch(/^[a-z_]+$/);
				expect(message?.length, what).toBeLessThan(2_000);
			}
			await host.close?.();
		}
	});

	test.each<[string, (flow: Flow) => unknown]>([
		["tool", (flow) => flow.tool(echo, { makesLarge: true })],
		["step", (flow) => flow.step("large", () => large)],
		["sub-agent", (flow) => flow.agent(manyWords, "Write much.")],
	])("a result of a %s that is too large rejects", async (what, operation) => {
		const { code, message } = await outcome(hostOf(), operation);
		expect(code).toBe(what === "step" ? "value_too_large" : "tool_call_failed");
		expect(message).toContain("50,000 characters");
	});

	test("calls that are made together with one that is too large are performed", async () => {
		let runs = 0;
		const { isOk } = await outcome(hostOf(), async (flow) => {
			const all = await Promise.allSettled([
				flow.tool(echo, { value: 1 }),
				flow.tool(echo, { value: large }),
				flow.step("good", () => ++runs),
				flow.tool(echo, { value: 2 }),
				flow.log("large", large),
			]);
			const results = all.map((each) => (each.status === "fulfilled" ? each.value : each.reason.code));
			expect(results).toEqual([1, "value_too_large", 1, 2, "value_too_large"]);
		});
		expect(isOk).toBe(true);
		expect(runs).toBe(1);
	});

	test("a call that is too large joins an open round without a trace", async () => {
		const { isOk } = await outcome(hostOf(), async (flow) => {
			const approval = Promise.race([flow.approve("go"), flow.sleep(50)]);
			await expect(flow.tool(echo, { value: large })).rejects.toMatchObject({ code: "value_too_large" });
			expect(await flow.tool(echo, { value: 3 })).toBe(3);
			await approval;
		});
		expect(isOk).toBe(true);
	});
});

test("the input of continueAsNew() that cannot be stored rejects, and the code continues", async () => {
	const again = workflow({ name: "again", host: limited(memoryHost()) }, async (flow, input: unknown) => {
		if (input !== null) return input;
		const codes: unknown[] = [];
		for (const value of [large, cyclic, () => 1])
			await flow.continueAsNew(value).catch((error: HoldfastError) => codes.push(error.code));
		return flow.continueAsNew({ codes });
	});
	const { output } = await (await again.session("s").send(undefined)).result();
	expect(output).toEqual({ codes: ["value_too_large", "invalid_input", "invalid_input"] });
});

test("continueAsNew() with an input that the store refuses leaves open calls as they are", async () => {
	const pay = workflow({ name: "pay", host: limited(memoryHost()) }, async (flow, input: unknown) => {
		if (input !== null) return input;
		const approval = flow.approve("pay");
		await flow.step("begin", () => 1);
		const code = await flow.continueAsNew(large).catch((error: HoldfastError) => error.code);
		return [code, await approval];
	});
	const session = pay.session("s");
	const run = await session.send(undefined);
	await expect.poll(async () => (await session.session.pending()).length).toBe(1);
	const [call] = await session.session.pending();
	(await session.session.answer([{ toolCallId: call?.toolCallId ?? "", approved: true }])).detach();
	expect((await run.result()).output).toEqual(["value_too_large", true]);
});
