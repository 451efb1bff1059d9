// The option `system`: a text, parts, or a function of session and caller that returns either.
import {
	after,
	HoldfastError,
	HoldfastTypeError,
	hasCachedPart,
	type MaybePromise,
	messageOf,
	readSystem,
	type System,
} from "@holdfast/upp";
import type { EngineAgent, SystemRequest } from "../engine/index.ts";
import type { CacheOption } from "./cache-policy.ts";

/**
 * Returns the system prompt of a run. It is called once for each run, before the run starts, and its result is recorded:
 * a run that is resumed, in any process, is sent the same text. If it throws, the run fails with its error; if it returns
 * anything but a system prompt, the run fails with `invalid_system`.
 */
export type SystemFunction = (run: SystemRequest) => MaybePromise<System>;

/** The value of the option `system`. */
export type SystemOption = System | SystemFunction;

/** @throws HoldfastError `invalid_option` for an invalid system prompt; `conflicting_options` if it needs the cache. */
export function checkSystem(given: unknown, name: string, cache: unknown): void {
	if (typeof given === "function") return;
	if (typeof given !== "string" && !Array.isArray(given))
		throw new HoldfastTypeError(
			"invalid_option",
			`The option \`${name}\` must be a string, a list of parts such as {text, cache: true}, or a function that returns either.`,
		);
	checkCached(readSystem(given, name), cache);
}

/** Returns a system prompt that is the same for all runs; undefined if a function returns it. */
export function fixedSystem(option: SystemOption | undefined): System | undefined {
	return option === undefined || typeof option === "function" ? undefined : readSystem(option, "system");
}

/** Returns the engine's form of a function. */
export function instructing(
	option: SystemFunction,
	cache: CacheOption | undefined,
): NonNullable<EngineAgent["instruct"]> {
	return (run) =>
		after(option(run), (given) => {
			const system = checked(given);
			checkCached(system, cache);
			return system;
		});
}

/** A section after the system prompt: a text, or a function that is called with the one of the option. */
export type Section = string | ((run: SystemRequest) => MaybePromise<string>);

/** Returns the option with sections after it. */
export function withSections(
	option: SystemOption | undefined,
	sections: readonly Section[],
): SystemOption | undefined {
	if (sections.length === 0) return option;
	const texts = sections.filter((section) => typeof section === "string");
	if (texts.length < sections.length) return (run) => joinedFor(run, option, sections);
	if (typeof option === "function")
		return (run) => after(option(run), (given) => joined(checked(given), texts));
	return option === undefined ? texts.join("\n\n") : joined(option, texts);
}

async function joinedFor(
	run: SystemRequest,
	option: SystemOption | undefined,
	sections: readonly Section[],
): Promise<System> {
	const given = typeof option === "function" ? checked(await option(run)) : option;
	const texts: string[] = [];
	for (const section of sections) {
		const text = typeof section === "string" ? section : await section(run);
		if (typeof text !== "string")
			throw new HoldfastError(
				"invalid_system",
				"A function that a plugin gave to `host.instructions` returned no text. Return a string.",
			);
		if (text !== "") texts.push(text);
	}
	return given === undefined ? texts.join("\n\n") : joined(given, texts);
}

function joined(system: System, sections: readonly string[]): System {
	if (typeof system === "string") return [system, ...sections].join("\n\n");
	return [...system, ...sections.map((text) => ({ text }))];
}

function checked(given: unknown): System {
	try {
		return readSystem(given, "system");
	} catch (cause) {
		const why = messageOf(cause).replace(/^The option `system/, "`system");
		throw new HoldfastError(
			"invalid_system",
			`The function \`system\` returned an invalid system prompt: ${why}`,
			{ cause },
		);
	}
}

function checkCached(system: System, cache: unknown): void {
	if (cache !== "off" || !hasCachedPart(system)) return;
	throw new HoldfastError(
		"conflicting_options",
		'A part of `system` has `cache`, and the option `cache` is "off". Leave one of them out.',
	);
}
