// The fingerprint of an agent when a run starts. A resume compares it to detect changes.
import type { AgentPart } from "../facts/index.ts";
import { textHash } from "../facts/index.ts";
import type { EngineTool } from "../tools/index.ts";

/** The parts of a fingerprint, in order. */
const parts = ["model", "instructions", "tools"] as const satisfies readonly AgentPart[];

/** Returns 53 bits each for the model, the instructions and the tools, in hexadecimal. */
export function fingerprintOf(
	modelId: string,
	system: string | undefined,
	tools: readonly EngineTool[],
): string {
	const described = tools.map((tool) => [tool.name, tool.description, tool.parameters]);
	return [modelId, system ?? "", JSON.stringify(described)].map(textHash).join(".");
}

/** Describes the difference between two fingerprints; undefined if one is missing. */
export function agentChange(before: string, now: string): readonly AgentPart[] | undefined {
	if (before === now) return undefined;
	const [old, fresh] = [before.split("."), now.split(".")];
	// A fingerprint in another format cannot show what differs.
	if (old.length !== parts.length || fresh.length !== parts.length) return ["agent"];
	return parts.filter((_, at) => old[at] !== fresh[at]);
}
