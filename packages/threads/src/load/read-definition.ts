// Loads a file and checks that its default export matches its folder.
import { pathToFileURL } from "node:url";
import { isHoldfastError, messageOf } from "@holdfast/upp";
import {
	defineAgent,
	defineEffect,
	defineHook,
	defineModel,
	definePrompt,
	defineTool,
	validateToolName,
} from "../define/index.ts";
import type {
	AgentDefinition,
	Controller,
	EffectDefinition,
	HookDefinition,
	ItemKind,
	ModelDefinition,
	ProjectDefinitions,
	PromptDefinition,
	ProviderFactoryWithOptions,
} from "../types/index.ts";
import type { FoundFile } from "./discover.ts";
import type { ProjectProblem } from "./problems.ts";

/** Loads a module by its URL. */
export type ImportModule = (url: string) => Promise<unknown>;

/** A definition, and its own name. */
export interface ReadItem<Kind extends ItemKind = ItemKind> {
	readonly kind: Kind;
	readonly name: string;
	readonly definition: ProjectDefinitions[Kind];
}

type Reader = (exported: never, stem: string) => { readonly name: string; readonly definition: unknown };

/** Validates a default export as its define function does, even if that was not called. */
const readers: Readonly<Record<ItemKind, Reader>> = {
	agent: (exported: AgentDefinition) => named(defineAgent(exported)),
	prompt: (exported: PromptDefinition) => named(definePrompt(exported)),
	model: (exported: ModelDefinition) => named(defineModel(exported)),
	hook: (exported: HookDefinition) => {
		const definition = defineHook(exported);
		return { name: definition.id, definition };
	},
	tool: (exported: Parameters<typeof defineTool>[0], stem) => {
		validateToolName(stem);
		return { name: stem, definition: defineTool(exported) };
	},
	effect: (exported: EffectDefinition, stem) => {
		const { description, schema, handler } = exported;
		const definition = schema
			? defineEffect(description, schema, handler)
			: defineEffect(description, handler);
		return { name: stem, definition };
	},
	provider: (exported: ProviderFactoryWithOptions, stem) => {
		if (typeof exported !== "function") throw new TypeError("It must be a function that creates a provider.");
		return { name: stem, definition: exported };
	},
};

function named<Definition extends { readonly name: string }>(
	definition: Definition,
): { readonly name: string; readonly definition: Definition } {
	return { name: definition.name, definition };
}

/** Returns the definition in a file, or its problem. */
export async function readDefinition(
	file: FoundFile & { readonly kind: ItemKind },
	importModule: ImportModule,
): Promise<ReadItem | ProjectProblem> {
	const exported = await readDefault(file, importModule);
	if ("message" in exported) return exported;
	return checkDefinition(file, exported.value, "The default export");
}

/** Returns the definition for a value, or its problem. */
export function checkDefinition(
	{ kind, stem, path }: FoundFile & { readonly kind: ItemKind },
	value: unknown,
	what: string,
): ReadItem | ProjectProblem {
	try {
		const { name, definition } = readers[kind](value as never, stem);
		return { kind, name, definition: definition as ReadItem["definition"] };
	} catch (error) {
		return describe(path, error, `${what} is no ${kind}`);
	}
}

/** Returns the handler in an endpoint's file, or its problem. */
export async function readHandler(
	file: FoundFile,
	importModule: ImportModule,
): Promise<{ readonly handler: Controller } | ProjectProblem> {
	const exported = await readDefault(file, importModule);
	if ("message" in exported) return exported;
	if (typeof exported.value === "function") return { handler: exported.value as Controller };
	return {
		file: file.path,
		message: "The default export must be what defineThreadEndpoint or defineController returned.",
	};
}

async function readDefault(
	file: FoundFile,
	importModule: ImportModule,
): Promise<{ readonly value: unknown } | ProjectProblem> {
	try {
		const module = await importModule(pathToFileURL(file.path).href);
		const value = (module as { readonly default?: unknown }).default;
		if (value !== undefined && value !== null) return { value };
		return {
			file: file.path,
			message: `It has no default export. Export ${/^[aeiou]/.test(file.kind) ? "an" : "a"} ${file.kind} by default.`,
		};
	} catch (error) {
		return describe(file.path, error, "It cannot be loaded");
	}
}

function describe(file: string, error: unknown, what: string): ProjectProblem {
	const field = isHoldfastError(error) ? error.data?.field : undefined;
	if (field === "options") return { file, message: `${what}.` };
	if (typeof field === "string") return { file, field, message: (error as Error).message };
	const why = messageOf(error);
	const ending =
		(error as { code?: unknown }).code === "ERR_MODULE_NOT_FOUND" && /^Cannot find module/.test(why);
	const instead = ending ? " Imports need the file extension, such as ./other.ts." : "";
	return { file, message: `${what}: ${why}${placeOf(file, error)}${instead && `.${instead}`}` };
}

/**
 * Returns the location of a syntax error in this module or one it imports: Node prints it in the first line of the stack.
 */
function placeOf(file: string, error: unknown): string {
	if (!(error instanceof SyntaxError)) return "";
	const { path, line } =
		/^(?:file:\/\/)?(?<path>\/[^\s?]+)(?:\?\S*)?:(?<line>\d+)$/m.exec(error.stack ?? "")?.groups ?? {};
	if (path === undefined) return "";
	return path === file ? ` (line ${line})` : ` (${path}:${line})`;
}
