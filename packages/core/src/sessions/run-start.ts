// The fact that starts a run: who requested it, and which agent does the work.
import type { EngineAgent } from "../engine/index.ts";
import type { AcceptedInput, Mutable, RunStarted } from "../facts/index.ts";

/** Creates the fact that starts a run of this agent. */
export function startOf(agent: EngineAgent, origin: AcceptedInput["origin"]): RunStarted {
	const started: Mutable<RunStarted> = {
		kind: "run.started",
		runKind: origin?.runKind ?? "user-turn",
		agentId: agent.id,
		fingerprint: agent.fingerprint(),
		marks: undefined, // Set up front to keep V8's object shape stable.
	};
	if (agent.name !== undefined) started.agentName = agent.name;
	if (origin?.caller !== undefined) started.caller = origin.caller;
	if (origin?.parent !== undefined) started.parent = origin.parent;
	return started;
}
