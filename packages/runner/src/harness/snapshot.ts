// Writes a run as text for snapshots: with sorted keys, and ids and times numbered by first appearance.
import type { AgentResult } from "../contract/index.ts";
import { sorted } from "./expect-actions.ts";

const uuid = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const isoTime = /\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?Z/g;
/** Members that hold milliseconds. */
const durations: ReadonlySet<string> = new Set(["duration", "durationMs", "latency"]);

/** Returns the text of a run: the same for runs with the same behaviour. */
export function snapshot(result: AgentResult): string {
	const ids = new Map<string, string>();
	const plain = JSON.parse(JSON.stringify(result), (name, value) => (durations.has(name) ? 0 : value));
	const latencies = plain.metrics?.toolLatencyMs;
	if (latencies !== undefined) for (const name of Object.keys(latencies)) latencies[name] = 0;
	return sorted(plain, 2)
		.replace(uuid, (id) => {
			const known = ids.get(id) ?? `<id ${ids.size + 1}>`;
			ids.set(id, known);
			return known;
		})
		.replace(isoTime, "<time>");
}
