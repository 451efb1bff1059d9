// A run in the form that planners and reflectors see. Lists are copied only on access.
import type { ActionResult, ChatMessage, PlannerState } from "../contract/index.ts";
import type { KnownTools, LiveRun, LoopParts } from "./loop-parts.ts";
import type { Progress } from "./progress.ts";

export function plannerState(
	parts: LoopParts,
	live: LiveRun,
	progress: Progress,
	known: KnownTools,
): PlannerState {
	return new SeenRun(parts, live, progress, known);
}

class SeenRun implements PlannerState {
	readonly agentId: string;
	readonly sessionId: string;
	readonly task: string;
	readonly step: number;
	declare readonly transcript: readonly ChatMessage[];
	declare readonly scratchpad: readonly string[];
	declare readonly actions: readonly ActionResult[];
	declare readonly lastResult?: ActionResult;
	readonly memory: readonly unknown[];
	readonly tools: PlannerState["tools"];
	readonly safetyBudget: number;
	readonly #progress: Progress;
	#transcript: readonly ChatMessage[] | undefined;
	#scratchpad: readonly string[] | undefined;
	#actions: readonly ActionResult[] | undefined;

	static readonly #ofTranscript: PropertyDescriptor & ThisType<SeenRun> = {
		get() {
			this.#transcript ??= this.#progress.transcript.toArray();
			return this.#transcript;
		},
		enumerable: true,
	};
	static readonly #ofScratchpad: PropertyDescriptor & ThisType<SeenRun> = {
		get() {
			this.#scratchpad ??= this.#progress.scratchpad.toArray();
			return this.#scratchpad;
		},
		enumerable: true,
	};
	static readonly #ofActions: PropertyDescriptor & ThisType<SeenRun> = {
		get() {
			this.#actions ??= this.#progress.actions.toArray();
			return this.#actions;
		},
		enumerable: true,
	};

	constructor(parts: LoopParts, live: LiveRun, progress: Progress, known: KnownTools) {
		const { begin, actions, blocks, steps } = progress;
		this.#progress = progress;
		this.agentId = parts.agentId;
		this.sessionId = live.sessionId;
		this.task = begin?.task ?? "";
		this.step = steps + 1;
		// Own members, not members of the class, for callers that pass on a copy, `{ ...state }`. Getters of a literal
		// would take longer than everything else here.
		Object.defineProperty(this, "transcript", SeenRun.#ofTranscript);
		Object.defineProperty(this, "scratchpad", SeenRun.#ofScratchpad);
		Object.defineProperty(this, "actions", SeenRun.#ofActions);
		const lastResult = actions.at(-1);
		if (lastResult !== undefined) this.lastResult = lastResult;
		this.memory = begin?.memory ?? [];
		this.tools = parts.tools(known);
		this.safetyBudget = Math.max(0, parts.safetyBudget - blocks);
	}
}
