// The policy of one run: the stages of its list, joined for the engine, with the run's overlays and the replacements made
// by `before` stages.
import type { Message, UserMessage } from "@holdfast/upp";
import type { Mutable } from "../facts/index.ts";
import type { GenerateResult } from "../state/index.ts";
import { type Admitting, admittingOf } from "./admission.ts";
import type { AgentPolicy } from "./agent-policy.ts";
import { type Around, AroundRun } from "./around-run.ts";
import type { AssembledRequest } from "./assembled-request.ts";
import { type DrivenStages, joinStages, type NamedStages } from "./join-stages.ts";
import type { RunContext } from "./policy-run.ts";
import { TurnOverlays } from "./turn-overlays.ts";

/** Calls a stage of the engine so that anything it waits for is attributed to the run. */
export type Within = <T>(call: () => T) => T;

export interface RunPolicyOptions {
	readonly list: readonly NamedStages[];
	/** The policy that the list is from. */
	readonly agentPolicy?: AgentPolicy | undefined;
	/** Id of the message that started the run. */
	readonly inputId: string;
	/** Default: stages are called directly. */
	readonly within?: Within;
}

const nobody: readonly Around[] = [];
const noStages: DrivenStages = {};

export class RunPolicy {
	/** The engine's stages. An overlay adds to them. */
	readonly stages: DrivenStages;
	readonly admitting: Admitting | undefined;
	/** The functions around the run; empty if there are none. */
	readonly around: readonly Around[];
	readonly #inputId: string;
	readonly #ofList: DrivenStages;
	#overlays: TurnOverlays | undefined;
	#view: ((messages: readonly Message[]) => readonly Message[]) | undefined;
	#through: AroundRun | undefined;

	constructor({ list, agentPolicy, inputId, within = (call) => call() }: RunPolicyOptions) {
		this.#inputId = inputId;
		if (list.length === 0) {
			// Most runs have no policy, so nothing is allocated for it.
			this.around = nobody;
			this.#ofList = noStages;
			this.stages = {};
			return;
		}
		this.around = list
			.map(({ stages }) => stages)
			.filter(({ before, after, onError }) => (before ?? after ?? onError) !== undefined);
		const joined = joinStages(list);
		// A scope per call would cost as much as a small stage itself.
		this.#ofList = list.every(({ stages }) => stages.waits === "never") ? joined : allWithin(joined, within);
		this.stages = { ...this.#ofList, ...(agentPolicy && { agentPolicy }) };
		const admitting = admittingOf(list);
		if (admitting === undefined) return;
		this.admitting = {
			...admitting,
			facts: (given, step) =>
				given.some(admitting.mayWait)
					? within(() => admitting.facts(given, step))
					: admitting.facts(given, step),
		};
	}

	/**
	 * Calls the stages around a recorded run: `before` when it starts, unless it is resumed. Their changes to the input
	 * and the state affect what the model sees, but never what is recorded.
	 */
	recorded(context: RunContext, from: "outside" | "inside", within: Within): void {
		if (this.around.length === 0) return;
		const around = new AroundRun(this.around, context, from);
		this.#through = around;
		if (this.around.some(({ after, onError }) => (after ?? onError) !== undefined))
			(this.stages as Mutable<DrivenStages>).leaving = (end) => within(() => this.leave(end));
		const { turnBefore } = this.#ofList;
		(this.stages as Mutable<DrivenStages>).turnBefore = async () => {
			await within(() => around.enter());
			const { input, state } = around.context;
			if (input !== context.input || state !== context.state) this.#shows(around.context);
			await turnBefore?.();
		};
	}

	/** The context after the `before` stages of a recorded run. */
	get context(): RunContext | undefined {
		return this.#through?.context;
	}

	/** Returns the caller's result of an ended recorded run. */
	async leave(end: () => Promise<GenerateResult>): Promise<GenerateResult> {
		const around = this.#through;
		if (around === undefined) return end();
		let result: GenerateResult;
		try {
			result = await end();
		} catch (error) {
			return around.failed(error);
		}
		return around.completed(result);
	}

	/** Shows the model a different beginning than the recorded one. */
	#shows({ input, state }: RunContext): void {
		const shown = [...state.messages, input];
		this.#view = (messages) => {
			const at = messages.findLastIndex(({ id }) => id === this.#inputId);
			return at < 0 ? messages : [...shown, ...messages.slice(at + 1)];
		};
		(this.stages as Mutable<DrivenStages>).assemble = (given, request) => this.#assemble(given, request);
	}

	/** The overlays for the rest of the run; undefined if there are none. */
	get overlays(): TurnOverlays | undefined {
		return this.#overlays;
	}

	/** Restores the overlays that the model saw before the run waited. */
	showAgain(overlays: TurnOverlays): void {
		this.#show(overlays);
	}

	/** Shows the model a message for the rest of the run. `answers` is the number of answers so far. */
	overlay(message: UserMessage, answers: number): void {
		const overlays = this.#overlays ?? new TurnOverlays(this.#inputId);
		if (answers > 0) overlays.answered();
		overlays.accept(message);
		this.#show(overlays);
	}

	#show(overlays: TurnOverlays): void {
		this.#overlays = overlays;
		const stages = this.stages as Mutable<DrivenStages>;
		stages.continues = () => overlays.unseen || this.#ofList.continues?.() === true;
		stages.assemble = (given, request) => this.#assemble(given, request);
	}

	async #assemble(
		given: readonly Message[],
		request: AssembledRequest | undefined,
	): Promise<readonly Message[]> {
		const begun = this.#view?.(given) ?? given;
		const messages = (await this.#ofList.assemble?.(begun, request)) ?? begun;
		// Applied after the list: the list summarises the history, which outlasts the turn, so overlays must not be part
		// of it.
		return this.#overlays?.view(messages) ?? messages;
	}
}

/** Whether the run waits for the result of a stage. A stage that is not awaited cannot delay the run. */
function awaited(stage: string): boolean {
	return stage !== "committed" && stage !== "continues";
}

function allWithin(stages: DrivenStages, within: Within): DrivenStages {
	const wrapped = Object.entries(stages).map(([name, call]: [string, unknown]) =>
		typeof call === "function" && awaited(name)
			? [name, (...given: unknown[]) => within(() => call(...given))]
			: [name, call],
	);
	return Object.fromEntries(wrapped);
}
