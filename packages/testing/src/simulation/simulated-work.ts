// Models and tools of the simulation: the conversation determines their behaviour, the schedule their timing and
// failures. The same question leads to the same calls, even after a crash.
import { type LLMRequest, UPPError } from "@holdfast/upp";
import type { AnyTool, RetryPolicy, ToolContext } from "holdfast";
import { type ScriptedModel, type ScriptedReply, scriptedModel } from "../model/index.ts";
import type { Effects } from "./effects.ts";
import { callsWithoutResult, type Ledger, textOf } from "./ledger.ts";
import { seededRandom } from "./random.ts";
import type { Owner, Schedule } from "./schedule.ts";

/** How a call fails. `is busy`: its provider asks for a later retry. */
export type Trouble = "fails" | "hangs" | "is busy";

/** The parts that a process needs. */
export interface WorkOptions {
	readonly schedule: Schedule;
	readonly owner: Owner;
	readonly ledger: Ledger;
	readonly effects: Effects;
	/** Whether this model call or tool fails. */
	readonly trouble: (of: "model" | "tool") => Trouble | undefined;
	/** A planted fault: called when a tool has its result or has failed. */
	readonly afterTool: ((context: ToolContext) => void) | undefined;
}

const overlayMark = "overlay";

/** The model of a process. */
export function simulatedModel(
	{ schedule, owner, ledger, trouble }: WorkOptions,
	calls: readonly string[],
): ScriptedModel {
	return scriptedModel((request) => {
		const open = callsWithoutResult(request.messages);
		if (open.length > 0) ledger.wrong(`a model was shown a call without a result: ${open.join(", ")}`);
		const now = situation(request);
		const { said, round } = now;
		const how = trouble("model");
		return new Promise<ScriptedReply>((resolve) => {
			if (how === "hangs") return;
			const label = `${owner.name}: the model ${how ?? "answers"} ${said}, round ${round}`;
			const reply = (): ScriptedReply => {
				if (how === "fails") return { text: "It is", error: new Error("The simulated model failed.") };
				return how === "is busy" ? busy(schedule) : replyTo(now, calls);
			};
			schedule.add({ label, owner, run: () => resolve(reply()) });
		});
	});
}

/** Asks the caller to retry later, with or without a time, sometimes in the middle of an answer. */
function busy({ random }: Schedule): ScriptedReply {
	const error = new UPPError("The simulated provider is busy.", "RATE_LIMITED", "simulated", "llm", 429);
	if (random.chance(0.7)) error.retryAfterMs = random.pick([0, 50, 2_000, 20_000]);
	return random.chance(0.3) ? { text: "It is", error } : { error };
}

/** The inputs of a model's decision. */
interface Situation {
	/** The last message, and the number of answers since. */
	readonly said: string;
	readonly round: number;
	/** The known background tasks. */
	readonly tasks: readonly string[];
}

function situation({ messages }: LLMRequest): Situation {
	let said = "";
	let round = 0;
	const tasks = new Set<string>();
	for (const message of messages) {
		const { results = [] } = message as { readonly results?: readonly { readonly result: unknown }[] };
		for (const { result } of results) {
			const { task_id } = (result ?? {}) as { readonly task_id?: unknown };
			if (typeof task_id === "string") tasks.add(task_id);
		}
		if (message.type === "assistant") round++;
		if (message.type !== "user" || textOf(message).startsWith(overlayMark)) continue;
		said = shortened(textOf(message));
		round = 0;
	}
	return { said, round, tasks: [...tasks] };
}

/** Shortens a notification about tasks to the first of them. */
function shortened(text: string): string {
	const [taskId] = text.startsWith("<system-reminder>") ? (/bg_[^,]+/.exec(text) ?? []) : [];
	return taskId === undefined ? text : `notified of ${taskId}`;
}

/** Tools that a process runs itself. */
export const ownTools: readonly string[] = ["look", "book", "pay", "ship", "notify", "tidy"];
/** Tools that wait for an external answer or an approval. */
export const askingTools: readonly string[] = ["ask", "sign"];
/** Tools that run a sub-agent. */
export const delegating: readonly string[] = ["delegate_to_helper"];

/** Further tools for background work. */
export const inBackground: readonly string[] = ["background_output", "background_cancel"];

function replyTo({ said, round, tasks }: Situation, calls: readonly string[]): ScriptedReply {
	const random = seededRandom(`${said} ${round}`);
	const text = random.chance(0.2)
		? Array.from({ length: 40 }, (_, at) => `word${at}`).join(" ")
		: `re: ${said}`;
	if (round >= 3 || random.chance(0.45)) return { text };
	const isInBackground = calls.some((name) => inBackground.includes(name));
	// Background tasks of one turn form a group, which is reported to the session as one.
	const isGroup = isInBackground && random.chance(0.3);
	const toolCalls = Array.from({ length: (isGroup ? 2 : 1) + random.below(isGroup ? 2 : 3) }, (_, at) => {
		const subject = `${said}/${round}.${at}`;
		const name = isGroup && random.chance(0.8) ? random.pick(delegating) : random.pick(calls);
		const run_in_background = isInBackground && (isGroup || random.chance(0.6));
		const id = subject.replaceAll(" ", "-");
		if (!inBackground.includes(name))
			return {
				name,
				id,
				arguments: { subject, prompt: subject, ...(run_in_background ? { run_in_background } : {}) },
			};
		const task_id = tasks.length === 0 ? "bg_none" : random.pick(tasks);
		return { name, id, arguments: { task_id, block: random.chance(0.3), timeout_seconds: 5 } };
	});
	return random.chance(0.5) ? { text, toolCalls } : { toolCalls };
}

/** Creates the tools of a process: one for each way of writing and retrying a tool. */
export function simulatedTools({
	schedule,
	owner,
	ledger,
	effects,
	trouble,
	afterTool,
}: WorkOptions): readonly AnyTool[] {
	type Params = { readonly subject: string };

	/** Starts now, and settles when the schedule decides. */
	function carryOut(retryPolicy: RetryPolicy, { subject }: Params, context: ToolContext): Promise<string> {
		const { idempotencyKey, attempt, signal, sessionKey = "" } = context;
		schedule.note(`${owner.name}: ${context.toolName} begins ${subject}, attempt ${attempt}`);
		effects.begin({ subject, idempotencyKey, attempt, retryPolicy, sessionKey });
		if (context.toolName === "sign" && !ledger.approved.has(`${context.runId} ${context.toolCallId}`))
			ledger.wrong(`${subject} was signed without an approval on record`);
		const how = trouble("tool");
		return new Promise((resolve, reject) => {
			if (how !== "hangs") {
				const label = `${owner.name}: ${subject} ${how === "fails" ? "fails" : "is done"}`;
				const run = (): void => {
					afterTool?.(context);
					if (how === "fails") reject(new Error("The simulated tool failed."));
					else resolve(`${subject} done`);
				};
				schedule.add({ label, owner, run });
			}
			// Some tools respect their signal, others ignore it.
			if (schedule.random.chance(0.5))
				signal.addEventListener("abort", () => reject(signal.reason), { once: true });
		});
	}

	const parameters = { type: "object", properties: { subject: { type: "string" } }, required: ["subject"] };
	const made = (name: string, retryPolicy: RetryPolicy, rest: Partial<AnyTool> = {}): AnyTool => ({
		name,
		description: name,
		parameters,
		retryPolicy,
		run: (params: Params, context: ToolContext) => carryOut(retryPolicy, params, context),
		...rest,
	});
	return [
		made("look", "pure"),
		made("book", "idempotent"),
		made("pay", "manual-recovery"),
		made("ship", "manual-recovery", {
			reconcile: ({ idempotencyKey }) =>
				effects.came(idempotencyKey) ? { result: "it was sent" } : undefined,
		}),
		made("notify", "idempotent", {
			async *run(params: Params, context: ToolContext) {
				for (const piece of ["one ", "two "]) yield piece;
				yield await carryOut("idempotent", params, context);
			},
		}),
		made("tidy", "pure", { dependsOn: ["look"], sequential: true }),
		made("sign", "manual-recovery", { needsApproval: true }),
		{ name: "ask", description: "ask", parameters, timeoutMs: 20_000 },
	];
}
