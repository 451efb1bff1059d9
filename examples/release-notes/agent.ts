// The agent: its task, its tools and its permissions.
import { type AgentConfig, RunnerAgent } from "@holdfast/runner";
import { httpConnector, kvConnector } from "@holdfast/runner/connectors";

/** `host` is the host of the release notes, such as `127.0.0.1:8080`. */
export function releaseNotesAgent(host: string, model: AgentConfig["modelProviders"][number]): RunnerAgent {
	return new RunnerAgent({
		id: "release-notes",
		taskPrompt: `Fetch http://${host}/releases/latest, keep its text in the cache under "release-notes", and say which changes affect the API.`,
		tools: [httpConnector({ methods: ["GET"], allowPrivate: [host] }), kvConnector({ id: "cache" })],
		modelProviders: [model],
		allowNetwork: true,
	});
}
