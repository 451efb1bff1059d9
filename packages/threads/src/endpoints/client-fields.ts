// The fields that clients of threads may set in addition to user messages. By default they may set none, because a client
// that sets more acts for the project.
import { HoldfastTypeError } from "@holdfast/upp";
import { HoldfastError } from "holdfast";
import type { Message } from "../types/index.ts";

/**
 * A field that clients may set. `role`: messages with the role `system` or `assistant`. `history`: changes to messages whose role
 * is not `user`, and their removal.
 */
export type ThreadField = "role" | "history";

const fields: readonly ThreadField[] = ["role", "history"];

/** @throws HoldfastError `invalid_option` for unknown fields. */
export function checkThreadFields(given: unknown): void {
	if (given === undefined) return;
	if (!Array.isArray(given) || given.some((field) => !fields.includes(field)))
		throw new HoldfastTypeError(
			"invalid_option",
			`The option \`clientsMaySet\` must be a list of ${fields.join(", ")}.`,
		);
}

/** @throws HoldfastError `field_not_allowed` for a message with a role other than `user`. */
export function checkRole(role: Message["role"], may: readonly ThreadField[] = []): void {
	if (role !== "user" && !may.includes("role"))
		throw notAllowed("role", `send messages with the role "${role}"`);
}

/** @throws HoldfastError `field_not_allowed` for a message with a role other than `user`. */
export function checkChange(message: Pick<Message, "role"> | null, may: readonly ThreadField[] = []): void {
	if (message !== null && message.role !== "user" && !may.includes("history"))
		throw notAllowed("history", `change or remove messages with the role "${message.role}"`);
}

function notAllowed(field: ThreadField, what: string): HoldfastError {
	return new HoldfastError(
		"field_not_allowed",
		`Clients of this server may not ${what}. The operator can allow it with \`threadRoutes({ clientsMaySet: ["${field}"] })\`.`,
		{ data: { field } },
	);
}
