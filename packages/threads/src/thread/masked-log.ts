// The outgoing log of threads: in order, and without the secrets of the thread that an entry belongs to.
import type { ThreadLog, ThreadLogger } from "./logs.ts";
import type { ThreadSystem } from "./system.ts";

export class MaskedLog {
	readonly #onLog: ThreadLogger | undefined;
	readonly #system: () => Pick<ThreadSystem, "index" | "parts" | "place" | "records">;
	#last: Promise<void> = Promise.resolve();

	constructor(
		onLog: ThreadLogger | undefined,
		system: () => Pick<ThreadSystem, "index" | "parts" | "place" | "records">,
	) {
		this.#onLog = onLog;
		this.#system = system;
	}

	/** Accepts an entry, which is passed on once the secrets of its thread are known. */
	readonly log: ThreadLogger = (entry) => {
		const onLog = this.#onLog;
		if (onLog === undefined) return;
		const masked = this.#masked(entry);
		this.#last = this.#last.then(async () => onLog(await masked)).catch(() => {});
	};

	/** Resolves when all entries so far have been passed on. */
	done(): Promise<void> {
		return this.#last;
	}

	async #masked(entry: ThreadLog): Promise<ThreadLog> {
		const { threadId, level, topic, message, data } = entry;
		if (threadId === "") return entry;
		try {
			const { index, parts, place, records } = this.#system();
			const record = (await records.get(threadId)) ?? goneRecord(threadId);
			const environment = parts.environment(place(record), { masked: index.envsOf(record.agentId) });
			const [shown, shownData] = await environment.redact([message, data]);
			return { threadId, level, topic, message: shown, ...(data === undefined ? {} : { data: shownData }) };
		} catch {
			const withheld = "An entry was withheld: the secrets of its thread could not be read.";
			return { threadId, level, topic, message: withheld };
		}
	}
}

/** For a deleted thread, only the shared secrets are known. */
function goneRecord(id: string): Parameters<ThreadSystem["place"]>[0] {
	return { id, agentId: "", userId: null, createdAt: 0, tags: [], terminated: null, isReady: true };
}
