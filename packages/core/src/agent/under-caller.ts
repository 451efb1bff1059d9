// An agent that works under the policy of its caller, in addition to its own.
import type { AdmitWaiting, AgentPolicy, PolicyAgent } from "../policy/index.ts";
import { forwarded, type SessionAgent } from "../sessions/index.ts";

/** The parts of a caller that hold for the agents below it. Plugins change them until they are set up. */
export type Caller = Pick<SessionAgent, "policy" | "admitWaiting">;

/** Returns the agent as it works below the caller. `itself` is the form that policy sees. */
export function underCaller(agent: SessionAgent, itself: PolicyAgent, caller: Caller): SessionAgent {
	const policyOf = joined(itself);
	const { inTable, inStore } = agent;
	const below = (changed: SessionAgent): SessionAgent => underCaller(changed, itself, caller);
	const admitWaiting = inOrder(caller.admitWaiting, agent.admitWaiting);
	return forwarded(agent, {
		get policy() {
			return policyOf(agent.policy, caller.policy);
		},
		admitWaiting,
		...(inTable && { inTable: (table) => below(inTable(table)) }),
		...(inStore && { inStore: (data) => below(inStore(data)) }),
	});
}

/** Returns the policy of an agent below a caller. The same two policies give the same result. */
function joined(
	itself: PolicyAgent,
): (own: AgentPolicy | undefined, above: AgentPolicy | undefined) => AgentPolicy | undefined {
	let last: { readonly own: unknown; readonly above: unknown; readonly policy: AgentPolicy } | undefined;
	return (own, above) => {
		if (above === undefined) return own;
		if (last === undefined || last.own !== own || last.above !== above)
			last = { own, above, policy: above.over(own, itself) };
		return last.policy;
	};
}

function inOrder(first: AdmitWaiting | undefined, then: AdmitWaiting | undefined): AdmitWaiting | undefined {
	return first === undefined || then === undefined ? (first ?? then) : (fact) => then(first(fact));
}
