/** Asks about a call in the chat: once, always, with other arguments, or no with a reason. */
import { isDeepStrictEqual } from "node:util";
import type { Proposal } from "../render/index.ts";
import { oneLine } from "../terminal/index.ts";
import type { ApprovalRule, Decision } from "../work/index.ts";
import type { Question } from "./chat-transcript.ts";

type Input = Readonly<Record<string, unknown>>;

/** Asks a question; undefined if there is no answer. */
type Ask = (question: Question) => Promise<string | undefined>;

/** Asks until the answer is a decision. */
export async function askToApprove(
	{ call, title }: Proposal,
	{ label }: ApprovalRule,
	ask: Ask,
	note: (text: string) => void,
): Promise<Decision | undefined> {
	const choices = [
		{ text: "y", label: "y", detail: "yes, once" },
		{ text: "a", label: "a", detail: `always for ${label}, until you leave this session` },
		...(call.mayEdit === true ? [{ text: "e", label: "e", detail: "edit the arguments first" }] : []),
		{ text: "n", label: "n", detail: "no; or type a reason, which the model receives" },
	];
	for (;;) {
		const said = (await ask({ text: `${title}?`, choices, draft: "" }))?.trim();
		if (said === undefined) return undefined;
		if (/^(?:y|yes)$/i.test(said)) return { type: "once" };
		if (/^(?:a|always)$/i.test(said)) return { type: "rule" };
		if (/^(?:n|no)$/i.test(said)) return { type: "no", reason: undefined };
		if (/^(?:e|edit)$/i.test(said)) {
			if (call.mayEdit !== true) {
				note("The arguments of this call cannot be edited.");
				continue;
			}
			const input = await edit(call.arguments, ask, note);
			if (input === undefined) return undefined;
			if (!isDeepStrictEqual(input, call.arguments)) return { type: "edit", input };
			continue;
		}
		if (said !== "") return { type: "no", reason: said };
	}
}

/** Returns the edited arguments; undefined if there is no answer. A single text is edited directly, other arguments as JSON. */
async function edit(given: Input, ask: Ask, note: (text: string) => void): Promise<Input | undefined> {
	const [only, ...others] = Object.entries(given);
	const isText = only !== undefined && others.length === 0 && typeof only[1] === "string";
	const what = isText ? only[0] : "the arguments, as JSON";
	let draft = isText ? String(only[1]) : JSON.stringify(given, undefined, 2);
	for (;;) {
		const said = await ask({ text: `Edit ${what}, then press Enter.`, choices: [], draft });
		if (said === undefined) return undefined;
		if (isText) return { [only[0]]: said };
		try {
			const input: unknown = JSON.parse(said);
			if (typeof input === "object" && input !== null && !Array.isArray(input)) return input as Input;
			note("The arguments must be a JSON object.");
		} catch {
			note("This is not valid JSON.");
		}
		draft = said;
	}
}

/** Describes a decision; undefined while it is not final. */
export function decisionNote(decision: Decision, { label }: ApprovalRule): string | undefined {
	switch (decision.type) {
		case "once":
		case "all":
			return "Approved";
		case "rule":
			return `Approved, and from now on ${label}`;
		case "edit":
			return undefined;
		case "no":
			return decision.reason === undefined ? "Denied" : `Denied (${oneLine(decision.reason, 200)})`;
	}
}
