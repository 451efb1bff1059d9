// Formats numbers and times for people.

/** Formats a count: `1,234`; `1.2M` from a million on. */
export function formatCount(value: number): string {
	return value >= 1_000_000 ? `${(value / 1_000_000).toFixed(1)}M` : value.toLocaleString("en");
}

/** Formats a cost: `$0.0123`. */
export function formatCost(dollars: number): string {
	if (dollars === 0) return "$0";
	return `$${dollars.toFixed(dollars >= 1 ? 2 : dollars >= 0.01 ? 3 : 5)}`;
}

/** Formats the cost of answers, which may include unknown prices. */
export function formatPrice(cost: number, unpriced: number): string {
	if (unpriced === 0) return formatCost(cost);
	return cost === 0 ? "unknown" : `${formatCost(cost)} + ${formatCount(unpriced)} of unknown cost`;
}

/** Formats a duration: `12 ms`, `3.4 s`, `2 min 5 s`. */
export function formatDuration(ms: number): string {
	if (ms < 1_000) return `${Math.round(ms)} ms`;
	if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`;
	if (ms < 3_600_000) return `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1_000)} s`;
	return `${Math.floor(ms / 3_600_000)} h ${Math.round((ms % 3_600_000) / 60_000)} min`;
}

/** Formats a time: `14:03:22`, with the date if it is not today. */
export function formatTime(at: number, now: number = Date.now()): string {
	const date = new Date(at);
	const time = date.toLocaleTimeString("en-GB");
	return new Date(now).toDateString() === date.toDateString()
		? time
		: `${date.toLocaleDateString("en-CA")} ${time}`;
}

/** Formats a time shortly: `14:03:22` today, `Nov 28 14:03` this year, `2025-11-28` before. */
export function formatWhen(at: number, now: number = Date.now()): string {
	const date = new Date(at);
	const today = new Date(now);
	if (date.toDateString() === today.toDateString()) return date.toLocaleTimeString("en-GB");
	if (date.getFullYear() !== today.getFullYear()) return date.toLocaleDateString("en-CA");
	const day = date.toLocaleDateString("en-US", { month: "short", day: "numeric" });
	return `${day} ${date.toLocaleTimeString("en-GB").slice(0, 5)}`;
}

/** Formats JSON; returns text unchanged. */
export function formatValue(value: unknown): string {
	if (typeof value === "string") return value;
	return JSON.stringify(value, undefined, 2) ?? "";
}

/** The same in one line, cut to a number of characters. */
export function summary(value: unknown, most = 120): string {
	const text = (typeof value === "string" ? value : (JSON.stringify(value) ?? "")).slice(0, most * 4);
	const line = text.replaceAll(/\s+/g, " ").trim();
	return line.length > most ? `${line.slice(0, most)}…` : line;
}

/** Formats bytes: `12 B`, `3.4 KB`, `2.1 MB`. */
export function formatBytes(bytes: number): string {
	if (bytes < 1_000) return `${bytes} B`;
	if (bytes < 1_000_000) return `${(bytes / 1_000).toFixed(1)} KB`;
	return `${(bytes / 1_000_000).toFixed(1)} MB`;
}

/** Formats a part of a whole in per cent; a dash if the whole is 0. */
export function formatShare(part: number, whole: number): string {
	return whole === 0 ? "–" : `${Math.round((part / whole) * 100)} %`;
}
