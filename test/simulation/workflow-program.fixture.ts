// Random programs of workflows, and what each of them may return or throw. It is known without running them.
import type { Draws } from "./gates.fixture.ts";

/** A program. Names are unique within a world. */
export type Program =
	| { readonly does: Simple; readonly name: string }
	| { readonly does: "child" | "spawn" | "cancel"; readonly program: Program }
	| {
			readonly does: Joining;
			readonly name: string;
			readonly parts: readonly Program[];
			readonly shares: boolean;
	  }
	| { readonly does: "sequence"; readonly parts: readonly Program[] }
	| { readonly does: "try"; readonly program: Program };

type Simple = (typeof everywhere)[number] | (typeof inParent)[number];
type Joining = "all" | "allSettled" | "race" | "any";

const everywhere = [
	"step",
	"undoable",
	"retried",
	"failing",
	"once",
	"reconciled",
	"slow",
	"sleep",
	"log",
	"approve",
	"tool",
	"askedTool",
	"failingTool",
	"model",
	"agent",
	"tell",
	"throw",
] as const;
/** Programs that wait for events of the parent's session. */
const inParent = ["event", "timeout", "message", "version"] as const;
/** Programs that are drawn rarely, because they end what follows. */
const ending: ReadonlySet<string> = new Set(["failing", "failingTool", "throw"]);

/** Programs whose names begin with their kind, so that checks know it. */
const isNamedByKind: ReadonlySet<string> = new Set(["undoable", "retried", "failing", "slow"]);

/** How an outcome is described: a value, or a code that was thrown. */
export type Outcome = { readonly value: unknown } | { readonly code: string };

/** Where a program is drawn. */
interface Place {
	readonly depth: number;
	readonly isChild: boolean;
	/** False where the code may continue although the program has not ended: a spawned child would be left open. */
	readonly isAwaited: boolean;
	/** Whether its calls share a branch with concurrent ones. A change of the code could then reorder them. */
	readonly shares: boolean;
	/** Whether it is part of a race, which a change of the code could give another winner. */
	readonly isRaced?: true;
}

/** Draws a program. */
export function drawProgram(draws: Draws): Program {
	let names = 0;
	const named = (): string => `${String.fromCharCode(97 + draws.below(4))}${++names}`;
	const draw = (place: Place): Program => {
		const { depth, isChild } = place;
		const below = { ...place, depth: depth - 1 };
		const parts = (more: Partial<Place> = {}): Program[] =>
			Array.from({ length: 2 + draws.below(3) }, () => draw({ ...below, ...more }));
		if (depth > 0 && draws.chance(70)) {
			const kind = draws.below(100);
			const shares = draws.chance(30);
			const joined = { shares: shares || place.shares };
			if (kind < 30) return { does: "sequence", parts: parts() };
			if (kind < 50) return { does: "all", name: named(), parts: parts(joined), shares };
			const isAwaited = false;
			if (kind < 60)
				return { does: "allSettled", name: named(), parts: parts({ ...joined, isAwaited }), shares };
			const raced = { ...joined, isAwaited, isRaced: true } as const;
			if (kind < 70) return { does: "race", name: named(), parts: parts(raced), shares };
			if (kind < 75) return { does: "any", name: named(), parts: parts(raced), shares };
			if (kind < 85) return { does: "try", program: draw({ ...below, isAwaited }) };
			const program = isChild
				? undefined
				: draw({ depth: depth - 1, isChild: true, isAwaited: true, shares: false });
			if (program !== undefined && place.isAwaited && kind < 95)
				return { does: draws.pick(["spawn", "cancel"] as const), program };
			if (program !== undefined) return { does: "child", program };
		}
		const simple = [...everywhere, ...(isChild ? [] : inParent)];
		const does = draws.pick(simple);
		if (does === "version" && (place.shares || place.isRaced === true))
			return { does: "step", name: named() };
		if (isNamedByKind.has(does)) return { does, name: `${does} ${named()}` };
		return { does: ending.has(does) && draws.chance(60) ? "step" : does, name: named() };
	};
	return draw({ depth: 4, isChild: false, isAwaited: true, shares: false });
}

/** Whether a person approves what has this name. */
export function isApproved(name: string): boolean {
	return name.charCodeAt(0) % 2 === 0;
}

/** Whether undoing the step with this name fails. */
export function failsToUndo(name: string): boolean {
	return name.endsWith("9");
}

/** Facts about a world that its outcomes depend on. */
export interface Circumstances {
	/** Whether the first workers run the code without its later changes. */
	readonly beganWithEarlierCode: boolean;
	/** Whether a worker has died. */
	readonly hasDeaths: boolean;
}

/** Whether a program may return the value. */
export function mayReturn(program: Program, value: unknown, about: Circumstances): boolean {
	switch (program.does) {
		case "step":
		case "undoable":
		case "retried":
		case "once":
		case "reconciled":
		case "slow":
		case "tool":
			return value === `did ${program.name}`;
		case "failing":
		case "failingTool":
		case "throw":
			return false;
		case "askedTool":
			return isApproved(program.name) && value === `did ${program.name}`;
		case "model":
			return value === `said ${program.name}`;
		case "agent":
			return value === `wrote ${program.name}: ${isApproved(program.name) ? "did" : "denied"}`;
		case "sleep":
			return value === "slept";
		case "log":
			return value === "logged";
		case "tell":
			return value === `told ${program.name}`;
		case "approve":
			return value === isApproved(program.name);
		case "event":
			return value === `payload of ${program.name}`;
		case "timeout":
			return value === "late" || value === `payload of ${program.name}`;
		case "message":
			return same(value, [`told ${program.name}`, `heard ${program.name}`]);
		case "version":
			return value === "changed" || (value === "earlier" && about.beganWithEarlierCode);
		case "child":
		case "spawn":
			return mayReturn(program.program, value, about);
		case "cancel":
			return value === "ended: tool_call_failed" || mayReturn(program.program, value, about);
		case "sequence":
		case "all":
			return isList(value, program.parts, (part, each) => mayReturn(part, each, about));
		case "allSettled":
			return isList(value, program.parts, (part, each) => {
				// In a race, the value may be that of another part.
				if (typeof each !== "object" || each === null) return false;
				const outcome = each as Outcome;
				return "code" in outcome
					? mayThrow(part, outcome.code, about)
					: mayReturn(part, outcome.value, about);
			});
		case "race":
		case "any": {
			const { wonBy, value: won } = (value ?? {}) as { readonly wonBy?: unknown; readonly value?: unknown };
			return wonBy === program.name && program.parts.some((part) => mayReturn(part, won, about));
		}
		case "try": {
			if (mayReturn(program.program, value, about)) return true;
			const caught = typeof value === "string" && /^caught (\w+)$/.exec(value)?.[1];
			return typeof caught === "string" && mayThrow(program.program, caught, about);
		}
		default:
			return program satisfies never;
	}
}

/** Whether a program may throw an error with this code. */
export function mayThrow(program: Program, code: string, about: Circumstances): boolean {
	switch (program.does) {
		case "failing":
			return code === `failed_${program.name.split(" ").at(-1)}`;
		case "throw":
			return code === `thrown_${program.name}`;
		case "once":
			return code === "step_outcome_unknown" && about.hasDeaths;
		case "slow":
			return code === "step_timeout";
		case "failingTool":
			return code === "tool_call_failed";
		case "askedTool":
			return code === "tool_call_failed" && !isApproved(program.name);
		case "child":
		case "spawn":
			return code === "tool_call_failed" && canFail(program.program);
		case "sequence":
		case "all":
		case "race":
			return program.parts.some((part) => mayThrow(part, code, about));
		case "any":
			return code === "none_returned" && program.parts.every(canFail);
		default:
			return false;
	}
}

/** Whether a program may throw at all. */
function canFail(program: Program): boolean {
	switch (program.does) {
		case "failing":
		case "throw":
		case "once":
		case "slow":
		case "failingTool":
			return true;
		case "askedTool":
			return !isApproved(program.name);
		case "child":
		case "spawn":
			return canFail(program.program);
		case "sequence":
		case "all":
		case "race":
			return program.parts.some(canFail);
		case "any":
			return program.parts.every(canFail);
		default:
			return false;
	}
}

/** The programs that have surely run to their end if this one has returned. */
export function certainParts(program: Program): readonly Program[] {
	switch (program.does) {
		case "sequence":
		case "all":
			return program.parts.flatMap(certainParts);
		case "child":
		case "spawn":
			return certainParts(program.program);
		default:
			return [program];
	}
}

/** All programs within a program, and itself. `ofParent`: without those of children. */
export function partsOf(program: Program, ofParent?: "of parent"): readonly Program[] {
	if ("parts" in program) return [program, ...program.parts.flatMap((part) => partsOf(part, ofParent))];
	if (!("program" in program)) return [program];
	if (ofParent !== undefined && program.does !== "try") return [program];
	return [program, ...partsOf(program.program, ofParent)];
}

/** Names of the events that others must send. */
export function eventsOf(program: Program): readonly string[] {
	return partsOf(program, "of parent").flatMap((part) =>
		part.does === "event" || part.does === "timeout" ? [part.name] : [],
	);
}

function isList(
	value: unknown,
	parts: readonly Program[],
	isOf: (part: Program, value: unknown) => boolean,
): boolean {
	return (
		Array.isArray(value) && value.length === parts.length && parts.every((part, at) => isOf(part, value[at]))
	);
}

function same(one: unknown, other: unknown): boolean {
	return JSON.stringify(one) === JSON.stringify(other);
}
