/**
 * Decides whether waiting calls may run: as the options say, or else as the user answers in the terminal. An approval
 * identifies the versions of the file that were shown, so that nothing else is written. Without an answer, calls wait.
 */
import type { PendingToolCall, ToolAnswer } from "holdfast";
import { type Proposal, propose, type Renderer } from "../render/index.ts";
import { oneLine, type Questions } from "../terminal/index.ts";
import { type PlannedChange, shellTool } from "../tools/index.ts";
import { type ApprovalRule, ruleFor } from "./approval-rules.ts";
import { approved, denied } from "./tool-answers.ts";
import { UsageError } from "./usage-error.ts";

/** Approvals given in advance on the command line. */
export interface ApprovalOptions {
	/** Whether to approve all calls. */
	readonly yes: boolean;
	/** Ids of calls to approve, optionally with the version that was seen: `call_7@1f3a9c02b4d1`. */
	readonly approve: readonly string[];
	/** Ids of calls to deny. */
	readonly deny: readonly string[];
	/** The reason for denying. */
	readonly reason: string | undefined;
}

/** The parts of approvals. */
export interface ApprovalParts {
	/** Absolute path of the folder that the assistant works in; undefined for a user's agent. */
	readonly dir: string | undefined;
	readonly options: ApprovalOptions;
	readonly renderer: Renderer;
	/** Undefined if no user can answer. */
	readonly decide: Decide | undefined;
	/** Called with each change that may be made. */
	onApproved?(change: PlannedChange): void;
}

/** The decision on a call. */
export type Decision =
	| { readonly type: "once" }
	/** Approves all later calls too. */
	| { readonly type: "all" }
	/** Approves later calls that the rule covers too. */
	| { readonly type: "rule" }
	/** Changes the input; the changed call is shown and needs another decision. */
	| { readonly type: "edit"; readonly input: Readonly<Record<string, unknown>> }
	| { readonly type: "no"; readonly reason: string | undefined };

/** Asks a user about a call; undefined if there is no answer. */
export type Decide = (
	proposal: Proposal,
	rule: ApprovalRule,
	signal: AbortSignal,
) => Promise<Decision | undefined>;

/** Asks in lines. */
export function decideInLines(questions: Questions): Decide {
	return async ({ title }, _rule, signal) => {
		for (;;) {
			const said = await questions.ask(
				`${title}? [y]es, [n]o, [a]ll from now on, or a reason for denying it: `,
				signal,
			);
			const answer = said?.trim();
			if (answer === undefined) return undefined;
			if (/^(?:a|all)$/i.test(answer)) return { type: "all" };
			if (/^(?:y|yes)$/i.test(answer)) return { type: "once" };
			if (/^(?:n|no)$/i.test(answer)) return { type: "no", reason: undefined };
			if (answer !== "") return { type: "no", reason: answer };
		}
	};
}

/** Answers calls one by one. */
export class Approvals {
	readonly #parts: ApprovalParts;
	/** Unused ids from the command line, because an id may recur in a later round. */
	readonly #approve: Set<string>;
	readonly #deny: Set<string>;
	#all: boolean;
	/** Counts the commands of the user. */
	#commands = 0;
	#rules: readonly ApprovalRule[] = [];
	readonly #shown = new Set<string>();
	readonly #left = new AbortController();

	constructor(parts: ApprovalParts) {
		this.#parts = parts;
		this.#approve = new Set(parts.options.approve);
		this.#deny = new Set(parts.options.deny);
		this.#all = parts.options.yes;
	}

	/**
	 * Checks that the calls named on the command line are waiting.
	 * @throws UsageError if one is not.
	 */
	check(pending: readonly PendingToolCall[]): void {
		for (const name of [...this.#approve, ...this.#deny]) {
			if (pending.some((call) => names(name, call))) continue;
			const waiting = pending.map(({ toolCallId }) => oneLine(toolCallId, 80)).join(", ");
			throw new UsageError(
				`No call "${name}" waits in this session. ${waiting === "" ? "None does." : `Waiting: ${waiting}.`}`,
			);
		}
	}

	/** Returns the answer to one of the calls; undefined if none can be answered. */
	async next(pending: readonly PendingToolCall[]): Promise<ToolAnswer | undefined> {
		for (const call of pending) {
			if (this.#left.signal.aborted) return undefined;
			if (call.awaits !== "approval") continue;
			const answer = await this.#decide(await propose(this.#parts.dir, call), this.#parts.dir);
			if (answer !== undefined) return answer;
		}
		return undefined;
	}

	/**
	 * Asks about a command of the user, as about one of the model. Returns the approved command, which the user may have
	 * edited; undefined if it was not approved.
	 */
	async command(command: string): Promise<string | undefined> {
		const call: PendingToolCall = {
			runId: "",
			toolCallId: `!${++this.#commands}`,
			toolName: shellTool,
			arguments: { command },
			awaits: "approval",
			mayEdit: true,
		};
		const answer = await this.#decide(await propose("", call), "");
		if (answer === undefined || !("approved" in answer) || !answer.approved) return undefined;
		return String(answer.input?.command ?? command);
	}

	/** Shows the remaining calls unless they were already shown; returns the identifiers that approve them. */
	async leave(pending: readonly PendingToolCall[]): Promise<readonly string[]> {
		const words: string[] = [];
		for (const call of pending) {
			const proposal = await propose(this.#parts.dir, call);
			this.#show(proposal);
			words.push(proposal.word);
		}
		return words;
	}

	/** Stops asking; waiting calls keep waiting. */
	interrupt(): void {
		this.#left.abort();
	}

	/** The rules that approve calls, oldest first. */
	get rules(): readonly ApprovalRule[] {
		return this.#rules;
	}

	/** Calls that the rule covers require approval again. */
	revoke(rule: ApprovalRule): void {
		this.#rules = this.#rules.filter((each) => each !== rule);
	}

	async #decide(proposal: Proposal, dir: string | undefined): Promise<ToolAnswer | undefined> {
		const { options, renderer, decide } = this.#parts;
		const { toolCallId } = proposal.call;
		if (take(this.#deny, proposal.call) !== undefined) return denied(proposal.call, options.reason);
		const named = take(this.#approve, proposal.call);
		if (named === toolCallId || named === proposal.word || this.#all) return this.#approved(proposal);
		if (named !== undefined)
			renderer.note(
				`${oneLine(toolCallId, 80)} is not the approved version: its file has changed. Review it again.`,
			);
		const rule =
			proposal.refusal === undefined ? this.#rules.find((each) => each.covers(proposal)) : undefined;
		if (rule !== undefined) {
			this.#show(proposal);
			renderer.note(`Approved by your rule: ${rule.label}.`);
			return this.#approved(proposal);
		}
		if (decide === undefined) return undefined;
		if (proposal.refusal !== undefined) return this.#approved(proposal);
		this.#show(proposal);
		return this.#ask(proposal, decide, dir);
	}

	async #ask(first: Proposal, decide: Decide, dir: string | undefined): Promise<ToolAnswer | undefined> {
		const { renderer } = this.#parts;
		let proposal = first;
		for (;;) {
			const rule = ruleFor(proposal);
			const decision = await decide(proposal, rule, this.#left.signal);
			if (decision === undefined) return undefined;
			if (decision.type === "no") return denied(first.call, decision.reason);
			if (decision.type === "edit") {
				const edited = await propose(dir, { ...first.call, arguments: decision.input });
				renderer.proposed(edited);
				if (edited.refusal === undefined) proposal = edited;
				continue;
			}
			if (decision.type === "all") this.#all = true;
			if (decision.type === "rule") this.#rules = [...this.#rules, rule];
			return proposal === first
				? this.#approved(first)
				: { ...this.#approved(proposal), input: proposal.call.arguments };
		}
	}

	/** Approves the call; if it is no longer possible, the model receives the reason. */
	#approved(proposal: Proposal): ToolAnswer {
		this.#show(proposal);
		const { call, refusal, change } = proposal;
		if (refusal === undefined && change !== undefined) this.#parts.onApproved?.(change);
		return refusal === undefined ? approved(proposal) : denied(call, refusal);
	}

	#show(proposal: Proposal): void {
		if (this.#shown.has(proposal.word)) return;
		this.#shown.add(proposal.word);
		this.#parts.renderer.proposed(proposal);
	}
}

/** Removes and returns the argument that refers to a call. */
function take(words: Set<string>, call: PendingToolCall): string | undefined {
	const word = [...words].find((each) => names(each, call));
	if (word !== undefined) words.delete(word);
	return word;
}

/** Whether a command line argument refers to this call, in any version. */
function names(word: string, { toolCallId }: PendingToolCall): boolean {
	return word === toolCallId || word.startsWith(`${toolCallId}@`);
}
