// Entry point of the server: agents for other agents.
export { type A2AAgentServer, a2aServer } from "./a2a-server.ts";
export type { A2AServerOptions, A2ASkill } from "./options.ts";
export { contextOfSession } from "./task-id.ts";
