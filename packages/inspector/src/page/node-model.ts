// The subject of an entry of the trace: a call with its input and output, a run with its end, an answer, or the entry alone.

import type { ShownEntry } from "../wire/index.ts";
import { hasMask, shellText } from "./masks.ts";

export type TraceNode =
	| {
			readonly kind: "tool";
			readonly name: string;
			readonly input: unknown;
			/** The start of the last attempt; undefined if the call never started. */
			readonly started: ShownEntry | undefined;
			/** Undefined while it runs. */
			readonly settled: ShownEntry | undefined;
	  }
	| { readonly kind: "run"; readonly started: ShownEntry; readonly ended: ShownEntry | undefined }
	| { readonly kind: "model"; readonly entry: ShownEntry }
	| { readonly kind: "entry"; readonly entry: ShownEntry };

interface CallBody {
	readonly toolCallId: string;
	readonly toolName: string;
	readonly arguments: unknown;
}

/** Returns the node of an entry; undefined if there is no such entry. */
export function nodeOf(entries: readonly ShownEntry[], seq: number): TraceNode | undefined {
	const at = entries.findIndex((each) => each.seq === seq);
	const entry = entries[at];
	if (entry === undefined) return undefined;
	switch (entry.kind) {
		case "assistant":
			return { kind: "model", entry };
		case "run.started": {
			const { runId } = entry;
			const ended = entries.slice(at).find((each) => each.kind === "run.ended" && each.runId === runId);
			return { kind: "run", started: entry, ended };
		}
		case "tool.started":
		case "tool.settled":
			return callOf(entries, at, entry);
		default:
			return { kind: "entry", entry };
	}
}

function callOf(entries: readonly ShownEntry[], at: number, entry: ShownEntry): TraceNode {
	const { callId } = entry.body;
	const isOf = (kind: string) => (each: ShownEntry) => each.kind === kind && each.body.callId === callId;
	const started = entry.kind === "tool.started" ? entry : entries.slice(0, at).findLast(isOf("tool.started"));
	const settled = entry.kind === "tool.settled" ? entry : entries.slice(at).find(isOf("tool.settled"));
	const asked = entries
		.slice(0, at)
		.findLast((each) => callsOf(each).some((call) => call.toolCallId === callId));
	const call = asked && callsOf(asked).find(({ toolCallId }) => toolCallId === callId);
	const name = String(started?.body.name ?? call?.toolName ?? callId);
	return { kind: "tool", name, input: started?.body.input ?? call?.arguments, started, settled };
}

function callsOf({ kind, body }: ShownEntry): readonly CallBody[] {
	if (kind === "tools.requested") return (body.calls ?? []) as readonly CallBody[];
	if (kind !== "assistant") return [];
	return ((body.message as { toolCalls?: unknown } | undefined)?.toolCalls ?? []) as readonly CallBody[];
}

function textOf(message: unknown): string {
	const { content = [] } = (message ?? {}) as { content?: readonly { type: string; text?: string }[] };
	return content.map(({ type, text = "" }) => (type === "text" ? text : "")).join("");
}

/** Returns the user's message of a run. */
function inputOf(entries: readonly ShownEntry[], runId: string): string {
	const input = entries.find((each) => each.kind === "input" && each.runId === runId);
	return textOf(input?.body.message);
}

/** Returns a command that sends the message of a run to a server, as a new session. */
export function curlOf(entries: readonly ShownEntry[], runId: string, origin: string): string {
	const body = shellText(JSON.stringify({ input: inputOf(entries, runId) }));
	return `curl -N ${origin}/api/agent/execute -H 'content-type: application/json' -d ${body}`;
}

/** Returns a test that runs the recorded answers of a run against the reader's tools. */
export function testCaseOf(
	entries: readonly ShownEntry[],
	runId: string,
	system: string | undefined,
): string {
	const answers = entries.filter((each) => each.kind === "assistant" && each.runId === runId);
	const replies = answers.map((each) => {
		const text = textOf(each.body.message);
		const toolCalls = callsOf(each).map((call) => ({
			name: call.toolName,
			id: call.toolCallId,
			arguments: call.arguments,
		}));
		return { ...(text === "" ? {} : { text }), ...(toolCalls.length === 0 ? {} : { toolCalls }) };
	});
	// A model may call a tool by any name, and no name may end the comment it is put into.
	const names = [
		...new Set(answers.flatMap(callsOf).map(({ toolName }) => toolName.replaceAll(/[^\w.:-]/g, "_"))),
	];
	const input = inputOf(entries, runId);
	const last = answers.at(-1);
	const expected = last === undefined || callsOf(last).length > 0 ? undefined : textOf(last.body.message);
	const json = (value: unknown, indent = ""): string =>
		(JSON.stringify(value, undefined, "\t") ?? "").replaceAll("\n", `\n${indent}`);
	const isMasked = hasMask([input, system, replies]);
	return [
		...(isMasked ? ["// Secrets are masked as [REDACTED:…]: replace them with test values."] : []),
		'import { scriptedModel } from "@holdfast/testing";',
		'import { Agent } from "holdfast";',
		'import { expect, test } from "vitest";',
		"",
		`test(${json(input.slice(0, 80))}, async () => {`,
		`\tconst model = scriptedModel(${json(replies, "\t")});`,
		"\tconst agent = new Agent({",
		"\t\tmodel,",
		...(system === undefined ? [] : [`\t\tinstructions: ${json(system)},`]),
		...(names.length === 0 ? [] : [`\t\ttools: [], // Add your tools: ${names.join(", ")}.`]),
		"\t});",
		`\tconst run = await agent.session("case").send(${json(input)});`,
		"\tconst { outcome, text } = await run.result();",
		'\texpect(outcome).toBe("completed");',
		...(expected === undefined ? [] : [`\texpect(text).toBe(${json(expected)});`]),
		"\tawait agent.close();",
		"});",
		"",
	].join("\n");
}
