// Checks options: their names, and the kinds of their values. An option that is misspelt, belongs to another library or has
// a value of another kind would silently have no effect, so it is refused (keeps I12).
import { HoldfastTypeError } from "./holdfast-error.ts";
import { nearest } from "./nearest.ts";

/**
 * What the value of an option must be. `"number"` is any number from 0, also `Infinity`. A list names the allowed texts.
 * `true` leaves the check to the code that reads the option.
 */
export type OptionKind =
	| true
	| "text"
	| "flag"
	| "number"
	| "function"
	| "object"
	| "list"
	| "texts"
	| "signal"
	| readonly string[];

/** The options that something has, with the kind of each. */
export type KnownOptions = ReadonlyMap<string, OptionKind>;

/**
 * Returns the names and kinds of a type's members. A member that is added to the type must be added here, or this does
 * not compile.
 */
export function optionNames<Options extends object>(
	kinds: Readonly<Record<keyof Options, OptionKind>>,
): KnownOptions {
	return new Map(Object.entries<OptionKind>(kinds));
}

/** The advice for an unknown name. */
export interface NameHints {
	/** The owner of the options, as in "`retry()` has no option …". */
	readonly of: string;
	/** Common wrong names, each with a sentence on what to write instead. */
	readonly instead?: Readonly<Record<string, string>> | undefined;
	/** Refuses missing options too. */
	readonly required?: true | undefined;
}

/**
 * Refuses unknown members of an options object, and members of a wrong kind.
 *
 * @param options The given object; `undefined` is allowed unless `required`. Names with the value `undefined` count, too.
 * @param known All allowed names.
 * @throws HoldfastError `invalid_option` with a message that says what to write, and for an unknown name
 * `data: { option, meant }`; also if `options` is not an object.
 */
export function checkOptions(
	options: object | undefined,
	known: KnownOptions | ReadonlySet<string>,
	{ of, instead, required }: NameHints,
): void {
	if (options === undefined && required === undefined) return;
	if (typeof options !== "object" || options === null || Array.isArray(options))
		throw new HoldfastTypeError("invalid_option", `${of} takes an object of options.`);
	for (const name of Object.keys(options)) {
		if (!known.has(name)) throw unknownOption(name, known, of, instead);
		if (known instanceof Map) checkKind(options, name, known.get(name), of);
	}
}

function checkKind(options: object, name: string, kind: OptionKind, of: string): void {
	if (kind === true) return;
	const value = (options as Readonly<Record<string, unknown>>)[name];
	if (value === undefined || isOfKind(value, kind)) return;
	throw new HoldfastTypeError(
		"invalid_option",
		`The option \`${name}\` of ${of} must be ${typeof kind === "string" ? described[kind] : oneOf(kind)}.`,
		{ data: { option: name } },
	);
}

function isOfKind(value: unknown, kind: Exclude<OptionKind, true>): boolean {
	switch (kind) {
		case "text":
			return typeof value === "string";
		case "flag":
			return typeof value === "boolean";
		case "number":
			return typeof value === "number" && value >= 0;
		case "function":
			return typeof value === "function";
		case "object":
			return typeof value === "object" && value !== null && !Array.isArray(value);
		case "list":
			return Array.isArray(value);
		case "texts":
			return Array.isArray(value) && value.every((each) => typeof each === "string");
		case "signal":
			return typeof (value as Partial<AbortSignal> | null)?.addEventListener === "function";
		default:
			return kind.includes(value as string);
	}
}

const described = {
	text: "a string",
	flag: "true or false",
	number: "a number from 0",
	function: "a function",
	object: "an object",
	list: "an array",
	texts: "an array of strings",
	signal: "an AbortSignal",
};

/** As in `"a", "b" or "c"`. */
function oneOf(texts: readonly string[]): string {
	const quoted = texts.map((text) => JSON.stringify(text));
	return quoted.length < 2 ? quoted.join() : `${quoted.slice(0, -1).join(", ")} or ${quoted.at(-1)}`;
}

function unknownOption(
	name: string,
	known: KnownOptions | ReadonlySet<string>,
	of: string,
	instead: NameHints["instead"],
): HoldfastTypeError {
	const shown = name.slice(0, 100);
	const elsewhere = instead !== undefined && Object.hasOwn(instead, name) ? instead[name] : undefined;
	const meant = elsewhere === undefined ? likelyMeant(name, known.keys()) : undefined;
	const hint =
		elsewhere ??
		(meant === undefined
			? (rightPlace(name) ?? `Known options: ${[...known.keys()].sort().join(", ")}.`)
			: `Did you mean \`${meant}\`?`);
	return new HoldfastTypeError("invalid_option", `${of} has no option \`${shown}\`. ${hint}`, {
		data: meant === undefined ? { option: shown } : { option: shown, meant },
	});
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
