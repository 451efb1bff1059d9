// The options of every kind of tool, parsed once into the engine's form.

import { durationFault, HoldfastError, nearest } from "@holdfast/upp";
import { plainJson } from "./plain-json.ts";
import type { AnyTool, EngineTool, Reconciliation, RetryPolicy, UnknownCall } from "./types.ts";

const RETRY_POLICIES: readonly RetryPolicy[] = ["pure", "idempotent", "manual-recovery"];

/** Protective options: if misspelt, they would be silently inactive. */
const protecting = [
	"needsApproval",
	"approval",
	"timeoutMs",
	"retryPolicy",
	"maxModelCharacters",
	"editableApproval",
	"sequential",
	"dependsOn",
	"loadedBy",
	"reconcile",
] as const;

/** Their names in other libraries. */
const calledOtherwise: Readonly<Record<string, (typeof protecting)[number]>> = {
	requireApproval: "needsApproval",
	requiresApproval: "needsApproval",
	requireConfirmation: "needsApproval",
	needsConfirmation: "needsApproval",
	needApproval: "needsApproval",
	timeout: "timeoutMs",
};

/** The resolved options of a tool. */
export type ResolvedToolOptions = Pick<
	EngineTool,
	| "sequential"
	| "dependsOn"
	| "loadedBy"
	| "retryPolicy"
	| "maxModelCharacters"
	| "editableApproval"
	| "timeoutMs"
	| "readOn"
	| "reconcile"
>;

/**
 * Parses a tool's options.
 *
 * @throws HoldfastError `invalid_tool` for invalid values.
 */
export function resolveToolOptions(source: AnyTool, name: string): ResolvedToolOptions {
	refuseMisspelt(source, name);
	const {
		sequential = false,
		dependsOn = [],
		retryPolicy = "manual-recovery",
		maxModelCharacters,
		timeoutMs,
		editableApproval = false,
		loadedBy,
	} = source;
	if (!Array.isArray(dependsOn) || !dependsOn.every((other) => typeof other === "string")) {
		throw invalidTool(`The tool "${name}" has a \`dependsOn\` that is not a list of tool names.`);
	}
	if (loadedBy !== undefined && (typeof loadedBy !== "string" || loadedBy === ""))
		throw invalidTool(`The tool "${name}" has a \`loadedBy\` that is not the name of a tool.`);
	if (!RETRY_POLICIES.includes(retryPolicy)) {
		const meant = nearest(String(retryPolicy), RETRY_POLICIES);
		throw invalidTool(
			`The tool "${name}" has the unknown \`retryPolicy\` ${JSON.stringify(retryPolicy)}` +
				`${meant === undefined ? "" : `; did you mean "${meant}"?`}. Use ${RETRY_POLICIES.join(", ")}.`,
		);
	}
	if (
		maxModelCharacters !== undefined &&
		!(typeof maxModelCharacters === "number" && maxModelCharacters > 0)
	) {
		throw invalidTool(`The tool "${name}" has a \`maxModelCharacters\` that is not a number above 0.`);
	}
	const timeoutFault = durationFault(timeoutMs ?? 1, { most: Number.POSITIVE_INFINITY });
	if (timeoutFault !== undefined) {
		throw invalidTool(`The \`timeoutMs\` of the tool "${name}" must be ${timeoutFault}.`);
	}
	if (typeof editableApproval !== "boolean")
		throw invalidTool(`The tool "${name}" has an \`editableApproval\` that is not a boolean.`);
	const { needsApproval = false, approval } = source;
	if (editableApproval && needsApproval === false && approval === undefined)
		throw invalidTool(
			`The tool "${name}" has \`editableApproval\` but requires no approval. Set \`needsApproval\`, or remove it.`,
		);
	if (typeof sequential !== "boolean")
		throw invalidTool(`The tool "${name}" has a \`sequential\` that is not a boolean.`);
	return {
		sequential,
		dependsOn: [...dependsOn],
		retryPolicy,
		maxModelCharacters,
		editableApproval,
		...(timeoutMs === undefined ? {} : { timeoutMs }),
		...(loadedBy === undefined ? {} : { loadedBy }),
		...(typeof source.readOn === "function" ? { readOn: (result) => source.readOn?.(result) } : {}),
		...(typeof source.reconcile === "function"
			? { reconcile: (call) => reconciled(source, name, call) }
			: {}),
	};
}

function refuseMisspelt(source: AnyTool, name: string): void {
	for (const given of Object.keys(source)) {
		if ((protecting as readonly string[]).includes(given)) continue;
		const meant = Object.hasOwn(calledOtherwise, given)
			? calledOtherwise[given]
			: given.length < 6
				? undefined
				: nearest(given, protecting, 2);
		if (meant === undefined || Object.hasOwn(source, meant)) continue;
		throw invalidTool(`The tool "${name}" has the unknown option \`${given}\`. Did you mean \`${meant}\`?`);
	}
}

/** Creates an error about an invalid tool. */
export function invalidTool(message: string): HoldfastError {
	return new HoldfastError("invalid_tool", message);
}

// A result found by `reconcile` is recorded like any other, so it must be valid.
async function reconciled(source: AnyTool, name: string, call: UnknownCall): Promise<Reconciliation> {
	const found: unknown = await source.reconcile?.({ ...call });
	if (found === undefined || found === null) return undefined;
	if (typeof found === "object" && "result" in found) return { result: plainJson(found.result) };
	if (typeof found === "object" && "error" in found) return { error: found.error };
	if (typeof found === "object" && "retry" in found && found.retry === true) return { retry: true };
	throw new HoldfastError(
		"invalid_reconciliation",
		`\`reconcile\` of the tool "${name}" returned something other than undefined, { result }, { error } or ` +
			"{ retry: true }, so the outcome of the call stays unknown. Return one of these.",
		{ data: { name } },
	);
}
