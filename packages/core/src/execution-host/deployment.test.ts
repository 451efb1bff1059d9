import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/shared/temporary-folder.fixture.ts";
import { sqliteHost } from "../sqlite.ts";
import type { ToolContext } from "../tools/types.ts";
import { agentOn, drain } from "./execution-host.fixture.ts";
import type { ExecutionHost } from "./execution-host.ts";
import { createInMemoryExecutionHost } from "./in-memory.ts";

let folder: string;
beforeEach(() => {
	folder = temporaryFolder();
});

/** Provides a new host for each turn, and ends it. */
interface Place {
	open(): { readonly host: ExecutionHost; close(): Promise<void> };
}

const places: readonly [string, () => Place][] = [
	[
		"in memory",
		() => {
			const host = createInMemoryExecutionHost();
			return { open: () => ({ host, close: async () => {} }) };
		},
	],
	[
		"in a file",
		() => ({
			open() {
				const host = sqliteHost(join(folder, "host.db"));
				return { host, close: () => host.close() };
			},
		}),
	],
];

const remember = {
	name: "remember",
	description: "Remembers.",
	parameters: { type: "object" as const, properties: {} },
	run: () => ({ remembered: ["this", 1] }),
};

describe.each(places)("on a host %s", (_, make) => {
	test("a new agent for each of five turns shows the model what one agent shows it [SES-115]", async () => {
		const turns = ["one", "two", "three", "four", "five"];
		const seen: string[] = [];
		const reply = (request: { readonly messages: readonly unknown[] }) => {
			const text = JSON.stringify(request.messages, (name, value) =>
				name === "id" || name === "timestamp" ? undefined : value,
			);
			seen.push(text);
			const last = request.messages.at(-1) as { readonly type: string; readonly text?: string };
			return last.type === "user" ? { toolCalls: [{ name: "remember", id: `call-${last.text}` }] } : "I did.";
		};
		const lasting = make().open();
		const one = agentOn(lasting.host, reply, { tools: [remember], namespace: "lasting" });
		for (const turn of turns) await drain(await one.session("s").send(turn));
		await lasting.close();
		const withOneAgent = seen.splice(0);
		const place = make();
		for (const turn of turns) {
			const opened = place.open();
			const rebuilt = agentOn(opened.host, reply, { tools: [remember], namespace: "rebuilt" });
			await drain(await rebuilt.session("s").send(turn));
			await rebuilt.close();
			await opened.close();
		}
		expect(seen).toEqual(withOneAgent);
		expect(seen).toHaveLength(10);
	});

	test("a tool gets its attempt, key, policy, signal and its call's public id [SES-108]", async () => {
		const { host, close } = make().open();
		const contexts: ToolContext[] = [];
		const look = {
			...remember,
			name: "look",
			retryPolicy: "idempotent" as const,
			run: (_: unknown, context?: ToolContext) => {
				if (context !== undefined) contexts.push(context);
				return "seen";
			},
		};
		const plain = { ...look, name: "plain", retryPolicy: undefined };
		const script = [{ toolCalls: [{ name: "look" }, { name: "plain" }] }, "Done."];
		const events = await drain(await agentOn(host, script, { tools: [look, plain] as never }).send("go"));
		const ids = events.flatMap((event) => (event.type === "tool-call" ? [event.toolCallId] : []));
		expect(contexts.map(({ toolCallId }) => toolCallId)).toEqual(ids);
		expect(contexts.map(({ attempt }) => attempt)).toEqual([1, 1]);
		expect(contexts.map(({ retryPolicy }) => retryPolicy)).toEqual(["idempotent", "manual-recovery"]);
		for (const { signal, idempotencyKey } of contexts) {
			expect(signal).toBeInstanceOf(AbortSignal);
			expect(idempotencyKey).not.toBe("");
		}
		expect(new Set(contexts.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(2);
		await close();
	});

	test("a model error in step 2 keeps the calls and results of step 1 [SES-107]", async () => {
		const place = make();
		const first = place.open();
		const script = [{ toolCalls: [{ name: "remember" }] }, { error: new Error("broken") }];
		const failing = agentOn(first.host, script, { tools: [remember] });
		expect((await drain(await failing.session("s").send("go"))).at(-1)?.type).toBe("turn-error");
		await failing.close();
		await first.close();
		const second = place.open();
		let shown = "";
		const next = agentOn(second.host, ({ messages }) => {
			shown = JSON.stringify(messages);
			return "Fine.";
		});
		expect((await next.session("s").state()).messages.map(({ type }) => type)).toEqual([
			"user",
			"assistant",
			"tool_result",
		]);
		await drain(await next.session("s").send("again"));
		expect(shown).toContain("call_0_0");
		expect(shown).toContain('"remembered":["this",1]');
		await next.close();
		await second.close();
	});
});
