// The stage `admit`: each fact of an append goes through every interceptor that admits, in order, and comes out as it is
// committed, with the notes that share the append.
import { HoldfastError, isHoldfastError } from "@holdfast/upp";
import type { Fact, Noted } from "../facts/index.ts";
import type { MaybePromise } from "../host/index.ts";
import { faultOf, faultOfNote } from "./check-admitted.ts";
import { DeltaGate } from "./delta-gate.ts";
import type { Admission, AuditNote, DeltaStage, Stages } from "./interceptor.ts";
import { type NamedStages, policyInvalid } from "./join-stages.ts";

/** What the facts and the deltas of a run go through. */
export interface Admitting {
	/** The facts to commit in place of these. `step` is that of the run. Throws what an interceptor refused with. */
	facts(given: readonly Fact[], step: number): MaybePromise<readonly Fact[]>;
	/** What the deltas go through; absent where none may be emitted before its fact. */
	readonly deltas?: DeltaGate | undefined;
}

interface Admitter {
	readonly name: string;
	readonly admit: NonNullable<Stages["admit"]>;
}

/** What a list admits through; undefined when nobody in it admits. */
export function admittingOf(list: readonly NamedStages[]): Admitting | undefined {
	const admitting = list.filter(({ stages }) => stages.admit !== undefined);
	if (admitting.length === 0) return undefined;
	const admitters = admitting.map(({ name, stages }): Admitter => {
		const admit = stages.admit as NonNullable<Stages["admit"]>;
		return { name, admit: (fact) => admit.call(stages, fact) };
	});
	return {
		facts: (given, step) => admitAll(admitters, given, step),
		deltas: gateOf(admitting),
	};
}

/** Undefined where an `admit` does not say what it does to deltas: then they wait for the fact. */
function gateOf(admitting: readonly NamedStages[]): DeltaGate | undefined {
	const gated: DeltaStage[] = [];
	for (const { name, stages } of admitting) {
		const { deltas } = stages;
		if (deltas === undefined) return undefined;
		if (deltas === "as-is") continue;
		gated.push({
			push: (delta) => guarded(name, "deltas", () => deltas.push(delta)),
			flush: (source) => guarded(name, "deltas", () => deltas.flush(source)),
		});
	}
	return new DeltaGate(gated);
}

/** What an interceptor gives, at once or later; what it throws names it. */
function guarded<T>(name: string, stage: string, call: () => MaybePromise<T>): MaybePromise<T> {
	try {
		const given = call();
		if (!(given instanceof Promise)) return given;
		return given.catch((error) => {
			throw refusal(name, stage, error);
		});
	} catch (error) {
		throw refusal(name, stage, error);
	}
}

/** One fact after the other; a promise only from the first admitter that needs time. */
function admitAll(
	admitters: readonly Admitter[],
	facts: readonly Fact[],
	step: number,
): MaybePromise<readonly Fact[]> {
	const admitted: Fact[] = [];
	for (let at = 0; at < facts.length; at++) {
		const given = facts[at] as Fact;
		const came = admitOne(admitters, 0, { fact: given, notes: [] });
		if (came instanceof Promise) {
			const rest = async (): Promise<readonly Fact[]> => {
				place(admitted, await came, step);
				return [...admitted, ...(await admitAll(admitters, facts.slice(at + 1), step))];
			};
			return rest();
		}
		place(admitted, came, step);
	}
	return admitted;
}

interface Passed {
	readonly fact: Fact;
	readonly notes: readonly AuditNote[];
}

function admitOne(admitters: readonly Admitter[], from: number, given: Passed): MaybePromise<Passed> {
	let passed = given;
	for (let at = from; at < admitters.length; at++) {
		const admitter = admitters[at] as Admitter;
		const { name, admit } = admitter;
		const { fact } = passed;
		const came = guarded(name, "admit", () => admit(fact) as MaybePromise<Admission | undefined>);
		if (came instanceof Promise) {
			const before = passed;
			return came.then((admission) => admitOne(admitters, at + 1, after(admitter, before, admission)));
		}
		passed = after(admitter, passed, came);
	}
	return passed;
}

function after({ name }: Admitter, { fact: given, notes }: Passed, admission: Admission | undefined): Passed {
	if (admission === undefined || admission === null) return { fact: given, notes };
	const { fact = given, notes: added = [] } = admission;
	const fault =
		(fact === given ? undefined : faultOf(given, fact)) ??
		(Array.isArray(added) ? added.map(faultOfNote).find((each) => each !== undefined) : "`notes` is no list");
	if (fault !== undefined) throw policyInvalid(name, "admit", fault);
	return { fact, notes: added.length === 0 ? notes : [...notes, ...added] };
}

/** Notes go before their fact, so that the last fact of an append is the engine's; after those that open the run. */
function place(facts: Fact[], { fact, notes }: Passed, step: number): void {
	const asides = notes.map(({ topic, value }): Noted => ({ kind: "note", step, topic, value, aside: true }));
	if (fact.kind === "run.started" || fact.kind === "run.resumed") facts.push(fact, ...asides);
	else facts.push(...asides, fact);
}

/** An error of an interceptor's own code is what the run fails with; any other names the interceptor. */
function refusal(name: string, stage: string, error: unknown): unknown {
	if (isHoldfastError(error)) return error;
	const why = error instanceof Error ? error.message : String(error);
	return new HoldfastError("policy_failed", `The interceptor "${name}" failed in ${stage}: ${why}`, {
		cause: error,
		data: { interceptor: name, stage },
	});
}
