// The agent of the chaos: it looks up, posts and pays, and says what came of it. What it does depends on what it is asked alone.
import { appendFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { type AgentOptions, tool } from "holdfast";
import type { CasePlan } from "./case-model.fixture.ts";
import { caseModel } from "./case-model.fixture.ts";

/** What was done outside, in one line of the file. */
export interface Effect {
	readonly tool: "post" | "pay";
	readonly subject: string;
	readonly toolCallId: string;
	readonly idempotencyKey: string;
}

const parameters = { type: "object", properties: { subject: { type: "string" } } } as const;
interface Subject {
	readonly subject: string;
}

/** Effects and what the model was asked are written to files. A tool takes a moment, in which it can be killed. */
export function chaosAgent(files: { readonly effects: string; readonly requests: string }): AgentOptions & {
	readonly tools: NonNullable<AgentOptions["tools"]>;
} {
	const note = (effect: Effect): void => appendFileSync(files.effects, `${JSON.stringify(effect)}\n`);
	const moment = (): Promise<void> => pause(15);
	const tools = [
		tool<Subject>({
			name: "look",
			description: "Looks something up.",
			retryPolicy: "pure",
			parameters,
			async run({ subject }) {
				await moment();
				return `fact of ${subject}`;
			},
		}),
		tool<Subject>({
			name: "post",
			description: "Posts something to a receiver that deduplicates.",
			retryPolicy: "idempotent",
			parameters,
			async run({ subject }, { idempotencyKey = "", toolCallId = "" }) {
				await moment();
				note({ tool: "post", subject, toolCallId, idempotencyKey });
				return `receipt of ${subject}`;
			},
		}),
		tool<Subject>({
			name: "pay",
			description: "Pays, and must not pay twice.",
			parameters,
			async run({ subject }, { idempotencyKey = "", toolCallId = "" }) {
				note({ tool: "pay", subject, toolCallId, idempotencyKey });
				await moment();
				return `paid ${subject}`;
			},
		}),
	];
	return {
		model: caseModel(files.requests, async () => {}),
		tools,
		maxRestarts: Number.POSITIVE_INFINITY,
		instructions: "You are in the midst of it.",
	};
}

/** What is asked of a session, for the so-manieth time. In every other session something is paid. */
export function chaosPlan(session: string, number: number): CasePlan {
	const pays = Number(session.split(".")[1]) % 2 === 0;
	const call = (name: string): CasePlan["calls"][number] => ({
		tool: name,
		input: { subject: `${name}${number}` },
	});
	return {
		task: `${session} ask${number}`,
		calls: [call("look"), call("post"), ...(pays ? [call("pay")] : [])],
	};
}
