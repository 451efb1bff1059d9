// The parts of one turn apart from its history: its policy and its overlays.
import type { Message } from "@holdfast/upp";
import type { Caller } from "../caller/index.ts";
import { type DriveOutcome, type Run, withinCall } from "../engine/index.ts";
import {
	type AcceptedInput,
	acceptInput,
	type Entry,
	ownOf,
	type SendInput,
	type SessionState,
	saidBy,
} from "../facts/index.ts";
import { memoryValues, type SessionKeys, type SessionValues } from "../host/index.ts";
import {
	type AgentPolicy,
	keyAbove,
	type PolicyRun,
	type RunContext,
	RunMetadata,
	RunPolicy,
} from "../policy/index.ts";
import type { GenerateResult } from "../state/index.ts";
import type { AgentRun } from "./agent-run.ts";
import type { SessionLease } from "./session-lease.ts";

/** How a turn came to be driven here. `parked`: it is not driven, and none of the user's functions are called. */
export type TurnBegin = "begun" | "resumed" | "parked";

/** The session data that a frame contains. */
export interface FrameSession {
	readonly sessionKey: string;
	/** The state of the session before the turn. */
	readonly state: SessionState;
	readonly policy: AgentPolicy | undefined;
	readonly lease: Pick<SessionLease, "entries">;
	/** Sends a message to the active run. */
	steer(input: AcceptedInput): Promise<AgentRun>;
}

/** The subject of a turn. */
export interface About {
	readonly inputId: string;
	readonly origin: AcceptedInput["origin"];
	readonly begin: TurnBegin;
	readonly message?: Message;
}

export class TurnFrame implements PolicyRun {
	readonly kind = "session";
	readonly caller: Caller | undefined;
	/** Set as soon as the run is created; the frame is not used before. */
	run!: Run;
	/** The policy of the run. */
	readonly policy: RunPolicy;
	readonly #agentPolicy: AgentPolicy | undefined;
	readonly #session: FrameSession;
	readonly #handle: AgentRun;
	#context: RunContext | undefined;

	constructor(session: FrameSession, handle: AgentRun, { inputId, origin, begin, message: input }: About) {
		this.caller = origin?.caller;
		this.#session = session;
		this.#handle = handle;
		this.#agentPolicy = begin === "parked" ? undefined : session.policy;
		const { state } = session;
		const before = (): RunContext["state"] => {
			// A resumed run has the messages that it began with before its first message.
			const { firstMessage } = state.run ?? { firstMessage: 0 };
			return begin === "begun"
				? state.agent
				: state.agent.withContext(state.agent.messages.slice(0, firstMessage));
		};
		const agent = this.#agentPolicy?.agent;
		if (agent !== undefined) {
			const said = input ?? state.agent.messages.find(({ id }) => id === inputId);
			const { caller } = this;
			const by = caller === undefined ? {} : { caller };
			this.#context = { agent, input: said as Message, state: before(), metadata: new RunMetadata(), ...by };
		}
		// Waits inside these calls belong to the run while it works.
		const within = <T>(call: () => T): T => withinCall(this.run.processKey, call);
		const list = this.#agentPolicy?.begin(this) ?? [];
		this.policy = new RunPolicy({ list, agentPolicy: this.#agentPolicy, inputId, within });
		if (this.#context !== undefined)
			this.policy.recorded(this.#context, begin === "begun" ? "outside" : "inside", within);
	}

	get runId(): string {
		return this.#handle.runId;
	}

	get sessionKey(): string {
		return this.#session.sessionKey;
	}

	get signal(): AbortSignal {
		return this.run.signal;
	}

	get context(): RunContext {
		// Interceptors read it from the start, when the policy is not created yet.
		const { policy }: { policy?: RunPolicy } = this;
		return policy?.context ?? (this.#context as RunContext);
	}

	values(owner: string): SessionValues {
		return (this.#agentPolicy ?? memoryValues()).values(this.sessionKey, owner);
	}

	above(levels: number, keys: SessionKeys): string | undefined {
		return keyAbove(this.sessionKey, levels, keys);
	}

	entries(after?: number): Promise<readonly Entry[]> {
		return this.#session.lease.entries(this.runId, after);
	}

	folded(): unknown {
		return ownOf(this.run.state.run);
	}

	history(): readonly Message[] {
		return this.run.state.agent.messages;
	}

	stepIndex(): number {
		return Math.max(0, (this.run.state.run?.step ?? 1) - 1);
	}

	async steer(input: SendInput): Promise<AgentRun> {
		return this.#session.steer(saidBy(acceptInput(input), this.caller));
	}

	/** Accepts context for the rest of the turn. */
	overlay(input: AcceptedInput | SendInput): Promise<void> {
		const { message } = isAccepted(input) ? input : acceptInput(input);
		this.policy.overlay(message, this.run.state.run?.cycles ?? 0);
		this.#handle.overlayAccepted();
		return Promise.resolve();
	}

	/** The turn has ended. */
	close(outcome: DriveOutcome): void {
		if (outcome.kind === "ended") void this.#agentPolicy?.ended(this, outcome.outcome);
	}

	/** The caller's result at the end of the run. */
	async leave(outcome: DriveOutcome, end: () => Promise<GenerateResult>): Promise<GenerateResult> {
		return outcome.kind === "ended" ? this.policy.leave(end) : end();
	}
}

function isAccepted(input: AcceptedInput | SendInput): input is AcceptedInput {
	return typeof input === "object" && "shape" in input && "message" in input;
}
