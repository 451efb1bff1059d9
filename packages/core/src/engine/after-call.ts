// Converts a tool's outcome to its recorded form. Hooks after the call see it and may replace the result.
import type { Tool } from "@holdfast/upp";
import { type EngineTool, plainOutcome, type ToolOutcome } from "../tools/index.ts";
import { type CameOut, cameOut, outcomeOf } from "./admit-result.ts";
import { withinCall } from "./call-scope.ts";
import type { Run } from "./run.ts";

/** Calls the hooks of the tool strategy. Rejects with their errors. */
export async function afterCall(
	{ agent: { toolStrategy: strategy }, processKey }: Run,
	tool: EngineTool,
	input: unknown,
	outcome: ToolOutcome,
): Promise<CameOut> {
	const source = tool.source as Tool;
	const ask = <T>(hook: () => T): T => withinCall(processKey, hook);
	const came = cameOut(outcome);
	if (outcome.isError) {
		const error = outcome.error instanceof Error ? outcome.error : new Error(String(outcome.output));
		await ask(() => strategy.onError?.(source, input, error));
		return came;
	}
	const replaced = await ask(() => strategy.onAfterCall?.(source, input, outcome.output));
	if (replaced === undefined) return came;
	const plain = plainOutcome(replaced);
	return { outcome: outcomeOf(plain), result: plain.output, attached: { details: outcome.details } };
}
