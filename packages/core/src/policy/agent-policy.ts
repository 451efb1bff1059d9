// The policy of one agent, as one list: first the entries of `middleware` in their order, then the hooks of `plugins` in
// the order of registration.
import type { Message } from "@holdfast/upp";
import type { RunOutcome } from "../facts/index.ts";
import type { SessionKeys, SessionValues, ValueStore } from "../host/index.ts";
import { mayAnswersWait, withWaitingAdmitted } from "./admit-waiting.ts";
import { heldBelow } from "./callers-policy.ts";
import type { NamedStages } from "./join-stages.ts";
import { type MiddlewareEntry, middlewareStages } from "./middleware/middleware-face.ts";
import type { PluginSet } from "./plugins/plugin-set.ts";
import type { PolicyFiles } from "./policy-data.ts";
import type { PluginTurn, PolicyAgent, PolicyRun } from "./policy-run.ts";

export interface PolicyOptions {
	/** The agent in the form that interceptors see. */
	readonly agent: PolicyAgent;
	readonly middleware: readonly MiddlewareEntry[];
	/** Absent if the agent has no plugins. */
	readonly plugins?: PluginSet | undefined;
	/** The keys of the agent's sessions. */
	readonly keys: SessionKeys;
	/** The storage for interceptors' values of sessions. */
	readonly values: ValueStore;
	/** The storage for plugins' files of sessions and calls. Absent if the agent has no plugins. */
	readonly files?: PolicyFiles | undefined;
	/** The policy of the caller, if the agent works under it. */
	readonly caller?: AgentPolicy | undefined;
}

export class AgentPolicy {
	readonly agent: PolicyAgent;
	readonly #options: PolicyOptions;

	constructor(options: PolicyOptions) {
		this.agent = options.agent;
		this.#options = options;
	}

	/** Returns the stages for one run, in order. `levels`: how far above the run's own agent this one is. */
	begin(run: PolicyRun, levels = 0): readonly NamedStages[] {
		const { middleware, plugins, caller, keys } = this.#options;
		const above = caller === undefined ? [] : heldBelow(caller.begin(run, levels + 1));
		const list = middleware.map((entry): NamedStages => {
			const own = middlewareStages(entry, run);
			const stages = run.kind === "session" ? withWaitingAdmitted(entry, own) : own;
			const answersMayNotWait = run.kind === "session" && !mayAnswersWait(entry, own);
			return { name: entry.name, stages, answersMayNotWait };
		});
		const agentSessionKey = levels === 0 ? run.sessionKey : run.above(levels, keys);
		const ofPlugins = plugins === undefined ? [] : plugins.stages(run, agentSessionKey);
		return [...above, ...list, ...ofPlugins];
	}

	/** Returns the policy of an agent that works under this one as well as its own. */
	over(own: AgentPolicy | undefined, agent: PolicyAgent): AgentPolicy {
		const { values, keys } = this.#options;
		const empty: PolicyOptions = { agent, middleware: [], values, keys };
		return new AgentPolicy({ ...(own === undefined ? empty : own.#options), caller: this });
	}

	/** Returns an owner's values for a session, or for a call until its end. */
	values(sessionKey: string, owner: string): SessionValues {
		return this.#options.values.values(sessionKey, owner);
	}

	/** Notifies plugins after the end of a run is committed. Never rejects. */
	async ended(run: PluginTurn, outcome: RunOutcome): Promise<void> {
		await this.#options.plugins?.turnAfter(run, outcome);
	}

	/** Drops the values of a call that has ended, including those that its caller's policy stored for it. */
	callOver(call: Pick<PluginTurn, "sessionKey">): void {
		const { values, files, caller } = this.#options;
		void values.deleteSession(call.sessionKey); // in memory
		files?.forget(call.sessionKey);
		caller?.callOver(call);
	}

	/** Whether any plugin observes events. */
	get looksOn(): boolean {
		return this.#options.plugins?.looksOn === true;
	}

	/**
	 * Passes an event to the plugins that observe events. Returns a promise that settles when they have processed it, or
	 * undefined if they already have. Never throws.
	 */
	notify(event: unknown, run: PluginTurn): Promise<unknown> | undefined {
		return this.#options.plugins?.notify(event, run);
	}

	/** Deletes what plugins stored for a session, including those of its caller. */
	async deleted(sessionKey: string): Promise<void> {
		const { plugins, values, caller } = this.#options;
		if (plugins === undefined) await values.deleteSession(sessionKey);
		else await plugins.deleted(sessionKey);
		await caller?.deleted(sessionKey);
	}

	/** Copies what plugins stored for a session to its fork. */
	async forked(
		sessionKey: string,
		forkKey: string,
		history: () => Promise<readonly Message[]>,
	): Promise<void> {
		await this.#options.plugins?.forked(sessionKey, forkKey, history);
	}
}
