// The sessions that a service has at hand, by place, those used last at the end (keeps I7). One object a session: who asks
// for a session that is in use gets the one that is used. Those at rest make way, and give up what they hold.
import type { ServedSession } from "./served-session.ts";

/** How many are kept at hand; those in use do not make way, so that there may be more. */
const most = 1_000;
/** How many are looked at for one that makes way, so that it costs the same however many are in use. */
const looks = 8;

interface AtHand {
	readonly opening: Promise<ServedSession | undefined>;
	/** Once it is open. */
	session?: ServedSession;
}

export class SessionsAtHand {
	readonly #byPlace = new Map<string, AtHand>();

	/** The session at a place; opened where it is not at hand. Undefined when there is none. */
	async open(
		place: string,
		open: () => Promise<ServedSession | undefined>,
	): Promise<ServedSession | undefined> {
		const known = this.#byPlace.get(place);
		if (known !== undefined) {
			// Who opened it may have failed, and then it is not kept.
			const session = await known.opening.catch(() => undefined);
			if (session === undefined) return this.open(place, open);
			this.#keep(place, known);
			return session;
		}
		const opening = open().then(
			(session) => {
				if (session === undefined) this.#byPlace.delete(place);
				else atHand.session = session;
				return session;
			},
			(error) => {
				this.#byPlace.delete(place);
				throw error;
			},
		);
		const atHand: AtHand = { opening };
		this.#keep(place, atHand);
		return opening;
	}

	/** Lets go of a session that is there no more. */
	async forget(place: string, gone: ServedSession): Promise<void> {
		if (this.#byPlace.get(place)?.session === gone) this.#byPlace.delete(place);
		await gone.rest();
	}

	/** Settles when no run is under way in any of them. */
	async quiet(): Promise<void> {
		await Promise.all([...this.#byPlace.values()].map(({ session }) => session?.quiet()));
	}

	/** Closes them, also those that are being opened. */
	async close(): Promise<void> {
		const opening = [...this.#byPlace.values()].map((atHand) => atHand.opening.catch(() => undefined));
		const sessions = await Promise.all(opening);
		await Promise.all(sessions.map((session) => session?.close()));
	}

	/** Keeps a session as the one used last, and lets go of those at rest that were used longest ago. */
	#keep(place: string, atHand: AtHand): void {
		this.#byPlace.delete(place);
		this.#byPlace.set(place, atHand);
		for (let looked = 0; this.#byPlace.size > most && looked < looks; looked++) {
			const [oldest, used] = this.#byPlace.entries().next().value as [string, AtHand];
			this.#byPlace.delete(oldest);
			if (used.session?.isAtRest === true) void used.session.rest();
			else this.#byPlace.set(oldest, used);
		}
	}
}
