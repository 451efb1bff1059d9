// The stage `admitWaiting`: what waits for a run goes through it before it is stored, as the fact that it will become.
import type { Fact } from "../facts/index.ts";
import { refusal } from "./admission.ts";
import { faultOf } from "./check-admitted.ts";
import type { Interceptor, Stages } from "./interceptor.ts";
import { policyInvalid } from "./join-stages.ts";
import type { MiddlewareEntry } from "./middleware/middleware-face.ts";

/** A fact as it may be stored before a run commits it. Throws what an interceptor refused with. */
export type AdmitWaiting = <F extends Fact>(fact: F) => F;

interface Admitter {
	readonly name: string;
	readonly admitWaiting: (fact: Fact) => unknown;
}

/** The kinds of facts whose content may wait in an inbox before a run commits them. */
const mayWait: ReadonlySet<Fact["kind"]> = new Set<Fact["kind"]>([
	"input",
	"message.added",
	"message.updated",
	"run.started",
]);

/**
 * The stages of an entry for a run of a session. Where its `admit` is asked about inputs and it does not state what it does to
 * those that wait, each input is refused: what it would mask must not lie in an inbox in clear.
 */
export function withWaitingAdmitted(entry: MiddlewareEntry, stages: Stages): Stages {
	const { admit, admits } = stages;
	if (admit === undefined || (entry as Partial<Interceptor>).admitWaiting !== undefined) return stages;
	if (admits !== undefined && !admits.some((kind) => mayWait.has(kind))) return stages;
	return {
		...stages,
		admit(fact) {
			if (mayWait.has(fact.kind)) throw policyInvalid(entry.name, "admit", unstated);
			return admit.call(stages, fact);
		},
	};
}

/** The kinds of facts that answers from outside become. */
const answerKinds: ReadonlySet<Fact["kind"]> = new Set<Fact["kind"]>(["decision", "tool.settled"]);

/**
 * Whether answers to calls may wait in an inbox: where the `admit` of an entry looks at them, it has to state what it does to
 * those that wait. An answer that the worker of the run takes goes through `admit` before it is stored.
 */
export function mayAnswersWait(entry: MiddlewareEntry, { admit, admits }: Stages): boolean {
	if (admit === undefined || (entry as Partial<Interceptor>).admitWaiting !== undefined) return true;
	return admits !== undefined && !admits.some((kind) => answerKinds.has(kind));
}

const unstated =
	"it is asked about inputs, and has no `admitWaiting` for those that wait in a session's inbox. Give it a function that " +
	'replaces what `admit` replaces, or "as-is" if `admit` changes no input; or leave inputs out of its `admits`';

/** The admission of waiting facts by a list; undefined if no entry has the stage. */
export function admitWaitingOf(list: readonly MiddlewareEntry[]): AdmitWaiting | undefined {
	const admitters = list.flatMap((entry): Admitter[] => {
		const { name, admitWaiting } = entry as Interceptor;
		if (admitWaiting === undefined || admitWaiting === "as-is") return [];
		return [{ name, admitWaiting: (fact) => admitWaiting.call(entry, fact) }];
	});
	if (admitters.length === 0) return undefined;
	return (fact) => admitters.reduce(admittedBy, fact);
}

/** The result is not awaited. */
function later(given: Promise<unknown>): string {
	given.catch(() => {});
	return "it returned a promise, and must answer at once";
}

function admittedBy<F extends Fact>(given: F, admitter: Admitter): F {
	let fact: Fact;
	try {
		fact = (admitter.admitWaiting(given) as Fact | undefined) ?? given;
	} catch (error) {
		throw refusal(admitter.name, "admitWaiting", error);
	}
	const fault = fact === given ? undefined : fact instanceof Promise ? later(fact) : faultOf(given, fact);
	if (fault !== undefined) throw policyInvalid(admitter.name, "admitWaiting", fault);
	return fact as F;
}
