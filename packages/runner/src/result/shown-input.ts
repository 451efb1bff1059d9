// How the input of a tool is displayed in events, logs and results.
import type { Redactor } from "@holdfast/redaction";
import type { RunnerEventType, RuntimeFlags } from "../contract/index.ts";

type LogToolInputs = NonNullable<RuntimeFlags["logToolInputs"]>;

/**
 * Returns the displayed form of an input: undefined with `exclude`; with `raw` it keeps PII, but no credentials or
 * secrets.
 */
export function shownInput(input: unknown, redactor: Redactor, how: LogToolInputs): unknown {
	if (how === "exclude") return undefined;
	return how === "raw" ? redactor.redact(input, { keep: "pii" }) : redactor.redact(input);
}

/**
 * Returns the redacted data of an event; the input of a tool appears in events of its call, and of the plan that chose
 * it.
 */
export function shownData(
	type: RunnerEventType,
	data: unknown,
	redactor: Redactor,
	how: LogToolInputs,
): unknown {
	if (type === "tool.call") return withShownInput(data as WithInput, redactor, how);
	if (type !== "plan") return redactor.redact(data);
	const { planned, ...rest } = data as { readonly planned?: WithInput & { readonly type: string } };
	if (planned?.type !== "tool") return redactor.redact(data);
	return { ...redactor.redact(rest), planned: withShownInput(planned, redactor, how) };
}

interface WithInput {
	readonly input?: unknown;
}

function withShownInput({ input, ...rest }: WithInput, redactor: Redactor, how: LogToolInputs): unknown {
	const shown = input === undefined ? undefined : shownInput(input, redactor, how);
	return { ...redactor.redact(rest), ...(shown === undefined ? {} : { input: shown }) };
}
