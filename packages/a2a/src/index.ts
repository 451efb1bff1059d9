// @holdfast/a2a: serves agents over A2A, and uses remote A2A agents as tools.
export {
	type FollowTaskOptions,
	type RemoteAgent,
	type RemoteAgentOptions,
	type RemoteCall,
	remoteAgent,
} from "./client/index.ts";
export {
	type A2AAgentServer,
	type A2AServerOptions,
	type A2ASkill,
	a2aServer,
	contextOfSession,
} from "./server/index.ts";
