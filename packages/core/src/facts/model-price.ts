// What a model costs.

/** US dollars for a million tokens. @see design, reading 13 */
export interface ModelPrice {
	readonly input: number;
	readonly output: number;
	/** Default: the price of `input`. */
	readonly cacheRead?: number;
	/** Default: the price of `input`. */
	readonly cacheWrite?: number;
}
