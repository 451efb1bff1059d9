// Entry point of the client: remote agents as tools.
export { type RemoteAgent, type RemoteAgentOptions, remoteAgent } from "./remote-agent.ts";
export type { FollowTaskOptions, RemoteCall } from "./remote-run.ts";
