// Options of a sandbox and of a run, parsed once.
import { availableParallelism } from "node:os";
import { resolve } from "node:path";
import {
	checkOptions,
	type DurationRange,
	durationFault,
	HoldfastError,
	longestForeignWait,
	optionNames,
} from "@holdfast/upp";
import { normalizePath } from "./graph.ts";
import type { CodeExecutionOptions, ReproducibleRun, SandboxOptions } from "./types.ts";

const codeExecutionNames = optionNames<CodeExecutionOptions>({
	execute: true,
	imports: true,
	modules: true,
	globals: true,
	language: true,
	memoryLimitBytes: true,
	timeLimitMs: true,
	filename: "text",
	report: true,
	reproducible: true,
});
const reproducibleNames = optionNames<ReproducibleRun>({ seed: true, now: true });
const executeNames = optionNames<NonNullable<CodeExecutionOptions["execute"]>>({ fn: true, args: true });

/** The limits of a sandbox with defaults applied. */
export interface Limits extends Required<Omit<SandboxOptions, "worker">> {
	readonly worker: string | URL | undefined;
}

/** The options of a run with defaults applied. */
export interface RunOptions {
	readonly fn: string;
	readonly args: readonly unknown[];
	readonly imports: ReadonlyMap<string, Readonly<Record<string, unknown>>>;
	readonly modules: ReadonlyMap<string, string>;
	readonly globals: Readonly<Record<string, unknown>>;
	readonly language: "javascript" | "typescript";
	readonly memoryLimitBytes: number;
	readonly timeLimitMs: number;
	readonly filename: string;
	readonly report: ((value: unknown) => void) | undefined;
	readonly reproducible: ReproducibleRun | undefined;
}

function invalid(message: string): HoldfastError {
	return new HoldfastError("invalid_code_options", message, { retryable: false });
}

function positive(name: string, value: number | undefined, otherwise: number): number {
	if (value === undefined) return otherwise;
	if (typeof value !== "number" || !Number.isFinite(value) || value <= 0)
		throw invalid(`${name} is ${String(value)}: give a positive number`);
	return value;
}

function duration(name: string, value: number | undefined, otherwise: number, range?: DurationRange): number {
	if (value === undefined) return otherwise;
	const fault = durationFault(value, range);
	if (fault !== undefined) throw invalid(`${name} is ${String(value)}: give ${fault}`);
	return value;
}

function timeLimit(value: number | undefined, otherwise: number): number {
	return duration("timeLimitMs", value, otherwise, { most: Number.POSITIVE_INFINITY });
}

/** @throws HoldfastError `invalid_code_options` */
export function readLimits(options: SandboxOptions): Limits {
	return {
		workers: Math.ceil(positive("workers", options.workers, Math.min(availableParallelism(), 4))),
		maxRuns: Math.ceil(positive("maxRuns", options.maxRuns, 64)),
		memoryLimitBytes: positive("memoryLimitBytes", options.memoryLimitBytes, 64 * 1024 * 1024),
		cpuLimitMs: duration("cpuLimitMs", options.cpuLimitMs, 30_000, { most: longestForeignWait }),
		worker: readWorker(options.worker),
		timeLimitMs: timeLimit(options.timeLimitMs, 600_000),
	};
}

function readWorker(worker: unknown): string | URL | undefined {
	if (worker === undefined || worker instanceof URL) return worker;
	if (typeof worker !== "string" || worker === "") throw invalid("worker must be a path or a file: URL");
	return worker.startsWith("file:") ? new URL(worker) : resolve(worker);
}

const identifier = /^[\p{ID_Start}$_][\p{ID_Continue}$\u200c\u200d]*$/u;
const reserved = new Set(
	"arguments await break case catch class const continue debugger default delete do else enum eval export extends false finally for function if implements import in instanceof interface let new null package private protected public return static super switch this throw true try typeof undefined NaN Infinity globalThis var void while with yield".split(
		" ",
	),
);

/** @throws HoldfastError `invalid_code_options` */
export function readRunOptions(source: unknown, options: CodeExecutionOptions, limits: Limits): RunOptions {
	if (typeof source !== "string") throw invalid("The source is not a string");
	checkOptions(options, codeExecutionNames, { of: "runCode()" });
	checkOptions(options.execute, executeNames, { of: "`execute` of runCode()" });
	const { execute = {}, imports = {}, modules = {}, globals = {}, language = "typescript", report } = options;
	if (language !== "typescript" && language !== "javascript")
		throw invalid(`language is "${String(language)}": give "typescript" or "javascript"`);
	if (report !== undefined && typeof report !== "function") throw invalid("report is not a function");
	if (execute.args !== undefined && !Array.isArray(execute.args))
		throw invalid("execute.args is not an array");
	if (execute.fn !== undefined && typeof execute.fn !== "string") throw invalid("execute.fn is not a string");
	for (const name of Object.keys(globals))
		if (!identifier.test(name) || reserved.has(name))
			throw invalid(`globals: "${name}" cannot be an identifier`);
	for (const [specifier, names] of Object.entries(imports))
		if (typeof names !== "object" || names === null)
			throw invalid(`imports: "${specifier}" is not an object of exports`);
	for (const [path, text] of Object.entries(modules))
		if (typeof text !== "string") throw invalid(`modules: "${path}" is not a source`);
	return {
		fn: execute.fn ?? "default",
		args: execute.args ?? [],
		imports: new Map(
			Object.entries(imports).filter(([specifier]) => !/^\.{0,2}\/|^\w[\w+.-]*:/.test(specifier)),
		),
		modules: readModules(modules),
		globals,
		language,
		memoryLimitBytes: positive("memoryLimitBytes", options.memoryLimitBytes, limits.memoryLimitBytes),
		timeLimitMs: timeLimit(options.timeLimitMs, limits.timeLimitMs),
		filename: String(options.filename ?? "<runCode>"),
		report,
		reproducible: readReproducible(options.reproducible),
	};
}

function readReproducible(given: ReproducibleRun | undefined): ReproducibleRun | undefined {
	if (given === undefined) return undefined;
	checkOptions(given, reproducibleNames, { of: "`reproducible` of runCode()" });
	const { seed, now } = given;
	if (!Number.isInteger(seed) || seed < 0 || seed >= 2 ** 32)
		throw invalid(`reproducible.seed is ${String(seed)}: give an integer from 0 to 4294967295`);
	if (!Number.isInteger(now) || now < 0 || now > 8_640_000_000_000_000)
		throw invalid(`reproducible.now is ${String(now)}: give milliseconds since the epoch`);
	return { seed, now };
}

/** Keys that are not relative paths can never be resolved, so they are dropped. */
function readModules(modules: Readonly<Record<string, string>>): ReadonlyMap<string, string> {
	const paths = new Map<string, string>();
	for (const [key, text] of Object.entries(modules)) {
		const path = /^\.{1,2}\//.test(key) ? normalizePath(key) : undefined;
		if (path !== undefined) paths.set(path, text);
	}
	return paths;
}
