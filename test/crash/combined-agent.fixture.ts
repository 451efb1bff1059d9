// An agent that combines what agents can do: scripts, workflows with children, approvals, sub-agents in the background,
// large results and summaries. What it does depends only on what it is asked, so that it ends the same way wherever it dies.
import { appendFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { largeResults } from "@holdfast/context";
import { createSandbox } from "@holdfast/sandbox";
import { codeMode } from "@holdfast/sandbox/code-mode";
import { type ScriptedReply, scriptedModel } from "@holdfast/testing";
import { AssistantMessage, type JSONSchema, type LLMRequest, UserMessage } from "@holdfast/upp";
import { Agent, type Host, tool } from "holdfast";
import { compaction } from "holdfast/plugins";
import { workflow } from "holdfast/workflow";

/** What was done outside, in one line of the file. */
export interface CombinedEffect {
	readonly name: "post" | "pay" | "step" | "undo";
	readonly subject: string;
	readonly key: string;
}

const parameters: JSONSchema = {
	type: "object",
	properties: { subject: { type: "string" } },
	required: ["subject"],
};

interface Subject {
	readonly subject: string;
}

/** The script of a turn: calls at the same time, one that may not be repeated, and one that asks. */
const script = (turn: string): string => `
const posted = await Promise.all([1, 2, 3].map((at) => tools.post({ subject: "${turn} script " + at })));
const first = await Promise.race([tools.post({ subject: "${turn} race 1" }), tools.post({ subject: "${turn} race 2" })]);
const paid = await tools.pay({ subject: "${turn} script" }).catch(() => "unknown");
const log = await tools.look({ subject: "${turn} log" });
const asked = await tools.ask({ subject: "${turn} script asks" });
return { posted, first: first.startsWith("receipt of ${turn} race"), paid: paid !== "", log: log.length, asked };`;

/** Makes the agent. Effects are written to the file; each tool takes a moment, in which it can be killed. */
export function combinedAgent(
	host: Host,
	file: string,
	moment: () => void = () => {},
): { agent: Agent; close(): Promise<void> } {
	const note = (effect: CombinedEffect): void => {
		moment();
		appendFileSync(file, `${JSON.stringify(effect)}\n`);
		moment();
	};
	const sandbox = createSandbox({ workers: 1 });
	const post = tool<Subject>({
		name: "post",
		description: "Posts something to a receiver that deduplicates.",
		retryPolicy: "idempotent",
		parameters,
		async run({ subject }, { idempotencyKey: key = "" }) {
			await pause(10);
			note({ name: "post", subject, key });
			await pause(10);
			return `receipt of ${subject}`;
		},
	});
	const pay = tool<Subject>({
		name: "pay",
		description: "Pays, and must not pay twice.",
		parameters,
		async run({ subject }, { idempotencyKey: key = "" }) {
			note({ name: "pay", subject, key });
			await pause(10);
			return `paid ${subject}`;
		},
	});
	const look = tool<Subject>({
		name: "look",
		description: "Returns a long text.",
		retryPolicy: "pure",
		parameters,
		run: ({ subject }) => `${subject} `.repeat(2_000),
	});
	const ask = tool<Subject>({
		name: "ask",
		description: "Needs an approval.",
		retryPolicy: "idempotent",
		needsApproval: true,
		parameters,
		async run({ subject }, { idempotencyKey: key = "" }) {
			note({ name: "post", subject, key });
			return `did ${subject}`;
		},
	});
	const step =
		(subject: string, name: CombinedEffect["name"] = "step") =>
		({ idempotencyKey }: { idempotencyKey: string }): Promise<string> =>
			pause(10).then(() => {
				note({ name, subject, key: idempotencyKey });
				return subject;
			});
	const check = workflow({ name: "check", host }, async (flow, { subject }: Subject) => {
		await flow.sleep(20);
		const checked = await flow.step("check", step(`${subject} check`), { retryPolicy: "idempotent" });
		return { checked, approved: await flow.approve("check", { subject }) };
	});
	const order = workflow(
		{ name: "order", host, workflows: [check], tools: [post] },
		async (flow, { subject }: Subject) => {
			const first = await flow.step("reserve", step(`${subject} reserve`), {
				retryPolicy: "idempotent",
				undo: (_, context) => step(`${subject} release`, "undo")(context),
			});
			const both = await Promise.all([
				flow.step("left", step(`${subject} left`), { retryPolicy: "idempotent" }),
				flow.tool(post, { subject: `${subject} right` }),
				flow.child(check, { subject: `${subject} child` }),
			]);
			const won = await Promise.race([flow.sleep(5).then(() => "sleep"), flow.event("never")]);
			const answer = await flow.ask<string>(`Which one for ${subject}?`);
			return { first, both, won, answer };
		},
	);
	const helper = new Agent({
		name: "helper",
		description: "Helps.",
		model: scriptedModel(({ messages }) => {
			const text = String(messages[0]?.text);
			if (messages.length === 1)
				return { toolCalls: [{ name: "post", arguments: { subject: `${text} helper` } }] };
			return `helped with ${text}`;
		}),
		tools: [post],
		maxRestarts: Number.POSITIVE_INFINITY,
	});
	const agent = new Agent({
		name: "clerk",
		host,
		model: scriptedModel(reply),
		tools: [codeMode({ tools: [post, pay, look, ask], sandbox }), post, look, ask],
		subagents: [order.agent, helper],
		plugins: [
			largeResults({ limit: 4_000 }),
			compaction({ maxTokens: 3_000, keepRecent: 6, summarise: async () => "Earlier, orders were handled." }),
		],
		maxRestarts: Number.POSITIVE_INFINITY,
	});
	return {
		agent,
		async close() {
			await agent.close();
			await sandbox.close();
		},
	};
}

/** Answers a task from the messages since; what comes between, such as a reminder, changes nothing. */
function reply({ messages }: LLMRequest): ScriptedReply | string {
	const at = messages.findLastIndex((message) => message instanceof UserMessage && /^T/.test(message.text));
	if (at < 0) return "noted";
	const turn = String(messages[at]?.text);
	const answers = messages.slice(at).filter((message) => message instanceof AssistantMessage).length;
	const call = (name: string, args: Readonly<Record<string, unknown>>) => ({
		name,
		arguments: args,
		id: `${turn} ${name} ${answers}`.replaceAll(" ", "_"),
	});
	const subject = (what: string) => ({ subject: `${turn} ${what}` });
	const steps: readonly (ScriptedReply | string)[] = [
		{
			toolCalls: [
				call("run_code", { code: script(turn) }),
				call("delegate_to_order", { prompt: JSON.stringify(subject("order")) }),
			],
		},
		{
			toolCalls: [
				call("look", subject("long")),
				call("post", subject("plain")),
				call("delegate_to_helper", { prompt: turn, run_in_background: true }),
			],
		},
		{ toolCalls: [call("ask", subject("asks"))] },
		`${turn} is done`,
	];
	return steps[answers] ?? "noted";
}
