// Shared by the engine's tests: agents in the form that the engine drives, random scripts with tools of every kind, and
// checks that hold for the events and the history of any run.

import { type ScriptedReply, scriptedModel } from "@holdfast/testing";
import { AssistantMessage, type Message, ToolResultMessage, UserMessage } from "@holdfast/upp";
import fc from "fast-check";
import { type AgentOptions, resolveAgent } from "../agent/options.ts";
import type { RunEvent } from "../facts/events.ts";
import { initialSession } from "../facts/session-state.ts";
import { type Ports, systemPorts } from "../host/ports.ts";
import { AgentState } from "../state/agent-state.ts";
import type { DecidingStrategy } from "../strategies/execution-strategy.ts";
import { loop } from "../strategies/loop.ts";
import type { AnyTool, ToolContext } from "../tools/types.ts";
import { drive } from "./drive.ts";
import type { DriveOutcome } from "./end-run.ts";
import { ephemeralRecorder } from "./ephemeral.ts";
import { Run } from "./run.ts";

/** A paused clock and sequential ids: two runs of the same script are identical. */
function stillPorts(): Ports {
	let count = 0;
	return {
		clock: { now: () => 0, monotonic: () => 0 },
		ids: { uuid: () => `00000000-0000-4000-8000-${String(++count).padStart(12, "0")}` },
		timers: systemPorts.timers,
		eventLoop: systemPorts.eventLoop,
		lifetime: systemPorts.lifetime,
	};
}

/** A run of an agent that has begun but is not driven yet. */
function begunRun(options: AgentOptions): Run {
	const run = new Run({
		agent: resolveAgent("agent", options),
		runId: "run",
		state: initialSession(AgentState.initial()),
		recorder: ephemeralRecorder(),
	});
	run.commit([
		{ kind: "run.started", runKind: "user-turn", agentId: "agent", fingerprint: "" },
		{ kind: "input", inputId: "i", placement: "turn", shape: "text", message: new UserMessage("go") },
	]);
	return run;
}

/** The actions of a run, in order. */
export type Trace = { readonly what: "model" | "tool" | "complete" | "step"; readonly name?: string }[];

/** Tools of every kind. Each start is added to the trace. */
function manyTools(trace: Trace = [], signals: AbortSignal[] = []): AnyTool[] {
	const make = (
		name: string,
		run: (params: { text?: string }, context: ToolContext) => unknown,
		options: Partial<AnyTool> = {},
	): AnyTool => ({
		name,
		description: name,
		parameters: { type: "object", properties: { text: { type: "string" } } },
		run(params: { text?: string }, context: ToolContext) {
			trace.push({ what: "tool", name });
			signals.push(context.signal);
			return run(params, context);
		},
		...options,
	});
	const someTurns = async (): Promise<void> => {
		for (let turn = 0; turn < 5; turn++) await Promise.resolve();
	};
	return [
		make("value", ({ text }) => text ?? "value"),
		make("later", async ({ text }) => {
			await someTurns();
			return { text };
		}),
		make("first", async () => someTurns(), { sequential: true }),
		make("second", () => "second", { dependsOn: ["value", "later"] }),
		make("circle", () => "never", { dependsOn: ["circle"] }),
		make("throws", () => {
			throw new Error("thrown");
		}),
		make("rejects", async () => {
			await someTurns();
			throw new Error("rejected");
		}),
		make("streams", async function* (_, context) {
			yield "one ";
			context.emit("beside");
			await someTurns();
			yield "two";
		}),
		make("late", (_, context) => {
			void someTurns().then(() => context.emit("too late"));
			return "late";
		}),
		make("strict", () => "strict", {
			parameters: {
				type: "object",
				properties: { text: { type: "string", minLength: 3 } },
				required: ["text"],
			},
		}),
		make("unapproved", () => "never", { approval: async () => false }),
		make("cut", () => "a long result that is cut for the model", { maxModelCharacters: 10 }),
	];
}

const callNames = [...manyTools().map((tool) => tool.name as string), "unknown"];

/** Up to four rounds of calls in any order, then an answer. */
export const scripts: fc.Arbitrary<ScriptedReply[]> = fc
	.array(
		fc.record(
			{
				reasoning: fc.constantFrom("hm", "let me think about it"),
				text: fc.constantFrom("", "words and words", "one"),
				toolCalls: fc.array(
					fc.record(
						{
							name: fc.constantFrom(...callNames),
							arguments: fc.constantFrom({}, { text: "ab" }, { text: "abcdef" }, { text: 3 }),
							id: fc.constantFrom("", "x", "y", "z"),
							after: fc.subarray(["x", "y", "z", "gone", "call_0_0"]),
						},
						{ requiredKeys: ["name"] },
					),
					{ minLength: 1, maxLength: 5 },
				),
			},
			{ requiredKeys: ["toolCalls"] },
		),
		{ maxLength: 4 },
	)
	.map((rounds) => [...(rounds as ScriptedReply[]), { text: "the end" }]);

/** Options of an agent that follows a script and records its actions. */
export function scriptedOptions(
	script: readonly ScriptedReply[],
	trace: Trace = [],
	signals: AbortSignal[] = [],
	execution: DecidingStrategy = loop(),
): AgentOptions {
	return {
		execution,
		model: scriptedModel((request, call) => {
			trace.push({ what: "model" });
			if (request.signal !== undefined) signals.push(request.signal);
			return script[call] ?? { text: "the end" };
		}),
		tools: manyTools(trace, signals),
		ports: stillPorts(),
		strategy: {
			onStepStart: () => void trace.push({ what: "step" }),
			onComplete: () => void trace.push({ what: "complete" }),
		},
	};
}

/** Drives a script with a watcher; `look` may stop the run. */
export async function driven(
	script: readonly ScriptedReply[],
	look: (run: Run, events: readonly RunEvent[], trace: Trace) => void = () => {},
	execution: DecidingStrategy = loop(),
): Promise<{
	run: Run;
	outcome: DriveOutcome;
	events: readonly RunEvent[];
	trace: Trace;
	signals: readonly AbortSignal[];
}> {
	const trace: Trace = [];
	const signals: AbortSignal[] = [];
	const events: RunEvent[] = [];
	const run = begunRun(scriptedOptions(script, trace, signals, execution));
	run.watch({
		notify(event) {
			events.push(event);
			look(run, events, trace);
		},
	});
	const outcome = await drive(run);
	return { run, outcome, events, trace, signals };
}

/** Waits until everything that depends only on promises has settled, even though runs yield to the event loop. */
export async function atRest(): Promise<void> {
	for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
}

/** Returns the faults of a history: each call must have exactly one result, in call order, directly after the calls. */
export function faultsOfHistory(messages: readonly Message[]): string[] {
	const faults: string[] = [];
	for (const [at, message] of messages.entries()) {
		const results = messages[at + 1];
		if (message instanceof AssistantMessage && message.hasToolCalls) {
			const asked = (message.toolCalls ?? []).map((call) => call.toolCallId);
			const given =
				results instanceof ToolResultMessage ? results.results.map((each) => each.toolCallId) : [];
			if (new Set(asked).size !== asked.length || asked.includes("")) faults.push(`ids ${asked}`);
			if (asked.join() !== given.join()) faults.push(`asked ${asked}, given ${given}`);
		}
		if (message instanceof ToolResultMessage) {
			const before = messages[at - 1];
			if (!(before instanceof AssistantMessage && before.hasToolCalls))
				faults.push(`results without calls at ${at}`);
		}
	}
	return faults;
}

/** Returns the faults in the events of one run. */
export function faultsOfEvents(events: readonly RunEvent[], ended: "completed" | "cut"): string[] {
	const faults: string[] = [];
	let last = { seq: 0, sub: 0 };
	let openStep: number | undefined;
	const running = new Set<string>();
	for (const event of events) {
		const { seq, sub } = event;
		if (seq < last.seq || (seq === last.seq && sub <= last.sub))
			faults.push(`${event.type} at ${seq}.${sub}`);
		last = { seq, sub };
		switch (event.type) {
			case "step_start":
				if (openStep !== undefined) faults.push(`step ${event.step} starts in step ${openStep}`);
				openStep = event.step;
				break;
			case "step_end":
				if (openStep !== event.step) faults.push(`step ${event.step} ends in step ${openStep}`);
				if (running.size > 0) faults.push(`step ${event.step} ends while ${[...running]} run`);
				openStep = undefined;
				break;
			case "tool_start":
				if (running.has(event.call.toolCallId)) faults.push(`${event.call.toolCallId} starts twice`);
				running.add(event.call.toolCallId);
				break;
			case "tool_end":
				running.delete(event.call.toolCallId);
				break;
			case "tool_delta":
				if (!running.has(event.toolCallId)) faults.push(`a delta of ${event.toolCallId}, which does not run`);
				break;
			case "model":
			case "model_start":
			case "message":
				if (openStep !== event.step) faults.push(`${event.type} of step ${event.step} in step ${openStep}`);
				break;
			case "run_end":
				if (event !== events.at(-1)) faults.push("something after run_end");
		}
	}
	if (running.size > 0) faults.push(`${[...running]} never end`);
	if (events.at(-1)?.type !== "run_end") faults.push("no run_end");
	if (ended === "completed" && openStep !== undefined) faults.push(`step ${openStep} never ends`);
	return faults;
}
