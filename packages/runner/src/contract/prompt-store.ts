// Versioned templates of prompts.

/** The syntax of a template. */
export type PromptEngine = "handlebars" | "liquid" | "mustache" | "fstring";

/** One version of a template. */
export interface PromptTemplate {
	readonly id: string;
	/** "1", "2", … */
	readonly version: string;
	readonly name?: string;
	readonly text: string;
	readonly requiredVars?: readonly string[];
	/** Default: `handlebars`. */
	readonly engine?: PromptEngine;
	readonly metadata?: Readonly<Record<string, unknown>>;
	readonly createdBy?: string;
	/** ISO 8601, UTC. */
	readonly createdAt?: string;
}

/** A rendered template. */
export interface RenderedPrompt {
	readonly text: string;
	readonly meta?: {
		readonly tokensEstimate?: number;
		/** Variables that were missing and rendered empty. */
		readonly missing?: readonly string[];
		readonly version?: string;
	};
}

/** Versioned templates, rendered with parameters. */
export interface PromptStore {
	get(templateId: string, version?: string): Promise<PromptTemplate | null>;
	render(
		templateId: string,
		params?: Readonly<Record<string, unknown>>,
		options?: { readonly throwOnMissing?: boolean; readonly version?: string },
	): Promise<RenderedPrompt>;
	put(
		template: Omit<PromptTemplate, "version" | "createdAt">,
		options?: { readonly author?: string },
	): Promise<PromptTemplate>;
	list(filter?: { readonly tag?: string; readonly name?: string }): Promise<PromptTemplate[]>;
	validate(templateText: string, engine?: PromptEngine): Promise<{ ok: boolean; errors?: string[] }>;
}
