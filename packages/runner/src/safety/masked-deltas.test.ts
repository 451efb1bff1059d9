// A registered secret in text that comes in pieces, in every place where a delta can hold it, however it is cut.
import { join } from "node:path";
import { createRedactor } from "@holdfast/redaction";
import { scriptedModel } from "@holdfast/testing";
import fc from "fast-check";
import { agent, memoryHost, tool } from "holdfast";
import type { Delta } from "holdfast/middleware";
import { sqliteHost } from "holdfast/sqlite";
import { describe, expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/shared/temporary-folder.fixture.ts";
import { planActReflect } from "../agent/index.ts";
import { stepsPlanner } from "../loop/index.ts";
import { maskedDeltas } from "./masked-deltas.ts";

const secret = 'Kü7/pq+"Zt9 x4Lm';
const forms = [
	secret,
	JSON.stringify(secret).slice(1, -1),
	encodeURIComponent(secret),
	Buffer.from(secret).toString("base64"),
	Buffer.from(secret).toString("base64url"),
];
const redactor = createRedactor({ secrets: [secret] });

/** Places of a delta that hold a piece of a text; `one` and `two` are different texts. */
const places: Readonly<Record<string, (piece: string, which: "one" | "two") => Delta>> = {
	"a tool's text": (delta, which) => ({ type: "tool_delta", step: 1, toolCallId: which, delta }),
	"an answer": (text, which) => ({
		...{ type: "model", step: 1, tag: "plan" },
		event: { type: "text_delta", index: which === "one" ? 0 : 1, delta: { text } },
	}),
	reasoning: (text, which) => ({
		...{ type: "model", step: 1, tag: which },
		event: { type: "reasoning_delta", index: 0, delta: { text } },
	}),
	"an object": (text, which) => ({
		...{ type: "model", step: 1, tag: which },
		event: { type: "object_delta", index: 0, delta: { text } },
	}),
	"arguments of a call": (argumentsJson, which) => ({
		...{ type: "model", step: 1, tag: "plan" },
		event: {
			type: "tool_call_delta",
			index: which === "one" ? 0 : 1,
			delta: { toolCallId: which, argumentsJson },
		},
	}),
	"a sub-agent's tool": (delta, which) => ({
		...{ type: "nested", step: 1, toolCallId: "call" },
		event: { type: "tool_delta", runId: "r", step: 2, toolCallId: which, delta },
	}),
	"a sub-agent's answer": (text, which) => ({
		...{ type: "nested", step: 1, toolCallId: "call" },
		event: { type: "model", runId: which, step: 1, event: { type: "text_delta", index: 0, delta: { text } } },
	}),
	"a sub-agent's sub-agent": (text, which) => ({
		...{ type: "nested", step: 1, toolCallId: which },
		event: { type: "nested", toolCallId: "b", event: { type: "text_delta", index: 0, delta: { text } } },
	}),
};

/** All text of deltas, by place. */
function textOf(deltas: readonly unknown[]): string {
	const texts: string[] = [];
	JSON.stringify(deltas, (name, value) => {
		if (typeof value === "string" && ["delta", "text", "argumentsJson"].includes(name)) texts.push(value);
		return value;
	});
	return texts.join("");
}

describe.each(Object.entries(places))("in %s", (_, at) => {
	test.each(forms)("the form %j leaves nothing, for any split", (form) => {
		const whole = `before ${form} after ${form.slice(0, 3)}`;
		fc.assert(
			fc.property(fc.array(fc.integer({ min: 0, max: whole.length }), { maxLength: 8 }), (cuts) => {
				const stage = maskedDeltas(redactor);
				const ends = [0, ...cuts.toSorted((a, b) => a - b), whole.length];
				const out: Delta[] = [];
				for (let i = 1; i < ends.length; i++) {
					out.push(...(stage.push(at(whole.slice(ends[i - 1], ends[i]), "one")) as Delta[]));
					out.push(...(stage.push(at("|", "two")) as Delta[]));
				}
				for (const source of [
					{ model: true },
					{ toolCallId: "call" },
					{ toolCallId: "one" },
					{ toolCallId: "two" },
				] as const)
					out.push(...(stage.flush(source) as Delta[]));
				expect(textOf(out).replaceAll("|", "")).toBe(redactor.maskSecrets(whole));
			}),
			{ numRuns: 40 },
		);
	});

	test("the rest of a text precedes the end of its block, or of its source", () => {
		const stage = maskedDeltas(redactor);
		const first = at(`a ${secret.slice(0, 6)}`, "one");
		const released = stage.push(first) as Delta[];
		expect(textOf(released)).toBe("a ");
		const index = first.type === "model" ? first.event.index : 0;
		const end =
			first.type === "model"
				? (stage.push({ ...first, event: { type: "content_block_stop", index, delta: {} } }) as Delta[])
				: (stage.flush({ toolCallId: first.toolCallId }) as Delta[]);
		expect(textOf(end.slice(0, 1))).toBe(secret.slice(0, 6));
		expect(end).toHaveLength(first.type === "model" ? 2 : 1);
	});
});

test.each([
	["in memory", () => memoryHost()],
	["in SQLite", () => sqliteHost(join(temporaryFolder(), "a.db"))],
])("a tool's deltas under planActReflect are masked in events and in the journal, %s", async (_, host) => {
	const speaks = tool({
		name: "speaks",
		description: "Speaks.",
		parameters: { type: "object" },
		async *run() {
			for (const piece of `it is ${secret}, is it?`) yield piece;
			return "done";
		},
	});
	const execution = planActReflect({
		planner: stepsPlanner([
			{ type: "tool", toolId: "speaks" },
			{ type: "finish", message: "done" },
		]),
		safety: { toolAllowlist: ["speaks"], secrets: [secret] },
	});
	const own = host();
	const speaker = agent({ model: scriptedModel([]), tools: [speaks], execution, host: own });
	const run = await speaker.session("s").send("speak");
	const seen: unknown[] = [];
	for await (const event of run.watch()) seen.push(event);
	const pieces = seen.filter((event) => (event as { type: string }).type === "tool_delta");
	expect(textOf(pieces)).toBe("it is [REDACTED:secret], is it?");
	const all = { after: { seq: 0, sub: 0 }, through: Number.MAX_SAFE_INTEGER, limit: 10_000 };
	const kept = [await own.journal.read("s"), await own.journal.readChunks?.("s", all)];
	expect(JSON.stringify([seen, kept])).not.toMatch(/Kü7|Zt9/);
	await speaker.close();
	await own.close?.();
});
