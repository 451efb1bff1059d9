// Door of the sessions: durable conversations under keys.
export { AgentRun, type RunResult } from "./agent-run.ts";
export type { InputPart, SendInput } from "./input.ts";
export { Session } from "./session.ts";
export type { PluginTurn, SessionAgent, SessionPlugins } from "./session-agent.ts";
export type { AgentEvent } from "./session-events.ts";
export { SessionTable } from "./session-table.ts";
