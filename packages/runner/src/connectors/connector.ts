// Shared by the connectors: input is checked first, and every failure becomes an answer with a code.
import { type DurationRange, durationFault, HoldfastError, isHoldfastError } from "@holdfast/upp";
import { compileSchema, formatIssues } from "holdfast/execution";
import type { RunnerTool, RunnerToolContext, ToolOutput } from "../contract/index.ts";

/** A tool that accesses resources outside of the agent. */
export interface Connector extends RunnerTool {
	/** Explains the tool to planners. */
	readonly description: string;
	/** Whether it runs without being in `enableTools`. */
	readonly safeByDefault: boolean;
	/** Always resolves; on failure with `ok: false` and a code in `meta.code`. */
	run(input: unknown, context: RunnerToolContext): Promise<ToolOutput>;
}

interface ConnectorParts extends Omit<Connector, "run"> {
	readonly schema: Readonly<Record<string, unknown>>;
	/** Runs with input that matches the schema. Errors with a code become failed answers. */
	carryOut(input: never, context: RunnerToolContext): ToolOutput | Promise<ToolOutput>;
}

export function connector({ carryOut, ...parts }: ConnectorParts): Connector {
	const validate = compileSchema(parts.schema);
	return {
		...parts,
		async run(input, context) {
			try {
				const issues = validate(input ?? {});
				if (issues.length > 0) {
					const message = `The input of the tool ${JSON.stringify(parts.id)} is invalid: ${formatIssues(issues)}`;
					return failed("TOOL_INPUT_INVALID", message, { paths: issues.map(({ path }) => path) });
				}
				return await carryOut(input as never, context);
			} catch (error) {
				if (context.signal.aborted) return failed("ABORTED", "The call was aborted.");
				if (isHoldfastError(error)) return failed(error.code, error.message);
				throw error;
			}
		},
	};
}

/** Returns a failed answer; `output` may contain partial output. */
export function failed(
	code: string,
	message: string,
	{ output, ...meta }: { readonly output?: unknown; readonly [name: string]: unknown } = {},
): ToolOutput {
	return { ok: false, ...(output === undefined ? {} : { output }), meta: { code, message, ...meta } };
}

/** Returns the error for input that the schema cannot validate. */
export function inputInvalid(message: string): HoldfastError {
	return new HoldfastError("TOOL_INPUT_INVALID", message);
}

/** Reads a limit from a connector's options. @throws HoldfastError `CONFIG_INVALID`. */
export function limit(name: string, given: number | undefined, otherwise: number): number {
	if (given === undefined) return otherwise;
	if (Number.isSafeInteger(given) && given >= 1) return given;
	throw configInvalid(`\`${name}\` is not an integer of at least 1`);
}

/** Reads a duration from a connector's options, in milliseconds. @throws HoldfastError `CONFIG_INVALID`. */
export function duration(
	name: string,
	given: number | undefined,
	otherwise: number,
	range?: DurationRange,
): number {
	const fault = given === undefined ? undefined : durationFault(given, range);
	if (fault !== undefined) throw configInvalid(`\`${name}\` must be ${fault}`);
	return given ?? otherwise;
}

export function configInvalid(why: string): HoldfastError {
	return new HoldfastError("CONFIG_INVALID", `The connector cannot be created: ${why}.`);
}
