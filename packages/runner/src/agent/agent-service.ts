// The agents of a process, by id.
import { HoldfastError } from "@holdfast/upp";
import type { AgentConfig } from "../contract/index.ts";
import { RunnerAgent } from "./agent.ts";

/** One agent for each id. */
export class AgentService {
	readonly #agents = new Map<string, { readonly config: AgentConfig; readonly agent: RunnerAgent }>();

	/**
	 * Returns the agent for a configuration: the same one for the same id.
	 * @throws HoldfastError `AGENT_ID_CONFLICT` if the id is in use with another configuration.
	 */
	get(config: AgentConfig): RunnerAgent {
		const known = this.#agents.get(config?.id);
		if (known === undefined) {
			const agent = new RunnerAgent(config);
			this.#agents.set(config.id, { config, agent });
			return agent;
		}
		if (isSame(known.config, config)) return known.agent;
		throw new HoldfastError(
			"AGENT_ID_CONFLICT",
			`The id ${JSON.stringify(config.id)} is in use by an agent with another configuration.`,
		);
	}

	/**
	 * Returns the agent for a configuration from the service that the whole process shares.
	 * @throws HoldfastError `AGENT_ID_CONFLICT` if the id is in use with another configuration.
	 */
	static get(config: AgentConfig): RunnerAgent {
		return shared.get(config);
	}

	/** Stops the agents of the service that the whole process shares. */
	static stop(): Promise<void> {
		return shared.stop();
	}

	/** Stops all agents. */
	async stop(): Promise<void> {
		const agents = [...this.#agents.values()];
		this.#agents.clear();
		await Promise.all(agents.map(({ agent }) => agent.stop()));
	}
}

const shared = new AgentService();

/** Whether two configurations are equal: plain data is compared, everything else must be the same object. */
function isSame(a: unknown, b: unknown, depth = 0): boolean {
	if (Object.is(a, b)) return true;
	if (typeof a !== "object" || typeof b !== "object" || a === null || b === null || depth > 8) return false;
	if (!isPlain(a) || !isPlain(b)) return false;
	const [left, right] = [Object.entries(a), b as Record<string, unknown>];
	if (left.length !== Object.keys(right).length) return false;
	return left.every(([name, value]) => Object.hasOwn(right, name) && isSame(value, right[name], depth + 1));
}

function isPlain(value: object): boolean {
	const prototype = Object.getPrototypeOf(value);
	return Array.isArray(value) || prototype === Object.prototype || prototype === null;
}
