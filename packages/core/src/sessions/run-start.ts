// The fact that starts a run: who requested it, and which agent does the work.
import type { AskedSystem, EngineAgent } from "../engine/index.ts";
import {
	type AcceptedInput,
	fingerprintWithSystem,
	type Mutable,
	type RunStarted,
	recordedSystem,
	type SessionState,
	systemHash,
} from "../facts/index.ts";

/** Creates the fact that starts a run of this agent. */
export function startOf(
	agent: EngineAgent,
	origin: AcceptedInput["origin"],
	system: Pick<RunStarted, "system" | "fingerprint"> = { fingerprint: agent.fingerprint() },
): RunStarted {
	const started: Mutable<RunStarted> = {
		kind: "run.started",
		runKind: origin?.runKind ?? "user-turn",
		agentId: agent.id,
		...system,
		marks: undefined, // Set up front to keep V8's object shape stable.
	};
	if (agent.name !== undefined) started.agentName = agent.name;
	if (origin?.caller !== undefined) started.caller = origin.caller;
	if (origin?.parent !== undefined) started.parent = origin.parent;
	return started;
}

/** Returns what the start or resume of a run records of the system prompt that the agent's function returned. */
export function systemFacts(
	fingerprint: string,
	asked: AskedSystem | undefined,
	{ system: before }: Pick<SessionState, "system">,
): Pick<RunStarted, "system" | "fingerprint"> {
	if (asked === undefined || "error" in asked) return { fingerprint };
	const { system } = asked;
	return {
		fingerprint: fingerprintWithSystem(fingerprint, systemHash(system)),
		system: recordedSystem(before, system),
	};
}
