// The agent: its task, its tools and its permissions.
import { join } from "node:path";
import { type AgentConfig, RunnerAgent } from "@holdfast/runner";
import { httpConnector, shellConnector } from "@holdfast/runner/connectors";
import { searchTool } from "./search.ts";
import type { Tracker } from "./tracker.ts";

const repository = join(import.meta.dirname, "repository");

interface Options {
	readonly tracker: Tracker;
	readonly model: AgentConfig["modelProviders"][number];
	readonly allowShell: boolean;
}

export function issueAgent({ tracker, model, allowShell }: Options): RunnerAgent {
	return new RunnerAgent({
		id: "issue-automation",
		taskPrompt: `Find the test of "slugify", run it with node, and if it fails post an issue with its output to ${tracker.url}/issues.`,
		tools: [
			searchTool(repository),
			shellConnector({ root: repository, timeoutMs: 20_000 }),
			httpConnector({
				methods: ["POST"],
				allowPrivate: [new URL(tracker.url).host],
				credentials: { [tracker.url]: { authorization: `Bearer ${tracker.key}` } },
			}),
		],
		modelProviders: [model],
		allowNetwork: true,
		allowShell,
		// The key never appears in an event, a log or a result.
		safety: { secrets: [tracker.key] },
		retry: { baseDelayMs: 50 },
	});
}
