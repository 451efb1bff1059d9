// Plays a random agent: messages, answers, steers, forks, edits and interrupts, while its process dies at random moments.
import { UserMessage } from "@holdfast/upp";
import { Agent, type PendingToolCall } from "holdfast";
import { agentOf, type Feature, features, newEffects } from "./agents.fixture.ts";
import { type Random, randomFrom } from "./random.fixture.ts";
import { memoryWorld, type Worker, type World, workerOf } from "./stores.fixture.ts";

/** What a request may be refused with at any time. */
const mayBe: ReadonlySet<unknown> = new Set([
	"pending_tool_calls",
	"session_busy",
	"no_pending_tool_calls",
	"fork_unsettled",
	"run_not_found",
	"session_held",
	"tool_call_settled",
	"unknown_tool_call_id",
	"run_parked",
	"unknown_message",
	"lease_lost",
	"duplicate_tool_result",
	"session_exists",
]);

const key = "s";
/** How long a store may stay unchanged with open work, in milliseconds. */
const patience = 20_000;

type Session = ReturnType<Agent["session"]>;
type Run = Awaited<ReturnType<Session["resume"]>>;

/** The features that a seed gives its agent. */
export function featuresOf(seed: string): readonly Feature[] {
	return randomFrom(`${seed}/features`).some(features, 0.35);
}

/** Plays a seed. Returns what went wrong, and a log of what happened. */
export async function play(
	seed: string,
	world: World = memoryWorld(),
): Promise<{ readonly problems: readonly string[]; readonly log: readonly string[] }> {
	const one = new Play(seed, world);
	await one.act();
	await one.end();
	return { problems: [...new Set(one.problems)], log: one.log };
}

class Play {
	readonly problems: string[] = [];
	readonly log: string[];
	readonly #seed: string;
	readonly #world: World;
	readonly #random: Random;
	readonly #effects = newEffects();
	#worker: Worker;
	#agent: Agent;
	#runs: Promise<unknown>[] = [];

	constructor(seed: string, world: World) {
		this.#seed = seed;
		this.#world = world;
		this.#random = randomFrom(`${seed}/play`);
		this.log = this.#effects.log;
		[this.#worker, this.#agent] = this.#open(this.#moment());
	}

	/** Sends, answers, steers, forks, edits, interrupts and dies. */
	async act(): Promise<void> {
		const random = this.#random;
		const length = 3 + random.below(8);
		for (let at = 0; at < length; at++) {
			const session = this.#agent.session(key);
			const what = random.below(10);
			if (what < 3) await this.#try("send", async () => this.#follow(await session.send(`Message ${at}.`)));
			else if (what === 3)
				await this.#try("steer", async () => this.#follow(await session.steer(`Steer ${at}.`)));
			else if (what < 6) await this.#try("answer", () => this.#answer(session, random.chance(0.5)));
			else if (what === 6 && random.chance(0.5)) await this.#die();
			else if (what === 6) await this.#try("interrupt", async () => session.interrupt());
			else if (what === 7)
				await this.#try("fork", async () => {
					const fork = await session.fork(`fork ${at}`);
					this.#follow(await fork.send("Continue here."));
				});
			else if (what === 8) await this.#try("edit", () => this.#edit(session));
			if (random.chance(0.5)) await within(Promise.all(this.#runs), 50);
		}
	}

	/** Lets everything end in a process that does not die, and checks what is left. */
	async end(): Promise<void> {
		this.log.push("the end");
		await this.#worker.die();
		[this.#worker, this.#agent] = this.#open(Number.POSITIVE_INFINITY);
		await this.#try("recover", async () => this.#agent.recover());
		await this.#settle();
		await this.#try("send last", async () => this.#follow(await this.#agent.session(key).send("Last.")));
		await this.#settle();
		for (const [id, count] of this.#effects.once)
			if (count > 1) this.problems.push(`${id} ran ${count} times`);
		const { messages } = await this.#agent.session(key).state();
		this.problems.push(...faultsOf(messages as readonly ReadMessage[]));
		await this.#try("follow", async () => {
			const ids: string[] = [];
			for await (const { id } of this.#agent.session(key).follow()) ids.push(id);
			if (new Set(ids).size < ids.length) this.problems.push("an event came twice");
		});
		const before = JSON.stringify(messages);
		await this.#agent.close();
		[this.#worker, this.#agent] = this.#open(Number.POSITIVE_INFINITY);
		const after = JSON.stringify((await this.#agent.session(key).state()).messages);
		if (before !== after) this.problems.push("another process reads something else");
		await this.#try("last fork", async () => {
			const fork = await this.#agent.session(key).fork("last fork");
			if (JSON.stringify((await fork.state()).messages) !== before)
				this.problems.push("a fork has other messages");
			this.#follow(await fork.send("And now?"));
		});
		await this.#settle();
		await this.#delete();
	}

	/** A process, and an agent in it. */
	#open(diesAt: number): readonly [Worker, Agent] {
		const worker = workerOf(this.#world, diesAt);
		const options = agentOf(this.#seed, new Set(featuresOf(this.#seed)), this.#effects);
		this.#runs = [];
		return [worker, new Agent({ ...options, host: worker.host, onWarning: () => {} })];
	}

	/** The append at which the next process dies. */
	#moment(): number {
		return this.#random.chance(0.7) ? 1 + this.#random.below(25) : Number.POSITIVE_INFINITY;
	}

	async #die(): Promise<void> {
		this.log.push("die");
		await this.#worker.die();
		[this.#worker, this.#agent] = this.#open(this.#moment());
		await this.#try("resume", async () => this.#follow(await this.#agent.session(key).resume()));
	}

	/** Requests something, and does not wait for long: the process may have died. */
	async #try(what: string, request: () => Promise<unknown>): Promise<void> {
		this.log.push(what);
		const asked = (async () => request())().catch((error: { code?: string }) => {
			this.log.push(`${what} was refused: ${error.code ?? String(error)}`);
			if (!mayBe.has(error.code))
				this.problems.push(`${what} was refused: ${error.code ?? ""} ${String(error)}`);
		});
		await within(asked, 400);
	}

	#follow(run: Run): void {
		if (run !== null) this.#runs.push(run.result().catch(() => {}));
	}

	async #answer(session: Session, all: boolean): Promise<void> {
		const pending = await session.pending();
		const chosen = all ? pending : this.#random.some(pending, 0.6);
		if (chosen.length === 0) return;
		this.#follow(await session.answer(chosen.map((call) => answerTo(call, this.#random))));
	}

	async #edit(session: Session): Promise<void> {
		const { messages } = await session.state();
		if (messages.length === 0) return;
		const { id, type } = this.#random.pick(messages);
		if (this.#random.chance(0.5)) await session.edit({ kind: "delete", messageId: id });
		else if (type === "user")
			await session.edit({ kind: "update", message: new UserMessage("Edited.", { id }) });
		else await session.edit({ kind: "add", message: new UserMessage("Added.") });
	}

	/** Answers what waits until nothing is open; a problem if the store stays unchanged meanwhile. */
	async #settle(): Promise<void> {
		const { journal } = this.#world.reader;
		let seen = "";
		let until = 0;
		for (let quiet = 0; quiet < 3; ) {
			const heads = await journal.list({});
			const now = JSON.stringify(heads.map(({ key: stored, seq }) => [stored, seq]));
			if (now !== seen) until = Date.now() + patience;
			seen = now;
			const open = (await journal.list({ state: "open" }))
				.map(({ key: stored }) => stored)
				// A process that dies takes background tasks in memory with it.
				.filter((stored) => this.#world.isKept || !stored.includes("\u0000task\u0000"));
			if (Date.now() > until) {
				this.problems.push(`not settled: ${JSON.stringify(open)}`);
				return;
			}
			let waits = false;
			for (const session of rootsOf(heads).map((stored) => this.#agent.session(stored))) {
				if ((await session.pending()).length === 0) continue;
				waits = true;
				await this.#try(`answer ${session.key}`, () => this.#answer(session, true));
			}
			await within(Promise.all(this.#runs), 100);
			quiet = !waits && open.length === 0 ? quiet + 1 : 0;
			await new Promise((resolve) => setTimeout(resolve, 2));
		}
	}

	async #delete(): Promise<void> {
		const { journal } = this.#world.reader;
		for (const stored of rootsOf(await journal.list({})))
			await this.#try(`delete ${stored}`, () => this.#agent.session(stored).delete());
		const left = (await journal.list({})).map(({ key: stored }) => stored);
		await this.#agent.close();
		await this.#worker.die();
		left.push(...(await this.#world.leftovers()));
		if (left.length > 0) this.problems.push(`left after deletion: ${JSON.stringify(left)}`);
	}
}

/** The keys of sessions that are not those of sub-agents. */
function rootsOf(heads: readonly { readonly key: string }[]): readonly string[] {
	return heads.map(({ key: stored }) => stored).filter((stored) => !stored.includes("\u0000"));
}

function answerTo({ toolCallId, awaits, arguments: input }: PendingToolCall, random: Random) {
	if (awaits === "approval") return { toolCallId, approved: random.chance(0.7) };
	if (random.chance(0.2)) return { toolCallId, output: "It failed.", isError: true };
	return {
		toolCallId,
		output: random.chance(0.5) ? { chosen: input } : "Two.\n".repeat(random.pick([1, 900])),
	};
}

interface ReadMessage {
	readonly id: string;
	readonly toolCalls?: readonly { readonly toolCallId: string }[];
	readonly results?: readonly { readonly toolCallId: string }[];
}

/** Messages that come twice, and calls without exactly one result. */
function faultsOf(messages: readonly ReadMessage[]): readonly string[] {
	const faults: string[] = [];
	const results = new Map<string, number>();
	const ids = new Set<string>();
	for (const { id, toolCalls = [], results: given = [] } of messages) {
		if (ids.has(id)) faults.push(`the message ${id} is there twice`);
		ids.add(id);
		for (const { toolCallId } of toolCalls) results.set(toolCallId, 0);
		for (const { toolCallId } of given) {
			const before = results.get(toolCallId);
			if (before === undefined) faults.push(`a result without a call: ${toolCallId}`);
			else results.set(toolCallId, before + 1);
		}
	}
	for (const [id, count] of results) if (count !== 1) faults.push(`the call ${id} has ${count} results`);
	return faults;
}

/** Waits for a promise, but not longer than so many milliseconds. */
async function within(promise: Promise<unknown>, ms: number): Promise<void> {
	let timer: ReturnType<typeof setTimeout> | undefined;
	const late = new Promise<void>((resolve) => {
		timer = setTimeout(resolve, ms);
	});
	await Promise.race([promise, late]).finally(() => clearTimeout(timer));
}
