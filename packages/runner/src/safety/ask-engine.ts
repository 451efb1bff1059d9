// A policy engine of the caller's: what it does not answer in time, or wrongly, blocks.
import type { Timers } from "holdfast";
import type { PolicyDecision, PolicyEngine, PolicyQuestion } from "../contract/index.ts";

const actions: ReadonlySet<string> = new Set(["allow", "block", "modify", "drop", "ask"]);

/** What an engine answers. Never rejects. */
export async function askEngine(
	engine: PolicyEngine,
	question: PolicyQuestion,
	{ timeoutMs, timers }: { readonly timeoutMs: number; readonly timers: Timers },
): Promise<PolicyDecision> {
	const controller = new AbortController();
	let callOff: (() => void) | undefined;
	const late = new Promise<PolicyDecision>((resolve) => {
		callOff = timers.after(timeoutMs, () => {
			controller.abort();
			resolve(failed(`it did not answer within ${timeoutMs} ms`));
		});
	});
	try {
		const asked = Promise.resolve().then(() => engine.check(question, { signal: controller.signal }));
		return read(await Promise.race([asked, late]));
	} catch (error) {
		return failed((error as Error)?.message ?? String(error));
	} finally {
		callOff?.();
	}
}

function read(decision: PolicyDecision): PolicyDecision {
	const { action } = decision ?? {};
	if (!actions.has(action)) return failed("it gave no decision");
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
