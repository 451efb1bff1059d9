// Names that look like misspelt options. The open factory passes on what it does not know, so an agent whose `instruction`
// nobody reads would work, and say the wrong things.
import { HoldfastError } from "@holdfast/upp";
import { nearest } from "../schema/index.ts";

/** What options are called elsewhere, and the usual slips. The compiler knows these, too. */
const calledOtherwise = {
	checkpoint: "checkpoints",
	checkpointer: "checkpoints",
	instruction: "instructions",
	languageModel: "model",
	llm: "model",
	maxStep: "maxSteps",
	maxTurns: "maxSteps",
	max_steps: "maxSteps",
	middlewares: "middleware",
	outputSchema: "output",
	outputType: "output",
	output_schema: "output",
	output_type: "output",
	plugin: "plugins",
	subAgent: "subagents",
	subAgents: "subagents",
	sub_agents: "subagents",
	subagent: "subagents",
	systemMessage: "system",
	systemPrompt: "system",
	system_prompt: "system",
	tool: "tools",
	toolSet: "tools",
	toolset: "tools",
} as const;

/** What the compiler answers to a name that an option does not have. */
type Called<Right extends string> = `This option is called \`${Right}\`.`;

/** Options under names that they do not have. */
export type MisspeltOptions = {
	readonly [Wrong in keyof typeof calledOtherwise]?: Called<(typeof calledOtherwise)[Wrong]>;
};

/**
 * Refuses names that look like misspelt ones. One whose option is given as well is meant as it is.
 * @throws HoldfastError `invalid_option`.
 */
export function refuseMisspelt(options: object, known: ReadonlySet<string>): void {
	for (const name of Object.keys(options)) {
		if (known.has(name)) continue;
		const meant = meantBy(name, known);
		if (meant === undefined || Object.hasOwn(options, meant)) continue;
		throw new HoldfastError(
			"invalid_option",
			`There is no option \`${name}\`. It looks like \`${meant}\`: write that. What is meant for the model alone goes into \`params\`.`,
			{ data: { option: name, meant } },
		);
	}
}

/** The option that is probably meant by a name that none has; undefined where it looks like no slip. */
export function meantBy(name: string, known: ReadonlySet<string>): string | undefined {
	if (Object.hasOwn(calledOtherwise, name)) return calledOtherwise[name as keyof typeof calledOtherwise];
	if (name.length < 4) return undefined;
	const meant = nearest(name, known, name.length < 6 ? 1 : 2);
	// A `session` is something else than a `sessionId`, and no slip.
	const isWord = meant?.startsWith(name) === true && /^[A-Z]/.test(meant.slice(name.length));
	return isWord ? undefined : meant;
}
