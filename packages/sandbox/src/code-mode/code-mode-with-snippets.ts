// `codeModeWithSnippets()`: code mode as a plugin, whose scripts can be saved under a name as files of the session.
import { checkOptions, HoldfastTypeError, optionNames } from "@holdfast/upp";
import type { SessionFiles } from "holdfast/host";
import { definePlugin, type Plugin, type PluginHost } from "holdfast/plugins";
import { type CodeModeOptions, codeModeKinds, codeModeTool } from "./code-mode.ts";
import {
	calledSnippets,
	isConfusing,
	isSnippetName,
	type Snippets,
	withoutSnippets,
	withSnippets,
} from "./snippets.ts";

/** Options of `codeModeWithSnippets()`. */
export interface CodeModeWithSnippetsOptions extends CodeModeOptions {
	/** How many snippets a session may keep. Default 50. */
	readonly maxSnippets?: number;
	/** Characters of one snippet. Default 20,000. */
	readonly maxSnippetCharacters?: number;
}

const names = optionNames<CodeModeWithSnippetsOptions>({
	...codeModeKinds,
	maxSnippets: true,
	maxSnippetCharacters: true,
});

/**
 * Code mode whose scripts can be saved and reused. The model passes `save: "total"` with a script to keep it if it
 * succeeds, and calls it in later scripts as `await snippets.total(input)`. `snippets.list()` returns the names.
 *
 * A snippet is a file of the session: it survives restarts, is copied to forks, and is deleted with the session. In a call,
 * it exists until the end of the call. A sub-agent has snippets of its own.
 *
 * @throws HoldfastError as `codeMode()`, and `invalid_option` for an invalid limit.
 * @example
 * ```ts
 * import { Agent, tool } from "holdfast";
 * import { codeModeWithSnippets } from "@holdfast/sandbox/code-mode";
 * import { scriptedModel } from "@holdfast/testing";
 *
 * const price = tool({
 * 	name: "price",
 * 	description: "Returns the price of an item in euros.",
 * 	parameters: { type: "object", properties: { item: { type: "string" } }, required: ["item"] },
 * 	run: ({ item }: { item: string }) => item.length,
 * });
 * const total = `let sum = 0;
 * for (const item of input?.items ?? []) sum += await tools.price({ item });
 * return sum;`;
 * const model = scriptedModel([
 * 	{ toolCalls: [{ name: "run_code", arguments: { code: total, save: "total" } }] },
 * 	{ toolCalls: [{ name: "run_code", arguments: { code: 'return snippets.total({ items: ["tea", "bread"] });' } }] },
 * 	"Eight euros.",
 * ]);
 * const shopper = new Agent({ model, plugins: [codeModeWithSnippets({ tools: [price] })] });
 * const { turn } = await shopper.generate("What do tea and bread cost?");
 * console.log(turn.toolExecutions[1]?.result); // 8
 * ```
 */
export function codeModeWithSnippets(options: CodeModeWithSnippetsOptions): Plugin {
	checkOptions(options, names, { of: "codeModeWithSnippets()" });
	const { maxSnippets = 50, maxSnippetCharacters = 20_000, ...others } = options ?? {};
	for (const [name, value] of Object.entries({ maxSnippets, maxSnippetCharacters }))
		if (!Number.isInteger(value) || value < 1)
			throw new HoldfastTypeError(
				"invalid_option",
				`The option \`${name}\` of codeModeWithSnippets() must be an integer of at least 1, not ${String(value)}.`,
			);
	const limits = { maxSnippets, maxSnippetCharacters };
	const tool = codeModeTool(others, "kept");
	return definePlugin({
		name: `snippets of ${tool.name}`,
		setup(host) {
			host.tool(tool, { in: "sessions-and-calls" });
			keepSnippets(host, tool.name, limits);
		},
	});
}

interface Limits {
	readonly maxSnippets: number;
	readonly maxSnippetCharacters: number;
}

function keepSnippets(host: PluginHost, toolName: string, limits: Limits): void {
	host.on("tool.call", async ({ tool, input, sessionKey }) => {
		if (tool !== toolName || typeof input?.code !== "string") return undefined;
		const { code, save } = input as { readonly code: string; readonly save?: unknown };
		const kept = await read(host.files(sessionKey));
		const refused = save === undefined ? undefined : whyNot(save, code, kept, limits);
		if (refused !== undefined) return { action: "reject-and-continue", message: refused };
		const called = calledSnippets(code, kept);
		if ("missing" in called) return { action: "reject-and-continue", message: unknown(called.missing, kept) };
		const whole = withSnippets(code, {
			called: called as Snippets,
			names: [...kept.keys()],
			isKept: save !== undefined,
		});
		return whole === code ? undefined : { action: "modify", input: { ...input, code: whole } };
	});
	host.on("tool.result", async ({ tool, input, sessionKey, status, output }) => {
		if (tool !== toolName || status !== "done" || typeof input?.save !== "string") return undefined;
		const { save, code } = input as { readonly save: string; readonly code: string };
		await host.files(sessionKey).write(save, [new TextEncoder().encode(withoutSnippets(code))]);
		return { status, output: `${String(output)}\n\nKept. Call it as \`await snippets.${save}(input)\`.` };
	});
	host.on("session.fork", async ({ sessionKey, forkKey }) => {
		const [from, to] = [host.files(sessionKey), host.files(forkKey)];
		for (const { name } of await from.list()) await to.write(name, [await bytesOf(from, name)]);
	});
}

function whyNot(save: unknown, code: string, kept: Snippets, limits: Limits): string | undefined {
	const { maxSnippets, maxSnippetCharacters } = limits;
	if (typeof save !== "string" || !isSnippetName(save))
		return "The name in `save` must be a letter followed by at most 49 letters, digits and underscores, and not `list`.";
	if (code.length > maxSnippetCharacters)
		return `A snippet has at most ${maxSnippetCharacters} characters, and this script has ${code.length}. Keep a shorter one.`;
	if (isConfusing(code)) return "This script contains the snippets of another one. Keep only its own code.";
	if (!kept.has(save) && kept.size >= maxSnippets)
		return `This session keeps ${maxSnippets} snippets already. Replace one of them: ${[...kept.keys()].join(", ")}.`;
	return undefined;
}

function unknown(name: string, kept: Snippets): string {
	const names = kept.size === 0 ? "There are none yet." : `The snippets are: ${[...kept.keys()].join(", ")}.`;
	return `There is no snippet "${name}". ${names} To save a script, pass \`save\` with it.`;
}

async function read(files: SessionFiles): Promise<Snippets> {
	const kept = new Map<string, string>();
	for (const { name } of await files.list())
		kept.set(name, new TextDecoder().decode(await bytesOf(files, name)));
	return kept;
}

async function bytesOf(files: SessionFiles, name: string): Promise<Uint8Array> {
	const chunks: Uint8Array[] = [];
	for await (const chunk of files.read(name)) chunks.push(new Uint8Array(chunk));
	return Buffer.concat(chunks);
}
