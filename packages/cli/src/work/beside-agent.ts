/** The other exports of an agent's file that a server uses: models by name, and versioned prompts. */
import { existsSync, statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { pathToFileURL } from "node:url";
import type { PromptStore } from "@holdfast/runner/prompts";
import type { AgentOptions } from "holdfast";
import { importAgentFile } from "./agent-file.ts";
import { describeError } from "./describe-error.ts";
import { readModel } from "./models.ts";
import { UsageError } from "./usage-error.ts";

type Environment = Readonly<Record<string, string | undefined>>;
type Models = Readonly<Record<string, NonNullable<AgentOptions["model"]>>>;

/**
 * Loads the models of a file: names with models, or with texts such as `openai:gpt-5.2`.
 * @throws UsageError if the file does not exist, cannot be read, or does not export models.
 */
export async function loadModels(file: string, environment: Environment): Promise<Models> {
	if (!existsSync(file) || !statSync(file).isFile())
		throw new UsageError(
			`The file ${file} does not exist. Pass a module or JSON with named models to --models.`,
		);
	let exported: { readonly models?: unknown; readonly default?: unknown };
	try {
		exported = file.endsWith(".json")
			? { models: JSON.parse(await readFile(file, "utf8")) }
			: ((await import(pathToFileURL(file).href)) as typeof exported);
	} catch (error) {
		throw new UsageError(`${file} cannot be read. ${describeError(error)}`);
	}
	const found = exported.models ?? exported.default;
	if (found === undefined)
		throw new UsageError(
			`${file} exports no models. Export \`models\`: an object of models, or of texts such as "openai:gpt-5.2", by name.`,
		);
	return readModels(found, file, environment);
}

/** The other exports of an agent's file. */
interface BesideAgent {
	readonly models: Models | undefined;
	/** A prompt store, such as the result of `databasePromptStore`. */
	readonly prompts: PromptStore | undefined;
}

/**
 * Reads the exports `models` and `prompts` of an agent's file.
 * @throws UsageError if the file cannot be imported, or they have the wrong type.
 */
export async function exportsOfAgentFile(file: string, environment: Environment): Promise<BesideAgent> {
	const { models, prompts } = (await importAgentFile(file)) as {
		readonly models?: unknown;
		readonly prompts?: Partial<PromptStore>;
	};
	const isStore =
		typeof prompts?.list === "function" &&
		typeof prompts.get === "function" &&
		typeof prompts.put === "function";
	if (prompts !== undefined && !isStore)
		throw new UsageError(
			`${file} exports \`prompts\`, which is not a prompt store. Export a store of @holdfast/runner/prompts, or omit \`prompts\`.`,
		);
	return {
		models: models === undefined ? undefined : readModels(models, file, environment),
		prompts: prompts as PromptStore | undefined,
	};
}

function readModels(given: unknown, file: string, environment: Environment): Models {
	if (typeof given !== "object" || given === null || Array.isArray(given))
		throw new UsageError(`The models of ${file} must be an object: models by name.`);
	return Object.fromEntries(
		Object.entries(given).map(([name, model]) => {
			if (typeof model === "string") return [name, readModel(model, environment)];
			if ((typeof model === "object" && model !== null) || typeof model === "function")
				return [name, model as NonNullable<AgentOptions["model"]>];
			throw new UsageError(
				`The model ${JSON.stringify(name)} of ${file} is neither a model nor a text such as "openai:gpt-5.2".`,
			);
		}),
	);
}
