// Actions on a session through its public routes: those of a session, or of a project's thread.
import { areThreads } from "./about.ts";
import { ask, inspectPath, post, remove, say } from "./api.ts";

/** Returns the path of a session under the public routes. */
export function publicPath(sessionId: string, rest = ""): string {
	const at = areThreads() ? "/api/threads/" : "/api/agent/session/";
	return `${at}${encodeURIComponent(sessionId)}${rest}`;
}

/** Starts a session, or a thread of an agent; returns its id. */
export async function begin(text: string, agent: string | undefined): Promise<string> {
	if (!areThreads()) return say(text);
	const { id } = await post<{ id: string }>("/api/threads", { agent_id: agent });
	await post(publicPath(id, "/messages"), { content: text });
	return id;
}

/** Sends a message to a session. */
export async function send(sessionId: string, text: string): Promise<void> {
	if (areThreads()) await post(publicPath(sessionId, "/messages"), { content: text });
	else await say(text, sessionId);
}

/** Steers the current run. A message to a thread does so automatically. */
export async function steer(sessionId: string, input: string): Promise<void> {
	await post(inspectPath(sessionId, "/steer"), { input });
}

/** Interrupts the current run. */
export async function interrupt(sessionId: string): Promise<void> {
	await post(publicPath(sessionId, "/stop"));
}

/** Deletes a session with all of its data. */
export async function removeSession(sessionId: string): Promise<void> {
	await remove(publicPath(sessionId));
}

/** Returns the names of a project's agents. */
export async function agentNames(signal?: AbortSignal): Promise<readonly string[]> {
	const { agents } = await ask<{ agents: readonly { readonly name: string }[] }>("/api/agents", signal);
	return agents.map(({ name }) => name);
}
