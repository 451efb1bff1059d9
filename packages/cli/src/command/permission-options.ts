/** The options that allow an agent to change files and run commands, and that answer calls in advance. */
import { isAllowed } from "../tools/index.ts";
import { type ApprovalOptions, UsageError, type WorkOptions } from "../work/index.ts";

/** The unparsed options. */
export interface PermissionValues {
	readonly "allow-write"?: boolean;
	readonly "allow-shell"?: boolean;
	readonly "allow-command"?: readonly string[];
	readonly yes?: boolean;
	readonly approve?: readonly string[];
	readonly deny?: readonly string[];
	readonly reason?: string;
}

/**
 * Reads the permissions of the assistant.
 * @throws UsageError for an allowed command that would have no effect.
 */
export function readChanging(
	values: PermissionValues,
): Pick<WorkOptions, "allowWrite" | "allowShell" | "allowedCommands"> {
	const { "allow-write": allowWrite, "allow-shell": allowShell, "allow-command": allowedCommands } = values;
	if (allowedCommands !== undefined && allowShell !== true)
		throw new UsageError("The option --allow-command applies to shell commands: add --allow-shell.");
	const problem = allowedCommands?.find((command) => !isAllowed(command, [command]));
	if (problem !== undefined)
		throw new UsageError(
			`The option --allow-command cannot allow "${problem}". Give plain words, such as --allow-command "npm test".`,
		);
	return { allowWrite, allowShell, allowedCommands };
}

export function readApprovals({
	yes = false,
	approve = [],
	deny = [],
	reason,
}: PermissionValues): ApprovalOptions {
	if (reason !== undefined && deny.length === 0)
		throw new UsageError("The option --reason explains a denial: add --deny CALL.");
	const both = approve.find((name) => deny.some((other) => callOf(other) === callOf(name)));
	if (both !== undefined) throw new UsageError(`The call "${both}" is given to --approve and to --deny.`);
	return { yes, approve, deny, reason };
}

/** Returns the id of a call, given with or without a version. */
function callOf(name: string): string {
	return name.replace(/@[^@]*$/, "");
}
