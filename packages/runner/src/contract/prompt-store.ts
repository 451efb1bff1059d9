// Versioned templates of prompts.

/** The syntax of a template. */
export type PromptEngine = "handlebars" | "liquid" | "mustache" | "fstring";

/** One version of a template. */
export interface PromptTemplate {
	/** The template's id, the same for all its versions. */
	readonly id: string;
	/** "1", "2", … */
	readonly version: string;
	/** A name for people; `list` can filter by it. */
	readonly name?: string;
	/** The template in the syntax of `engine`. */
	readonly text: string;
	/** Variables that `render` requires. Default: none; missing variables are rendered empty. */
	readonly requiredVars?: readonly string[];
	/** Default: `handlebars`. */
	readonly engine?: PromptEngine;
	/** Data of your own; `list` filters by its `tag` or `tags`. */
	readonly metadata?: Readonly<Record<string, unknown>>;
	/** The `author` passed to `put`. */
	readonly createdBy?: string;
	/** ISO 8601, UTC. */
	readonly createdAt?: string;
}

/** A rendered template. */
export interface RenderedPrompt {
	/** The rendered text. */
	readonly text: string;
	/** The estimated number of tokens, the missing variables and the version that was rendered. */
	readonly meta?: {
		readonly tokensEstimate?: number;
		/** Variables that were missing and rendered empty. */
		readonly missing?: readonly string[];
		readonly version?: string;
	};
}

/** Versioned templates, rendered with parameters. */
export interface PromptStore {
	/** Returns a template, or null. Default: its latest version. */
	get(templateId: string, version?: string): Promise<PromptTemplate | null>;
	/**
	 * Renders a template. Rejects with `PROMPT_NOT_FOUND`, and with `PROMPT_VAR_MISSING` for missing variables: with
	 * `throwOnMissing: true` any, with `false` none. Default: those in `requiredVars`.
	 */
	render(
		templateId: string,
		params?: Readonly<Record<string, unknown>>,
		options?: { readonly throwOnMissing?: boolean; readonly version?: string },
	): Promise<RenderedPrompt>;
	/** Stores a new version of a template and returns it. Rejects with `PROMPT_INVALID`. */
	put(
		template: Omit<PromptTemplate, "version" | "createdAt">,
		options?: { readonly author?: string },
	): Promise<PromptTemplate>;
	/** Returns the latest version of each template that matches, ordered by id. */
	list(filter?: { readonly tag?: string; readonly name?: string }): Promise<PromptTemplate[]>;
	/** Checks the syntax of a template. Default engine: `handlebars`. */
	validate(templateText: string, engine?: PromptEngine): Promise<{ ok: boolean; errors?: string[] }>;
}
