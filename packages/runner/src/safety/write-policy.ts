// Only the rules for writes, for stores that no agent writes to, such as prompt stores.
import { createRedactor } from "@holdfast/redaction";
import { checkOptions, optionNames } from "@holdfast/upp";
import { systemPorts } from "holdfast/host";
import type { SafetyConfig, SafetyLayer } from "../contract/index.ts";
import { createSafety } from "./create-safety.ts";

const writePolicyNames = optionNames<WritePolicyOptions>({
	writeFilters: "list",
	policyEngine: "object",
	policyTimeoutMs: "number",
	auditSink: "object",
	secrets: "texts",
});

/** The rules of an agent that concern writes. */
export type WritePolicyOptions = Pick<
	SafetyConfig,
	"writeFilters" | "policyEngine" | "policyTimeoutMs" | "auditSink" | "secrets"
>;

/**
 * Returns the write policy of agents, for the option `safety` of a prompt store. Audit records go to `auditSink`.
 *
 * @example
 * ```ts
 * import { memoryPromptStore } from "@holdfast/runner/prompts";
 * import { writePolicy } from "@holdfast/runner/safety";
 *
 * const safety = writePolicy({ writeFilters: [{ match: "swordfish", action: "redact" }] });
 * const store = memoryPromptStore({ safety });
 * console.log((await store.put({ id: "a", text: "Say swordfish." })).text); // Say [REDACTED:filtered].
 * ```
 */
export function writePolicy(config: WritePolicyOptions): Pick<SafetyLayer, "checkWrite"> {
	checkOptions(config, writePolicyNames, { of: "writePolicy()" });
	const { clock, ids, timers } = systemPorts;
	const { checkWrite } = createSafety({
		agentId: "writes",
		config,
		flags: { allowNetwork: false, allowShell: false, allowDbWrites: false, logToolInputs: "redacted" },
		enableTools: [],
		tool: () => undefined,
		redactor: createRedactor({ secrets: config.secrets }),
		clock,
		ids,
		timers,
		keep: () => {},
	});
	return { checkWrite };
}
