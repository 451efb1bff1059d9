// The fingerprint of an agent: what a run was begun with, so that its resume can know what has changed.
import type { AgentPart } from "../facts/index.ts";
import { textHash } from "../facts/index.ts";
import type { EngineTool } from "../tools/index.ts";

/** Parts of a fingerprint, in their order. */
const parts = ["model", "instructions", "tools"] as const satisfies readonly AgentPart[];

/** 53 bits each of the model, the instructions and the tools, in hexadecimal. */
export function fingerprintOf(
	modelId: string,
	system: string | undefined,
	tools: readonly EngineTool[],
): string {
	const described = tools.map((tool) => [tool.name, tool.description, tool.parameters]);
	return [modelId, system ?? "", JSON.stringify(described)].map(textHash).join(".");
}

/** What differs between two fingerprints; undefined when nothing does. */
export function agentChange(before: string, now: string): readonly AgentPart[] | undefined {
	if (before === now) return undefined;
	const [old, fresh] = [before.split("."), now.split(".")];
	// One that is made in another way does not say what is different.
	if (old.length !== parts.length || fresh.length !== parts.length) return ["agent"];
	return parts.filter((_, at) => old[at] !== fresh[at]);
}
