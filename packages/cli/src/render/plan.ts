/** The plan of an agent, as its tool `update_plan` last wrote it. */

/** A step of a plan. */
export interface PlanStep {
	readonly text: string;
	readonly status: "pending" | "in_progress" | "done";
}

const marks: Readonly<Record<PlanStep["status"], string>> = { pending: "☐", in_progress: "▸", done: "✓" };
/** Maximum number of steps shown. */
const MOST_STEPS = 50;

/** Reads the plan from the input of a call; undefined if it is not a call to `update_plan`. */
export function planOf(toolName: string, input: unknown): readonly PlanStep[] | undefined {
	const { steps } = (input ?? {}) as { readonly steps?: unknown };
	if (toolName !== "update_plan" || !Array.isArray(steps)) return undefined;
	return steps
		.slice(0, MOST_STEPS)
		.flatMap((step: { readonly text?: unknown; readonly status?: unknown } | null) => {
			const { text, status } = step ?? {};
			if (typeof text !== "string") return [];
			return [{ text, status: status === "done" || status === "in_progress" ? status : "pending" }];
		});
}

/** Formats the steps around the current one, and how many are done. */
export function planLines(plan: readonly PlanStep[], rows: number): readonly string[] {
	if (plan.length === 0) return [];
	const done = plan.filter(({ status }) => status === "done").length;
	const current = plan.findIndex(({ status }) => status !== "done");
	const from = Math.max(0, Math.min(current - 1, plan.length - rows));
	const steps = plan.slice(from, from + rows).map(({ text, status }) => `${marks[status]} ${text}`);
	return [`Plan: ${done} of ${plan.length} done`, ...steps];
}
