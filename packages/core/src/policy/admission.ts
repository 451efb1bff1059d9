// The stage `admit`: each fact of an append passes every interceptor that has the stage, in order, and is committed in
// the resulting form, along with the notes of the same append.
import { guarded, HoldfastError, isHoldfastError, messageOf } from "@holdfast/upp";
import type { Fact, Noted } from "../facts/index.ts";
import type { MaybePromise } from "../host/index.ts";
import { faultOf, faultOfNote } from "./check-admitted.ts";
import { DeltaGate } from "./delta-gate.ts";
import type { Admission, AuditNote, DeltaStage, Stages } from "./interceptor.ts";
import { type NamedStages, policyInvalid } from "./join-stages.ts";

/** The admission of a run's facts and deltas. */
export interface Admitting {
	/**
	 * Returns the facts to commit in place of these. `step` is the run's step. Throws the error of an interceptor that
	 * refuses them.
	 */
	facts(given: readonly Fact[], step: number): MaybePromise<readonly Fact[]>;
	/** Whether an interceptor that may wait for the session of the fact receives the fact. */
	mayWait(fact: Fact): boolean;
	/** The admission of deltas; absent if no delta may be emitted before its fact. */
	readonly deltas?: DeltaGate | undefined;
}

interface Admitter {
	readonly name: string;
	readonly admit: NonNullable<Stages["admit"]>;
	readonly kinds: readonly Fact["kind"][] | undefined;
}

/** Returns the admission of a list; undefined if no interceptor has the stage `admit`. */
export function admittingOf(list: readonly NamedStages[]): Admitting | undefined {
	const admitting = list.filter(({ stages }) => stages.admit !== undefined);
	if (admitting.length === 0) return undefined;
	const admitters = admitting.map(({ name, stages }): Admitter => {
		const admit = stages.admit as NonNullable<Stages["admit"]>;
		return { name, admit: (fact) => admit.call(stages, fact), kinds: stages.admits };
	});
	const waiting = admitters.filter((_, at) => admitting[at]?.stages.waits !== "never");
	return {
		facts: (given, step) => admitFrom({ admitters, facts: given, step, admitted: [] }, 0),
		mayWait: (fact) => waiting.some((admitter) => isAsked(admitter, fact)),
		deltas: gateOf(admitting),
	};
}

function isAsked({ kinds }: Admitter, { kind }: Fact): boolean {
	return kinds === undefined || kinds.includes(kind);
}

/** Undefined if an `admit` does not declare its effect on deltas: deltas then wait for the fact. */
function gateOf(admitting: readonly NamedStages[]): DeltaGate | undefined {
	const gated: DeltaStage[] = [];
	for (const { name, stages } of admitting) {
		const { deltas } = stages;
		if (deltas === undefined) return undefined;
		if (deltas === "as-is") continue;
		gated.push({
			push: (delta) => naming(name, "deltas", () => deltas.push(delta)),
			flush: (source) => naming(name, "deltas", () => deltas.flush(source)),
		});
	}
	return new DeltaGate(gated);
}

/** Returns the result of an interceptor, which may be a promise. An error names the interceptor. */
function naming<T>(name: string, stage: string, call: () => MaybePromise<T>): MaybePromise<T> {
	return guarded(call, (error) => {
		throw refusal(name, stage, error);
	});
}

function named<T>(name: string, stage: string, given: Promise<T>): Promise<T> {
	return given.catch((error) => {
		throw refusal(name, stage, error);
	});
}

/** The facts of one append that are being admitted. */
interface Batch {
	readonly admitters: readonly Admitter[];
	readonly facts: readonly Fact[];
	readonly step: number;
	/** The admitted facts, with their notes. */
	readonly admitted: Fact[];
}

// Called for every fact of every run: without asynchronous work, it allocates no closure.

/** Admits one fact after the other. Returns a promise only from the first asynchronous interceptor on. */
function admitFrom(batch: Batch, from: number): MaybePromise<readonly Fact[]> {
	const { admitters, facts, admitted, step } = batch;
	for (let at = from; at < facts.length; at++) {
		const came = admitOne(admitters, 0, { fact: facts[at] as Fact, notes: noNotes });
		if (came instanceof Promise) return admitRest(batch, came, at + 1);
		place(admitted, came, step);
	}
	return admitted;
}

async function admitRest(batch: Batch, came: Promise<Passed>, from: number): Promise<readonly Fact[]> {
	place(batch.admitted, await came, batch.step);
	return admitFrom(batch, from);
}

interface Passed {
	readonly fact: Fact;
	readonly notes: readonly AuditNote[];
}

const noNotes: readonly AuditNote[] = [];

function admitOne(admitters: readonly Admitter[], from: number, given: Passed): MaybePromise<Passed> {
	let passed = given;
	for (let at = from; at < admitters.length; at++) {
		const admitter = admitters[at] as Admitter;
		if (!isAsked(admitter, passed.fact)) continue;
		const came = admittedBy(admitter, passed.fact);
		if (came instanceof Promise) return admitLater(admitters, at, passed, came);
		passed = passedBy(admitter, passed, came);
	}
	return passed;
}

function admittedBy({ name, admit }: Admitter, fact: Fact): MaybePromise<Admission | undefined> {
	try {
		const given = admit(fact) as MaybePromise<Admission | undefined>;
		return given instanceof Promise ? named(name, "admit", given) : given;
	} catch (error) {
		throw refusal(name, "admit", error);
	}
}

async function admitLater(
	admitters: readonly Admitter[],
	at: number,
	before: Passed,
	came: Promise<Admission | undefined>,
): Promise<Passed> {
	return admitOne(admitters, at + 1, passedBy(admitters[at] as Admitter, before, await came));
}

function passedBy({ name }: Admitter, passed: Passed, admission: Admission | undefined): Passed {
	if (admission === undefined || admission === null) return passed;
	const { fact: given, notes } = passed;
	const { fact = given, notes: added = noNotes } = admission;
	const fault =
		(fact === given ? undefined : faultOf(given, fact)) ??
		(Array.isArray(added)
			? added.map(faultOfNote).find((each) => each !== undefined)
			: "`notes` is not a list");
	if (fault !== undefined) throw policyInvalid(name, "admit", fault);
	return { fact, notes: added.length === 0 ? notes : [...notes, ...added] };
}

/**
 * Notes precede their fact, so that the last fact of an append is the engine's, but follow the facts that open the run.
 */
function place(facts: Fact[], { fact, notes }: Passed, step: number): void {
	if (notes.length === 0) {
		facts.push(fact);
		return;
	}
	const asides = notes.map(({ topic, value }): Noted => ({ kind: "note", step, topic, value, aside: true }));
	if (fact.kind === "run.started" || fact.kind === "run.resumed") facts.push(fact, ...asides);
	else facts.push(...asides, fact);
}

/**
 * If an interceptor's own code throws a HoldfastError, the run fails with it. Any other error is wrapped in one that
 * names the interceptor.
 */
export function refusal(name: string, stage: string, error: unknown): unknown {
	if (isHoldfastError(error)) return error;
	const why = messageOf(error);
	return new HoldfastError("policy_failed", `The interceptor "${name}" failed in ${stage}: ${why}`, {
		cause: error,
		data: { interceptor: name, stage },
	});
}
