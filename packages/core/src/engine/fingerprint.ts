// The fingerprint of an agent when a run starts. A resume compares it to detect changes.
import type { System } from "@holdfast/upp";
import type { AgentPart } from "../facts/index.ts";
import { systemHash, textHash } from "../facts/index.ts";
import type { EngineTool } from "../tools/index.ts";

/** The parts of a fingerprint, in order. */
const parts = ["model", "instructions", "tools"] as const satisfies readonly AgentPart[];

/** Returns 53 bits each for the model, the instructions and the tools, in hexadecimal. */
export function fingerprintOf(
	modelId: string,
	system: System | undefined,
	tools: readonly EngineTool[],
): string {
	return [textHash(modelId), systemHash(system), toolsPart(tools)].join(".");
}

/** Returns the part of a fingerprint that identifies the tools. */
export function toolsPart(
	tools: readonly { readonly name: string; readonly description: string; readonly parameters: unknown }[],
): string {
	return textHash(JSON.stringify(tools.map((tool) => [tool.name, tool.description, tool.parameters])));
}

/** Returns a fingerprint with other parts. `tools` is a `toolsPart`. */
export function fingerprintWith(
	before: string,
	{ modelId, system, tools }: { modelId?: string; system?: System; tools?: string },
): string {
	const [model = "", instructions = "", shown = ""] = before.split(".");
	return [
		modelId === undefined ? model : textHash(modelId),
		system === undefined ? instructions : systemHash(system),
		tools ?? shown,
	].join(".");
}

/** Returns the parts of a fingerprint; undefined if it has another format. */
export function readFingerprint(
	fingerprint: string,
): { readonly model: string; readonly instructions: string; readonly tools: string } | undefined {
	const [model = "", instructions = "", tools = "", ...rest] = fingerprint.split(".");
	return tools === "" || rest.length > 0 ? undefined : { model, instructions, tools };
}

/** Describes the difference between two fingerprints; undefined if one is missing. */
export function agentChange(before: string, now: string): readonly AgentPart[] | undefined {
	if (before === now) return undefined;
	const [old, fresh] = [before.split("."), now.split(".")];
	// A fingerprint in another format cannot show what differs.
	if (old.length !== parts.length || fresh.length !== parts.length) return ["agent"];
	return parts.filter((_, at) => old[at] !== fresh[at]);
}
