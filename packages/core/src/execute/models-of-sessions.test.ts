// Each option of a session with each kind of model: the option takes effect, or it is refused. It makes no difference
// whether the session is created with the model or an execution chooses the model later.
import { scriptedModel } from "@holdfast/testing";
import { type LLMRequest, llm } from "@holdfast/upp";
import { describe, expect, test } from "vitest";
import type { AgentOptions } from "../agent/index.ts";
import { memoryHost } from "../host/index.ts";
import { definePlugin } from "../policy/plugins/plugin.ts";
import { createSession, execute } from "./create-session.ts";
import { ExecuteSessions } from "./execute-sessions.ts";

const parameters = { type: "object", properties: {} } as const;
const toolNamed = (name: string) => ({ name, description: "Adds.", parameters, run: () => 3 });
const greet = (): never => [{ role: "assistant", content: "{}" }] as never;

interface Made {
	readonly model: AgentOptions["model"];
	/** The requests that the model received, if it receives any. */
	readonly requests?: readonly LLMRequest[];
}

const usage = { inputTokens: 1_000_000, outputTokens: 0, totalTokens: 1_000_000 } as never;
const scripted = () => scriptedModel(() => ({ text: "{}", usage }));
const kinds: Readonly<Record<string, () => Made>> = {
	reference() {
		const model = scripted();
		return { model, requests: model.requests };
	},
	"llm()"() {
		const model = scripted();
		const own = { system: "Own.", params: { temperature: 0, topP: 1 }, tools: [toolNamed("own")] };
		return { model: llm({ model, ...own } as never), requests: model.requests };
	},
	instance() {
		const { ...members } = llm({ model: scripted() });
		return { model: members };
	},
	function: () => ({ model: greet }),
};

type Effect = (request: LLMRequest, cost: number) => unknown;
interface Row {
	readonly context?: object;
	readonly options?: object;
	readonly works: readonly string[];
	/** The effect with a model that receives requests. */
	readonly effect?: Effect;
	readonly is?: unknown;
}

const all = Object.keys(kinds);
const ofRequests = ["reference", "llm()"];
const plugin = definePlugin({ name: "p", setup: (host) => host.instructions(() => "More.") });
const rows: Readonly<Record<string, Row>> = {
	"no option": { works: all },
	systemPrompt: {
		context: { systemPrompt: "Be." },
		works: ofRequests,
		effect: ({ system }) => system,
		is: "Be.",
	},
	tools: {
		context: { tools: [toolNamed("add")] },
		works: ofRequests,
		effect: ({ tools }) => tools?.map(({ name }) => name),
		is: ["add"],
	},
	temperature: {
		options: { temperature: 1 },
		works: ofRequests,
		effect: ({ params }) => (params as { temperature?: number }).temperature,
		is: 1,
	},
	maxTokens: {
		options: { maxTokens: 7 },
		works: ofRequests,
		effect: ({ params }) => (params as { maxOutputTokens?: number }).maxOutputTokens,
		is: 7,
	},
	cache: { options: { cache: "off" }, works: ofRequests, effect: ({ cache }) => cache, is: undefined },
	plugins: {
		options: { plugins: [plugin] },
		works: ofRequests,
		effect: ({ system }) => String(system).includes("More."),
		is: true,
	},
	prices: {
		options: {
			prices: {
				scripted: { input: 2, output: 1 },
				greet: { input: 2, output: 1 },
			},
		},
		works: [...ofRequests, "instance"],
		effect: (_, cost) => cost,
		is: 2,
	},
	remoteToolTimeoutMs: { options: { remoteToolTimeoutMs: 5 }, works: all },
	maxSteps: { options: { maxSteps: 5 }, works: all },
	modelWait: { options: { modelWait: "never" }, works: all },
	output: { options: { output: parameters }, works: all },
};
const cases = Object.entries(rows).flatMap(([option, row]) =>
	all.flatMap((kind) => (["created", "chosen"] as const).map((when) => [option, kind, when, row] as const)),
);

describe("an option of a session takes effect or is refused", () => {
	test.each(cases)("%s, %s, %s", async (_, kind, when, { context = {}, options = {}, works, effect, is }) => {
		const { model, requests } = (kinds[kind] as () => Made)();
		const run = async () => {
			const own = when === "created" ? { model } : {};
			const session = createSession("s", context, { ...options, ...own });
			const { status } = await execute(session, "Hi", when === "created" ? {} : { model }).result();
			return { status, session };
		};
		if (!works.includes(kind)) {
			await expect(run()).rejects.toMatchObject({ code: "invalid_option" });
			return;
		}
		const { status, session } = await run();
		expect(status).toBe("completed");
		const [request] = requests ?? [];
		if (request !== undefined) expect(effect?.(request, session.totalCost)).toEqual(is);
		else if (options === rows.prices?.options) expect(session.totalCost).toBe(is);
	});

	test("an instance of llm() contributes what the session does not define", async () => {
		const { model, requests = [] } = (kinds["llm()"] as () => Made)();
		await execute(createSession("s", {}, {}), "Hi", { model }).result();
		expect(requests[0]).toMatchObject({ system: "Own.", params: { temperature: 0, topP: 1 } });
		expect(requests[0]?.tools?.map(({ name }) => name)).toEqual(["own"]);
		await execute(createSession("s", {}, { temperature: 1 }), "Hi", { model }).result();
		expect(requests[1]).toMatchObject({ params: { temperature: 1 } });
	});

	test("an interceptor decides on tool calls if only the default model is a function", async () => {
		const seen: string[] = [];
		const toolCall = ({ toolName }: { readonly toolName: string }): void => void seen.push(toolName);
		const middleware = [{ name: "guard", begin: () => ({ toolCall }) }];
		const sessions = new ExecuteSessions({
			host: memoryHost(),
			agent: { model: greet, middleware },
			agentFor: () => own,
		});
		const own = {
			model: scriptedModel([{ toolCalls: [{ id: "1", name: "add", arguments: {} }] }, "3"]),
			tools: [toolNamed("add")],
		};
		const one = sessions.session("s");
		await one.create({ messages: [], tools: [] } as never);
		await (await one.execute({ kind: "message", input: "Hi" })).run.result();
		expect(seen).toEqual(["add"]);
	});
});
