// The code of random programs: what a worker runs. Each effect is reported before it happens.
import { scriptedModel } from "@holdfast/testing";
import { Agent, type Host, tool } from "holdfast";
import { type Workflow, workflow } from "holdfast/workflow";
import { failsToUndo, type Outcome, type Program } from "./workflow-program.fixture.ts";

export type Flow = Parameters<Parameters<typeof workflow>[1]>[0];

/** An effect of a program. */
export interface Effect {
	readonly kind: "step" | "undo" | "tool" | "model";
	readonly name: string;
	/** Identifies it in every attempt. The prompt of a model. */
	readonly key: string;
	/** Whether it must not happen twice with this key. */
	readonly isOnce?: boolean;
}

/** What the code of a worker needs. */
export interface CodeOptions {
	readonly host: Host;
	readonly program: Program;
	readonly rounds: number;
	/** Whether the code has its later changes. */
	readonly isLater: boolean;
	/** Whether steps that must not be repeated are repeated, to plant a fault. */
	readonly repeatsOnce: boolean;
	/** Undoes steps in place of the engine, to plant a fault. */
	readonly undo?: (flow: Flow, completed: readonly string[]) => Promise<void>;
	/** Called at the beginning of each effect. */
	perform(effect: Effect): void;
	/** Whether an effect with this key has happened. */
	hasHappened(key: string): boolean;
}

const named = {
	type: "object" as const,
	properties: { name: { type: "string" as const } },
	required: ["name"],
};

/** Returns the parent workflow of the program. Its session has the key `s`. */
export function programWorkflow(options: CodeOptions): Workflow<unknown> {
	const { host, program, rounds, perform } = options;
	const own = (name: string, more: object) =>
		tool({
			name,
			description: "Works.",
			parameters: named,
			retryPolicy: "idempotent",
			run: async (given: { name: string }, { idempotencyKey }) => {
				perform({ kind: "tool", name: given.name, key: idempotencyKey });
				await turns(given.name);
				if (name === "fail") throw new Error(`${given.name} fails`);
				return `did ${given.name}`;
			},
			...more,
		});
	const tools = { work: own("work", {}), ask: own("ask", { needsApproval: true }), fail: own("fail", {}) };
	const all = [tools.work, tools.ask, tools.fail];
	const quiet = { host, maxRestarts: 1_000, onWarning: () => {} };
	const speaker = scriptedModel(({ messages }) => {
		const prompt = messages.at(-1)?.text ?? "";
		perform({ kind: "model", name: prompt, key: prompt });
		return `said ${prompt}`;
	});
	const writer = new Agent({
		name: "writer",
		description: "Writes.",
		...quiet,
		tools: [own("sign", { needsApproval: true })],
		model: scriptedModel(({ messages }) => {
			const name = messages[0]?.text ?? "";
			const last = messages.at(-1);
			if (last === undefined || !("results" in last))
				return { toolCalls: [{ name: "sign", arguments: { name } }] };
			return `wrote ${name}: ${JSON.stringify(last.results).includes(`did ${name}`) ? "did" : "denied"}`;
		}),
	});
	const runs = { ...options, tools, speaker, writer };
	type ChildInput = { readonly program: Program; readonly round: string };
	const child = workflow(
		{ name: "child", tools: all, subagents: [writer], ...quiet },
		(flow, given: ChildInput) => new Running(runs, flow, given.round, parentSession).run(given.program),
	);
	const parent = workflow(
		{ name: "parent", tools: all, subagents: [writer], workflows: [child], ...quiet },
		async (flow, given: number | null) => {
			const round = given ?? 0;
			const running = new Running(runs, flow, `${round}`, parentSession, child as Child);
			let value: unknown;
			try {
				value = await running.run(program);
			} catch (error) {
				await options.undo?.(flow, running.completed);
				throw error;
			}
			await flow.state({ round });
			return round + 1 < rounds ? flow.continueAsNew(round + 1) : value;
		},
	) as Workflow<unknown>;
	function parentSession(): ReturnType<Workflow["session"]> {
		return parent.session("s");
	}
	return parent;
}

type Child = Workflow<{ readonly program: Program; readonly round: string }>;

interface Runs extends CodeOptions {
	readonly tools: Record<"work" | "ask" | "fail", { readonly name: string }>;
	readonly speaker: ReturnType<typeof scriptedModel>;
	readonly writer: Agent;
}

class Running {
	/** Names of the steps that can be undone, in the order in which they completed. Only kept where a fault is planted. */
	readonly completed: string[] = [];
	readonly #options: Runs;
	readonly #main: Flow;
	readonly #round: string;
	readonly #parent: () => ReturnType<Workflow["session"]>;
	readonly #child: Child | undefined;

	constructor(
		options: Runs,
		main: Flow,
		round: string,
		parent: () => ReturnType<Workflow["session"]>,
		child?: Child,
	) {
		this.#options = options;
		this.#main = main;
		this.#round = round;
		this.#parent = parent;
		this.#child = child;
	}

	async run(program: Program, flow: Flow = this.#main): Promise<unknown> {
		const round = this.#round;
		switch (program.does) {
			case "step":
				return this.#step(flow, program.name, { retryPolicy: "idempotent" });
			case "once":
				return this.#step(
					flow,
					program.name,
					this.#options.repeatsOnce ? { retryPolicy: "idempotent" } : {},
					true,
				);
			case "reconciled":
				return this.#step(
					flow,
					program.name,
					{
						reconcile: ({ idempotencyKey }: { readonly idempotencyKey: string }) =>
							this.#options.hasHappened(idempotencyKey) ? { result: `did ${program.name}` } : { retry: true },
					},
					true,
				);
			case "undoable":
				return this.#undoable(flow, program.name);
			case "retried":
			case "failing":
			case "slow":
				return this.#unreliable(flow, program.does, program.name);
			case "tell":
				return this.#tell(flow, program.name);
			case "message":
				return Promise.all([
					this.#tell(flow.branch("teller"), program.name),
					flow.event(`${program.name} ${round}`).then(() => `heard ${program.name}`),
				]);
			case "sleep":
				return flow.sleep(1).then(() => "slept");
			case "log":
				return flow.log(program.name).then(() => "logged");
			case "event":
				return flow.event(`${program.name} ${round}`);
			case "timeout":
				return flow.event(`${program.name} ${round}`, { timeout: 3 }).then((payload) => payload ?? "late");
			case "approve":
				return flow.approve(program.name);
			case "tool":
				return flow.tool(this.#options.tools.work, { name: program.name } as never);
			case "askedTool":
				return flow.tool(this.#options.tools.ask, { name: program.name } as never);
			case "failingTool":
				return flow.tool(this.#options.tools.fail, { name: program.name } as never);
			case "model":
				return flow.model(this.#options.speaker as never, program.name);
			case "agent":
				return flow.agent(this.#options.writer as never, program.name);
			case "version":
				return this.#options.isLater && (await flow.version(program.name)) ? "changed" : "earlier";
			case "throw":
				throw coded(`thrown_${program.name}`);
			case "try":
				return this.run(program.program, flow).catch((error) => `caught ${codeOf(error)}`);
			case "child":
				return flow.child(this.#ofChild(), { program: program.program, round });
			case "spawn":
				return flow.spawn(this.#ofChild(), { program: program.program, round }).result();
			case "cancel": {
				const spawned = flow.spawn(this.#ofChild(), { program: program.program, round });
				await flow.sleep(1);
				await spawned.cancel();
				return spawned.result().catch((error) => `ended: ${codeOf(error)}`);
			}
			case "sequence": {
				const values: unknown[] = [];
				for (const part of program.parts) values.push(await this.run(part, flow));
				return values;
			}
			default:
				return this.#join(flow, program);
		}
	}

	#ofChild(): Child {
		if (this.#child === undefined) throw new Error("children have no children");
		return this.#child;
	}

	/** The winner of a race is logged, so that the log shows if a replay has another. */
	async #join(flow: Flow, program: Extract<Program, { readonly shares: boolean }>): Promise<unknown> {
		const { name } = program;
		const parts = program.parts.map((part, at) =>
			this.run(part, program.shares ? flow : flow.branch(`${name}-${at}`)),
		);
		if (program.does === "all") return Promise.all(parts);
		if (program.does === "allSettled") return (await Promise.allSettled(parts)).map(outcomeOf);
		const won =
			program.does === "race"
				? await Promise.race(parts)
				: await Promise.any(parts).catch(() => Promise.reject(coded("none_returned")));
		await flow.log(`won ${name}`, { won: won as never, round: this.#round });
		return { wonBy: name, value: won };
	}

	#step(flow: Flow, name: string, options: object, isOnce = false): Promise<string> {
		const run = async ({ idempotencyKey: key }: { readonly idempotencyKey: string }): Promise<string> => {
			this.#options.perform({ kind: "step", name, key, isOnce });
			await turns(name);
			return `did ${name}`;
		};
		return flow.step(name, run, options as { reconcile?: () => undefined });
	}

	async #undoable(flow: Flow, name: string): Promise<string> {
		const undo = (value: unknown, { idempotencyKey: key }: { readonly idempotencyKey: string }): void => {
			if (value !== `did ${name}`) throw new Error(`${name} is undone with ${String(value)}`);
			this.#options.perform({ kind: "undo", name, key });
			if (failsToUndo(name)) throw Object.assign(new Error(`${name} cannot be undone`), { retryable: false });
		};
		const isPlanted = this.#options.undo !== undefined;
		const done = await this.#step(flow, name, { retryPolicy: "idempotent", ...(isPlanted ? {} : { undo }) });
		this.completed.push(name);
		return done;
	}

	#unreliable(flow: Flow, does: "retried" | "failing" | "slow", name: string): Promise<string> {
		const options = {
			retryPolicy: "idempotent",
			retries: does === "retried" ? 3 : 1,
			retryDelay: 1,
			...(does === "slow" ? { timeout: 10 } : {}),
		} as const;
		return flow.step(
			name,
			async ({ idempotencyKey: key, attempt, signal }) => {
				this.#options.perform({ kind: "step", name, key });
				if (does === "slow" && attempt === 1)
					await new Promise((resolve) => signal.addEventListener("abort", resolve));
				if (does === "failing") throw coded(`failed_${name.split(" ").at(-1)}`);
				if (does === "retried" && attempt < 3) throw coded("not_yet");
				return `did ${name}`;
			},
			options,
		);
	}

	#tell(flow: Flow, name: string): Promise<string> {
		return flow.step(
			name,
			async ({ idempotencyKey: dedupeKey }) => {
				this.#options.perform({ kind: "step", name, key: dedupeKey });
				await this.#parent().signal(`${name} ${this.#round}`, `from ${name}`, { dedupeKey });
				return `told ${name}`;
			},
			{ retryPolicy: "idempotent" },
		);
	}
}

/** Some turns of the event loop, so that effects end in different orders. */
async function turns(name: string): Promise<void> {
	for (let turn = 0; turn < (name.charCodeAt(name.length - 1) * 7) % 4; turn++)
		await new Promise((resolve) => setImmediate(resolve));
}

function coded(code: string): Error {
	return Object.assign(new Error(code), { code });
}

export function codeOf(error: unknown): string {
	return String((error as { readonly code?: unknown }).code ?? error);
}

function outcomeOf(settled: PromiseSettledResult<unknown>): Outcome {
	return settled.status === "fulfilled" ? { value: settled.value } : { code: codeOf(settled.reason) };
}
