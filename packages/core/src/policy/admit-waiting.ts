// The stage `admitWaiting`: every input that waits for a run passes through it before it is stored, as the fact that
// the input will become.
import type { Fact } from "../facts/index.ts";
import { refusal } from "./admission.ts";
import { faultOf } from "./check-admitted.ts";
import type { Interceptor, Stages } from "./interceptor.ts";
import { policyInvalid } from "./join-stages.ts";
import type { MiddlewareEntry } from "./middleware/middleware-face.ts";

/**
 * Returns a fact in the form in which it may be stored before a run commits it. Throws the error of an interceptor that
 * refuses it.
 */
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
 * Returns the stages of an entry for a run of a session. If its `admit` receives inputs, but the entry does not declare
 * how waiting inputs are handled, each input is refused. Content that `admit` would mask must not be stored unmasked in an inbox.
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

/** The kinds of facts that outside answers become. */
const answerKinds: ReadonlySet<Fact["kind"]> = new Set<Fact["kind"]>(["decision", "tool.settled"]);

/**
 * Whether answers to calls may wait in an inbox. If the `admit` of an entry receives them, the entry has to declare
 * its effect on waiting ones. An answer accepted by the run's own worker passes `admit` before it is stored.
 */
export function mayAnswersWait(entry: MiddlewareEntry, { admit, admits }: Stages): boolean {
	if (admit === undefined || (entry as Partial<Interceptor>).admitWaiting !== undefined) return true;
	return admits !== undefined && !admits.some((kind) => answerKinds.has(kind));
}

const unstated =
	"it handles inputs, but has no `admitWaiting` for those that wait in a session's inbox. Give it a function that " +
	'replaces what `admit` replaces, or "as-is" if `admit` changes no input; or remove inputs from its `admits`';

/** Returns the admission of waiting facts for a list; undefined if no entry has the stage. */
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
	return "it returned a promise, but must return synchronously";
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
