// Deliberate faults in the queue, to check whether the ordering table finds them. Each returns a function that removes
// it.
import { SessionActor } from "./session-actor.ts";
import { SessionQueue } from "./session-queue.ts";
import { SessionTable } from "./session-table.ts";

type Methods = Record<string, unknown>;

/** Replaces a method or getter of a class. */
function replace(of: { readonly prototype: object }, name: string, by: PropertyDescriptor): () => void {
	const prototype = of.prototype as Methods;
	const before = Object.getOwnPropertyDescriptor(prototype, name) as PropertyDescriptor;
	Object.defineProperty(prototype, name, { ...before, ...by });
	return () => void Object.defineProperty(prototype, name, before);
}

const ask = SessionQueue.prototype.ask;
type Ask = typeof ask;

const asking = (faulty: (this: SessionQueue, ...given: Parameters<Ask>) => unknown): (() => () => void) => {
	return () => replace(SessionQueue, "ask", { value: faulty });
};

const heldBack = new WeakMap<SessionQueue, () => void>();

/** The effect of each fault. */
export const queueFaults: ReadonlyMap<string, () => () => void> = new Map([
	[
		"a request does not wait for those before it",
		asking(function (_, carryOut) {
			return carryOut(this.actor, "in-line");
		}),
	],
	[
		"two requests in line are swapped",
		asking(function (kind, carryOut) {
			const held = heldBack.get(this);
			heldBack.delete(this);
			if (held === undefined && this.isBusy) {
				return new Promise((resolve, reject) => {
					const release = (): void => {
						heldBack.delete(this);
						Promise.resolve()
							.then(() => ask.call(this, kind, carryOut))
							.then(resolve, reject);
					};
					heldBack.set(this, release);
					setImmediate(() => heldBack.get(this) === release && release());
				});
			}
			const asked = ask.call(this, kind, carryOut);
			held?.();
			return asked;
		}),
	],
	[
		"sends and changes of the history pass what is carried out",
		asking(function (kind, carryOut) {
			const passes = this.isBusy && (kind === "send" || kind === "edit");
			return passes ? carryOut(this.actor, "inside") : ask.call(this, kind, carryOut);
		}),
	],
	[
		"a request is carried out twice",
		asking(function (kind, carryOut) {
			return ask.call(this, kind, (actor, place) => {
				if (kind === "send" || kind === "steer") void Promise.resolve(carryOut(actor, place)).catch(() => {});
				return carryOut(actor, place);
			});
		}),
	],
	[
		"a request that fails keeps the queue",
		asking(function (kind, carryOut) {
			return ask.call(this, kind, (actor, place) => {
				const forever = (): Promise<never> => new Promise(() => {});
				return Promise.resolve()
					.then(() => carryOut(actor, place))
					.catch(forever);
			});
		}),
	],
	[
		"a start is a send",
		asking(function (kind, carryOut) {
			if (kind !== "start") return ask.call(this, kind, carryOut);
			return ask.call(this, kind, async (actor, place) => {
				if (actor.turn !== undefined) return actor.turn.handle;
				return carryOut(actor, place);
			});
		}),
	],
	["a kill does not refuse the line", () => replace(SessionQueue, "refuse", { value: () => {} })],
	[
		"what is asked after a kill does not wait for it",
		() =>
			replace(SessionTable, "fence", {
				value: (_: SessionQueue, end: (before: undefined) => Promise<void>) => end(undefined),
			}),
	],
	["turns that wait do not begin", () => replace(SessionActor, "ownWork", { value: () => undefined })],
	[
		"a turn that waits begins while a request is carried out",
		() =>
			replace(SessionQueue, "wake", {
				value(this: SessionQueue) {
					void this.actor.ownWork();
				},
			}),
	],
]);
