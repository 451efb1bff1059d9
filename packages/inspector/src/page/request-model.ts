// A model's request: whether it is what was sent, what fills it, and the same request for another program.
import type { ShownStep } from "../wire/index.ts";
import { shellText } from "./masks.ts";

type Request = ShownStep["request"];

/** Whether the shown request is the one that was sent, in a sentence. */
export interface Verdict {
	readonly state: "verified" | "differs" | "unknown";
	readonly text: string;
}

const partNames = { model: "model", instructions: "instructions", tools: "tools", messages: "messages" };

/** Returns the verdict on a request. */
export function verdictOf({ parts, strategy, prepared = [], request }: ShownStep): Verdict {
	const named = (state: string): string =>
		(Object.keys(partNames) as (keyof typeof partNames)[])
			.filter((name) => parts[name] === state)
			.map((name) => partNames[name])
			.join(", ");
	const [differs, unknown] = [named("differs"), named("unknown")];
	const more = [
		...(strategy?.prompt === undefined
			? []
			: ["The strategy added a message at the end, which is not recorded."]),
		...(strategy?.tools === undefined
			? []
			: [
					strategy.tools === "withheld"
						? "The strategy withheld the tools."
						: "The strategy showed the tools, but did not let the model use them.",
				]),
		...(prepared.some((part) => part === "params" || part === "toolChoice")
			? [`\`prepareStep\` changed ${prepared.join(", ")} for this call.`]
			: request.params === undefined
				? []
				: ["Parameters are not recorded; the current ones are shown."]),
	].join(" ");
	if (differs !== "")
		return {
			state: "differs",
			text: `Not as sent: other ${differs} than shown. ${differs === "messages" ? "Middleware or a plugin changed them for this call." : "They have changed since; the current ones are shown."} ${more}`,
		};
	if (unknown !== "")
		return {
			state: "unknown",
			text: `Rebuilt. Not verified, because nothing was recorded: ${unknown}. ${more}`,
		};
	return {
		state: strategy?.prompt === undefined ? "verified" : "differs",
		text: `Model, instructions, tools and messages are as sent, according to the recorded fingerprint. ${more}`,
	};
}

interface Part {
	readonly type: string;
	readonly text?: string;
}
interface MessageJson {
	readonly type: string;
	readonly content?: readonly Part[];
	readonly toolCalls?: readonly { toolCallId: string; toolName: string; arguments: unknown }[];
	readonly results?: readonly { toolCallId: string; result: unknown; isError?: boolean }[];
}

/** A share of a request, in characters. */
export interface ContextPart {
	readonly name: "instructions" | "tools" | "user" | "model" | "results";
	readonly count: number;
	readonly characters: number;
}

/** Returns what fills a request: by origin, in the order in which it is sent. Files count by their encoded length. */
export function contextOf({ system = "", tools = [], messages }: Request): readonly ContextPart[] {
	const all = messages as readonly MessageJson[];
	const of = (type: string, name: ContextPart["name"]): ContextPart => {
		const own = all.filter((each) => each.type === type);
		return { name, count: own.length, characters: own.reduce((sum, each) => sum + sizeOf(each), 0) };
	};
	const parts: readonly ContextPart[] = [
		{ name: "instructions", count: system === "" ? 0 : 1, characters: system.length },
		{ name: "tools", count: tools.length, characters: tools.length === 0 ? 0 : JSON.stringify(tools).length },
		of("user", "user"),
		of("assistant", "model"),
		of("tool_result", "results"),
	];
	return parts.filter(({ characters }) => characters > 0);
}

function sizeOf({ content = [], toolCalls = [], results = [] }: MessageJson): number {
	const texts = content.reduce(
		(sum, part) => sum + (typeof part.text === "string" ? part.text.length : JSON.stringify(part).length),
		0,
	);
	const calls = toolCalls.reduce(
		(sum, call) => sum + call.toolName.length + (JSON.stringify(call.arguments)?.length ?? 0),
		0,
	);
	return texts + calls + results.reduce((sum, { result }) => sum + textOf(result).length, 0);
}

function textOf(value: unknown): string {
	return typeof value === "string" ? value : (JSON.stringify(value) ?? "");
}

/** Returns the request in the form of a chat completion, which most providers and local servers accept. */
export function chatOf({ model, system, tools = [], params = {}, messages }: Request): object {
	const body = {
		model: model.split(":").at(-1),
		messages: [
			...(system === undefined ? [] : [{ role: "system", content: system }]),
			...(messages as readonly MessageJson[]).flatMap(chatMessages),
		],
		...(tools.length === 0
			? {}
			: {
					tools: (tools as readonly { name: string; description?: string; parameters?: unknown }[]).map(
						({ name, description, parameters }) => ({
							type: "function",
							function: { name, description, parameters },
						}),
					),
				}),
		...(typeof params.temperature === "number" ? { temperature: params.temperature } : {}),
		...(typeof params.maxTokens === "number" ? { max_tokens: params.maxTokens } : {}),
	};
	return body;
}

function chatMessages({ type, content = [], toolCalls = [], results = [] }: MessageJson): readonly object[] {
	if (type === "tool_result")
		return results.map(({ toolCallId, result }) => ({
			role: "tool",
			tool_call_id: toolCallId,
			content: textOf(result),
		}));
	const text = content.map((part) => (part.type === "text" ? part.text : `[${part.type}]`)).join("");
	if (type === "user") return [{ role: "user", content: text }];
	const calls = toolCalls.map((call) => ({
		id: call.toolCallId,
		type: "function",
		function: { name: call.toolName, arguments: JSON.stringify(call.arguments ?? {}) },
	}));
	return [{ role: "assistant", content: text, ...(calls.length === 0 ? {} : { tool_calls: calls }) }];
}

/**
 * Returns a command that sends the request to a provider; its address, its key and secrets that are masked here come from
 * the environment.
 */
export function requestCurlOf(request: Request): string {
	const body = shellText(JSON.stringify(chatOf(request)));
	return `curl "$BASE_URL/chat/completions" -H "authorization: Bearer $API_KEY" -H 'content-type: application/json' -d ${body}`;
}
