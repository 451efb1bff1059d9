// Converts texts into vectors.

/** Returns a vector for each text, in order, all of one length. */
export type EmbedTexts = (texts: readonly string[]) => Promise<readonly (readonly number[])[]>;

/** An embedding model of the AI SDK, reduced to the members used. */
export interface EmbeddingModel {
	/** Its id at the provider. */
	readonly modelId: string;
	/** Returns one vector for each text, in order. */
	// biome-ignore lint/suspicious/noExplicitAny: versions of the AI SDK differ in the other members
	doEmbed(options: any): PromiseLike<{ readonly embeddings: readonly (readonly number[])[] }>;
}

/** How vectors are created and compared. */
export interface EmbedOptions {
	/** Creates the vectors: a model of the AI SDK, or a function. */
	readonly model: EmbeddingModel | EmbedTexts;
	/**
	 * Minimum cosine of a match, from -1 to 1. A lower value finds more matches, and less relevant ones. Default: 0.3.
	 */
	readonly minSimilarity?: number;
}

/** A model, a function, or either with options. */
export type Embed = EmbeddingModel | EmbedTexts | EmbedOptions;
