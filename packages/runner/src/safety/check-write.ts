// Policy for writes: each is masked, dropped or left unchanged.

import type { Redactor } from "@holdfast/redaction";
import { after } from "@holdfast/upp";
import type { MaybePromise } from "holdfast/host";
import type { PolicyDecision, SafetyConfig } from "../contract/index.ts";
import { firstMatch, maskMatches } from "./content.ts";

/** The value to write instead. */
export interface CheckedWrite {
	/** Absent if nothing is written. */
	readonly written?: { readonly value: unknown };
	/** Set if policy intervened. */
	readonly intervention?: {
		readonly rule: string;
		readonly action: "modified" | "dropped" | "blocked";
		readonly code?: string;
	};
}

/** Returns a promise only if an engine returns one. */
export function checkWrite(
	{ writeFilters = [] }: SafetyConfig,
	redactor: Redactor,
	ask: ((subject: unknown) => MaybePromise<PolicyDecision>) | undefined,
	value: unknown,
): MaybePromise<CheckedWrite> {
	let written = redactor.maskSecrets(value);
	let rule = written === value ? undefined : "secrets";
	for (const filter of writeFilters) {
		if (firstMatch([filter.match], written) === undefined) continue;
		const named = filter.rule ?? "write-filter";
		if (filter.action === "drop") return { intervention: { rule: named, action: "dropped" } };
		written = maskMatches(filter.match, written);
		rule ??= named;
	}
	const checked: CheckedWrite = {
		written: { value: written },
		...(rule === undefined ? {} : { intervention: { rule, action: "modified" } }),
	};
	const decision = ask?.(written);
	if (decision === undefined) return checked;
	return after(decision, (decided) => afterDecision(decided, redactor, checked));
}

function afterDecision(decision: PolicyDecision, redactor: Redactor, checked: CheckedWrite): CheckedWrite {
	switch (decision.action) {
		case "allow":
			return checked;
		case "modify":
			return {
				written: { value: redactor.maskSecrets(decision.subject) },
				intervention: { rule: decision.rule, action: "modified" },
			};
		case "drop":
			return { intervention: { rule: decision.rule, action: "dropped" } };
		case "block":
			return {
				intervention: { rule: decision.rule, action: "blocked", code: decision.code ?? "POLICY_BLOCKED" },
			};
		case "ask":
			return { intervention: { rule: decision.rule, action: "blocked", code: "APPROVAL_NEEDED" } };
	}
}
