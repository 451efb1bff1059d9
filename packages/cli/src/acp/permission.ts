/** Asks an editor whether a call may run, and turns its answer into the answer to the call. */
import type {
	AgentContext,
	RequestPermissionRequest,
	ToolCallContent,
	ToolCallLocation,
} from "@agentclientprotocol/sdk/unstable";
import type { PendingToolCall, ToolAnswer } from "holdfast";
import { type Proposal, propose } from "../render/index.ts";
import { type ApprovalRule, approved, denied, ruleFor } from "../work/index.ts";
import { decisionOf, type Mode } from "./session-options.ts";

/** The answers an editor offers. */
const optionsOf = ({ label }: ApprovalRule): RequestPermissionRequest["options"] => [
	{ optionId: "allow_once", kind: "allow_once", name: "Allow" },
	{ optionId: "allow_always", kind: "allow_always", name: `Allow ${label}, until the session is closed` },
	{ optionId: "reject_once", kind: "reject_once", name: "Reject" },
];

/** The parts of permissions. */
export interface PermissionParts {
	readonly client: AgentContext;
	readonly sessionId: string;
	/** Absolute path of the folder that the assistant works in; undefined for a user's agent. */
	readonly dir: string | undefined;
	/** Returns who decides about changes and commands now. */
	mode(): Mode;
}

export class Permissions {
	readonly #parts: PermissionParts;
	/** What may run until the session is closed. */
	readonly #rules: ApprovalRule[] = [];

	constructor(parts: PermissionParts) {
		this.#parts = parts;
	}

	/** Returns the answer to a call; undefined if the editor gives none. Only a choice that was offered allows a call. */
	async ask(call: PendingToolCall, signal: AbortSignal): Promise<ToolAnswer | undefined> {
		const proposal = await propose(this.#parts.dir, call);
		if (proposal.refusal !== undefined) return denied(call, proposal.refusal);
		const byMode = decisionOf(this.#parts.mode(), proposal);
		if (byMode === "denied") return denied(call, refusedByMode);
		if (byMode === "approved" || this.#rules.some((rule) => rule.covers(proposal))) return approved(proposal);
		const rule = ruleFor(proposal);
		const options = optionsOf(rule);
		const { client, sessionId } = this.#parts;
		const { toolCallId, arguments: rawInput } = call;
		const toolCall: RequestPermissionRequest["toolCall"] = {
			toolCallId,
			title: proposal.title,
			status: "pending",
			rawInput,
			content: changeOf(proposal),
			...(proposal.change === undefined ? {} : { locations: [locationOf(proposal.change)] }),
		};
		const asked = client.request(
			"session/request_permission",
			{ sessionId, toolCall, options },
			{ cancellationSignal: signal, stopWaitingOnCancel: true },
		);
		const { outcome } = await asked.catch((error: unknown) => {
			if (signal.aborted) return { outcome: { outcome: "cancelled" as const } };
			throw error;
		});
		if (signal.aborted || outcome.outcome !== "selected") return undefined;
		switch (outcome.optionId) {
			case "allow_always":
				this.#rules.push(rule);
				return approved(proposal);
			case "allow_once":
				return approved(proposal);
			default:
				return denied(call, reasonOf(outcome));
		}
	}
}

const refusedByMode = "The user has set the mode to read only. Propose the change instead.";

/** Maximum number of characters of a reason. */
const longestReason = 2_000;

/** The protocol has no text for a rejection, but editors may add one to its metadata. */
function reasonOf({
	_meta,
}: {
	readonly _meta?: Readonly<Record<string, unknown>> | null;
}): string | undefined {
	const reason = _meta?.reason;
	return typeof reason === "string" && reason.trim() !== "" ? reason.slice(0, longestReason) : undefined;
}

function changeOf({ change, command }: Proposal): ToolCallContent[] {
	// The title shows only the beginning of a long command.
	if (command !== undefined) return [{ type: "content", content: { type: "text", text: command } }];
	if (change === undefined) return [];
	const { place, before, after } = change;
	return [{ type: "diff", path: place.absolute, oldText: before ?? null, newText: after }];
}

/** The first line that a change touches. */
function locationOf({ place, before = "", after }: NonNullable<Proposal["change"]>): ToolCallLocation {
	const old = before.split("\n");
	const first = after.split("\n").findIndex((line, index) => line !== old[index]);
	return { path: place.absolute, line: first === -1 ? 1 : first + 1 };
}
