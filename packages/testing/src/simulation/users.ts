// Users of the simulation: they send, steer, answer, interrupt, suspend, stop, fork, fold, kill and delete at moments
// that the seed chooses.

import type { AgentRun, ToolAnswer } from "holdfast";
import { foldHistory } from "holdfast/host";
import { rootOf } from "./child-checks.ts";
import { type GivenAnswer, holds, isDecided, wasStopped } from "./given-answers.ts";
import type { Process } from "./process.ts";
import { type Pace, WatchedRun } from "./watched-run.ts";
import type { World } from "./world.ts";

/** An input, from sending to acceptance. */
export interface GivenInput {
	readonly text: string;
	readonly key: string;
	readonly process: Process;
	/** Its position among all user operations. */
	readonly given: number;
	accepted?: number;
	acceptedAt?: number;
	/** The run that was to accept it. */
	run?: AgentRun;
	/** It was repeated under its key. */
	isRepeated?: true;
}

/** A requested end of a session's runs. */
export interface EndOfSession {
	readonly key: string;
	readonly kind: "kill" | "delete";
	readonly process: Process;
	readonly asked: number;
	done?: number;
	/** The store refused it; it is requested again later. */
	failed?: true;
}

type Deed =
	| "send"
	| "steer"
	| "overlay"
	| "interrupt"
	| "suspend"
	| "kill"
	| "delete"
	| "resume"
	| "release"
	| "recover"
	| "work"
	| "notify"
	| "deliver"
	| "fork"
	| "fold"
	| "answer"
	| "stop"
	| "close";

/** The actions of users, with their relative frequencies. */
const deeds: readonly (readonly [Deed, number])[] = [
	["send", 40],
	["steer", 16],
	["overlay", 4],
	["interrupt", 8],
	["suspend", 5],
	["kill", 4],
	["delete", 4],
	["resume", 6],
	["release", 2],
	["recover", 10],
	["fork", 6],
	["fold", 6],
	["answer", 20],
	["stop", 3],
	["close", 3],
];

/** Additional actions if sessions get notifications. */
const deedsBeside: typeof deeds = [
	["work", 8],
	["notify", 8],
	["deliver", 8],
];

const spread = (some: typeof deeds): readonly Deed[] =>
	some.flatMap(([deed, weight]) => Array<Deed>(weight).fill(deed));
const oneOfThese = spread(deeds);
const oneOfAll = spread([...deeds, ...deedsBeside]);

export class Users {
	readonly inputs: GivenInput[] = [];
	readonly answers: GivenAnswer[] = [];
	readonly endings: EndOfSession[] = [];
	readonly runs: WatchedRun[] = [];
	/** Unsettled calls and their descriptions. */
	readonly waiting: Map<object, { readonly what: string; readonly process: Process }> = new Map();
	readonly #world: World;
	/** An input with a key, and a function that sends it again. */
	readonly #said: { readonly input: GivenInput; readonly say: (by: Process) => Promise<void> }[] = [];
	/** All answers given, accepted or not. */
	readonly #answered: ToolAnswer[] = [];
	#deeds = 0;
	#moments = 0;

	constructor(world: World) {
		this.#world = world;
	}

	/** Performs a random action. */
	act(): void {
		const { random, serving, sessions } = this.#world;
		if (serving.length === 0) return;
		const process = random.pick(serving);
		const key = random.pick(sessions);
		const deed = random.pick(this.#world.background ? oneOfAll : oneOfThese);
		// An input repeated to the session's next incarnation is a new input.
		if (deed !== "delete" || this.#world.repeats === undefined) this.#do(deed, process, key);
	}

	/** Lets every process continue the runs, take over abandoned work, and resume its own open runs. */
	async settle(process: Process): Promise<void> {
		for (const run of this.runs) run.askForResult();
		this.#do(process.execution === undefined ? "recover" : "work", process, "");
		for (const ending of this.endings.filter((each) => each.process === process && each.failed)) {
			delete ending.failed;
			this.#do(ending.kind, process, ending.key);
		}
		const waiting = await this.#world.store.list({ state: "waiting" });
		// An answer for a sub-agent is given in the session that requested its work.
		for (const key of new Set(waiting.map((head) => rootOf(head.key)))) this.#do("answer", process, key);
		for (const key of this.#world.sessions)
			if (await this.#world.isParked(key)) this.#do("release", process, key);
		const left = this.runs.filter((each) => each.process === process && each.outcome === "suspended");
		for (const key of new Set(left.map(({ run }) => rootOf(run.sessionKey))))
			this.#do("resume", process, key);
	}

	interrupt(process: Process, key: string): void {
		this.#do("interrupt", process, key);
	}

	#do(deed: Deed, process: Process, key: string): void {
		const { agent, name } = process;
		this.#world.schedule.note(`${name}: ${deed} ${key}`);
		switch (deed) {
			case "send":
			case "steer":
				this.#say(deed, process, key);
				break;
			case "overlay":
				this.#follow(deed, process, agent.session(key).overlay(`overlay ${++this.#deeds}`));
				break;
			case "interrupt":
				agent.session(key).interrupt();
				break;
			case "suspend":
				this.runs.findLast((each) => each.process === process && each.outcome === undefined)?.run.suspend();
				break;
			case "kill":
			case "delete": {
				const ending: EndOfSession = { key, kind: deed, process, asked: ++this.#moments };
				this.endings.push(ending);
				const ended = agent
					.session(key)
					[deed]()
					.then(() => {
						ending.done = ++this.#moments;
					})
					.catch((error) => {
						ending.failed = true;
						throw error;
					});
				this.#follow(`${deed} ${key}`, process, ended);
				break;
			}
			case "resume": {
				const resumed = agent
					.session(key)
					.resume()
					.then((run) => run === null || this.#look(run, process));
				this.#follow(`resume ${key}`, process, resumed);
				break;
			}
			case "release": {
				const released = agent
					.session(key)
					.release()
					.then((run) => run === null || this.#look(run, process));
				this.#follow(`release ${key}`, process, released);
				break;
			}
			case "fork": {
				const to = `${key}-${++this.#deeds}`;
				const forked = agent
					.session(key)
					.fork(to)
					.then(() => this.#world.sessions.push(to));
				this.#follow(`fork ${key} to ${to}`, process, forked);
				break;
			}
			case "fold": {
				const folded = foldHistory(process.journal, key, { before: Number.POSITIVE_INFINITY });
				this.#follow(`fold ${key}`, process, folded);
				break;
			}
			case "answer":
				this.#follow(`answer ${key}`, process, this.#answer(process, key));
				break;
			case "stop":
				this.#follow(`stop ${key}`, process, agent.session(key).stop());
				break;
			case "recover":
				this.#follow(deed, process, this.#lookOn(process, agent.recover()));
				break;
			case "work": {
				const work = agent.work({ until: "done", onProblem: ({ error }) => this.#expect("work", error) });
				this.#follow(deed, process, this.#lookOn(process, work));
				break;
			}
			case "notify":
				this.#notify(process, key);
				break;
			case "deliver": {
				const scheduled = this.#world.records.list("scheduled-runs") as readonly { readonly name: string }[];
				if (scheduled.length === 0) break;
				const { name: runId } = this.#world.random.pick(scheduled);
				const resumed = agent.resume(runId).then((run) => run === null || this.#look(run, process));
				this.#follow(`deliver ${runId}`, process, resumed);
				break;
			}
			case "close":
				process.leaving = true;
				this.#follow(
					deed,
					process,
					agent.close().then(() => process.die()),
				);
				break;
		}
	}

	async #lookOn(process: Process, runs: AsyncIterable<AgentRun>): Promise<void> {
		for await (const run of runs) this.#look(run, process);
	}

	/** Sends a session a notification. */
	#notify(process: Process, sessionKey: string): void {
		const { execution } = process;
		if (execution === undefined) return;
		const text = `notice ${++this.#deeds}`;
		const ids = { runId: `run of ${text}`, notificationId: text, idempotencyKey: text };
		const scheduled = async (): Promise<void> => {
			await execution.store.notifications.enqueue({ ...ids, sessionKey, input: text });
			await execution.scheduler.resumeSession(sessionKey, ids);
		};
		this.#give(text, process, sessionKey, scheduled);
	}

	/** Answers some of the pending calls, concurrently with others; accepted answers are recorded. */
	async #answer(process: Process, key: string): Promise<void> {
		const { random, schedule, ledger, calm } = this.#world;
		const session = process.agent.session(key);
		const pending = await session.pending();
		const some = pending.filter(() => calm || random.chance(0.7));
		if (some.length === 0) return;
		const answers = some.map(({ runId, toolCallId, awaits }): ToolAnswer => {
			const isApproval = awaits === "approval";
			return isApproval
				? { runId, toolCallId, approved: random.chance(0.7) }
				: { runId, toolCallId, output: `${process.name} answered at ${schedule.now}` };
		});
		this.#answered.push(...answers);
		const run = await session.answer(answers);
		const answered = [...this.#answered];
		// An answer for a background task that another process runs waits in the inbox of the task.
		const keys = new Set([key, ...(await this.#world.store.list()).map((head) => head.key)]);
		const inbox = (await Promise.all([...keys].map((each) => this.#world.store.inbox(each)))).flat();
		for (const answer of answers) {
			const call = some.find(({ toolCallId }) => toolCallId === answer.toolCallId);
			const isNested = call?.path !== undefined;
			const isRival = (other: ToolAnswer): boolean =>
				other !== answer && other.toolCallId === answer.toolCallId && other.runId === answer.runId;
			const given: GivenAnswer = { runId: run.runId, answer, isNested, rivals: answered.filter(isRival) };
			// If another process owns the run, the answer waits in the inbox.
			const isKept = inbox.some((input) => holds(input, answer));
			if (isKept || wasStopped(ledger, run.runId)) this.answers.push(given);
			else if (!isDecided(ledger, given))
				ledger.wrong(`an answer for ${answer.toolCallId} was accepted, and is not on record`);
		}
		this.#look(run, process);
	}

	#say(deed: "send" | "steer", process: Process, key: string): void {
		const text = `${deed} ${++this.#deeds}`;
		const { repeats, serving } = this.#world;
		const say = async (by: Process): Promise<void> => {
			const options = repeats === undefined ? {} : { dedupeKey: text };
			const run = await by.agent.session(key)[deed](text, options);
			input.run = run;
			this.#look(run, by);
		};
		const input = this.#give(text, process, key, () => say(process));
		if (repeats === undefined) return;
		this.#said.push({ input, say });
		// Sends an input twice at once, or repeats an earlier one.
		const again = repeats.chance(0.4) ? this.#said.at(-1) : repeats.pick(this.#said);
		const by = repeats.pick(serving);
		if (again === undefined || repeats.chance(0.4)) return;
		again.input.isRepeated = true;
		const said = again.say(by).then(
			() => this.#accepted(again.input),
			(error) => {
				// The first one was committed.
				if ((error as { code?: string }).code === "duplicate_input") this.#accepted(again.input);
				throw error;
			},
		);
		this.#follow(`${again.input.text} to ${again.input.key} again`, by, said);
	}

	#accepted(input: GivenInput): void {
		input.accepted ??= ++this.#moments;
		input.acceptedAt ??= this.#world.schedule.now;
	}

	/** Sends a session an input, and records when it was accepted. */
	#give(text: string, process: Process, key: string, give: () => Promise<unknown>): GivenInput {
		const input: GivenInput = { text, key, process, given: ++this.#moments };
		this.inputs.push(input);
		const given = give().then(() => this.#accepted(input));
		this.#follow(`${text} to ${key}`, process, given);
		return input;
	}

	#look(run: AgentRun, process: Process): void {
		const { random, schedule, ledger, calm } = this.#world;
		const pace = (): Pace => (random.chance(0.4) ? "slow" : "at-once");
		const known = this.runs.find((each) => each.run === run);
		if (known !== undefined) {
			if (random.chance(0.3)) known.join(pace());
			return;
		}
		const kind = random.pick(["watched", "watched", "watched", "pulled", "both", "left"] as const);
		const isWatched = kind === "watched" || kind === "both";
		const watchers = Array.from({ length: isWatched ? 1 + random.below(3) : 0 }, pace);
		const watching = { watchers, events: kind === "pulled" || kind === "both" };
		const watched = new WatchedRun(run, process, schedule, ledger, watching);
		this.runs.push(watched);
		if (calm || (kind === "watched" && random.chance(0.5))) watched.askForResult();
	}

	#follow(what: string, process: Process, call: Promise<unknown>): void {
		this.waiting.set(call, { what: `${process.name}: ${what}`, process });
		const { schedule } = this.#world;
		call
			.then(
				() => schedule.note(`${process.name}: ${what} went through`),
				(error) => this.#expect(`${process.name}: ${what}`, error),
			)
			.finally(() => this.waiting.delete(call));
	}

	/** Checks that an error is among the expected ones. */
	#expect(what: string, error: unknown): void {
		const { code, message } = error as { readonly code?: string; readonly message?: string };
		this.#world.schedule.note(`${what} failed, ${code}`);
		if (!this.#world.ledger.expects(String(code)))
			this.#world.ledger.wrong(`${what} failed with ${code}: ${message}`);
	}
}
