// The names of options. An option that is misspelt, or that belongs to another library, would have no effect, and nothing
// would report it: it is refused where it is given (keeps I12).
import { HoldfastTypeError } from "./holdfast-error.ts";
import { nearest } from "./nearest.ts";

/**
 * The names of a type's members as a set. A member that is added to the type must be added here, or this does not compile.
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
	/** Names that people try first, and a sentence on what to write instead. */
	readonly instead?: Readonly<Record<string, string>> | undefined;
}

/**
 * Refuses members that an object of options does not have.
 *
 * @param options The object as it was given. Names with the value `undefined` count, too.
 * @param known Every name that it may have.
 * @throws HoldfastError `invalid_option` with `data: { option, meant }` and a message that says what to write.
 */
export function checkOptionNames(
	options: object,
	known: ReadonlySet<string>,
	{ of, instead }: NameHints,
): void {
	for (const name of Object.keys(options)) {
		if (known.has(name)) continue;
		const shown = name.slice(0, 100);
		const elsewhere = instead !== undefined && Object.hasOwn(instead, name) ? instead[name] : undefined;
		const meant = elsewhere === undefined ? likelyMeant(name, known) : undefined;
		const hint =
			elsewhere ??
			(meant === undefined
				? `Known options: ${[...known].sort().join(", ")}.`
				: `Did you mean \`${meant}\`?`);
		throw new HoldfastTypeError("invalid_option", `${of} has no option \`${shown}\`. ${hint}`, {
			data: meant === undefined ? { option: shown } : { option: shown, meant },
		});
	}
}

/** The name that was probably meant by one that does not exist; undefined when none is close. */
function likelyMeant(name: string, known: Iterable<string>): string | undefined {
	return name.length < 3 || name.length > 100 ? undefined : nearest(name, known, name.length < 6 ? 1 : 2);
}
