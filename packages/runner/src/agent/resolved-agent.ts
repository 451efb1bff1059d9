// An agent's resolved configuration: everything that its sessions share.

import { inMemoryClient, type MemoryClient } from "@holdfast/memory";
import { createRedactor, type Redactor } from "@holdfast/redaction";
import { type Host, memoryHost } from "holdfast";
import { type Ports, systemPorts } from "holdfast/host";
import type { AgentConfig, AgentEventName, CallAnswer, SafetyLayer } from "../contract/index.ts";
import { createRouter, type ModelRouter } from "../models/index.ts";
import { createSafety } from "../safety/index.ts";
import { ToolRegistry } from "../tools/index.ts";
import { MetricsCollector } from "./metrics.ts";
import { checkConfig, type Flags, flagsOf } from "./read-config.ts";

/** The recorded answers of models and tools for a replay. */
export interface Recording {
	readonly router: ModelRouter;
	/** Returns a string if the call did not run. */
	answer(iteration: number): CallAnswer | string | undefined;
}

export interface ResolvedAgent {
	readonly config: AgentConfig;
	readonly flags: Flags;
	readonly host: Host;
	readonly ports: Ports;
	readonly tools: ToolRegistry;
	readonly router: ModelRouter;
	readonly redactor: Redactor;
	readonly safety: SafetyLayer;
	readonly metrics: MetricsCollector;
	/** Set in a replay. */
	readonly recording: Recording | undefined;
	readonly handlers: Map<AgentEventName, ((data: unknown) => void)[]>;
	/** Returns the memory of a session. */
	memory(): MemoryClient;
}

/** @throws HoldfastError `CONFIG_INVALID`, `RBAC_DENIED`, and the errors of registering tools. */
export function resolveConfig(
	config: AgentConfig,
	recording?: Recording,
	{
		mayAsk = true,
	}: { /** Whether a person can be asked about calls of tools. */ readonly mayAsk?: boolean } = {},
): ResolvedAgent {
	checkConfig(config);
	const flags = flagsOf(config, process.env);
	const ports: Ports = { ...systemPorts, ...config.ports };
	const host = config.host ?? memoryHost();
	/** Keeps records with the same timestamp in order. */
	let kept = 0;
	const redactor = createRedactor({ secrets: config.safety?.secrets });
	const tools = new ToolRegistry();
	const safety = createSafety({
		agentId: config.id,
		config: config.safety ?? {},
		flags,
		enableTools: config.enableTools ?? [],
		tool: (id) => tools.get(id),
		redactor,
		clock: ports.clock,
		ids: ports.ids,
		timers: ports.timers,
		mayAsk,
		keep: (record) =>
			host.values
				.values(record.sessionId ?? config.id, "runner.audit")
				.set(`${record.timestamp} ${String(++kept).padStart(9, "0")} ${record.id}`, record),
	});
	safety.checkPermission("agent:create", config.id);
	for (const tool of config.tools) tools.register(tool);
	const { memoryClient } = config;
	return {
		config,
		flags,
		host,
		ports,
		tools,
		router:
			recording?.router ??
			createRouter(config.modelProviders, {
				score: config.score,
				timeoutMs: config.modelTimeoutMs,
				timers: ports.timers,
				clock: ports.clock,
			}),
		recording,
		redactor,
		safety,
		metrics: new MetricsCollector(),
		handlers: new Map(),
		memory: () => memoryClient ?? inMemoryClient(),
	};
}
