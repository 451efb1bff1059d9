// Shared by the tests of interceptors: the four ways to run an agent, an interceptor that changes every text of a run,
// and everything in a journal.
import { type AnyMessage, messageFromJSON, messageToJSON } from "@holdfast/upp";
import { Agent } from "../agent/agent.ts";
import type { AgentOptions } from "../agent/options.ts";
import { createSession, execute } from "../execute/create-session.ts";
import type { SessionMessage } from "../execute/session-message.ts";
import type { RunEvent } from "../facts/events.ts";
import type { Entry, Fact } from "../facts/fact.ts";
import type { Host } from "../host/host-port.ts";
import type { Journal } from "../host/journal.ts";
import { memoryHost } from "../host/memory-host.ts";
import type { Delta, DeltaStage, Interceptor } from "./interceptor.ts";

/** The outcome of a run, and everything that its watchers received. */
export interface Ran {
	readonly text: string;
	readonly error?: unknown;
	readonly seen: readonly unknown[];
}

type Face = (options: AgentOptions, input: string, host?: Host) => Promise<Ran>;

const failed = (error: unknown): { text: string; error: unknown } => ({ text: "", error });

/** The ways to call an agent. Each runs it once. */
export const faces: Readonly<Record<"generate" | "stream" | "session" | "execute", Face>> = {
	async generate(options, input) {
		try {
			const { turn } = await new Agent(options).generate(input);
			return { text: turn.response.text, seen: [turn] };
		} catch (error) {
			return { ...failed(error), seen: [] };
		}
	},
	async stream(options, input) {
		const seen: unknown[] = [];
		const stream = new Agent(options).stream(input);
		stream.result.catch(() => {});
		try {
			for await (const event of stream) seen.push(event);
			return { text: (await stream.result).turn.response.text, seen };
		} catch (error) {
			return { ...failed(error), seen };
		}
	},
	async session(options, input, host = memoryHost()) {
		const agent = new Agent({ ...options, host });
		const { seen, result } = await watched(agent, input);
		await agent.close();
		return { text: result.text, seen, ...(result.error === undefined ? {} : { error: result.error }) };
	},
	async execute({ model, tools = [], middleware = [], plugins = [] }, input, host = memoryHost()) {
		const session = createSession("s", { tools }, { model: model as never, middleware, plugins, host });
		const stream = execute(session, input);
		const seen: unknown[] = [];
		try {
			for await (const event of stream) seen.push(event);
			const { error, messages } = await stream.result();
			return error === undefined ? { text: textOfLast(messages), seen } : { ...failed(error), seen };
		} catch (error) {
			return { ...failed(error), seen };
		}
	},
};

function textOfLast(messages: readonly SessionMessage[]): string {
	const last = messages.at(-1);
	const content = last?.role === "assistant" ? last.content : [];
	return content.map((part) => ("text" in part ? part.text : "")).join("");
}

/** A turn of the session "s", with all its events. */
export async function watched(agent: Agent, input: string) {
	const seen: RunEvent[] = [];
	const run = await agent.session("s").send(input);
	const watching = (async () => {
		for await (const event of run.watch()) seen.push(event);
	})();
	const result = await run.result();
	await watching;
	return { seen, result };
}

/** Everything that a journal contains of a session: its entries, and the chunks between them. */
export async function held(
	journal: Journal,
	key = "s",
): Promise<{ entries: readonly Entry[]; chunks: unknown }> {
	const entries = await journal.read(key);
	const all = { after: { seq: 0, sub: 0 }, through: Number.MAX_SAFE_INTEGER, limit: 10_000 };
	return { entries, chunks: (await journal.readChunks?.(key, all)) ?? [] };
}

/** How an interceptor changes texts. */
export interface TextChange {
	change(text: string): string;
	/** Returns how many characters at the end of a text may be the start of a part to change. */
	holdBack?(text: string): number;
	readonly answers?: "at-once" | "later";
}

/** An interceptor that changes every text, in facts and in deltas. */
export function changing({ change, holdBack = () => 0, answers = "at-once" }: TextChange): Interceptor {
	const timely = <T>(value: T): T | Promise<T> =>
		answers === "at-once" ? value : new Promise((resolve) => setImmediate(() => resolve(value)));
	return {
		name: "changing",
		admitWaiting: (fact) => changed(fact, change),
		begin: () => {
			const deltas = changedDeltas(change, holdBack);
			return {
				admit: (fact) => timely({ fact: changed(fact, change) }),
				deltas: {
					push: (delta) => timely(deltas.push(delta) as readonly Delta[]),
					flush: (source) => timely(deltas.flush(source) as readonly Delta[]),
				},
			};
		},
	};
}

/** Replaces a secret, even if it is split across deltas. */
export function redacting(secret: string, answers: TextChange["answers"] = "at-once"): Interceptor {
	return changing({
		answers,
		change: (text) => text.replaceAll(secret, "[redacted]"),
		holdBack(text) {
			for (let length = Math.min(secret.length - 1, text.length); length > 0; length--)
				if (secret.startsWith(text.slice(-length))) return length;
			return 0;
		},
	});
}

type Change = TextChange["change"];

function changed(fact: Fact, change: Change): Fact {
	const body = { ...fact } as Record<string, unknown>;
	for (const name of ["message", "partial"])
		if (body[name] !== undefined) body[name] = changedMessage(body[name] as AnyMessage, change);
	for (const name of ["data", "input", "result", "details"]) body[name] = deep(body[name], change);
	if (fact.kind === "note" && !["metadata", "plan", "plan-step"].includes(fact.topic))
		body.value = deep(fact.value, change);
	if (fact.kind === "run.ended" && fact.error !== undefined)
		body.error = { ...fact.error, message: change(fact.error.message) };
	for (const [name, value] of Object.entries(body)) if (value === undefined) delete body[name];
	return body as unknown as Fact;
}

function changedMessage(message: AnyMessage, change: Change): unknown {
	const json = messageToJSON(message) as unknown as Record<string, unknown[]>;
	const texts = (list: unknown[] | undefined, name: string): unknown[] | undefined =>
		list?.map((each) => {
			const value = (each as Record<string, unknown>)[name];
			return value === undefined ? each : { ...(each as object), [name]: deep(value, change) };
		});
	const { content, toolCalls, results } = json;
	return messageFromJSON({
		...json,
		content: texts(content, "text"),
		...(toolCalls === undefined ? {} : { toolCalls: texts(toolCalls, "arguments") }),
		...(results === undefined ? {} : { results: texts(results, "result") }),
	} as never);
}

function deep(value: unknown, change: Change): unknown {
	if (typeof value === "string") return change(value);
	if (Array.isArray(value)) return value.map((each) => deep(each, change));
	if (typeof value !== "object" || value === null || value instanceof Date) return value;
	return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, deep(each, change)]));
}

/** Texts of one source are examined together; other streamed parts of a call are not emitted. */
function changedDeltas(change: Change, holdBack: (text: string) => number): DeltaStage {
	const held = new Map<string, { text: string; last: Delta }>();
	const release = (source: string, all: boolean): readonly Delta[] => {
		const waiting = held.get(source);
		if (waiting === undefined) return [];
		const text = change(waiting.text);
		const kept = all ? 0 : holdBack(text);
		held.set(source, { ...waiting, text: text.slice(text.length - kept) });
		const out = text.slice(0, text.length - kept);
		return out === "" ? [] : [withText(waiting.last, out)];
	};
	return {
		push(delta) {
			const text = textOf(delta);
			if (text === undefined) {
				if (delta.type === "model" && delta.event.type === "tool_call_delta") return [];
				return delta.type === "nested" ? [{ ...delta, event: deep(delta.event, change) }] : [delta];
			}
			const source = delta.type === "model" ? `model ${delta.event.index}` : delta.toolCallId;
			held.set(source, { text: (held.get(source)?.text ?? "") + text, last: delta });
			return release(source, false);
		},
		flush(source) {
			const ended = [...held.keys()].filter((each) =>
				"model" in source ? each.startsWith("model ") : each === source.toolCallId,
			);
			return ended.flatMap((each) => {
				const released = release(each, true);
				held.delete(each);
				return released;
			});
		},
	};
}

function textOf(delta: Delta): string | undefined {
	if (delta.type === "tool_delta") return delta.delta;
	return delta.type === "model" ? delta.event.delta.text : undefined;
}

function withText(delta: Delta, text: string): Delta {
	if (delta.type === "tool_delta") return { ...delta, delta: text };
	if (delta.type !== "model") return delta;
	return { ...delta, event: { ...delta.event, delta: { ...delta.event.delta, text } } };
}
