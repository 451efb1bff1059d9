// The position of an observer: kept in memory and, if the host has records, stored with its sessions, so that another
// process continues where one stopped.
import type { RecordSpace } from "holdfast/host";

/** How far a session was reported. */
export interface Reported {
	readonly incarnation: string;
	/**
	 * Id of the last event before the run in flight; without one, of the last event. Absent: report from the beginning.
	 */
	readonly settled?: string;
	/** Id of the last event that was reported. */
	readonly last: string;
}

interface Stored {
	readonly position: number;
	readonly sessions: readonly (readonly [key: string, reported: Reported])[];
}

/** The number of sessions tracked in memory, most recently changed first, and the number stored by the host. */
const knownSessions = 20_000;
const keptSessions = 1_000;
const shelf = "otel";

export class Cursor {
	readonly #records: RecordSpace | undefined;
	readonly #name: string;
	/** The session reported last comes last. */
	readonly #sessions = new Map<string, Reported>();
	#position: number | undefined;
	#isSaved = true;

	constructor(records: RecordSpace | undefined, name: string) {
		this.#records = records;
		this.#name = name;
	}

	/** The position of the last reported change; undefined if it is unknown. */
	get position(): number | undefined {
		return this.#position;
	}

	async load(): Promise<void> {
		const { value } = (await this.#records?.get({ shelf, name: this.#name })) ?? {};
		const stored = value as Stored | undefined;
		this.#position = stored?.position;
		for (const [key, reported] of stored?.sessions ?? []) this.#sessions.set(key, reported);
	}

	/** Writes pending positions. */
	async save(): Promise<void> {
		if (this.#position === undefined || this.#isSaved) return;
		const value: Stored = { position: this.#position, sessions: [...this.#sessions].slice(-keptSessions) };
		this.#isSaved = true;
		await this.#records?.commit([], [{ shelf, name: this.#name, value }]);
	}

	/** Sets the initial position if none is known. */
	begin(position: number): void {
		this.#position = position;
		this.#isSaved = false;
	}

	reportedOf(key: string, incarnation: string): Reported | undefined {
		const reported = this.#sessions.get(key);
		return reported?.incarnation === incarnation ? reported : undefined;
	}

	set(key: string, reported: Reported, position: number): void {
		this.#position = position;
		this.#isSaved = false;
		this.#sessions.delete(key);
		this.#sessions.set(key, reported);
		for (const oldest of this.#sessions.keys()) {
			if (this.#sessions.size <= knownSessions) break;
			this.#sessions.delete(oldest);
		}
	}

	forget(key: string): void {
		this.#sessions.delete(key);
	}
}
