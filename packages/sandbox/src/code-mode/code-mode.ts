// `codeMode()`: one tool that runs a script, in which the model calls all other tools. The script works in a session of its own
// below the calling agent (keeps I2, I3): each of its calls is recorded, approved and retried like any other.
import {
	checkOptions,
	HoldfastTypeError,
	type JSONSchema,
	type ModelTool,
	type OptionKind,
	optionNames,
} from "@holdfast/upp";
import { type AnyTool, agent, createSubAgentTool } from "holdfast";
import { concurrentStrategy } from "holdfast/execution";
import { modelTools } from "holdfast/host";
import type { SubAgentTool, ToolOptions } from "holdfast/types";
import { isOwnSandbox, ownSandbox } from "../sandbox.ts";
import type { Sandbox } from "../types.ts";
import { declarationOf, declarationsOf } from "./declarations.ts";
import { before, scriptFile } from "./script-result.ts";
import { scriptDecider } from "./script-strategy.ts";

/** Options of `codeMode()`. The options of tools apply to the script as a whole, such as `needsApproval`. */
export interface CodeModeOptions extends ToolOptions {
	/**
	 * The tools that scripts can call: a list, or a record by name. Their own options, such as `needsApproval` and
	 * `retryPolicy`, apply to each call.
	 */
	readonly tools: readonly AnyTool[] | Readonly<Record<string, AnyTool>>;
	/** The name of the tool. Default `run_code`. */
	readonly name?: string;
	/** The sandbox that runs the scripts; created by `createSandbox`. Default: a new one with default limits. */
	readonly sandbox?: Sandbox;
	/** How many tool calls one script may make. Default 1,000. */
	readonly maxCalls?: number;
	/** How many calls of a script run at once; further ones wait. Default 8. */
	readonly concurrency?: number;
	/**
	 * Characters of the returned value that the model reads, and of the console's output. The middle of a longer text is
	 * left out. Default 20,000.
	 */
	readonly maxOutput?: number;
	/**
	 * Characters of declarations in the tool's description. If there are more, the description contains the names, and
	 * scripts find declarations with `searchTools`. Default 20,000.
	 */
	readonly maxDeclarations?: number;
}

/** The kinds of the options. */
export const codeModeKinds: Readonly<Record<keyof CodeModeOptions, OptionKind>> = {
	tools: true,
	name: "text",
	sandbox: true,
	maxCalls: true,
	concurrency: true,
	maxOutput: true,
	maxDeclarations: true,
	sequential: "flag",
	dependsOn: "list",
	loadedBy: "text",
	retryPolicy: ["pure", "idempotent", "manual-recovery"],
	maxModelCharacters: "number",
	needsApproval: true,
	editableApproval: "flag",
	timeoutMs: "number",
	readOn: "function",
	reconcile: "function",
};
const codeModeNames = optionNames<CodeModeOptions>(codeModeKinds);

const parameters = {
	type: "object",
	properties: { code: { type: "string", description: "The body of an async function, in TypeScript." } },
	required: ["code"],
	additionalProperties: false,
} satisfies JSONSchema;

/** The argument that saves a script under a name. */
const save = {
	type: "string",
	description:
		"Keeps the script under this name if it succeeds. Later scripts call it as `await snippets.<name>(input)`.",
} satisfies JSONSchema;

/** The number of declarations that one search returns. */
const found = 10;

/**
 * Creates a tool that runs a script. Instead of one model call for each tool call, the model writes a script that calls the
 * tools, combines their results in loops and conditions, and returns only what matters. A script that waits for an
 * approval, or whose process died, continues with the recorded results.
 *
 * In a session, each call of a script is recorded before it starts. The caller's policy applies to these calls.
 * `generate()` and `stream()` run scripts in memory; a call that needs approval fails there.
 *
 * @throws HoldfastError `invalid_option` for an invalid option, `duplicate_tool`, `invalid_tool`.
 * @example
 * ```ts
 * import { agent, tool } from "holdfast";
 * import { codeMode } from "@holdfast/sandbox/code-mode";
 * import { scriptedModel } from "@holdfast/testing";
 *
 * const price = tool({
 * 	name: "price",
 * 	description: "Returns the price of an item in euros.",
 * 	parameters: { type: "object", properties: { item: { type: "string" } }, required: ["item"] },
 * 	run: ({ item }: { item: string }) => item.length,
 * });
 * const code = `const prices = await Promise.all(["tea", "bread"].map((item) => tools.price({ item })));
 * return prices[0] + prices[1];`;
 * const model = scriptedModel([{ toolCalls: [{ name: "run_code", arguments: { code } }] }, "Eight euros."]);
 * const shopper = agent({ model, tools: [codeMode({ tools: [price] })] });
 * const { turn } = await shopper.generate("What do tea and bread cost?");
 * console.log(turn.toolExecutions[0]?.result); // 8
 * ```
 */
export function codeMode(options: CodeModeOptions): SubAgentTool<{ readonly code: string }> {
	return codeModeTool(options, "forgotten");
}

/** Creates the tool. `scripts`: whether the model can keep scripts, which the caller then implements. */
export function codeModeTool(
	options: CodeModeOptions,
	scripts: "kept" | "forgotten",
): SubAgentTool<{ readonly code: string }> & { readonly name: string } {
	checkOptions(options, codeModeNames, { of: "codeMode()" });
	const {
		tools,
		name = "run_code",
		sandbox,
		maxCalls,
		concurrency,
		maxOutput,
		maxDeclarations,
		...toolOptions
	} = options;
	if (sandbox !== undefined && !isOwnSandbox(sandbox))
		throw new HoldfastTypeError(
			"invalid_option",
			"The option `sandbox` of codeMode() must be a sandbox created by createSandbox().",
		);
	const callable = modelTools(tools);
	if (callable.length === 0)
		throw new HoldfastTypeError(
			"invalid_option",
			"The option `tools` of codeMode() must contain at least one tool.",
		);
	const deferred = Object.values(tools).find((each: AnyTool) => each.loadedBy !== undefined);
	if (deferred !== undefined)
		throw new HoldfastTypeError(
			"invalid_option",
			"The tools of codeMode() cannot come from searchable(): scripts find declarations with searchTools(). Pass the tools themselves.",
		);
	const foreign = callable.find(({ provider }) => provider !== undefined);
	if (foreign !== undefined)
		throw new HoldfastTypeError(
			"invalid_option",
			`The tool "${foreign.name}" is run by the model's provider, so a script cannot call it. Give it to the agent instead.`,
		);
	const limits = {
		maxCalls: count("maxCalls", maxCalls, 1_000),
		concurrency: count("concurrency", concurrency, 8),
		maxOutput: count("maxOutput", maxOutput, 20_000),
	};
	const declared = declarationsOf(callable);
	const isDeclared = declared.length <= count("maxDeclarations", maxDeclarations, 20_000);
	let runs = sandbox;
	const execution = concurrentStrategy(
		scriptDecider({
			...limits,
			tools: callable,
			starting:
				(code, { seed, now }) =>
				(call) => {
					runs ??= ownSandbox({});
					const functions = callable.map((each) => [
						each.name,
						(...given: unknown[]) => call(each.name, given),
					]);
					return runs.runCode(asModule(code), {
						filename: scriptFile,
						globals: {
							tools: Object.fromEntries(functions),
							...(isDeclared ? {} : { searchTools: (query: unknown) => search(callable, query) }),
						},
						timeLimitMs: Number.POSITIVE_INFINITY,
						reproducible: { seed, now },
					});
				},
		}),
	);
	const tool = createSubAgentTool<{ readonly code: string }>({
		...toolOptions,
		agent: agent({ name: "script", tools, execution }),
		name,
		description: describe(callable, isDeclared ? declared : undefined, scripts),
		parameters:
			scripts === "kept" ? { ...parameters, properties: { ...parameters.properties, save } } : parameters,
		buildPrompt: ({ code }) => code,
		policy: "caller",
	});
	return { ...tool, name };
}

/** The code is the body of a function, on the same lines as the model wrote it. */
function asModule(code: string): string {
	return `${before}${code}\n}`;
}

function count(option: string, value: number | undefined, otherwise: number): number {
	if (value === undefined) return otherwise;
	if (!Number.isInteger(value) || value < 1)
		throw new HoldfastTypeError(
			"invalid_option",
			`The option \`${option}\` of codeMode() must be an integer of at least 1, not ${String(value)}.`,
		);
	return value;
}

function describe(
	tools: readonly ModelTool[],
	declared: string | undefined,
	scripts: "kept" | "forgotten",
): string {
	const kept =
		scripts === "kept"
			? " To reuse a script, pass `save` with it: its code reads `input`. `snippets.list()` returns the names of kept scripts."
			: "";
	const how =
		"Runs a script that calls tools. Prefer one script over many single calls: combine results in code, and return only what " +
		"you need. `code` is the body of an async function in TypeScript. Await every call. Use `Promise.all` for independent " +
		"calls. A failed call throws an error. There are no imports, no network and no timers; `console.log` is returned to you." +
		kept;
	if (declared !== undefined) return `${how}\n\n${declared}`;
	const names = tools.map((tool) => tool.name).join(", ");
	return (
		`${how} Call \`searchTools(query: string): string\` in a first script to read the declarations of tools, and return its ` +
		`result. Then call them as \`tools.<name>(input)\`. The tools are: ${names}`
	);
}

/** Returns the declarations of the tools whose names and descriptions contain most of the words. */
function search(tools: readonly ModelTool[], query: unknown): string {
	const words = String(query)
		.toLowerCase()
		.split(/[^\p{L}\p{N}]+/u)
		.filter((word) => word !== "");
	const ranked = tools
		.map((tool) => {
			const [named, described] = [tool.name.toLowerCase(), tool.description.toLowerCase()];
			const score = words.reduce(
				(sum, word) => sum + (named.includes(word) ? 3 : 0) + (described.includes(word) ? 1 : 0),
				0,
			);
			return { tool, score };
		})
		.filter(({ score }) => score > 0)
		.sort((left, right) => right.score - left.score);
	const first = ranked.slice(0, found).map(({ tool }) => declarationOf(tool));
	return first.length === 0 ? "No tool matches. Try other words." : first.join("\n");
}
