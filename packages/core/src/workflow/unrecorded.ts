// Reports, in development, what the code of a workflow uses outside of steps although it is not recorded: the clock, random
// numbers, timers and requests. Nothing is replaced until `warnOfUnrecorded` is called, so it costs nothing in production.
//
// The replacements call the originals. They look for the workflow in an AsyncLocalStorage, which is set only within the
// workflow's code. Other code of the process, the functions of steps, and other workflows are unaffected.
import { HoldfastError } from "@holdfast/upp";
import type { Warn } from "../host/index.ts";

/** The workflow whose code is running. */
export interface RunningCode {
	readonly name: string;
	readonly warn: Warn;
	/** Lines that were reported, for all runs of the workflow. */
	readonly seen: Set<string>;
}

interface Storage {
	run<T>(code: RunningCode | undefined, work: () => T): T;
	getStore(): RunningCode | undefined;
}

let storage: Storage | undefined;
/** Restores the originals; undefined unless they are replaced. */
let restore: (() => void) | undefined;

/** Runs the code of a workflow so that its use of unrecorded values is reported. */
export function asCode<T>(code: RunningCode, work: () => T): T {
	return storage === undefined ? work() : storage.run(code, work);
}

/** Runs work of the runtime that the code of a workflow called. */
export function outsideCode<T>(work: () => T): T {
	return storage === undefined ? work() : storage.run(undefined, work);
}

/**
 * Warns if the code of a workflow uses `Date`, `Math.random`, `crypto`, timers, `performance.now` or `fetch` outside of a step. Each line
 * is reported once, with the warning `workflow_unrecorded`, to the workflow's `onWarning`. Call it at the start of your
 * program in development: it replaces these globals with functions that look for a running workflow and then call the
 * originals. On platforms without `AsyncLocalStorage`, it has no effect.
 *
 * Returns a function that restores the globals.
 * @example
 * ```ts
 * import { warnOfUnrecorded, workflow } from "holdfast/workflow";
 *
 * if (process.env.NODE_ENV === "development") warnOfUnrecorded();
 * ```
 */
export function warnOfUnrecorded(): () => void {
	if (restore !== undefined) return () => {};
	storage = makeStorage();
	if (storage === undefined) return () => {};
	const restores: (() => void)[] = [];
	const replace = (of: object, member: string, instead: string): void => {
		const owner = of as Record<string, unknown>;
		const original = owner[member];
		if (typeof original !== "function") return;
		const name = of === globalThis ? member : `${nameOf(of)}.${member}`;
		const replaced = function (this: unknown, ...given: unknown[]): unknown {
			check(name, instead, replaced);
			return original.apply(this, given);
		};
		Object.assign(replaced, original);
		const before = Object.getOwnPropertyDescriptor(of, member);
		Object.defineProperty(of, member, { value: replaced, configurable: true, writable: true });
		restores.push(() => {
			if (before === undefined) delete owner[member];
			else Object.defineProperty(of, member, before);
		});
	};
	for (const [of, members, instead] of watched) for (const member of members) replace(of, member, instead);
	restores.push(replaceDate());
	restore = () => {
		for (const each of restores) each();
		restore = undefined;
		storage = undefined;
	};
	return restore;
}

const steps = "a `flow.step()`";
const watched: readonly (readonly [of: object, members: readonly string[], instead: string])[] = [
	[Math, ["random"], "`flow.random()`"],
	[crypto, ["randomUUID"], "`flow.uuid()`"],
	[crypto, ["getRandomValues"], steps],
	[performance, ["now"], "`flow.now()`"],
	[globalThis, ["setTimeout", "setInterval", "setImmediate"], "`flow.sleep()`"],
	[globalThis, ["fetch"], steps],
];

function nameOf(of: object): string {
	return of === Math ? "Math" : of === crypto ? "crypto" : "performance";
}

/** `new Date()` and `Date.now()`; dates that are built from a value are plain computation. */
function replaceDate(): () => void {
	const original = Date;
	const now = (): number => {
		check("Date.now", "`flow.now()`", now);
		return original.now();
	};
	const handler: ProxyHandler<DateConstructor> = {
		construct(target, given, as) {
			if (given.length === 0) check("new Date", "`flow.now()`", handler.construct as unknown as () => void);
			return Reflect.construct(target, given, as) as object;
		},
		get: (target, name) => (name === "now" ? now : Reflect.get(target, name)),
	};
	globalThis.Date = new Proxy(original, handler);
	return () => {
		globalThis.Date = original;
	};
}

/** Reports the line that called `below`, if it belongs to a workflow's code. */
function check(what: string, instead: string, below: (...given: never[]) => unknown): void {
	const code = storage?.getStore();
	if (code === undefined) return;
	const line = outsideCode(() => lineAbove(below));
	const key = `${what} ${line}`;
	if (code.seen.has(key)) return;
	code.seen.add(key);
	const error = new HoldfastError(
		"workflow_unrecorded",
		`The code of the workflow ${JSON.stringify(code.name)} uses \`${what}\` outside of a step, ${line}. It may have another value when the code runs again after a crash. Use ${instead}.`,
		{ data: { workflow: code.name, what, line } },
	);
	outsideCode(() => code.warn(error));
}

function lineAbove(below: (...given: never[]) => unknown): string {
	const about: { stack?: string } = {};
	Error.captureStackTrace?.(about, below);
	const [, line = "at an unknown position"] = (about.stack ?? "").split("\n");
	return line.trim();
}

function makeStorage(): Storage | undefined {
	const { process } = globalThis as { process?: { getBuiltinModule?(name: string): unknown } };
	const hooks = process?.getBuiltinModule?.("node:async_hooks") as
		| { readonly AsyncLocalStorage: new () => Storage }
		| undefined;
	return hooks === undefined ? undefined : new hooks.AsyncLocalStorage();
}
