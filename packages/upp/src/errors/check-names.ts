// Checks the names of options. An option that is misspelt, or belongs to another library, would silently have no effect,
// so it is refused (keeps I12).
import { HoldfastTypeError } from "./holdfast-error.ts";
import { nearest } from "./nearest.ts";

/**
 * Returns the names of a type's members as a set. A member that is added to the type must be added here, or this does not
 * compile.
 *
 * @param names Each member with `true`.
 */
export function optionNames<Options extends object>(
	names: Readonly<Record<keyof Options, true>>,
): ReadonlySet<string> {
	return new Set(Object.keys(names));
}

/** The advice for an unknown name. */
export interface NameHints {
	/** The owner of the options, as in "`retry()` has no option …". */
	readonly of: string;
	/** Common wrong names, each with a sentence on what to write instead. */
	readonly instead?: Readonly<Record<string, string>> | undefined;
}

/**
 * Refuses unknown members in an options object.
 *
 * @param options The given object; `undefined` is allowed. Names with the value `undefined` count, too.
 * @param known All allowed names.
 * @throws HoldfastError `invalid_option` with `data: { option, meant }` and a message that says what to write; also if
 * `options` is not an object.
 */
export function checkOptionNames(
	options: object | undefined,
	known: ReadonlySet<string>,
	{ of, instead }: NameHints,
): void {
	if (options === undefined) return;
	if (typeof options !== "object" || options === null || Array.isArray(options))
		throw new HoldfastTypeError("invalid_option", `${of} takes an object of options.`);
	for (const name of Object.keys(options)) {
		if (known.has(name)) continue;
		const shown = name.slice(0, 100);
		const elsewhere = instead !== undefined && Object.hasOwn(instead, name) ? instead[name] : undefined;
		const meant = elsewhere === undefined ? likelyMeant(name, known) : undefined;
		const hint =
			elsewhere ??
			(meant === undefined
				? (rightPlace(name) ?? `Known options: ${[...known].sort().join(", ")}.`)
				: `Did you mean \`${meant}\`?`);
		throw new HoldfastTypeError("invalid_option", `${of} has no option \`${shown}\`. ${hint}`, {
			data: meant === undefined ? { option: shown } : { option: shown, meant },
		});
	}
}

const ofModel = "Settings of a model belong in `params` of the agent, or of `llm()`.";
const stepLimit = "`maxSteps` of the agent limits its steps.";

/** Where options of other libraries belong, if they were passed to something that does not have them. */
const places: Readonly<Record<string, string>> = {
	instructions: "Instructions are the option `system` of the agent.",
	maxIterations: stepLimit,
	maxTokens: ofModel,
	memory: "Conversations are kept in `session(key)` of an agent, with its option `host`.",
	onStepFinish: "An agent has `strategy: { onStepEnd }`.",
	prompt: "The question belongs in the call that runs the agent, instructions in its option `system`.",
	providerOptions: ofModel,
	schema: "The schema of an answer is the option `output` of the agent or of its call.",
	stopWhen: stepLimit,
	store: "Sessions are kept by the option `host` of the agent, as in `host: sqliteHost(path)`.",
	temperature: ofModel,
	timeout: "A model call has `config: { timeout }`, a tool `timeoutMs`, and a run the signal of its call.",
};

function rightPlace(name: string): string | undefined {
	return Object.hasOwn(places, name) ? places[name] : undefined;
}

/** Returns the name that was probably meant by an unknown one; undefined if none is close. */
function likelyMeant(name: string, known: Iterable<string>): string | undefined {
	return name.length < 3 || name.length > 100 ? undefined : nearest(name, known, name.length < 6 ? 1 : 2);
}
