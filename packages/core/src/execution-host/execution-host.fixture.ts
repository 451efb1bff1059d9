// Shared by tests of execution hosts: agents on a host, other processes on its store, and drained events.

import { type Script, scriptedModel } from "@holdfast/testing";
import { Agent } from "../agent/agent.ts";
import type { AgentOptions } from "../agent/options.ts";
import type { AgentEvent } from "../facts/agent-event.ts";
import type { Clock, Timers } from "../host/ports.ts";
import type { AgentRun } from "../sessions/agent-run.ts";
import type { ExecutionHost } from "./execution-host.ts";
import type { NewNotification } from "./notification.ts";

/** An agent on a host whose model follows a script. */
export function agentOn(host: ExecutionHost, script: Script, options: AgentOptions = {}): Agent {
	return new Agent({ ...options, model: scriptedModel(script), host });
}

/** The host in another process: the same store, with nothing shared in memory. */
export function otherProcess(host: ExecutionHost): ExecutionHost {
	const { sessions } = host.store;
	const apart = {
		load: sessions.load.bind(sessions),
		commit: sessions.commit.bind(sessions),
		delete: sessions.delete.bind(sessions),
	};
	return { ...host, store: { ...host.store, sessions: apart } };
}

/** All events of a run, in order. */
export async function drain(run: AgentRun | null): Promise<readonly AgentEvent[]> {
	const events: AgentEvent[] = [];
	if (run !== null) for await (const event of run.events()) events.push(event);
	return events;
}

/** Everything that an iteration yields. */
export async function allOf<T>(source: AsyncIterable<T>): Promise<readonly T[]> {
	const all: T[] = [];
	for await (const one of source) all.push(one);
	return all;
}

/** A reminder for the session "s". */
export function reminder(
	name: string,
	input: NewNotification["input"] = `reminder ${name}`,
): NewNotification {
	return {
		notificationId: name,
		idempotencyKey: `key-${name}`,
		runId: `run-${name}`,
		sessionKey: "s",
		input,
	};
}

/** A clock that is advanced by hand. */
export interface HandClock extends Clock {
	/** Advances the time; timers of all processes fire accordingly. */
	advance(milliseconds: number): void;
	/** Returns the timers of one process; none of them fires while it is stopped. */
	timers(): Timers & { stopped: boolean };
}

export function handClock(): HandClock {
	let time = 1_000_000;
	const waiting = new Set<() => void>();
	return {
		now: () => time,
		monotonic: () => time,
		advance(milliseconds) {
			time += milliseconds;
			for (const look of [...waiting]) look();
		},
		timers() {
			const timers = {
				stopped: false,
				after(milliseconds: number, wake: () => void) {
					const due = time + milliseconds;
					const look = (): void => {
						if (time < due || timers.stopped || !waiting.delete(look)) return;
						wake();
					};
					waiting.add(look);
					return () => waiting.delete(look);
				},
			};
			return timers;
		},
	};
}

/** Resolves once everything that can happen without outside input has happened. */
export async function settled(): Promise<void> {
	for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
}
