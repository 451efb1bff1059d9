// The plugin `agentsMd`: the AGENTS.md files of a folder are a section of the instructions. Those of other folders follow
// the result of the first call that touches such a folder, so that the prefix that was sent never changes.
import { checkOptions, type HoldfastError, HoldfastTypeError, optionNames } from "@holdfast/upp";
import { definePlugin, type Plugin, type PluginHooks, type SessionValues } from "holdfast/plugins";
import { hashOf } from "../hash-of.ts";
import {
	type AgentsMdFile,
	type AgentsMdFolders,
	type AgentsMdFound,
	filesBelow,
	filesDownTo,
	foldersOf,
} from "./read-agents-md.ts";
import { touchedPaths } from "./touched-paths.ts";

/** Options of `readAgentsMd`. */
export interface ReadAgentsMdOptions {
	/** The folder that the agent works in. */
	readonly folder: string;
	/** The topmost folder whose file applies. Default: the nearest parent with `.git`, or else `folder`. */
	readonly root?: string;
	/** Characters of each file that the model receives. A longer file is cut, with a notice. Default 16,000. */
	readonly maxCharacters?: number;
}

/** Options of `agentsMd`. */
export interface AgentsMdOptions extends ReadAgentsMdOptions {
	/**
	 * Receives a notice for each file that is not used, or only in part, once. Show it to the user. Default: a warning on
	 * the console.
	 */
	readonly onNotice?: (notice: HoldfastError) => void;
}

const readMembers = { folder: "text", root: "text", maxCharacters: "number" } as const;
const readNames = optionNames<ReadAgentsMdOptions>(readMembers);
const agentsMdNames = optionNames<AgentsMdOptions>({ ...readMembers, onNotice: "function" });

/** How many files follow one result at most. */
const mostAdded = 5;

/**
 * Reads the `AGENTS.md` files that apply to a folder: those from the root down to the folder, the nearest last. Files
 * above 1,000,000 bytes, folders of that name, links that leave the root, and files that are not text in UTF-8 are not
 * used, and each has a notice. Rejects with `invalid_option`.
 *
 * @example
 * import { readAgentsMd } from "@holdfast/context";
 *
 * const { files, notices } = await readAgentsMd({ folder: "." });
 * console.log(files.map(({ path }) => path), notices.map(({ message }) => message));
 */
export async function readAgentsMd(options: ReadAgentsMdOptions): Promise<AgentsMdFound> {
	checkOptions(options, readNames, { of: "readAgentsMd()" });
	return filesDownTo(await resolved(options));
}

/**
 * Gives an agent the `AGENTS.md` files of a folder as `readAgentsMd` returns them, in a section of its instructions. They
 * are read before each run, and a resumed run keeps the text that it began with. When a call touches another folder that
 * has such a file, its text follows the result of that call: once in a session, and again if the file has changed. Paths
 * are recognised by the names of arguments, such as `path`, `file`, `cwd` or `command`.
 *
 * @throws HoldfastError `invalid_option`.
 * @example
 * import { openai } from "@ai-sdk/openai";
 * import { agentsMd } from "@holdfast/context";
 * import { Agent } from "holdfast";
 *
 * const coder = new Agent({ model: openai("gpt-5.2"), plugins: [agentsMd({ folder: "." })] });
 */
export function agentsMd(options: AgentsMdOptions): Plugin {
	checkOptions(options, agentsMdNames, { of: "agentsMd()" });
	const { onNotice = (notice) => console.warn(notice.message), ...reading } = options;
	checkReading(reading);
	const reported = new Set<string>();
	const used = ({ files, notices }: AgentsMdFound): readonly AgentsMdFile[] => {
		for (const notice of notices) {
			if (reported.has(notice.message) || reported.size >= 1_000) continue;
			reported.add(notice.message);
			onNotice(notice);
		}
		return files;
	};
	const last = new Map<string, Promise<unknown>>();
	/** The calls of an answer run at the same time, and only one of them receives a file. */
	const inTurn = async <T>(sessionKey: string, work: () => Promise<T>): Promise<T> => {
		const now = (last.get(sessionKey) ?? Promise.resolve()).then(work, work);
		last.set(sessionKey, now);
		try {
			return await now;
		} finally {
			if (last.get(sessionKey) === now) last.delete(sessionKey);
		}
	};
	return definePlugin({
		name: "agents-md",
		setup(host) {
			host.instructions(async () =>
				used(await filesDownTo(await resolved(reading)))
					.map((file) => `The repository's instructions in ${shown(file)}`)
					.join("\n\n"),
			);
			const follow: PluginHooks["tool.result"] = async ({
				sessionKey,
				toolCallId,
				input,
				output,
				status,
			}) => {
				const paths = status === "done" ? touchedPaths(input) : [];
				if (paths.length === 0) return;
				const folders = await resolved(reading);
				const found = new Map<string, AgentsMdFile>();
				for (const path of paths)
					for (const file of used(await filesBelow(path, folders))) found.set(file.path, file);
				if (found.size === 0) return;
				const values = host.values(sessionKey);
				const added = await inTurn(sessionKey, async () => {
					const texts: string[] = [];
					for (const file of found.values())
						if (texts.length < mostAdded && (await isNew(values, file, toolCallId)))
							texts.push(`[Instructions for ${file.path.slice(0, -"/AGENTS.md".length)} in ${shown(file)}]`);
					return texts;
				});
				if (added.length > 0) return { status: "done", output: withText(output, added.join("\n\n")) };
			};
			host.on("tool.result", follow, { deltas: "as-is" });
		},
	});
}

function shown({ path, text }: AgentsMdFile): string {
	return `${path}:\n${text}`;
}

/** Whether the session does not have the text yet. A call that is executed again after a crash receives it again. */
async function isNew(values: SessionValues, { path, text }: AgentsMdFile, call: string): Promise<boolean> {
	const hash = await hashOf(text);
	const known = (await values.get(path)) as { readonly hash: string; readonly call: string } | undefined;
	if (known?.hash === hash) return known.call === call;
	await values.set(path, { hash, call });
	return true;
}

/** Returns a result with a text after it. */
function withText(output: unknown, text: string): unknown {
	if (typeof output === "string") return `${output}\n\n${text}`;
	if (Array.isArray(output) && output.every((block) => typeof block?.type === "string"))
		return [...output, { type: "text", text }];
	const { result } = (output ?? {}) as { readonly result?: unknown };
	if (typeof result === "string") return { ...(output as object), result: `${result}\n\n${text}` };
	return { result: output, instructions: text };
}

async function resolved(options: ReadAgentsMdOptions): Promise<AgentsMdFolders> {
	checkReading(options);
	const [folder, root] = await foldersOf(options.folder, options.root);
	return { folder, root, maxCharacters: options.maxCharacters ?? 16_000 };
}

/** @throws HoldfastError `invalid_option`. */
function checkReading({ folder, maxCharacters = 1 }: ReadAgentsMdOptions): void {
	if (typeof folder !== "string" || folder === "")
		throw new HoldfastTypeError("invalid_option", "The option `folder` must be the path of a folder.");
	if (!Number.isInteger(maxCharacters) || maxCharacters < 1)
		throw new HoldfastTypeError(
			"invalid_option",
			"The option `maxCharacters` must be a positive whole number.",
		);
}
