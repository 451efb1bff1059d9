// Converts a tool's return value or error to its recorded form.
import { messageOf } from "@holdfast/upp";
import { plainOf, type ResultError, type RunnerTool, type ToolMeta, textOf } from "../contract/index.ts";

/** The outcome of one attempt. */
export type Attempt =
	| { readonly ok: true; readonly output: unknown; readonly meta?: ToolMeta }
	| {
			readonly ok: false;
			readonly error: ResultError;
			readonly output?: unknown;
			readonly meta?: ToolMeta;
			readonly retriable: boolean;
			/** Whether the run ends with it. */
			readonly fatal: boolean;
	  };

/** Reads a tool's return value: `{ok, output, meta}`, or any plain value. */
export function readOutput(returned: unknown): Attempt {
	const plain = plainOf(returned);
	if (!plain.ok)
		return refused("TOOL_OUTPUT_INVALID", `The tool returned a value that is not plain data: ${plain.why}.`);
	const { value } = plain;
	if (!isOutput(value)) return { ok: true, output: value };
	const { ok, output, meta } = value;
	if (ok) return { ok: true, output, ...(meta === undefined ? {} : { meta }) };
	const error: ResultError = { code: meta?.code ?? "TOOL_FAILED", message: reasonOf(output, meta) };
	const about = { ...(output === undefined ? {} : { output }), ...(meta === undefined ? {} : { meta }) };
	return { ok: false, error, ...about, retriable: meta?.retriable === true, fatal: false };
}

/** Reads an error that a tool threw: it is retried only if the error or the tool allows it. */
export function readError(tool: RunnerTool, thrown: unknown): Attempt {
	const message = messageOf(thrown);
	const { code, retriable } = (thrown ?? {}) as { code?: unknown; retriable?: unknown };
	let classified: unknown;
	try {
		classified = tool.classify?.(thrown);
	} catch {}
	if (retriable !== true && classified !== "retriable")
		return { ok: false, error: { code: "TOOL_FATAL", message }, retriable: false, fatal: true };
	const error: ResultError = { code: typeof code === "string" ? code : "TOOL_FAILED", message };
	return { ok: false, error, retriable: true, fatal: false };
}

/** Returns a failure that the tool did not cause. */
export function refused(code: string, message: string, info?: unknown): Attempt {
	const error: ResultError = { code, message, ...(info === undefined ? {} : { info }) };
	return { ok: false, error, retriable: false, fatal: false };
}

function isOutput(value: unknown): value is { ok: boolean; output?: unknown; meta?: ToolMeta } {
	if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
	const { ok, meta, ...rest } = value as Record<string, unknown>;
	if (typeof ok !== "boolean") return false;
	if (meta !== undefined && (typeof meta !== "object" || meta === null)) return false;
	return Object.keys(rest).every((name) => name === "output");
}

function reasonOf(output: unknown, meta: ToolMeta | undefined): string {
	const said = meta?.message;
	if (typeof said === "string" && said !== "") return said;
	const text = textOf(output);
	return text === "" ? "The tool reported a failure." : text;
}
