// One pure call in the form that its policy sees: a run without a session. Its key lasts as long as the call.
import type { Message } from "@holdfast/upp";
import type { Run } from "../engine/index.ts";
import { acceptInput, type Entry, inputFact, ownOf, type SendInput } from "../facts/index.ts";
import type { SessionKeys, SessionValues } from "../host/index.ts";
import {
	type AgentPolicy,
	callKey,
	keyAbove,
	type PolicyRun,
	type RunContext,
	RunPolicy,
} from "../policy/index.ts";
import type { ToolContext } from "../tools/index.ts";

export class CallFrame implements PolicyRun {
	readonly kind = "call";
	readonly runId: string;
	readonly sessionKey: string;
	readonly signal: AbortSignal;
	/** The context after the `before` stages that have run so far. */
	context: RunContext;
	readonly policy: RunPolicy;
	readonly #agentPolicy: AgentPolicy;
	/** The context of the tool call that made this call. */
	readonly #calledIn: ToolContext | undefined;
	#run: Run | undefined;

	constructor(
		policy: AgentPolicy,
		runId: string,
		context: RunContext,
		signal: AbortSignal,
		calledIn?: ToolContext | undefined,
	) {
		this.#agentPolicy = policy;
		this.#calledIn = calledIn;
		this.runId = runId;
		this.sessionKey = callKey(runId);
		this.signal = signal;
		this.context = context;
		this.policy = new RunPolicy({
			list: policy.begin(this),
			agentPolicy: policy,
			inputId: context.input.id,
		});
	}

	/** Attaches the run that does the work of the call. A custom strategy has none. */
	attach(run: Run): void {
		this.#run = run;
	}

	above(levels: number, keys: SessionKeys): string | undefined {
		let context = this.#calledIn;
		let left = levels - 1;
		for (; left > 0 && context?.parentContext !== undefined; left--) context = context.parentContext;
		if (context === undefined) return undefined;
		const { sessionKey, runId } = context;
		return sessionKey === undefined ? callKey(runId) : keyAbove(sessionKey, left, keys);
	}

	values(owner: string): SessionValues {
		return this.#agentPolicy.values(this.sessionKey, owner);
	}

	async entries(): Promise<readonly Entry[]> {
		return [];
	}

	folded(): unknown {
		return ownOf(this.#run?.state.run);
	}

	history(): readonly Message[] {
		return (this.#run?.state.agent ?? this.context.state).messages;
	}

	stepIndex(): number {
		return Math.max(0, (this.#run?.state.run?.step ?? 1) - 1);
	}

	async overlay(input: SendInput): Promise<void> {
		this.policy.overlay(acceptInput(input).message, this.#run?.state.run?.cycles ?? 0);
	}

	async steer(input: SendInput): Promise<void> {
		const accepted = acceptInput(input);
		const inputId = accepted.message.id;
		this.#run?.inputs.offer({ inputId, fact: (placement) => inputFact(inputId, accepted, placement) });
	}
}
