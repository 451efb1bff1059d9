// What is about one turn and not of its history: overlays, and where plugins step in.
import type { Message } from "@holdfast/upp";
import { type DriveOutcome, type Run, withinCall } from "../engine/index.ts";
import { type AcceptedInput, acceptInput, type SendInput } from "../facts/index.ts";
import type { Interceptors, PluginTurn, SessionPlugins } from "../policy/index.ts";
import type { AgentRun } from "./agent-run.ts";
import type { SessionAgent } from "./session-agent.ts";
import type { SessionWorker } from "./session-worker.ts";
import { TurnOverlays } from "./turn-overlays.ts";

type Mutable<T> = { -readonly [Name in keyof T]: T[Name] };

export class TurnFrame implements PluginTurn {
	/** Set as soon as the run is made; the frame is asked nothing before. */
	run!: Run;
	readonly #worker: SessionWorker;
	readonly #handle: AgentRun;
	readonly #overlays: TurnOverlays;
	readonly #interceptors: Mutable<Interceptors> = {};
	#ofPlugins: Interceptors = {};

	constructor(worker: SessionWorker, inputId: string, handle: AgentRun) {
		this.#worker = worker;
		this.#handle = handle;
		this.#overlays = new TurnOverlays(inputId);
	}

	/** Where the run is intercepted; more is added when an overlay comes. */
	interceptors({ plugins, tools }: SessionAgent): Interceptors {
		if (plugins !== undefined) {
			this.#ofPlugins = this.#awaited(plugins.interceptors(this, tools));
			Object.assign(this.#interceptors, this.#ofPlugins);
		}
		return this.#interceptors;
	}

	/** What the run waits for belongs to it while it works. */
	#awaited(interceptors: Interceptors): Interceptors {
		const calls = Object.entries(interceptors) as [string, (...given: unknown[]) => unknown][];
		const awaited = calls.map(([name, call]) => [
			name,
			(...given: unknown[]) => withinCall(this.run.place, () => call(...given)),
		]);
		return Object.fromEntries(awaited);
	}

	get sessionKey(): string {
		return this.#worker.key;
	}

	get signal(): AbortSignal {
		return this.run.signal;
	}

	history(): readonly Message[] {
		return this.run.state.agent.messages;
	}

	stepIndex(): number {
		return Math.max(0, (this.run.state.run?.step ?? 1) - 1);
	}

	async steer(input: SendInput): Promise<AgentRun> {
		return this.#worker.steer(acceptInput(input));
	}

	/** Accepts context for the rest of the turn. */
	overlay(input: AcceptedInput | SendInput): Promise<void> {
		const { message } = isAccepted(input) ? input : acceptInput(input);
		if ((this.run.state.run?.cycles ?? 0) > 0) this.#overlays.answered();
		this.#overlays.accept(message);
		this.#interceptors.goesOn = () => this.#overlays.unseen;
		this.#interceptors.assemble = async (messages) => {
			// Behind the plugins: what they summarise is the history, and it outlasts the turn.
			return this.#overlays.view((await this.#ofPlugins.assemble?.(messages)) ?? messages);
		};
		this.#handle.overlayAccepted();
		return Promise.resolve();
	}

	/** The turn is over. */
	close(plugins: SessionPlugins | undefined, outcome: DriveOutcome): void {
		if (plugins === undefined || outcome.kind !== "ended") return;
		void plugins.turnAfter(this, outcome.outcome);
	}
}

function isAccepted(input: AcceptedInput | SendInput): input is AcceptedInput {
	return typeof input === "object" && "shape" in input && "message" in input;
}
