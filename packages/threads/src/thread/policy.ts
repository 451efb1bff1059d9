// The interceptor with which threads use the engine: it passes stored messages to hooks, stores results in the format of
// threads, and reacts to commits (keeps I1).

import {
	AssistantMessage as Assistant,
	type AssistantMessage,
	after,
	type Message,
	messageOf,
} from "@holdfast/upp";
import type { Entry, Fact } from "holdfast/host";
import type { Admission, InterceptedResult, Interceptor, ReplacedResult } from "holdfast/middleware";
import type { ToolAttachment, ToolResult } from "../types/index.ts";
import { topics } from "./flow.ts";
import { afterCreateMessage, beforeCreateMessage, toolResult } from "./hooks.ts";
import { LiveRun } from "./live-run.ts";
import { dataOf, type MessageData, plainData, withData } from "./message-data.ts";
import type { ProjectIndex } from "./project-index.ts";
import { hookCall, readResult, rowOf, type StoredResult } from "./row.ts";
import type { ThreadSystem } from "./system.ts";
import { forModelCall } from "./thread-model.ts";

/** Creates the entry of threads. */
export function threadPolicy(
	system: ThreadSystem,
	lives: Map<string, LiveRun>,
	indexOf: (threadId: string) => ProjectIndex,
): Interceptor {
	return {
		name: "threads",
		begin(run) {
			if (run.kind !== "session") return undefined;
			const live = new LiveRun(system, run, indexOf(run.sessionKey));
			lives.set(live.threadId, live);
			const creates = [...live.index.project.hooks.values()].some(
				({ definition }) => definition.hook === "before_create_message",
			);
			const looks = [...live.index.project.hooks.values()].some(
				({ definition }) => definition.hook === "after_create_message",
			);
			return {
				// Without hooks, the stages call no code of the project that could wait for the thread.
				...(live.index.project.hooks.size === 0 ? { waits: "never" as const } : {}),
				...(looks ? { stepBefore: async () => void (await live.hooksDone()) } : {}),
				...(system.hasOtherPolicy
					? {
							assemble(messages: readonly Message[]) {
								live.unchanged = messages;
								return messages;
							},
						}
					: {}),
				modelCall: (call, next) => forModelCall(live, call, next),
				toolResult: (result) => storedResult(system, live, result),
				...(creates
					? {
							admits: ["assistant" as const],
							admit: (fact: Fact) => created(live, fact),
							deltas: "as-is" as const,
						}
					: {}),
				committed: (entry) => committed(system, lives, live, entry),
			};
		},
	};
}

/** Returns the message of an answer after the hooks. User messages passed the hooks when they were accepted. */
async function created(live: LiveRun, fact: Fact): Promise<Admission | undefined> {
	if (fact.kind !== "assistant") return undefined;
	if (!live.hasHooks("before_create_message")) return undefined;
	const scope = live.hookScope();
	const { message } = fact;
	const row = rowOf(message, { seq: 0, runId: live.runId, at: message.timestamp.getTime() * 1_000 });
	const changed = await beforeCreateMessage(scope, row.message);
	const same = JSON.stringify(changed) === JSON.stringify(row.message);
	return same ? undefined : { fact: { ...fact, message: rewritten(message, row.message, changed) } };
}

/** Applies the changes of a hook to an assistant's message. */
function rewritten(message: AssistantMessage, before: StoredMessage, after: StoredMessage): AssistantMessage {
	const { id, timestamp, toolCalls } = message;
	const data = { ...dataOf(message), ...changedData(before, after) };
	const isSaid = after.content !== before.content;
	const others = message.content.filter(({ type }) => type !== "text");
	const content = isSaid
		? [...others, ...(after.content ? [{ type: "text" as const, text: after.content }] : [])]
		: message.content;
	return new Assistant(content, toolCalls, {
		id,
		timestamp,
		metadata: withData(plainData(data), message.metadata),
	});
}

type StoredMessage = ReturnType<typeof rowOf>["message"];

/** Returns the fields of a message's data that a hook or an update changed. */
export function changedData(before: object, after: object): Partial<MessageData> {
	const known: Record<string, string> = {
		silent: "silent",
		metadata: "metadata",
		status: "status",
		attachments: "attachments",
		name: "name",
	};
	const own = new Set([
		"id",
		"role",
		"content",
		"tool_calls",
		"tool_call_id",
		"created_at",
		"parent_id",
		"depth",
	]);
	const data: Record<string, unknown> = {};
	const columns: Record<string, unknown> = {};
	for (const [name, value] of Object.entries(after)) {
		if (own.has(name) || JSON.stringify(value) === JSON.stringify((before as Record<string, unknown>)[name]))
			continue;
		const kept = known[name];
		if (kept === undefined) columns[name] = value;
		else data[kept] = value;
	}
	return { ...(data as Partial<MessageData>), ...(Object.keys(columns).length === 0 ? {} : { columns }) };
}

/** The engine's message for a call whose process died inside it. */
const unknownOutcome = /^The outcome of this call is unknown/;

const resultHooks = [
	"after_tool_call_success",
	"after_tool_call_failure",
	"before_store_tool_result",
] as const;

/** Returns a result in its stored form: after the hooks, with files instead of bytes, without secrets. */
function storedResult(
	system: ThreadSystem,
	live: LiveRun,
	result: InterceptedResult,
): ReplacedResult | Promise<ReplacedResult> {
	const { status, output } = result;
	if (status === "cancelled") return { status, output };
	const loading = live.ready();
	if (loading !== undefined) return loading.then(() => storedResult(system, live, result));
	const { signals, ...given } = readResult(output, status === "error");
	const interrupted = given.error !== undefined && unknownOutcome.test(given.error);
	const said: ToolResult = interrupted
		? { ...given, error: `The call was interrupted. ${given.error}` }
		: given;
	const store = (kept: StoredResult): ReplacedResult => ({
		status: kept.status === "error" ? "error" : "done",
		output: signals === undefined ? kept : { ...kept, signals },
	});
	const keepIt = (hooked: ToolResult): ReplacedResult | Promise<ReplacedResult> => {
		const kept = keep(system, live, hooked);
		return after(kept, store);
	};
	if (!live.hasHooks(...resultHooks)) return keepIt(said);
	const { toolCallId, toolName, input } = result;
	const call = hookCall({ toolCallId, toolName, arguments: (input ?? {}) as Record<string, unknown> });
	return toolResult(live.hookScope(), call, said).then(keepIt);
}

function keep(system: ThreadSystem, live: LiveRun, result: ToolResult): StoredResult | Promise<StoredResult> {
	const hasAgent = live.index.project.agents.has(live.flow.agent);
	const env = live.environment(hasAgent ? live.index.promptOf(live.flow) : undefined);
	const { attachments, ...rest } = result;
	const names = Object.keys(rest).filter((name) => name !== "status") as (keyof typeof rest)[];
	const shown = env.redact(names.map((name) => rest[name]));
	const together = (values: readonly unknown[]): Omit<ToolResult, "attachments"> => {
		const masked: Record<string, unknown> = { ...rest };
		for (const [at, name] of names.entries()) masked[name] = values[at];
		return masked as Omit<ToolResult, "attachments">;
	};
	const text = shown instanceof Promise ? shown.then(together) : together(shown);
	if (attachments === undefined || attachments.length === 0) return text;
	return keepAttachments(system, live, text, attachments);
}

async function keepAttachments(
	system: ThreadSystem,
	{ place }: LiveRun,
	text: ToolResult | Promise<ToolResult>,
	attachments: NonNullable<ToolResult["attachments"]>,
): Promise<StoredResult> {
	const said = await text;
	const files = system.parts.files(place);
	const kept: NonNullable<StoredResult["attachments"]> = [];
	try {
		for (const each of attachments) {
			if ("path" in each) kept.push(each);
			else kept.push(...(await files.storeAttachments([each as ToolAttachment])));
		}
	} catch (error) {
		const why = messageOf(error);
		return { status: "error", error: `The attachments could not be stored: ${why}` };
	}
	return { ...said, attachments: kept };
}

function committed(system: ThreadSystem, lives: Map<string, LiveRun>, live: LiveRun, entry: Entry): void {
	live.committed(entry);
	const { fact } = entry;
	if (fact.kind === "run.ended" && lives.get(live.threadId) === live) lives.delete(live.threadId);
	if (fact.kind === "note" && fact.topic === topics.cap) {
		const { reason, limit } = fact.value as { readonly reason: string; readonly limit: number };
		const message = `${reason} Give the side \`maxSteps\`, or raise \`stepCap\`.`;
		system.log({ threadId: live.threadId, level: "warn", topic: "turn", message, data: { limit } });
	}
	if (fact.kind !== "assistant") return;
	if (!live.hasHooks("after_create_message")) return;
	const scope = live.hookScope();
	const at = fact.message.timestamp.getTime() * 1_000;
	const row = rowOf(fact.message, { seq: entry.seq, runId: live.runId, at });
	live.after(async () => {
		await live.ready();
		await afterCreateMessage(scope, live.view.get(row.message.id)?.message ?? row.message);
	});
}
