// The stage `admitWaiting`: what waits for a run goes through it before it is stored, as the fact that it will become.
import type { Fact } from "../facts/index.ts";
import { refusal } from "./admission.ts";
import { faultOf } from "./check-admitted.ts";
import type { Interceptor } from "./interceptor.ts";
import { policyInvalid } from "./join-stages.ts";
import type { MiddlewareEntry } from "./middleware/middleware-face.ts";

/** A fact as it may be stored before a run commits it. Throws what an interceptor refused with. */
export type AdmitWaiting = <F extends Fact>(fact: F) => F;

type Admitter = Pick<Interceptor, "name"> & Required<Pick<Interceptor, "admitWaiting">>;

/** What a list admits waiting facts through; undefined when no entry has the stage. */
export function admitWaitingOf(list: readonly MiddlewareEntry[]): AdmitWaiting | undefined {
	const admitters = list.filter(
		(entry): entry is MiddlewareEntry & Admitter => (entry as Partial<Admitter>).admitWaiting !== undefined,
	);
	if (admitters.length === 0) return undefined;
	return (fact) => admitters.reduce(admittedBy, fact);
}

/** Nobody waits for it. */
function later(given: Promise<unknown>): string {
	given.catch(() => {});
	return "it returned a promise, and must answer at once";
}

function admittedBy<F extends Fact>(given: F, admitter: Admitter): F {
	let fact: Fact;
	try {
		fact = admitter.admitWaiting(given) ?? given;
	} catch (error) {
		throw refusal(admitter.name, "admitWaiting", error);
	}
	const fault = fact === given ? undefined : fact instanceof Promise ? later(fact) : faultOf(given, fact);
	if (fault !== undefined) throw policyInvalid(admitter.name, "admitWaiting", fault);
	return fact as F;
}
