// The request behind an answer, rebuilt from the journal and the agent, and compared with what the answer and its run
// recorded (keeps I2): the journal has the messages, and the fingerprint identifies the instructions and the tools.
import { type Message, textOfSystem } from "@holdfast/upp";
import { readFingerprint, toolsPart } from "../engine/index.ts";
import { type AssistantSaid, type SessionState, systemHash } from "../facts/index.ts";
import type { SessionAgentInfo } from "./session-fork.ts";

/** Whether a part of a request is what was sent. `unknown`: nothing about it was recorded. */
export type SentPart = "same" | "differs" | "unknown";

/** The parts of a request that can be rebuilt. */
export interface SentRequest {
	/** The id of the model that answered. */
	readonly model: string;
	/**
	 * The instructions: the recorded ones if a function of the agent returned them, otherwise the agent's current ones.
	 */
	readonly system?: string;
	/** The tools that the agent has now, of those that this request had. */
	readonly tools?: SessionAgentInfo["tools"];
	/** The messages of the journal before the answer. */
	readonly messages: readonly Message[];
	/** Whether each part is what was sent. */
	readonly parts: {
		readonly model: SentPart;
		readonly instructions: SentPart;
		readonly tools: SentPart;
		/** `differs`: middleware or a plugin showed the model other messages. */
		readonly messages: SentPart;
	};
	/** Set if the strategy added a message of its own, or withheld the tools; such a message is not recorded. */
	readonly strategy?: NonNullable<AssistantSaid["strategy"]>;
	/** Set if `prepareStep` changed this call. */
	readonly prepared?: NonNullable<AssistantSaid["prepared"]>;
}

/**
 * Rebuilds the request behind an answer.
 * @param before the state of the session before the answer.
 * @param agent the agent of the session's next turn. Default: unknown.
 */
export function sentRequest(
	before: SessionState,
	answer: AssistantSaid,
	agent: SessionAgentInfo | undefined,
): SentRequest {
	const { modelId, view, strategy, prepared } = answer;
	const recorded = readFingerprint(answer.fingerprint ?? before.run?.fingerprint ?? "");
	const offered = agent && offeredTools(agent.tools, before.agent.loadedTools, prepared?.activeTools);
	const told = before.run?.instructed === true ? before.system?.system : undefined;
	const system = told ?? agent?.systemParts ?? agent?.system;
	return {
		model: modelId,
		...(system === undefined ? {} : { system: textOfSystem(system) }),
		...(offered === undefined ? {} : { tools: strategy?.tools === "withheld" ? [] : offered }),
		messages: [...before.context],
		parts: {
			model: "same",
			instructions: partOf(
				(agent ?? told) === undefined ? undefined : recorded,
				(parts) => parts.instructions === systemHash(system),
			),
			tools: partOf(agent && recorded, (parts) => parts.tools === toolsPart(offered ?? [])),
			messages: view === undefined ? "same" : "differs",
		},
		...(strategy === undefined ? {} : { strategy }),
		...(prepared === undefined ? {} : { prepared }),
	};
}

function partOf<Recorded>(recorded: Recorded | undefined, isSame: (recorded: Recorded) => boolean): SentPart {
	if (recorded === undefined) return "unknown";
	return isSame(recorded) ? "same" : "differs";
}

function offeredTools(
	all: SessionAgentInfo["tools"],
	loaded: readonly string[],
	active: readonly string[] | undefined,
): SessionAgentInfo["tools"] {
	const byName = new Map(all.map((tool) => [tool.name, tool]));
	if (active !== undefined) return active.flatMap((name) => byName.get(name) ?? []);
	const always = all.filter(({ loadedBy }) => loadedBy === undefined);
	return [...always, ...loaded.flatMap((name) => byName.get(name) ?? [])];
}
