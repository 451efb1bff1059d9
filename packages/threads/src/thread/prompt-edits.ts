// Edited prompts: versions of a project's prompts written while it runs. They are records of the host, so all processes
// over it share them. Version 0 is the project's own text; each edit adds a version, and none is ever changed or removed.
import { HoldfastError } from "holdfast";
import type { Clock, RecordSpace } from "holdfast/host";
import type { Project, ProjectItem, PromptContent, PromptPart } from "../types/index.ts";
import type { ThreadsOptions } from "./threads-options.ts";

/** A version of a prompt. */
export interface PromptVersion {
	/** Name of the prompt in the project. */
	readonly id: string;
	/** "0" is the project's own; edits are "1", "2", … */
	readonly version: string;
	/** The text. Includes and values of the environment are written as `{{include NAME}}` and `{{env NAME}}`. */
	readonly text: string;
	/** The author of the edit, if known. */
	readonly createdBy?: string;
	/** ISO 8601, UTC; absent for the project's own. */
	readonly createdAt?: string;
	/** Set if the edit equalled the project's own text: then that text applies, even after later changes. */
	readonly followsProject?: true;
}

/** The parts needed for prompt edits. */
export interface PromptEditsParts {
	readonly records: RecordSpace;
	readonly namespace: string | undefined;
	readonly project: () => Project;
	/** Milliseconds since the epoch. */
	readonly now: () => number;
}

const mark = /\{\{(include|env) ([^{}\s]+)\}\}/g;
const longest = 100_000;

/** The versions of a project's prompts, with a method to add one. */
export class PromptEdits {
	readonly #parts: PromptEditsParts;
	readonly #shelf: string;

	/** Called by `Threads`. */
	constructor(parts: PromptEditsParts) {
		this.#parts = parts;
		this.#shelf = parts.namespace === undefined ? "prompt-edits" : `prompt-edits:${parts.namespace}`;
	}

	/** Returns the latest version of each prompt of the project, by name. */
	async list(): Promise<PromptVersion[]> {
		const names = [...this.#parts.project().prompts.keys()].sort();
		const found = await Promise.all(names.map((name) => this.get(name)));
		return found.filter((version) => version !== null);
	}

	/** Returns a version, by default the latest, or null. */
	async get(id: string, version?: string): Promise<PromptVersion | null> {
		const item = this.#parts.project().prompts.get(id);
		if (item === undefined) return null;
		const own: PromptVersion = { id, version: "0", text: textOf(item.definition.prompt) };
		if (version === "0") return own;
		if (version === undefined) return (await this.#latest(id)).value ?? own;
		if (!/^[1-9]\d{0,8}$/.test(version)) return null;
		const { value } = await this.#parts.records.get({
			shelf: `${this.#shelf}/of/${id}`,
			name: version.padStart(9, "0"),
		});
		return (value as PromptVersion | undefined) ?? null;
	}

	/**
	 * Adds a version, which takes effect with the next model call.
	 * @throws HoldfastError `PROMPT_NOT_FOUND`, `PROMPT_INVALID`.
	 */
	async put(
		{ id, text, createdBy }: Pick<PromptVersion, "id" | "text" | "createdBy">,
		{ author = createdBy }: { readonly author?: string } = {},
	): Promise<PromptVersion> {
		const item = this.#parts.project().prompts.get(id);
		if (item === undefined)
			throw new HoldfastError("PROMPT_NOT_FOUND", `The project has no prompt ${JSON.stringify(id)}.`);
		this.#check(item, text);
		const { records } = this.#parts;
		for (;;) {
			const { value: latest, revision } = await this.#latest(id);
			const version = String(Number(latest?.version ?? 0) + 1);
			const made: PromptVersion = {
				id,
				version,
				text,
				...(author === undefined ? {} : { createdBy: author }),
				createdAt: new Date(this.#parts.now()).toISOString(),
				...(text === textOf(item.definition.prompt) ? { followsProject: true } : {}),
			};
			const latestAt = { shelf: this.#shelf, name: id };
			const isWritten = await records.commit(
				[{ ...latestAt, revision }],
				[
					{ ...latestAt, value: made },
					{ shelf: `${this.#shelf}/of/${id}`, name: version.padStart(9, "0"), value: made },
				],
			);
			if (isWritten) return made;
		}
	}

	/** Returns the current content of a prompt, in parts if the project defines parts. */
	async contentOf({ name, definition }: ProjectItem<"prompt">): Promise<PromptContent> {
		const { value } = await this.#latest(name);
		if (value === undefined || value.followsProject === true) return definition.prompt;
		return typeof definition.prompt === "string" ? value.text : partsOf(value.text);
	}

	async #latest(id: string): Promise<{ readonly revision: number; readonly value?: PromptVersion }> {
		const { revision, value } = await this.#parts.records.get({ shelf: this.#shelf, name: id });
		return value === undefined ? { revision } : { revision, value: value as PromptVersion };
	}

	/**
	 * Restricts an edit to what the project's own text may do: include prompts that it can see, and use values that it
	 * already names.
	 */
	#check({ name, namespace, definition }: ProjectItem<"prompt">, text: string): void {
		const problems: string[] = [];
		if (typeof text !== "string" || text.length > longest)
			throw invalidEdit(name, [`the text has at most ${longest} characters`]);
		const { prompt } = definition;
		if (typeof prompt === "string") return;
		if (prompt.some((part) => part.type === "text" && new RegExp(mark).test(part.content)))
			throw invalidEdit(name, ["the project's text looks like a mask: edit it in the project"]);
		const named = new Set(prompt.map((part) => (part.type === "env" ? part.property : "")));
		for (const part of partsOf(text)) {
			if (part.type === "env" && !named.has(part.property))
				problems.push(`the prompt of the project does not name the value ${part.property}`);
			if (
				part.type === "include" &&
				this.#parts.project().visible(namespace, "prompt", part.prompt) === undefined
			)
				problems.push(`there is no prompt ${part.prompt} here`);
		}
		if (problems.length > 0) throw invalidEdit(name, problems);
	}
}

/** Checks the option `editablePrompts`. @throws HoldfastError `host_without_records`. */
export function promptEdits(
	{ host: { records }, namespace, editablePrompts = false }: ThreadsOptions,
	project: () => Project,
	clock: Clock,
): PromptEdits | undefined {
	if (!editablePrompts) return undefined;
	if (records === undefined)
		throw new HoldfastError(
			"host_without_records",
			"Edited prompts need a host that stores records, such as `sqliteHost` or `memoryHost`.",
		);
	return new PromptEdits({ records, namespace, project, now: () => clock.now() });
}

function textOf(content: PromptContent): string {
	if (typeof content === "string") return content;
	return content
		.map((part) => {
			if (part.type === "text") return part.content;
			return part.type === "env" ? `{{env ${part.property}}}` : `{{include ${part.prompt}}}`;
		})
		.join("");
}

function partsOf(text: string): readonly PromptPart[] {
	const parts: PromptPart[] = [];
	let at = 0;
	for (const { 0: found, 1: kind, 2: name = "", index } of text.matchAll(mark)) {
		if (index > at) parts.push({ type: "text", content: text.slice(at, index) });
		parts.push(
			kind === "env" ? { type: "env", property: name } : ({ type: "include", prompt: name } as PromptPart),
		);
		at = index + found.length;
	}
	if (at < text.length) parts.push({ type: "text", content: text.slice(at) });
	return parts;
}

function invalidEdit(name: string, problems: readonly string[]): HoldfastError {
	return new HoldfastError(
		"PROMPT_INVALID",
		`The prompt ${JSON.stringify(name)} was not stored: ${problems.join("; ")}.`,
	);
}
