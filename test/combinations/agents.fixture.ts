// Random agents: each has some of the features that an agent can have, and a model that calls its tools at random.
import { largeResults, searchable, skills } from "@holdfast/context";
import { codeMode } from "@holdfast/sandbox/code-mode";
import { type ScriptedReply, scriptedModel } from "@holdfast/testing";
import { type JSONSchema, type LLMRequest, UPPError } from "@holdfast/upp";
import { Agent, type AgentOptions, type AnyTool, createSubAgentTool, tool } from "holdfast";
import { react } from "holdfast/execution";
import { compaction } from "holdfast/plugins";
import { type Random, randomFrom } from "./random.fixture.ts";

/** What an agent can have. */
export const features = [
	"large results",
	"skills",
	"search",
	"code mode",
	"compaction",
	"prepare step",
	"sub-agent",
	"sub-agent under its caller",
	"background sub-agent",
	"output",
	"failing model",
	"react",
] as const;
export type Feature = (typeof features)[number];

/** The effects of all tools of a world. */
export interface Effects {
	/** Attempts by idempotency key, for tools that must not run again. */
	readonly once: Map<string, number>;
	/** Requests to the models, those of sub-agents too. */
	readonly requests: LLMRequest[];
	readonly log: string[];
}

export function newEffects(): Effects {
	return { once: new Map(), requests: [], log: [] };
}

const object = (properties: Record<string, JSONSchema> = {}, required: string[] = []) => ({
	type: "object" as const,
	properties,
	required,
});

function toolsOf(effects: Effects): Record<string, AnyTool> {
	const text = { text: { type: "string" as const } };
	return {
		echo: tool({
			name: "echo",
			description: "Returns the text.",
			parameters: object(text, ["text"]),
			retryPolicy: "pure",
			run: ({ text: said }: { text: string }) => said,
		}),
		big: tool({
			name: "big",
			description: "Returns a large text.",
			parameters: object({ lines: { type: "number" } }),
			retryPolicy: "idempotent",
			run: ({ lines = 300 }: { lines?: number }) =>
				Array.from(
					{ length: Math.min(2_000, Math.max(1, lines)) },
					(_, at) => `line ${at} of the record`,
				).join("\n"),
		}),
		data: tool({
			name: "data",
			description: "Returns data.",
			parameters: object(),
			retryPolicy: "pure",
			run: () => ({
				rows: Array.from({ length: 60 }, (_, id) => ({ id, name: `name ${id}`, ok: id % 2 === 0 })),
			}),
		}),
		pay: tool({
			name: "pay",
			description: "Pays.",
			parameters: object({ euros: { type: "number" } }, ["euros"]),
			needsApproval: true,
			run: ({ euros }: { euros: number }, context) => {
				const key = context.idempotencyKey ?? "none";
				effects.once.set(key, (effects.once.get(key) ?? 0) + 1);
				return `paid ${euros}`;
			},
		}),
		once: tool({
			name: "once",
			description: "Sends a letter.",
			parameters: object({ to: { type: "string" } }),
			run: async (_: unknown, context) => {
				const key = context.idempotencyKey ?? "none";
				effects.once.set(key, (effects.once.get(key) ?? 0) + 1);
				await new Promise((resolve) => setTimeout(resolve, 1));
				return "sent";
			},
		}),
		slow: tool({
			name: "slow",
			description: "Works for a while.",
			parameters: object({ ms: { type: "number" } }),
			retryPolicy: "idempotent",
			run: async ({ ms = 2 }: { ms?: number }) => {
				await new Promise((resolve) => setTimeout(resolve, Math.min(5, Math.max(0, ms))));
				return { waited: ms };
			},
		}),
		fail: tool({
			name: "fail",
			description: "Fails.",
			parameters: object(),
			retryPolicy: "pure",
			run: () => {
				throw new Error("It cannot work.");
			},
		}),
		ask: tool({ name: "ask", description: "Asks the user.", parameters: object(text) }) as AnyTool,
		empty: tool({
			name: "empty",
			description: "Returns nothing.",
			parameters: object(),
			run: () => undefined,
		}),
	};
}

const skillText = (name: string, allowed?: string) => `---
name: ${name}
description: Helps with ${name}.
${allowed === undefined ? "" : `allowed-tools: ${allowed}\n`}---
Do ${name} with care.
`;

/** The calls that a model makes at random. */
function argumentsOf(random: Random, name: string, offered: LLMRequest): Record<string, unknown> {
	switch (name) {
		case "echo":
			return random.chance(0.15)
				? {}
				: { text: random.pick(["hello", "", "{}", "ümläut 𝒳", "a\u0000b", "x".repeat(3_000)]) };
		case "big":
			return { lines: random.pick([1, 50, 300, 2_000]) };
		case "pay":
			return { euros: random.below(100) };
		case "once":
			return { to: random.pick(["ada", "bob"]) };
		case "slow":
			return { ms: random.below(6) };
		case "ask":
			return { text: "Which one?" };
		case "load_skill":
			return { name: random.pick(["mail", "strict", "unknown"]) };
		case "read_skill_file":
			return { skill: random.pick(["mail", "strict"]), path: random.pick(["notes.md", "missing.md"]) };
		case "read_result": {
			const ids = offered.messages.flatMap((message) =>
				"results" in message
					? (message.results as { toolCallId: string }[]).map(({ toolCallId }) => toolCallId)
					: [],
			);
			const id = ids.length === 0 ? "none" : random.pick(ids);
			return random.chance(0.5) ? { id, search: "line 7" } : { id, startLine: 1, endLine: 20 };
		}
		case "search_tools":
			return { query: random.pick(["letter", "pay", "returns a large text", "nothing of this kind"]) };
		case "delegate_to_later":
			return { prompt: "Work.", ...(random.chance(0.6) ? { run_in_background: true } : {}) };
		case "background_output":
		case "background_cancel": {
			const text = offered.messages
				.map((message) => message.text + JSON.stringify("results" in message ? message.results : ""))
				.join(" ");
			const ids = [...text.matchAll(/task_id\W+([\w.:-]+)/g)].map(([, id]) => id ?? "");
			return {
				task_id: ids.length === 0 ? "none" : random.pick(ids),
				...(name === "background_output" ? { block: random.chance(0.3), timeout_seconds: 1 } : {}),
			};
		}
		case "run_code":
			return { code: scriptOf(random) };
		default:
			return { prompt: random.pick(["Do it.", "Look into it.", "Ask the user."]) };
	}
}

function scriptOf(random: Random): string {
	const call = (): string => {
		const name = random.pick(["echo", "big", "data", "once", "pay", "slow", "fail"]);
		const given = { echo: `{ text: "s" }`, pay: `{ euros: 3 }`, once: `{ to: "ada" }` }[name] ?? "{}";
		return `tools.${name}(${given})`;
	};
	const statement = (): string => {
		const kind = random.below(5);
		if (kind === 0) return `out.push(await ${call()});`;
		if (kind === 1) return `out.push(...await Promise.all([${call()}, ${call()}]));`;
		if (kind === 2) return `try { out.push(await ${call()}); } catch (error) { out.push(String(error)); }`;
		if (kind === 3) return `console.log("at", out.length);`;
		return `for (let at = 0; at < 2; at++) out.push(await ${call()});`;
	};
	const length = 1 + random.below(4);
	const body = Array.from({ length }, statement).join("\n");
	const end = random.pick(["return out;", "return out.length;", "", "throw new Error('over');"]);
	return `const out = [];\n${body}\n${end}`;
}

/** A model that decides by the seed and by what it is sent, so that a repeated request has the same reply. */
function modelOf(effects: Effects, seed: string, has: ReadonlySet<Feature>, calls: { count: number }) {
	return scriptedModel(
		(request): string | ScriptedReply => {
			effects.requests.push({ ...request, messages: [...request.messages] });
			calls.count++;
			const random = randomFrom(`${seed}/${request.messages.length}/${request.messages.at(-1)?.text.length}`);
			if (has.has("failing model") && randomFrom(`${seed}/fails/${calls.count}`).chance(0.1))
				throw new UPPError(
					"It is overloaded.",
					randomFrom(`${seed}/f/${calls.count}`).pick(["RATE_LIMITED", "NETWORK_ERROR", "INVALID_REQUEST"]),
					"scripted",
					"llm",
				);
			let rounds = 0;
			for (const message of request.messages.toReversed()) {
				if (message.type === "user") break;
				if (message.type === "assistant") rounds++;
			}
			const offered = (request.tools ?? []).map(({ name }) => name);
			const end: ScriptedReply =
				request.structure === undefined
					? { text: random.pick(["Done.", "It is done.", " ", "Done.\n\nAll of it."]) }
					: { text: '{"done":true}', data: { done: true } };
			if (rounds >= 5 || offered.length === 0 || random.chance(0.25)) return end;
			const count = random.pick([1, 1, 2, 3]);
			const toolCalls = Array.from({ length: count }, (_, at) => {
				const name = random.chance(0.04) ? "no_such_tool" : random.pick(offered);
				return {
					id: `${seed}-${request.messages.length}-${at}`.replaceAll(/[^\w-]/g, "_").slice(-60),
					name,
					arguments: argumentsOf(random, name, request),
				};
			});
			return {
				...(random.chance(0.3) ? { text: "Let me see." } : {}),
				...(random.chance(0.2) ? { reasoning: "Hm." } : {}),
				toolCalls,
			};
		},
		{ modelId: `scripted-${seed.replaceAll(/\W/g, "-")}` },
	);
}

/** The options of a random agent. The same seed gives the same agent, in every process. */
export function agentOf(seed: string, has: ReadonlySet<Feature>, effects: Effects, depth = 0): AgentOptions {
	const random = randomFrom(`${seed}/agent/${depth}`);
	const every = toolsOf(effects);
	let tools: AnyTool[] = random.some(Object.values(every), 0.7);
	if (tools.length === 0) tools = [every.echo as AnyTool];
	const plugins: NonNullable<AgentOptions["plugins"]>[number][] = [];
	if (has.has("large results")) plugins.push(largeResults({ limit: 2_000 }));
	if (has.has("skills"))
		plugins.push(
			skills({
				sources: [
					{ text: skillText("mail"), files: { "notes.md": "Be brief." } },
					{ text: skillText("strict", "echo data load_skill") },
				],
			}),
		);
	if (has.has("compaction"))
		plugins.push(
			compaction({ maxTokens: 600, model: scriptedModel(() => "A summary of all before.") } as never),
		);
	if (has.has("search"))
		tools = [...searchable(tools, { always: tools.slice(0, 1).flatMap(({ name }) => name ?? []) })];
	if (has.has("code mode"))
		tools.push(
			codeMode({
				tools: Object.values(every).filter(({ name }) => name !== "ask" && name !== "empty") as never,
			}) as AnyTool,
		);
	if (depth === 0) {
		const below = (kind: string): AgentOptions => {
			const own = new Set(randomFrom(`${seed}/${kind}`).some(features, 0.3));
			return agentOf(`${seed}-${kind}`, own, effects, 1);
		};
		const part = (name: string, options: object): void => {
			const { model, ...rest } = below(name);
			tools.push(
				createSubAgentTool({
					agent: new Agent({ model, ...rest } as never),
					name,
					description: "Does a part of the work.",
					parameters: object({ prompt: { type: "string" } }, ["prompt"]),
					...options,
				} as never) as unknown as AnyTool,
			);
		};
		if (has.has("sub-agent")) part("helper", {});
		if (has.has("sub-agent under its caller")) part("clerk", { policy: "caller" });
	}
	const subagents: Agent[] = [];
	if (depth === 0 && has.has("background sub-agent")) {
		const own = new Set(randomFrom(`${seed}/later`).some(features, 0.3));
		subagents.push(
			new Agent({
				...agentOf(`${seed}-later`, own, effects, 1),
				name: "later",
				description: "Works later.",
			} as never),
		);
	}
	const options: Record<string, unknown> = {
		...(subagents.length > 0 ? { subagents } : {}),
		model: modelOf(effects, `${seed}`, has, { count: 0 }),
		instructions: `You are ${seed}.`,
		tools,
		plugins,
		maxSteps: 12,
		modelWait: "never",
	};
	if (has.has("react")) options.execution = react();
	if (has.has("output"))
		options.output = { type: "object", properties: { done: { type: "boolean" } }, required: ["done"] };
	if (has.has("prepare step")) {
		options.prepareStep = ({ step }: { step: number }) => {
			const own = randomFrom(`${seed}/step/${step}`);
			return {
				...(own.chance(0.2) ? { instructions: `Step ${step} is special.` } : {}),
				...(own.chance(0.2) ? { toolChoice: "auto" } : {}),
				...(own.chance(0.2) ? { activeTools: [] } : {}),
			};
		};
	}
	return options as AgentOptions;
}
