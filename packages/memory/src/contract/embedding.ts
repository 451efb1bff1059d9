// Converts texts into vectors.

/** Gives a vector for each text, in order, all of one length. */
export type EmbedTexts = (texts: readonly string[]) => Promise<readonly (readonly number[])[]>;

/** An embedding model of the AI SDK, by the members that are used. */
export interface EmbeddingModel {
	readonly modelId: string;
	// biome-ignore lint/suspicious/noExplicitAny: versions of the AI SDK differ in the other members
	doEmbed(options: any): PromiseLike<{ readonly embeddings: readonly (readonly number[])[] }>;
}

/** How vectors are made and compared. */
export interface EmbedOptions {
	readonly model: EmbeddingModel | EmbedTexts;
	/** Cosine from -1 to 1 from which on a text counts as a match. Lower finds more, and less that fits. Default: 0.3. */
	readonly minSimilarity?: number;
}

/** A model, a function, or either with options. */
export type Embed = EmbeddingModel | EmbedTexts | EmbedOptions;
