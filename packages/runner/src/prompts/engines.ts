// The engines, each loaded with its library when it is first used.
import { HoldfastError } from "@holdfast/upp";
import type { PromptEngine } from "../contract/index.ts";
import type { TemplateEngine } from "./template-engine.ts";

const engines: Readonly<Record<PromptEngine, { readonly library: string; load(): Promise<TemplateEngine> }>> =
	{
		handlebars: {
			library: "@handlebars/parser",
			load: async () => (await import("./handlebars.ts")).handlebarsEngine,
		},
		liquid: { library: "liquidjs", load: async () => (await import("./liquid.ts")).liquidEngine },
		mustache: { library: "mustache", load: async () => (await import("./mustache.ts")).mustacheEngine },
		fstring: { library: "", load: async () => (await import("./fstring.ts")).fstringEngine },
	};

export const defaultEngine: PromptEngine = "handlebars";

export function isPromptEngine(name: unknown): name is PromptEngine {
	return typeof name === "string" && Object.hasOwn(engines, name);
}

/** @throws PROMPT_ENGINE_MISSING where its library is not installed. */
export async function loadEngine(name: PromptEngine): Promise<TemplateEngine> {
	const { library, load } = engines[name];
	try {
		return await load();
	} catch (error) {
		throw new HoldfastError(
			"PROMPT_ENGINE_MISSING",
			`The engine "${name}" needs ${library}, which cannot be loaded. Install it: npm install ${library}`,
			{ cause: error },
		);
	}
}
