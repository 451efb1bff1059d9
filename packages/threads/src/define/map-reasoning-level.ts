// Maps levels of reasoning to a provider's names.

/**
 * Returns the provider's name for a reasoning level from 0 to 100: that of the nearest level, or the lower one of two
 * equally near.
 *
 * @param levels `capabilities.reasoningLevels` of a model
 * @returns null if the model cannot reason at that level, or has no levels
 */
export function mapReasoningLevel(
	level: number,
	levels: Readonly<Record<number, string | null>> | undefined,
): string | null {
	let nearest: string | null = null;
	let distance = Number.POSITIVE_INFINITY;
	for (const [key, word] of Object.entries(levels ?? {}).sort(([a], [b]) => Number(a) - Number(b))) {
		const away = Math.abs(Number(key) - level);
		if (away < distance) [nearest, distance] = [word, away];
	}
	return nearest;
}
