// The plugin `skills`: names and descriptions are a section of the instructions, and bodies and files come by recorded
// calls. What a session has loaded is stored with it, by hash.
import { checkOptions, HoldfastTypeError, isToolResultMessage, optionNames } from "@holdfast/upp";
import { tool } from "holdfast";
import { definePlugin, type Plugin, type PluginHost, type SkillInfo } from "holdfast/plugins";
import { isAllowed, type ToolNames } from "./allowed-tools.ts";
import { type LoadSkillsOptions, loadSkillsMembers, readSkills } from "./load-skills.ts";
import { copyPins, loadPinned, pinOf, readPinned } from "./pinned-skill.ts";
import type { Skill } from "./skill.ts";
import { skillNotFound } from "./skill-error.ts";

/** Options of `skills`. */
export interface SkillsOptions extends LoadSkillsOptions {
	/**
	 * `enforce`: once a run has loaded a skill with `allowed-tools`, the model may call only the tools of skills, and
	 * tools that one of the loaded skills allows. This applies until the end of the run. `ignore`: the field has no
	 * effect. Default `enforce`.
	 */
	readonly allowedTools?: "enforce" | "ignore";
	/** Your tools by the names that skills use for them, such as `{ Bash: "run_command" }`. Default: the same names. */
	readonly toolNames?: ToolNames;
	/**
	 * `never`: skills are read when the agent is set up. `each-run`: they are read again before each run, and when the model
	 * loads one, so that new and changed skills are used from the next run on. A running run keeps what it has loaded.
	 * Default `never`.
	 */
	readonly reload?: "never" | "each-run";
	/**
	 * Tools that the model may always call, regardless of `allowed-tools`. Default: `read_result` and `search_tools`.
	 */
	readonly alwaysAllowed?: readonly string[];
}

const skillsNames = optionNames<SkillsOptions>({
	...loadSkillsMembers,
	allowedTools: ["enforce", "ignore"],
	reload: ["never", "each-run"],
	toolNames: "object",
	alwaysAllowed: "texts",
});

const ownTools = ["load_skill", "read_skill_file"];
const active = "active";

/**
 * Gives an agent skills in the open Agent Skills format. The model sees their names and descriptions, loads the body of a
 * skill with `load_skill` when a task needs it, and reads its files with `read_skill_file`. Scripts are files that it can
 * read; nothing runs them.
 *
 * The setup of the agent rejects with the errors of `loadSkills`.
 * @throws HoldfastError `invalid_option` for options that do not fit together.
 * @example
 * import { openai } from "@ai-sdk/openai";
 * import { skills } from "@holdfast/context";
 * import { Agent } from "holdfast";
 *
 * const text = "---\nname: tidy-up\ndescription: Tidies a folder.\n---\nMove files by kind.\n";
 * const clerk = new Agent({ model: openai("gpt-5.2"), plugins: [skills({ sources: [{ text }] })] });
 */
export function skills(options: SkillsOptions): Plugin {
	checkOptions(options, skillsNames, { of: "skills()" });
	const { allowedTools = "enforce", reload = "never", toolNames, alwaysAllowed, ...loading } = options;
	if (allowedTools === "ignore" && (toolNames ?? alwaysAllowed) !== undefined)
		throw new HoldfastTypeError(
			"invalid_option",
			'`toolNames` and `alwaysAllowed` have no effect with `allowedTools: "ignore"`. Remove them.',
		);
	let last: readonly Skill[] | undefined;
	const readNow: ReadAll = async () => {
		last = await readSkills(loading);
		return last;
	};
	return definePlugin({
		name: "skills",
		async setup(host) {
			const loaded = await readNow();
			const current: ReadAll = reload === "never" ? async () => loaded : readNow;
			if (loaded.length === 0 && reload === "never") return;
			host.instructions(reload === "never" ? catalog(loaded) : async () => catalog(await current()));
			addTools(host, current);
			host.on("session.fork", async ({ sessionKey, forkKey, history }) => {
				const results = history.filter(isToolResultMessage).flatMap((message) => message.results);
				const calls = new Set(results.map(({ toolCallId }) => toolCallId));
				await copyPins(host.values(sessionKey), host.values(forkKey), calls);
			});
			const limits = reload !== "never" || loaded.some((skill) => skill.allowedTools !== undefined);
			if (limits && allowedTools === "enforce")
				enforce(host, toolNames, [...ownTools, ...(alwaysAllowed ?? ["read_result", "search_tools"])]);
		},
		skills: async () => (reload === "never" && last !== undefined ? last : await readNow()).map(infoOf),
	});
}

/** Returns the skills: as they were at the setup or, with `reload`, as they are now. */
type ReadAll = () => Promise<readonly Skill[]>;

function infoOf({ name, description, hash, allowedTools, files }: Skill): SkillInfo {
	return { name, description, hash, ...(allowedTools && { allowedTools }), files };
}

function catalog(loaded: readonly Skill[]): string {
	if (loaded.length === 0) return "";
	const lines = loaded.map(({ name, description }) => `- ${name}: ${description.replaceAll(/\s+/g, " ")}`);
	return [
		"Skills",
		"A skill is a set of instructions for a kind of task. If a task matches one of these descriptions, load the skill with load_skill before you start, and follow it.",
		...lines,
	].join("\n");
}

function addTools(host: PluginHost, current: ReadAll): void {
	const find = async (name: string): Promise<Skill> => {
		const loaded = await current();
		const skill = loaded.find((each) => each.name === name);
		if (skill === undefined) {
			const names = loaded.map((each) => each.name);
			throw skillNotFound(name, names);
		}
		return skill;
	};
	const load = tool<{ name: string }>({
		name: "load_skill",
		description: "Returns the instructions of a skill, and the list of its files.",
		parameters: {
			type: "object",
			properties: { name: { type: "string", description: "The name of the skill." } },
			required: ["name"],
			additionalProperties: false,
		},
		retryPolicy: "idempotent",
		sequential: true,
		// `maxBodyCharacters` limits it.
		maxModelCharacters: Number.POSITIVE_INFINITY,
		async run({ name }, context) {
			const values = host.values(context);
			const pin = await loadPinned(values, await find(name), context);
			if (pin.allowedTools !== undefined) {
				const before = ((await values.get(active)) ?? []) as readonly string[];
				await values.set(active, [...new Set([...before, name])]);
			}
			return pin.shown;
		},
	});
	const read = tool<{ skill: string; path: string }>({
		name: "read_skill_file",
		description: "Returns the text of a file of a skill that you have loaded.",
		parameters: {
			type: "object",
			properties: {
				skill: { type: "string", description: "The name of the skill." },
				path: { type: "string", description: "A path from the list of load_skill." },
			},
			required: ["skill", "path"],
			additionalProperties: false,
		},
		retryPolicy: "pure",
		async run({ skill, path }, context) {
			const found = await find(skill);
			const pin = await pinOf(host.values(context), skill);
			if (pin === undefined) return `Load the skill "${skill}" with load_skill first.`;
			return readPinned(pin, found, path);
		},
	});
	host.tool(load, { in: "sessions-and-calls" });
	host.tool(read, { in: "sessions-and-calls" });
}

function enforce(host: PluginHost, toolNames: ToolNames | undefined, always: readonly string[]): void {
	host.on("turn.before", async ({ sessionKey }) => {
		const values = host.values(sessionKey);
		if ((await values.get(active)) !== undefined) await values.delete(active);
	});
	host.on("tool.call", async ({ agentSessionKey, tool: called, input }) => {
		const values = host.values(agentSessionKey);
		const names = ((await values.get(active)) ?? []) as readonly string[];
		if (names.length === 0 || always.includes(called)) return;
		const pins = await Promise.all(names.map((name) => pinOf(values, name)));
		const patterns = pins.flatMap((pin) => pin?.allowedTools ?? []);
		if (isAllowed(patterns, called, input, toolNames)) return;
		const message = `The loaded skills (${names.join(", ")}) do not allow this call of "${called}". They allow: ${patterns.join(", ") || "no tools"}.`;
		return { action: "reject-and-continue", message };
	});
}
