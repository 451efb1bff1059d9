// The effects of threads: scheduling, and this process's worker, which runs the due effects of all threads of the
// project.
import { messageOf } from "@holdfast/upp";
import { HoldfastError, type Host } from "holdfast";
import type { OwnLife } from "holdfast/execute";
import type { Ports } from "holdfast/host";
import { type DamagedEffect, type DueEffect, EffectWorker, ThreadEffects } from "../effects/index.ts";
import type { NamespaceContext, Project } from "../types/index.ts";
import type { EffectsPart, ThreadPlace } from "./parts.ts";
import type { ThreadRecord } from "./records.ts";
import type { ThreadSystem } from "./system.ts";

/** Options of the effects of threads. */
export interface EffectsOptions {
	readonly host: Host;
	readonly ports: Ports;
	project(): Project;
	/** Namespace of the threads of this project. */
	readonly namespace: string | undefined;
	/** Returns the thread whose session has a key in the store, or undefined. */
	threadOf(storeKey: string): Promise<ThreadRecord | undefined>;
	system(): ThreadSystem;
}

export class EffectsOfThreads {
	readonly #options: EffectsOptions;
	readonly #worker: EffectWorker | undefined;

	constructor(options: EffectsOptions) {
		this.#options = options;
		const { host, ports, threadOf, namespace } = options;
		const { timers, records, journal } = host;
		if (timers === undefined || records === undefined) return;
		this.#worker = new EffectWorker({
			store: { timers, records },
			ports,
			workerId: journal.workerId,
			namespace: namespace ?? null,
			isAlive: (workerId) => journal.isAlive(workerId),
			async threadOf({ storeKey }) {
				const record = await threadOf(storeKey);
				if (record === undefined) return "deleted";
				return record.terminated === null ? "active" : "terminated";
			},
			run: (effect) => this.#run(effect),
			shown: async ({ storeKey }, error) => this.#shown(await threadOf(storeKey), messageOf(error)),
			failed: (error, effect) => void this.#report(error, effect).catch(() => {}),
		});
	}

	/**
	 * Returns the effects of a thread, with names resolved in the namespace of the calling code. @throws HoldfastError
	 * `host_without_timers`.
	 */
	of(
		{ storeKey }: Pick<ThreadPlace, "storeKey">,
		namespace: NamespaceContext = { type: "global" },
	): ThreadEffects {
		const { host, ports, project } = this.#options;
		const { timers, records } = host;
		if (timers === undefined || records === undefined)
			throw new HoldfastError(
				"host_without_timers",
				"This host has no timers. Use one that does, such as `sqliteHost` or `memoryHost`.",
			);
		return new ThreadEffects({
			store: { timers, records },
			storeKey,
			clock: ports.clock,
			ids: ports.ids,
			find: (name) => project().visible(namespace, "effect", name),
		});
	}

	/** Returns the effect methods of a thread. */
	part(thread: ThreadPlace, namespace?: NamespaceContext): EffectsPart {
		const effects = (): ThreadEffects => this.of(thread, namespace);
		return {
			scheduleEffect: async (name, args, delay) => {
				const id = await effects().schedule(name, args, delay);
				// Scheduling an effect starts the worker.
				this.start();
				return id;
			},
			getScheduledEffects: async (name) => effects().pending(name),
			removeScheduledEffect: async (id) => effects().cancel(id),
		};
	}

	/** Runs due effects from now on. */
	start(): void {
		this.#worker?.start();
	}

	/** Handles the lifecycle of threads; `release` is the threads' own. */
	life(release: () => Promise<void>): OwnLife {
		return {
			start: () => this.start(),
			recover: async () => this.#worker?.recover(),
			stop: () => this.stop(),
			release,
		};
	}

	/** Starts no more effects, and waits some time for the running ones. */
	async stop(): Promise<void> {
		const { timers } = this.#options.ports;
		let callOff = (): void => {};
		const patience = new Promise<void>((resolve) => {
			callOff = timers.after(10_000, resolve);
		});
		await Promise.race([this.#worker?.stop(), patience]);
		callOff();
	}

	async #run({ name, args, storeKey }: DueEffect): Promise<void> {
		const { project, threadOf, system } = this.#options;
		const item = project().effects.get(name);
		if (item === undefined)
			throw new HoldfastError(
				"unknown_effect",
				`Effect ${JSON.stringify(name)} no longer exists. It was scheduled by an earlier version of the project.`,
			);
		const record = await threadOf(storeKey);
		if (record === undefined) return;
		const { namespace, definition } = item;
		const state = await system().state(record, { tool: { namespace, uses: undefined, env: undefined } });
		const { schema, handler } = definition;
		await (schema === null ? handler(state) : handler(state, args));
	}

	/** Returns an error message without the thread's secrets. */
	async #shown(record: ThreadRecord | undefined, message: string): Promise<string> {
		if (record === undefined) return message;
		const { index, parts, place } = this.#options.system();
		return await parts.environment(place(record), { masked: index.envsOf(record.agentId) }).redact(message);
	}

	async #report(error: unknown, effect: DueEffect | DamagedEffect | undefined): Promise<void> {
		const { threadOf, system } = this.#options;
		const name = effect?.name;
		const what =
			effect === undefined
				? "The search for effects failed"
				: name === undefined
					? "A due effect cannot be read and does not run"
					: `The effect "${name}" failed`;
		let record: ThreadRecord | undefined;
		let message: string;
		try {
			record = effect && (await threadOf(effect.storeKey));
			message = await this.#shown(record, messageOf(error));
		} catch (cause) {
			// The secrets in the message are unknown.
			message = `the details cannot be shown: ${messageOf(cause)}`;
		}
		system().log({
			threadId: record?.id ?? "",
			level: "error",
			topic: "effect",
			message: `${what}: ${message}`,
			...(effect === undefined ? {} : { data: { id: effect.id, ...(name === undefined ? {} : { name }) } }),
		});
	}
}
