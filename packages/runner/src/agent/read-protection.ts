// Protective options: an unknown name or a value of a wrong type would leave the agent unprotected, so each is refused
// when the agent is created.
import { durationFault } from "@holdfast/upp";
import type { AgentConfig } from "../contract/index.ts";

type Fault = readonly [path: string, why: string];
/** Returns why a value is refused; undefined if it is valid. */
type Check = (value: unknown) => string | undefined;
type Checks = Readonly<Record<string, Check>>;

const boolean: Check = (value) => (typeof value === "boolean" ? undefined : "must be true or false");
const action: Check = (value) => (typeof value === "function" ? undefined : "must be a function");
const count: Check = (value) =>
	Number.isInteger(value) && (value as number) >= 0 ? undefined : "must be a whole number from 0";
const duration: Check = (value) => {
	const fault = durationFault(value, { most: Number.POSITIVE_INFINITY });
	return fault === undefined ? undefined : `must be ${fault}`;
};
const texts: Check = (value) =>
	Array.isArray(value) && value.every((each) => typeof each === "string")
		? undefined
		: "must be a list of strings";
const matcher: Check = (value) =>
	(typeof value === "string" && value !== "") || value instanceof RegExp || typeof value === "function"
		? undefined
		: "must be a string, a pattern or a function";
const oneOf =
	(...choices: readonly string[]): Check =>
	(value) =>
		choices.includes(value as string) ? undefined : `must be one of ${choices.join(", ")}`;
const listOf =
	(check: Check): Check =>
	(value) => {
		if (!Array.isArray(value)) return "must be a list";
		for (const [at, each] of value.entries()) {
			const why = check(each);
			if (why !== undefined) return `entry ${at} ${why}`;
		}
		return undefined;
	};
const recordOf =
	(check: Check): Check =>
	(value) => {
		if (!isRecord(value)) return "must be an object";
		for (const [name, each] of Object.entries(value)) {
			const why = check(each);
			if (why !== undefined) return `${JSON.stringify(name)} ${why}`;
		}
		return undefined;
	};
const members =
	(checks: Checks, required: readonly string[]): Check =>
	(value) => {
		if (!isRecord(value)) return "must be an object";
		const missing = required.find((name) => value[name] === undefined);
		if (missing !== undefined) return `has no \`${missing}\``;
		const [fault] = faultsOf("", value, checks);
		return fault && `has a wrong \`${fault[0]}\`: ${fault[1]}`;
	};

const safety: Checks = {
	toolAllowlist: texts,
	toolDenylist: texts,
	requestRateLimit: recordOf(members({ max: count, windowMs: duration }, ["max", "windowMs"])),
	contentFilter: listOf(matcher),
	sanitizers: listOf(action),
	writeFilters: listOf(
		members(
			{
				match: matcher,
				action: oneOf("redact", "drop"),
				rule: (value) => (typeof value === "string" ? undefined : "must be a string"),
			},
			["match", "action"],
		),
	),
	policyEngine: (value) =>
		typeof (value as { check?: unknown } | null)?.check === "function"
			? undefined
			: "has no function `check`",
	policyTimeoutMs: duration,
	safetyBudget: count,
	auditSink: (value) =>
		typeof (value as { write?: unknown } | null)?.write === "function"
			? undefined
			: "has no function `write`",
	secrets: texts,
	rbac: members({ roles: texts, permissions: recordOf(texts) }, ["roles", "permissions"]),
};

const known = [
	...[
		"id",
		"taskPrompt",
		"tools",
		"modelProviders",
		"memoryClient",
		"databaseClient",
		"promptStore",
		"maxSteps",
	],
	...["planner", "reflector", "toolExecutor", "runner", "goalMet", "safety", "enableTools", "retry", "score"],
	...["modelTimeoutMs", "maxPlanRepairs", "storeReasoning", "eventBus", "eventStore", "host", "ports"],
	...["abortGraceMs", "shutdownTimeoutMs", "allowNetwork", "allowShell", "allowDbWrites", "logToolInputs"],
	...["onStepStart", "onModelTokens", "onToolCall", "onError"],
];

const ofAgent: Checks = {
	...Object.fromEntries(known.map((name) => [name, () => undefined])),
	safety: (value) => (isRecord(value) ? undefined : "must be an object"),
	enableTools: texts,
	allowNetwork: boolean,
	allowShell: boolean,
	allowDbWrites: boolean,
	logToolInputs: oneOf("redacted", "exclude", "raw"),
	goalMet: action,
};

/** Finds unknown names in a configuration and invalid values of protective options. */
export function faultsOfProtection(config: AgentConfig): readonly Fault[] {
	const given = isRecord(config.safety) ? faultsOf("safety.", config.safety, safety) : [];
	return [...faultsOf("", config as unknown as Record<string, unknown>, ofAgent), ...given];
}

function faultsOf(place: string, given: Readonly<Record<string, unknown>>, checks: Checks): readonly Fault[] {
	return Object.entries(given).flatMap(([name, value]): Fault[] => {
		if (!Object.hasOwn(checks, name))
			return [[`${place}${name}`, `is unknown. Known names: ${Object.keys(checks).sort().join(", ")}`]];
		const why = value === undefined ? undefined : checks[name]?.(value);
		return why === undefined ? [] : [[`${place}${name}`, why]];
	});
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
	return typeof value === "object" && value !== null && !Array.isArray(value);
}
