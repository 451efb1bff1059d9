// The scales of charts: round numbers for the axes.

/** Returns the ticks of an axis from 0 to at least a value: round numbers, at equal distances. */
export function ticksTo(most: number, isWhole = false): readonly number[] {
	if (!(most > 0)) return [0, 1];
	const rough = most / 4;
	const power = 10 ** Math.floor(Math.log10(rough));
	const wide = [1, 2, 2.5, 5, 10].find((each) => each * power >= rough * (1 - 1e-9)) ?? 10;
	const step = isWhole ? Math.max(1, Math.ceil(wide * power)) : wide * power;
	const count = Math.max(1, Math.ceil(most / step - 1e-9));
	return Array.from({ length: count + 1 }, (_, index) => Number((index * step).toPrecision(12)));
}

/** Formats a time of an axis: the time of a day if the axis spans two days at most, otherwise the date. */
export function formatTick(at: number, spanMs: number): string {
	const date = new Date(at);
	return spanMs <= 2 * 86_400_000
		? date.toLocaleTimeString("en-GB").slice(0, spanMs < 10 * 60_000 ? 8 : 5)
		: date.toLocaleDateString("en-US", { month: "short", day: "numeric" });
}
