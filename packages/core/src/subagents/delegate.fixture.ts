// Shared by the tests of delegation: agents that follow scripts, gates, and the events of a run.

import { type Script, type ScriptedModel, type ScriptedReply, scriptedModel } from "@holdfast/testing";
import { Agent } from "../agent/agent.ts";
import type { AgentOptions } from "../agent/options.ts";
import type { AgentEvent } from "../facts/agent-event.ts";
import { type Host, journalHost } from "../host/host-port.ts";
import { type MemoryJournal, memoryJournal } from "../host/memory-journal.ts";
import type { AgentRun } from "../sessions/agent-run.ts";

/** A promise that the test resolves. */
export function gate(): { readonly promise: Promise<void>; open(): void } {
	const { promise, resolve } = Promise.withResolvers<void>();
	return { promise, open: () => resolve() };
}

/** A sub-agent that follows a script. */
export function helper(name: string, script: Script, options: Partial<AgentOptions> = {}): Agent {
	return new Agent({ name, description: `Works as ${name}.`, model: scriptedModel(script), ...options });
}

/** A reply that calls tools. */
export function calls(
	...toolCalls: readonly [name: string, input: Record<string, unknown>][]
): ScriptedReply {
	return { toolCalls: toolCalls.map(([name, input]) => ({ name, arguments: input })) };
}

/** A parent, its model and the journal of its sessions. */
export interface Family {
	readonly parent: Agent;
	readonly model: ScriptedModel;
	readonly journal: MemoryJournal;
	readonly host: Host;
}

/** A parent that follows a script, on a journal in memory. */
export function family(
	script: Script,
	subagents: readonly Agent[],
	options: Partial<AgentOptions> & {
		readonly journal?: MemoryJournal;
		readonly hostIs?: "durable" | "in-process" | "blocking";
	} = {},
): Family {
	const { journal = memoryJournal(), hostIs = "in-process", ...others } = options;
	const host = journalHost(journal, {
		capabilities: hostIs === "blocking" ? {} : { backgroundSubagents: hostIs },
	});
	const model = scriptedModel(script);
	const parent = new Agent({ model, subagents, host, ...others });
	return { parent, model, journal, host };
}

/** Returns all events of a run. */
export async function eventsOf(run: AgentRun): Promise<AgentEvent[]> {
	const events: AgentEvent[] = [];
	for await (const event of run.events()) events.push(event);
	return events;
}

/** Returns the outputs of a run's tools, in order. */
export function outputsOf(events: readonly AgentEvent[]): unknown[] {
	return events.flatMap((event) => (event.type === "tool-result" ? [event.output] : []));
}

/** Settles when the journal satisfies the condition, which is checked after every change of that session. */
export async function until(
	journal: MemoryJournal,
	storeKey: string,
	holds: () => boolean | Promise<boolean>,
): Promise<void> {
	while (!(await holds())) {
		await new Promise<void>((resolve) => {
			const stop = journal.watch(storeKey, () => {
				stop();
				resolve();
			});
		});
	}
}

/** Settles when this number of reminders wait for a session. */
export function reminders(journal: MemoryJournal, storeKey: string, count: number): Promise<void> {
	return until(journal, storeKey, async () => (await journal.head(storeKey))?.waiting === count);
}

/** Returns the reminders that a run received. */
export function remindersOf(events: readonly AgentEvent[]): string[] {
	return events.flatMap((event) =>
		event.type === "runtime-input" && event.input.type === "user-text" ? [String(event.input.text)] : [],
	);
}
