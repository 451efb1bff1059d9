// The skills of a session, from its instructions and its calls: which exist, which were loaded, with their hash, files and
// allowed tools, and which calls they did not allow.
import type { ShownEntry } from "../wire/index.ts";

/** A skill that the session loaded. */
export interface LoadedSkill {
	readonly name: string;
	/** The beginning of the SHA-256 of its text. */
	readonly hash: string;
	readonly seq: number;
	readonly at: number;
	/** Its text has changed since the session last loaded it. */
	readonly hasChanged: boolean;
	readonly files: readonly string[];
	/** The files that the model has read. */
	readonly read: readonly string[];
	/** Absent if it allows all tools. */
	readonly allowedTools?: readonly string[];
}

/** The skills of a session. */
export interface SessionSkills {
	readonly available: readonly { readonly name: string; readonly description: string }[];
	readonly loaded: readonly LoadedSkill[];
	readonly refused: readonly { readonly seq: number; readonly at: number; readonly text: string }[];
}

const heading = "Skills\nA skill is a set of instructions for a kind of task.";

/** Returns the skills. `system`: the instructions of the agent. */
export function skillsOf(entries: readonly ShownEntry[], system: string | undefined): SessionSkills {
	const loaded: LoadedSkill[] = [];
	const refused: { seq: number; at: number; text: string }[] = [];
	const calls = new Map<string, { readonly name: string; readonly input: Record<string, unknown> }>();
	for (const { seq, at, kind, body } of entries) {
		if (kind === "assistant") {
			const { toolCalls = [] } = (body.message ?? {}) as {
				toolCalls?: readonly { toolCallId: string; toolName: string; arguments: unknown }[];
			};
			for (const call of toolCalls)
				calls.set(call.toolCallId, {
					name: call.toolName,
					input: (call.arguments ?? {}) as Record<string, unknown>,
				});
		}
		if (kind !== "tool.settled") continue;
		const call = calls.get(String(body.callId));
		const text = typeof body.result === "string" ? body.result : "";
		if (call?.name === "load_skill" && body.outcome === "done") {
			const skill = loadedOf(text, seq, at);
			if (skill !== undefined) loaded.push(skill);
		}
		if (call?.name === "read_skill_file" && body.outcome === "done") {
			const skill = loaded.findLast(({ name }) => name === call.input.skill);
			if (skill !== undefined) (skill.read as string[]).push(String(call.input.path));
		}
		if (text.startsWith("The loaded skills (")) refused.push({ seq, at, text });
	}
	return { available: catalogOf(system), loaded, refused };
}

function loadedOf(text: string, seq: number, at: number): LoadedSkill | undefined {
	const head = /^\[Skill (.+), sha256 ([0-9a-f]+)\.(.*)\]/.exec(text);
	if (head === null) return undefined;
	const [, name = "", hash = "", changed = ""] = head;
	const files =
		/\n\n\[Files, to be read with read_skill_file[^\n]*\n((?:- .*\n)*- .*)\]/.exec(text)?.[1] ?? "";
	const allowed = /\n\n\[While you use this skill, it allows these tools: (.*)\.\]$/.exec(text)?.[1];
	return {
		...{ name, hash, seq, at, hasChanged: changed !== "", read: [] },
		files: files
			.split("\n")
			.filter((line) => line.startsWith("- "))
			.map((line) => line.slice(2)),
		...(allowed === undefined ? {} : { allowedTools: allowed.split(", ") }),
	};
}

/** Reads the list of skills that the plugin adds to the instructions. */
function catalogOf(system = ""): SessionSkills["available"] {
	const at = system.indexOf(heading);
	if (at === -1) return [];
	const section = system.slice(at).split("\n\n")[0] ?? "";
	return section
		.split("\n")
		.slice(2)
		.flatMap((line) => {
			const [, name, description] = /^- ([^:]+): (.*)$/.exec(line) ?? [];
			return name === undefined || description === undefined ? [] : [{ name, description }];
		});
}
