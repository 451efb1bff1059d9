/** The command `show`: prints the timeline of a session from its journal. */

import { type ProviderPart, providerParts } from "@holdfast/upp";
import { AgentState } from "holdfast";
import type { Entry, ErrorData, Fact } from "holdfast/host";
import { outcomeMarks } from "../render/index.ts";
import {
	type CommandIo,
	formatArguments,
	formatCost,
	formatCount,
	formatDuration,
	formatTime,
	oneLine,
	printable,
	quoted,
	summarise,
} from "../terminal/index.ts";
import { exitCodes, findSession, openExisting, shownDatabase, UsageError } from "../work/index.ts";
import type { Command } from "./arguments.ts";

/** Shows a session. */
export async function showSession(
	command: Extract<Command, { name: "show" }>,
	io: CommandIo,
): Promise<number> {
	const host = await openExisting(command);
	try {
		const key = host === undefined ? command.session : await findSession(host, command.session);
		const head = await host?.journal.head(key);
		if (host === undefined || head === undefined)
			throw new UsageError(
				`There is no session "${command.session}" in ${shownDatabase(command.db)}. See: holdfast sessions.`,
			);
		const entries = await host.journal.read(key);
		if (command.json) {
			for (const entry of entries)
				io.stdout.write(`${JSON.stringify({ ...entry, at: new Date(entry.at).toISOString() })}\n`);
			return exitCodes.completed;
		}
		const width = io.stdout.isTerminal ? io.stdout.columns - 1 : 200;
		const alive = head.holder?.alive === true;
		const db = command.dbGiven === undefined ? "" : ` --db ${quoted(command.dbGiven)}`;
		io.stdout.write(`session ${oneLine(command.session, width)}\n${timeline(entries, width).join("\n")}\n`);
		const isServed = key !== command.session;
		if (head.openRunId !== undefined)
			io.stdout.write(
				isServed
					? "\nIt has not finished. A server resumes it: holdfast serve\n"
					: alive
						? "\nIt is running now, in another process.\n"
						: entries.at(-1)?.fact.kind === "waiting"
							? `\nIt waits for answers. To answer: holdfast resume ${quoted(command.session)}${db}\n`
							: head.parked === true
								? `\nIt is parked. To resume it anyway: holdfast release ${quoted(command.session)}${db}\n`
								: `\nIt was interrupted. To resume it: holdfast resume ${quoted(command.session)}${db}\n`,
			);
		if (head.waiting > 0) io.stdout.write(`${head.waiting} more inputs are waiting.\n`);
		return exitCodes.completed;
	} finally {
		await host?.close();
	}
}

interface RunSoFar {
	readonly startedAt: number;
	tokensIn: number;
	tokensOut: number;
	cost: number | undefined;
	steps: number;
	/** Calls by id, with their inputs. */
	readonly calls: Map<string, { name: string; input: unknown; attempt: number }>;
}

interface ApprovalAnswer {
	readonly callId: string;
	readonly approved: boolean;
	readonly reason?: string;
}

const resumeReasons = {
	crash: "a crash: the process died",
	suspended: "an interruption",
	"lease-lost": "another process took over",
	answered: "its calls were answered",
	released: "it was released",
} as const;

/** Formats the entries for people. */
function timeline(entries: readonly Entry[], width: number): string[] {
	const lines: string[] = [];
	let run: RunSoFar | undefined;
	let number = 0;
	for (const { seq, at, fact } of entries) {
		const time = formatTime(at).slice(11);
		// Only the first line of an entry shows the time.
		const line = (what: string, text: string): void => {
			lines.push(`  ${what === "" ? " ".repeat(time.length) : time}  ${what.padEnd(9)} ${text}`.trimEnd());
		};
		if (fact.kind === "run.started") {
			number++;
			run = { startedAt: at, tokensIn: 0, tokensOut: 0, cost: 0, steps: 0, calls: new Map() };
			lines.push(
				"",
				`run ${number}  ${formatTime(at)}${fact.runKind === "user-turn" ? "" : `  (${fact.runKind})`}`,
			);
		} else if (fact.kind === "folded") {
			lines.push(
				"",
				`entries 1 to ${seq} were compacted: the messages remain, the steps between them do not`,
			);
			for (const { type, text } of AgentState.fromJSON(fact.state).messages)
				if (type !== "tool_result" && text !== "")
					line(type === "user" ? "you" : "answer", oneLine(text, width - 22));
		} else if (run !== undefined) describe(fact, run, at, line, width - 22);
	}
	return lines;
}

function describe(
	fact: Fact,
	run: RunSoFar,
	at: number,
	line: (what: string, text: string) => void,
	width: number,
): void {
	switch (fact.kind) {
		case "run.resumed":
			line("resumed", `attempt ${fact.attempt}, after ${resumeReasons[fact.reason]}`);
			if (fact.agentChanged !== undefined) line("", `the agent changed: its ${fact.agentChanged.join(", ")}`);
			break;
		case "run.parked":
			line(
				"parked",
				fact.reason === "crash"
					? `the process died ${fact.crashes} times without finishing a step between`
					: `the agent changed: its ${(fact.agentChanged ?? ["agent"]).join(", ")}`,
			);
			break;
		case "history.cut":
			line("cut", "a message and everything after it were removed from the history");
			break;
		case "input":
			line("you", oneLine(fact.message.text, width));
			break;
		case "assistant": {
			const calls = fact.message.toolCalls ?? [];
			run.steps = Math.max(run.steps, fact.step);
			run.tokensIn += fact.usage.inputTokens;
			run.tokensOut += fact.usage.outputTokens;
			run.cost = fact.cost === undefined || run.cost === undefined ? undefined : run.cost + fact.cost;
			for (const call of calls)
				run.calls.set(call.toolCallId, { name: call.toolName, input: call.arguments, attempt: 0 });
			line(
				`step ${fact.step}`,
				`${fact.modelId} answered in ${formatDuration(fact.duration)}${calls.length > 0 ? ` and called ${calls.length === 1 ? "a tool" : `${calls.length} tools`}` : ""}`,
			);
			for (const text of printable(fact.message.text).split("\n"))
				if (fact.message.text !== "") line("", text);
			for (const { part } of providerParts(fact.message)) line(...providerLine(part, width));
			break;
		}
		case "tools.requested":
			run.steps = Math.max(run.steps, fact.step);
			for (const call of fact.calls)
				run.calls.set(call.toolCallId, { name: call.toolName, input: call.arguments, attempt: 0 });
			line(
				`step ${fact.step}`,
				`the strategy called ${fact.calls.length === 1 ? "a tool" : `${fact.calls.length} tools`}`,
			);
			break;
		case "tool.started": {
			const call = run.calls.get(fact.callId);
			run.calls.set(fact.callId, {
				name: fact.name,
				input: fact.input ?? call?.input,
				attempt: fact.attempt,
			});
			if (fact.attempt > 1)
				line(
					"retry",
					`${fact.name} was started again (attempt ${fact.attempt}): it was running when the process died`,
				);
			break;
		}
		case "tool.settled": {
			const call = run.calls.get(fact.callId);
			const tail = ` · ${formatDuration(fact.duration)} · ${fact.outcome === "done" ? "" : `${fact.outcome}: `}${oneLine(summarise(fact.result), 60)}`;
			const head = oneLine(
				`${call?.name ?? fact.callId} ${formatArguments(call?.input)}`,
				Math.max(24, width - tail.length - 2),
			);
			line("tool", `${outcomeMarks[fact.outcome]} ${head}${tail}`);
			break;
		}
		case "tools.pending":
		case "waiting":
			for (const { callId, awaits, input } of fact.calls) {
				const call = run.calls.get(callId);
				const text = `for ${awaits === "approval" ? "approval" : "the result"} of ${call?.name ?? callId} ${formatArguments(input ?? call?.input)}`;
				line("waiting", oneLine(text, width));
			}
			for (const { agent, calls } of fact.children ?? []) {
				if (calls.length === 0) line("waiting", oneLine(`for the sub-agent ${agent}`, width));
				for (const { awaits, toolName, arguments: input, path } of calls) {
					const what = awaits === "approval" ? "approval" : "the result";
					const of = path.map((step) => step.agent).join(" › ");
					line("waiting", oneLine(`for ${what} of ${toolName} ${formatArguments(input)} (${of})`, width));
				}
			}
			if (fact.kind === "waiting" && fact.wait !== undefined) {
				const { tag, until, model } = fact.wait;
				const time = until === undefined ? "an input" : new Date(until).toISOString();
				const what = model === undefined ? tag : `${tag}: ${model.code}, ${formatCount(model.attempt)} times`;
				line("waiting", oneLine(`for ${time} (${what})`, width));
			}
			break;
		case "run.ended": {
			const words = { completed: "completed", error: "failed", aborted: "aborted", killed: "killed" };
			const tokens =
				run.tokensIn + run.tokensOut === 0
					? "no tokens"
					: `${formatCount(run.tokensIn)} tokens in, ${formatCount(run.tokensOut)} out, ${run.cost === undefined ? "cost unknown" : formatCost(run.cost)}`;
			line(
				"ended",
				`${words[fact.outcome]} after ${formatDuration(at - run.startedAt)}, ${run.steps} ${run.steps === 1 ? "step" : "steps"}, ${tokens}${fact.error === undefined ? "" : `: ${oneLine(fact.error.message, width)} (${fact.error.code})`}`,
			);
			break;
		}
		case "note":
			if (fact.topic === "model-retry") {
				const { attempt, delay, error } = fact.value as { attempt: number; delay: number; error: ErrorData };
				line(
					"retry",
					`${attempt} of the model, after ${formatDuration(delay)}: ${oneLine(error.message, width)}`,
				);
				break;
			}
			line(fact.kind, oneLine(fact.topic, width));
			break;
		case "decision":
			if (fact.topic === "approval") {
				const { callId, approved, reason } = fact.answer as ApprovalAnswer;
				const name = run.calls.get(callId)?.name ?? callId;
				const why = reason === undefined ? "" : `: ${reason}`;
				line(approved ? "approved" : "denied", oneLine(`${name}${why}`, width));
				break;
			}
			line(fact.kind, oneLine(fact.topic, width));
			break;
		case "run.started":
		case "wait.ended":
		case "message.added":
		case "message.updated":
		case "message.deleted":
		case "folded":
			break;
		default:
			fact satisfies never;
			break;
	}
}

/** Formats work that the provider did itself: a tool call, its result or a source. */
function providerLine(part: ProviderPart, width: number): [string, string] {
	switch (part.type) {
		case "call":
			return ["provider", oneLine(`${part.toolName} ${formatArguments(part.input)}`, width)];
		case "result":
			return ["", oneLine(`${part.isError ? "error: " : ""}${summarise(part.output)}`, width)];
		case "source":
			return ["source", oneLine([part.title ?? part.filename, part.url].filter(Boolean).join(" "), width)];
	}
}
