// Compares the actions of a run with the expectations of a test.
import { HoldfastError } from "@holdfast/upp";
import type { ActionResult, AgentResult } from "../contract/index.ts";

/** An expected action: the given members must be equal. */
export type ExpectedAction = Partial<Pick<ActionResult, "type" | "toolId" | "input" | "output" | "ok">>;

/**
 * Passes if the run did exactly these actions, in this order.
 * @throws HoldfastError `ACTIONS_DIFFER`, naming the first index that differs, with the expected and the actual action.
 */
export function expectActions(
	result: Pick<AgentResult, "actions">,
	expected: readonly ExpectedAction[],
): void {
	const actions = result.actions ?? [];
	for (let index = 0; index < Math.max(actions.length, expected.length); index++) {
		const [wanted, actual] = [expected[index], actions[index]];
		if (wanted !== undefined && actual !== undefined && matches(wanted, actual)) continue;
		const shown = actual === undefined ? undefined : wanted === undefined ? actual : picked(wanted, actual);
		const message = `Action ${index} differs: expected ${textOf(wanted)}, got ${textOf(shown)}.`;
		throw new HoldfastError("ACTIONS_DIFFER", message, { data: { index, expected: wanted, actual } });
	}
}

function matches(wanted: ExpectedAction, actual: ActionResult): boolean {
	return Object.entries(wanted).every(
		([name, value]) => sorted(value) === sorted(actual[name as keyof ActionResult]),
	);
}

function picked(wanted: ExpectedAction, actual: ActionResult): ExpectedAction {
	const names = new Set([...Object.keys(wanted), "type", "toolId"]);
	return Object.fromEntries(Object.entries(actual).filter(([name]) => names.has(name)));
}

function textOf(value: unknown): string {
	return value === undefined ? "nothing" : sorted(value);
}

/** Returns plain data as text with sorted keys. */
export function sorted(value: unknown, indent?: number): string {
	const order = (_: string, member: unknown): unknown =>
		typeof member === "object" && member !== null && !Array.isArray(member)
			? Object.fromEntries(Object.entries(member).toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)))
			: member;
	return JSON.stringify(value, order, indent) ?? "undefined";
}
