// The configuration of an agent, validated once on entry, with environment variables as defaults.
import { durationFault, HoldfastError } from "@holdfast/upp";
import type { AgentConfig, RuntimeFlags } from "../contract/index.ts";
import { faultOfDelays } from "../tools/index.ts";
import { faultsOfProtection } from "./read-protection.ts";

/** Settings of a runtime as a whole. */
export type Flags = Required<RuntimeFlags>;

/** The expected `typeof` of the parts that nothing else checks. */
const kinds = {
	memoryClient: "object",
	databaseClient: "object",
	promptStore: "object",
	score: "function",
	storeReasoning: "boolean",
	eventBus: "object",
	eventStore: "object",
	host: "object",
	ports: "object",
	onStepStart: "function",
	onModelTokens: "function",
	onToolCall: "function",
	onError: "function",
} as const satisfies Partial<Record<keyof AgentConfig, string>>;
const a = { object: "an object", boolean: "true or false", function: "a function" };

/**
 * Validates a configuration.
 * @throws HoldfastError `CONFIG_INVALID`, with every invalid path in `data.paths`.
 */
export function checkConfig(config: AgentConfig): void {
	if (typeof config !== "object" || config === null) throw invalid([["", "it is not an object"]]);
	const problems: (readonly [string, string])[] = [];
	const text = (name: "id" | "taskPrompt"): void => {
		if (typeof config[name] !== "string" || config[name].trim() === "")
			problems.push([name, "it is not a string, or empty"]);
	};
	text("id");
	text("taskPrompt");
	if (!Array.isArray(config.tools)) problems.push(["tools", "it is not a list"]);
	if (!Array.isArray(config.modelProviders)) problems.push(["modelProviders", "it is not a list"]);
	else if (config.planner === undefined && config.runner === undefined && config.modelProviders.length === 0)
		problems.push(["modelProviders", "the model planner needs at least one"]);
	if (!isLimit(config.maxSteps)) problems.push(["maxSteps", "it is not an integer of at least 1"]);
	for (const name of ["abortGraceMs", "shutdownTimeoutMs", "modelTimeoutMs"] as const) {
		const fault = durationFault(config[name] ?? 0, { least: 0, most: Number.POSITIVE_INFINITY });
		if (fault !== undefined) problems.push([name, `it must be ${fault}`]);
	}
	if (!isLimit(config.maxPlanRepairs === 0 ? 1 : config.maxPlanRepairs))
		problems.push(["maxPlanRepairs", "it is not a whole number of at least 0"]);
	const retryFault = faultOfDelays(config.retry);
	if (retryFault !== undefined) problems.push(["retry", `it has ${retryFault}`]);
	problems.push(...faultsOfProtection(config));
	for (const [name, kind] of Object.entries(kinds)) {
		const given = config[name as keyof typeof kinds] as unknown;
		if (given !== undefined && (given === null || typeof given !== kind))
			problems.push([name, `it must be ${a[kind]}`]);
	}
	const functions = {
		planner: "plan",
		reflector: "reflect",
		toolExecutor: "execute",
		runner: "run",
	} as const;
	for (const [name, method] of Object.entries(functions)) {
		const given = config[name as keyof typeof functions] as unknown as Record<string, unknown> | undefined;
		if (given !== undefined && typeof given?.[method] !== "function")
			problems.push([name, `it has no function \`${method}\``]);
	}
	if (problems.length > 0) throw invalid(problems);
}

/** @throws HoldfastError `CONFIG_INVALID`. */
export function checkMaxSteps(maxSteps: number | undefined): void {
	if (!isLimit(maxSteps)) throw invalid([["maxSteps", "it is not an integer of at least 1"]]);
}

function isLimit(value: unknown): boolean {
	return value === undefined || (Number.isInteger(value) && (value as number) >= 1);
}

/** Creates the error for the problems of a configuration, path by path. */
export function invalid(problems: readonly (readonly [path: string, why: string])[]): HoldfastError {
	const lines = problems.map(([path, why]) => `${path === "" ? "the configuration" : path}: ${why}`);
	return new HoldfastError("CONFIG_INVALID", `The configuration is invalid. ${lines.join("; ")}.`, {
		data: { paths: problems.map(([path]) => path) },
	});
}

/**
 * Returns the flags: those given, otherwise those of the environment, otherwise the closed defaults.
 * @throws HoldfastError `CONFIG_INVALID` for an invalid value in the environment.
 */
export function flagsOf(
	given: RuntimeFlags,
	environment: Readonly<Record<string, string | undefined>>,
): Flags {
	const problems: (readonly [string, string])[] = [];
	const read = <Value>(name: string, values: Readonly<Record<string, Value>>, unset: Value): Value => {
		const variable = `AGENT_RUNTIME_${name}`;
		const text = environment[variable];
		if (text === undefined || text === "") return unset;
		if (Object.hasOwn(values, text.toLowerCase())) return values[text.toLowerCase()] as Value;
		problems.push([variable, `${JSON.stringify(text)} is not one of ${Object.keys(values).join(", ")}`]);
		return unset;
	};
	const switches = { true: true, "1": true, false: false, "0": false };
	const inputs = { redacted: "redacted", exclude: "exclude", raw: "raw" } as const;
	const flags: Flags = {
		allowNetwork: given.allowNetwork ?? read("ALLOW_NETWORK", switches, false),
		allowShell: given.allowShell ?? read("ALLOW_SHELL", switches, false),
		allowDbWrites: given.allowDbWrites ?? read("ALLOW_DB_WRITES", switches, false),
		logToolInputs: given.logToolInputs ?? read<Flags["logToolInputs"]>("LOG_TOOL_INPUTS", inputs, "redacted"),
	};
	if (problems.length > 0) throw invalid(problems);
	return flags;
}
