// Tools of every retry policy whose effects are counted outside the process that runs them.
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { request } from "node:http";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import type { JSONSchema } from "@holdfast/upp";
import { type AnyTool, type ToolContext, tool } from "holdfast";
import type { Moments, Order } from "./moments.fixture.ts";

export interface PlannedToolsOptions {
	/** Where the receiver listens that counts keys and answers a repeated one with the receipt of the first. */
	readonly receiver: string;
	/** A file to which each effect of a manual-recovery tool adds a line. */
	readonly effects: string;
	readonly moments: Moments;
	readonly order: Order;
}

interface Subject {
	readonly subject: string;
}

const parameters: JSONSchema = {
	type: "object",
	properties: { subject: { type: "string" } },
	required: ["subject"],
};

/** The tools by what they do: `lookup` (pure), `post` (idempotent), `record` and the like (manual-recovery). */
export function plannedTools({ receiver, effects, moments, order }: PlannedToolsOptions): readonly AnyTool[] {
	const { reach } = moments;

	/** Reports the moments around an effect; calls of one round end in order. */
	async function around(context: ToolContext, { subject }: Subject, effect: () => unknown): Promise<unknown> {
		const { toolName: name, attempt, idempotencyKey, retryPolicy, toolCallId } = context;
		reach(`${name} ${subject} entered`, { attempt, idempotencyKey, retryPolicy, toolCallId });
		const result = await effect();
		reach(`${name} ${subject} effected`);
		await order.turnOf(toolCallId);
		return result;
	}

	function record(context: ToolContext, subject: string): string {
		appendFileSync(effects, `${context.idempotencyKey} ${subject}\n`);
		return `recorded ${subject}`;
	}

	const manual = (name: string, reconcile?: AnyTool["reconcile"]): AnyTool =>
		tool<Subject>({
			name,
			description: "Writes a line that must not be written twice.",
			parameters,
			...(reconcile === undefined ? {} : { reconcile }),
			run: (input, context) => around(context, input, () => record(context, input.subject)),
		});

	return [
		tool<Subject>({
			name: "lookup",
			description: "Looks something up.",
			retryPolicy: "pure",
			parameters,
			run: (input, context) => around(context, input, () => `fact of ${input.subject}`),
		}),
		tool<Subject>({
			name: "post",
			description: "Posts something to a receiver that deduplicates.",
			retryPolicy: "idempotent",
			parameters,
			run: (input, context) => around(context, input, () => post(receiver, context.idempotencyKey)),
		}),
		manual("record"),
		// Each finds out in its own way what became of a call.
		manual("record-checked", ({ idempotencyKey }) => {
			reach("reconcile asked", { idempotencyKey });
			const done = existsSync(effects) && readFileSync(effects, "utf8").includes(`${idempotencyKey} `);
			return done ? { result: "recorded, as was found out" } : { retry: true };
		}),
		manual("record-failed", () => ({ error: new Error("the line was refused") })),
		manual("record-unclear", () => undefined),
		manual("record-unreachable", () => {
			throw new Error("nobody answers");
		}),
		tool<Subject>({
			name: "wait",
			description: "Waits for a line on standard input.",
			retryPolicy: "pure",
			parameters,
			run: async (input, context) => {
				context.signal.addEventListener("abort", () => reach(`wait ${input.subject} aborted`));
				reach(`wait ${input.subject} entered`, { attempt: context.attempt });
				if (context.attempt === 1) await nextLine();
				return `fact of ${input.subject}`;
			},
		}),
		tool<Subject>({
			name: "spin",
			description: "Keeps the main thread busy until a file of that name is there.",
			retryPolicy: "pure",
			parameters,
			run: ({ subject }) => {
				reach(`spin ${subject} entered`);
				while (!existsSync(join(dirname(effects), subject)));
				return `fact of ${subject}`;
			},
		}),
		tool<Subject>({
			name: "produce",
			description: "Gives a result of so many characters.",
			retryPolicy: "pure",
			parameters,
			run: ({ subject }) => "x".repeat(Number(subject)),
		}),
	];
}

/** The next line on standard input. */
export function nextLine(): Promise<string> {
	const lines = createInterface({ input: process.stdin });
	return new Promise((resolve) => {
		lines.once("line", (line) => {
			lines.close();
			resolve(line);
		});
	});
}

function post(url: string, key: string): Promise<string> {
	return new Promise((resolve, reject) => {
		const sent = request(
			url,
			{ method: "POST", headers: { "idempotency-key": key }, agent: false },
			(response) => {
				let body = "";
				response.setEncoding("utf8");
				response.on("data", (piece: string) => {
					body += piece;
				});
				response.on("end", () => resolve(body));
			},
		);
		sent.on("error", reject);
		sent.end();
	});
}
