// Calls the caller's policy engine: a late or invalid answer blocks.
import { isThenable, messageOf } from "@holdfast/upp";
import type { MaybePromise, Timers } from "holdfast/host";
import type { PolicyDecision, PolicyEngine, PolicyQuestion } from "../contract/index.ts";

const actions: ReadonlySet<string> = new Set(["allow", "block", "modify", "drop", "ask"]);

/** Returns the decision of an engine; a promise only if the engine returns one. Neither throws nor rejects. */
export function askEngine(
	engine: PolicyEngine,
	question: PolicyQuestion,
	limits: { readonly timeoutMs: number; readonly timers: Timers },
): MaybePromise<PolicyDecision> {
	const late = new Late();
	try {
		const asked = engine.check(question, late) as unknown;
		if (!isThenable(asked)) return read(asked as PolicyDecision);
		return inTime(asked as PromiseLike<PolicyDecision>, limits, () => late.abort());
	} catch (error) {
		return failed(messageOf(error));
	}
}

/**
 * The context of an engine in addition to the question. Its signal is created on first access, because most engines never
 * use it.
 */
class Late {
	#controller: AbortController | undefined;

	get signal(): AbortSignal {
		this.#controller ??= new AbortController();
		return this.#controller.signal;
	}

	abort(): void {
		this.#controller?.abort();
	}
}

async function inTime(
	asked: PromiseLike<PolicyDecision>,
	{ timeoutMs, timers }: { readonly timeoutMs: number; readonly timers: Timers },
	abort: () => void,
): Promise<PolicyDecision> {
	let callOff: (() => void) | undefined;
	const late = new Promise<PolicyDecision>((resolve) => {
		callOff = timers.after(timeoutMs, () => {
			abort();
			resolve(failed(`it did not answer within ${timeoutMs} ms`));
		});
	});
	try {
		return read(await Promise.race([asked, late]));
	} catch (error) {
		return failed(messageOf(error));
	} finally {
		callOff?.();
	}
}

function read(decision: PolicyDecision): PolicyDecision {
	const { action } = decision ?? {};
	if (!actions.has(action)) return failed("it returned no decision");
	if (action !== "allow" && typeof (decision as { rule?: unknown }).rule !== "string")
		return { ...decision, rule: "policy-engine" } as PolicyDecision;
	return decision;
}

function failed(why: string): PolicyDecision {
	return {
		action: "block",
		rule: "policy-engine",
		code: "POLICY_ERROR",
		reason: `The policy engine failed: ${why}.`,
	};
}
