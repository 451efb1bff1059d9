// The door of the client: remote agents as tools.
export { type RemoteAgent, type RemoteAgentOptions, type RemoteCall, remoteAgent } from "./remote-agent.ts";
