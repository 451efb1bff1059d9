// A store as a worker sees it that can be stopped: it then receives no further answers. The store may also answer late:
// each answer takes some turns of the event loop or some milliseconds, as a seed says.
import type { Host } from "holdfast";
import { type AcquireResult, type Journal, journalHost, type Lease, type MaybePromise } from "holdfast/host";
import type { Draws } from "./gates.fixture.ts";

/** A worker's store. */
export interface StoppableHost {
	readonly host: Host;
	/** The worker receives no further answers. */
	stop(): void;
}

/** Passes a request to the store. */
type Pass = <Answer>(work: () => MaybePromise<Answer>) => MaybePromise<Answer>;

/** Returns the store for one worker. `pauses`: how late it answers. Default: it answers at once. */
export function stoppableHost({ journal }: Host, pauses: Draws | undefined): StoppableHost {
	let isStopped = false;
	const now: Pass = (work) => (isStopped ? never : work());
	const late = async <Answer>(work: () => MaybePromise<Answer>): Promise<Answer> => {
		await pause(pauses as Draws);
		const answer = await now(work);
		await pause(pauses as Draws);
		return answer;
	};
	const pass: Pass = pauses === undefined ? now : late;
	const leased = (lease: Lease): Lease => {
		// The requests of one lease arrive in order.
		let before: Promise<unknown> = Promise.resolve();
		const inOrder: Pass = (work) => {
			if (pauses === undefined) return now(work);
			const answer = before.then(() => late(work));
			before = answer.catch(() => {});
			return answer;
		};
		return new Proxy(lease, {
			get(target, name) {
				const value = Reflect.get(target, name, target);
				if (typeof value !== "function") return value;
				if (name !== "append" && name !== "inbox" && name !== "release") return value.bind(target);
				return (...given: unknown[]) => inOrder(() => value.apply(target, given));
			},
		});
	};
	const own = new Proxy(journal, {
		get(target, name) {
			const value = Reflect.get(target, name, target);
			if (typeof value !== "function" || synchronous.has(name)) return value;
			return (...given: unknown[]) => pass(() => value.apply(target, given));
		},
	});
	const held = (acquired: AcquireResult): AcquireResult =>
		acquired.ok ? { ...acquired, lease: leased(acquired.lease) } : acquired;
	const acquire: Journal["acquire"] = (key, options) => {
		const acquired = pass(() => journal.acquire(key, options));
		return acquired instanceof Promise ? acquired.then(held) : held(acquired);
	};
	return {
		host: journalHost({ ...own, acquire }),
		stop() {
			isStopped = true;
		},
	};
}

/** Members of a journal that do not ask the store, or must not wait. */
const synchronous: ReadonlySet<string | symbol> = new Set(["watch", "worker", "die", "close"]);

const never: Promise<never> = new Promise(() => {});

async function pause(draws: Draws): Promise<void> {
	const kind = draws.below(100);
	for (let turn = kind < 50 ? draws.below(4) : 0; turn > 0; turn--)
		await new Promise((resolve) => setImmediate(resolve));
	if (kind >= 90) await new Promise((resolve) => setTimeout(resolve, draws.below(5)));
}
