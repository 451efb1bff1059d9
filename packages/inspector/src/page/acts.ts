// Actions on a session, through its public routes: those of a session, or of a project's thread.
import { areThreads } from "./about.ts";
import { ask, inspectPath, post, remove, say } from "./api.ts";

/** The path of a session under the public routes. */
export function publicPath(sessionId: string, rest = ""): string {
	const at = areThreads() ? "/api/threads/" : "/api/agent/session/";
	return `${at}${encodeURIComponent(sessionId)}${rest}`;
}

/** Begins a session, or a thread of an agent; gives its id. */
export async function begin(text: string, agent: string | undefined): Promise<string> {
	if (!areThreads()) return say(text);
	const { id } = await post<{ id: string }>("/api/threads", { agent_id: agent });
	await post(publicPath(id, "/messages"), { content: text });
	return id;
}

/** Says something to a session. */
export async function send(sessionId: string, text: string): Promise<void> {
	if (areThreads()) await post(publicPath(sessionId, "/messages"), { content: text });
	else await say(text, sessionId);
}

/** Says something to the run under way. A message of a thread does so by itself. */
export async function steer(sessionId: string, input: string): Promise<void> {
	await post(inspectPath(sessionId, "/steer"), { input });
}

/** Ends the run under way. */
export async function interrupt(sessionId: string): Promise<void> {
	await post(publicPath(sessionId, "/stop"));
}

/** Removes a session with all that is kept of it. */
export async function removeSession(sessionId: string): Promise<void> {
	await remove(publicPath(sessionId));
}

/** Names of the agents of a project. */
export async function agentNames(signal?: AbortSignal): Promise<readonly string[]> {
	const { agents } = await ask<{ agents: readonly { readonly name: string }[] }>("/api/agents", signal);
	return agents.map(({ name }) => name);
}
