// Shared by the tests of sessions: agents that follow scripts, events read step by step, and the requests of a model.

import { type Script, type ScriptedModel, scriptedModel } from "@holdfast/testing";
import type { LLMRequest } from "@holdfast/upp";
import { lines } from "../agent/agent.fixture.ts";
import { Agent } from "../agent/agent.ts";
import type { AgentOptions } from "../agent/options.ts";
import type { AgentEvent } from "../facts/agent-event.ts";
import { journalHost } from "../host/host-port.ts";
import { type MemoryJournal, memoryJournal } from "../host/memory-journal.ts";
import type { Plugin } from "../policy/plugins/plugin.ts";
import type { AgentRun } from "./agent-run.ts";
import type { Session } from "./session.ts";

/** A promise that never settles. */
export const never: Promise<never> = new Promise(() => {});

/** A promise that the test resolves. */
export function gate(): { readonly promise: Promise<void>; open(): void } {
	const { promise, resolve } = Promise.withResolvers<void>();
	return { promise, open: () => resolve() };
}

/** An agent in memory, its session "s", its model, and the types of all events in the order in which they happened. */
export interface Played {
	readonly agent: Agent;
	readonly session: Session;
	readonly model: ScriptedModel;
	readonly journal: MemoryJournal;
	/** Includes events that were not requested yet. */
	readonly happened: string[];
}

/** An agent whose model follows a script. */
export function play(script: Script, options: Partial<AgentOptions> = {}, journal = memoryJournal()): Played {
	const happened: string[] = [];
	const onlooker: Plugin = {
		name: "onlooker",
		events: { on: ({ event }) => void happened.push((event as AgentEvent).type) },
	};
	const model = scriptedModel(script);
	const agent = new Agent({ model, host: journalHost(journal), plugins: [onlooker], ...options });
	return { agent, session: agent.session("s"), model, journal, happened };
}

/** A script that answers each message with `re: <message>`. */
export const echo: Script = ({ messages }) =>
	`re: ${(messages.at(-1) as { text?: string } | undefined)?.text}`;

/** Returns all events of a run. */
export async function eventsOf(run: AgentRun): Promise<AgentEvent[]> {
	const events: AgentEvent[] = [];
	for await (const event of run.events()) events.push(event);
	return events;
}

/**
 * Returns all events of a run. When one of that type has arrived, and before the next is requested, runs an action once.
 */
export async function eventsWhile(
	run: AgentRun,
	type: AgentEvent["type"],
	act: (event: AgentEvent) => unknown,
): Promise<AgentEvent[]> {
	const events: AgentEvent[] = [];
	let done = false;
	for await (const event of run.events()) {
		events.push(event);
		if (event.type !== type || done) continue;
		done = true;
		await act(event);
	}
	return events;
}

/** Requests events up to the first of that type. */
export async function upTo(
	events: AsyncIterator<AgentEvent>,
	type: AgentEvent["type"],
): Promise<AgentEvent[]> {
	const seen: AgentEvent[] = [];
	while (seen.at(-1)?.type !== type) {
		const next = await events.next();
		if (next.done === true) throw new Error(`No event ${type} came, but ${types(seen).join(", ")}.`);
		seen.push(next.value);
	}
	return seen;
}

export function types(events: readonly AgentEvent[]): string[] {
	return events.map(({ type }) => type);
}

/** Returns what each request showed to the model, as short lines. */
export function shown({ requests }: { readonly requests: readonly LLMRequest[] }): string[][] {
	return requests.map(({ messages }) => lines(messages));
}

/** Resolves when everything that can happen without outside input has happened. */
export async function settled(): Promise<void> {
	for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
}

/** An action that many hooks request and that runs for the first of them. */
export interface Once {
	ask(): Promise<void>;
	/** Its result; empty before it has run. */
	readonly found: readonly unknown[];
}

/** Asks once, and records any outcome. */
export function once(ask: () => Promise<unknown>): Once {
	const found: unknown[] = [];
	let isAsked = false;
	return {
		found,
		async ask() {
			if (isAsked) return;
			isAsked = true;
			found.push(await ask());
		},
	};
}
