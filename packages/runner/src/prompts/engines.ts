// The engines, each loaded on first use. Two need an optional library.
import { HoldfastError } from "@holdfast/upp";
import type { PromptEngine } from "../contract/index.ts";
import type { TemplateEngine } from "./template-engine.ts";

const engines: Readonly<Record<PromptEngine, () => Promise<TemplateEngine>>> = {
	handlebars: async () => (await import("./handlebars.ts")).handlebarsEngine,
	liquid: loadLiquid,
	mustache: loadMustache,
	fstring: async () => (await import("./fstring.ts")).fstringEngine,
};

export const defaultEngine: PromptEngine = "handlebars";

export function isPromptEngine(name: unknown): name is PromptEngine {
	return typeof name === "string" && Object.hasOwn(engines, name);
}

/** @throws PROMPT_ENGINE_MISSING if the engine's library is not installed. */
export function loadEngine(name: PromptEngine): Promise<TemplateEngine> {
	return engines[name]();
}

// Each import of a library is inside a `try`, so that bundlers accept a missing package.
async function loadLiquid(): Promise<TemplateEngine> {
	const { liquidEngine } = await import("./liquid.ts");
	try {
		return liquidEngine(await import("liquidjs"));
	} catch (error) {
		throw missing("liquid", "liquidjs", error);
	}
}

async function loadMustache(): Promise<TemplateEngine> {
	const { mustacheEngine } = await import("./mustache.ts");
	try {
		return mustacheEngine((await import("mustache")).default);
	} catch (error) {
		throw missing("mustache", "mustache", error);
	}
}

function missing(engine: PromptEngine, library: string, cause: unknown): HoldfastError {
	return new HoldfastError(
		"PROMPT_ENGINE_MISSING",
		`The engine "${engine}" needs ${library}, which cannot be loaded. Install it: npm install ${library}`,
		{ cause },
	);
}
