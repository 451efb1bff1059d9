// Policy on what is written: masked, dropped, or as it is.
import type { PolicyDecision, Redactor, SafetyConfig } from "../contract/index.ts";
import { firstMatch, maskMatches } from "./content.ts";

/** What is written in place of a value. */
export interface CheckedWrite {
	/** Absent where nothing is written. */
	readonly written?: { readonly value: unknown };
	/** Set where policy stepped in. */
	readonly intervention?: {
		readonly rule: string;
		readonly action: "modified" | "dropped" | "blocked";
		readonly code?: string;
	};
}

/** A promise only where an engine is asked. */
export function checkWrite(
	{ writeFilters = [] }: SafetyConfig,
	redactor: Redactor,
	ask: ((subject: unknown) => Promise<PolicyDecision>) | undefined,
	value: unknown,
): CheckedWrite | Promise<CheckedWrite> {
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
	return ask === undefined ? checked : asked(ask, redactor, written, checked);
}

async function asked(
	ask: (subject: unknown) => Promise<PolicyDecision>,
	redactor: Redactor,
	written: unknown,
	checked: CheckedWrite,
): Promise<CheckedWrite> {
	const decision = await ask(written);
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
