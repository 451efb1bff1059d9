// Vectors of texts: created by a model, stored as unit vectors of 32-bit floats, compared by cosine.
import { cutText, HoldfastError, messageOf } from "@holdfast/upp";
import type { Embed, EmbedTexts } from "../contract/index.ts";

/** Characters of a text that are embedded. */
const longestText = 8_000;
const usualSimilarity = 0.3;

/** Creates vectors. */
export interface Embedder {
	readonly minSimilarity: number;
	/**
	 * Returns a unit vector; undefined for a text without words.
	 * @throws HoldfastError `EMBEDDING_FAILED`.
	 */
	vectorOf(text: string): Promise<Float32Array | undefined>;
}

/** Converts the option to an embedder. @throws HoldfastError `OPTION_INVALID`. */
export function embedderOf(embed: Embed): Embedder {
	const { model, minSimilarity = usualSimilarity } =
		typeof embed === "object" && embed !== null && "model" in embed ? embed : { model: embed };
	if (typeof model !== "function" && typeof (model as Partial<typeof model> | null)?.doEmbed !== "function")
		throw new HoldfastError(
			"OPTION_INVALID",
			"`embed` must be an embedding model of the AI SDK, a function, or either as `{ model }`.",
		);
	const embedTexts: EmbedTexts =
		typeof model === "function"
			? model
			: async (values) => (await model.doEmbed({ values: [...values] })).embeddings;
	return {
		minSimilarity,
		async vectorOf(text) {
			if (text.trim() === "") return undefined;
			let vectors: readonly (readonly number[])[];
			try {
				vectors = await embedTexts([cutText(text, longestText)]);
			} catch (cause) {
				throw failed(`it failed: ${messageOf(cause)}`, cause);
			}
			return unit(vectors?.[0]);
		},
	};
}

function unit(vector: readonly number[] | undefined): Float32Array | undefined {
	if (vector === undefined || !(vector.length > 0) || !Array.from(vector).every(Number.isFinite))
		throw failed("it returned no vector of finite numbers");
	const length = Math.sqrt(vector.reduce((sum, part) => sum + part * part, 0));
	return length === 0 ? undefined : Float32Array.from(vector, (part) => part / length);
}

/** Returns the cosine of two unit vectors; -1 if their lengths differ, as with different models. */
export function similarity(one: Float32Array, other: Float32Array): number {
	if (one.length !== other.length) return -1;
	let sum = 0;
	for (let at = 0; at < one.length; at++) sum += (one[at] as number) * (other[at] as number);
	return sum;
}

/** A vector as bytes, and back. */
export function bytesOf(vector: Float32Array): Uint8Array {
	return new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength);
}

export function vectorFrom(bytes: Uint8Array): Float32Array {
	// Copied, because Node's bytes may be a view of a larger buffer.
	return new Float32Array(Uint8Array.from(bytes).buffer, 0, bytes.byteLength >> 2);
}

function failed(why: string, cause?: unknown): HoldfastError {
	return new HoldfastError(
		"EMBEDDING_FAILED",
		`The embedding model returned no vector: ${why}. Nothing was written; try again, or search without \`embed\`.`,
		{ cause, retryable: true },
	);
}
