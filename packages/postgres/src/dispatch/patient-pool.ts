// The connections of graphile-worker. It says that a job is over, or failed, without waiting for that to be written: where
// the server is away then, nobody would hear of it, and the process would end. So this pool, once it is patient, waits for
// the server to come back, and what a lost connection cut off is made again.
import pg from "pg";
import { isUnavailable } from "../postgres-errors.ts";

/** Milliseconds before the next try to connect: at first, and at most. */
const [firstWait, longestWait] = [50, 1_000];
/** Milliseconds for which one who leaves waits for a server that is away. */
const leaveMs = 5_000;
/** What graphile-worker tries again soon: the code of a transaction that lost against another one. */
const again = { code: "40001" } as const;

export class PatientPool extends pg.Pool {
	#isPatient = false;
	/** Milliseconds since the epoch. */
	#waitsUntil = Number.POSITIVE_INFINITY;
	readonly #isAway = Promise.withResolvers<void>();

	constructor(options: pg.PoolConfig) {
		super(options);
		this.on("error", () => {});
		this.on("connect", (client) => {
			client.on("error", () => {});
			this.#repeats(client);
		});
	}

	/** From now on it waits for the server, however long. */
	becomePatient(): void {
		this.#isPatient = true;
	}

	override connect(): Promise<pg.PoolClient>;
	override connect(given: Parameters<pg.Pool["connect"]>[0]): void;
	override connect(given?: Parameters<pg.Pool["connect"]>[0]): unknown {
		return given === undefined ? this.#connected() : super.connect(given);
	}

	/** Whoever uses it is about to stop. Settles when that cannot be said to the server, which is away. */
	leaves(): Promise<void> {
		this.#waitsUntil = Math.min(this.#waitsUntil, Date.now() + leaveMs);
		return this.#isAway.promise;
	}

	async #connected(): Promise<pg.PoolClient> {
		for (let wait = firstWait; ; wait = Math.min(longestWait, wait * 2)) {
			try {
				return await super.connect();
			} catch (error) {
				if (!this.#isPatient || !isUnavailable(error)) throw error;
			}
			if (this.ending || Date.now() >= this.#waitsUntil) {
				this.#isAway.resolve();
				// Nobody is there any more to whom it could be said.
				return new Promise(() => {});
			}
			await new Promise((resolve) => setTimeout(resolve, wait));
		}
	}

	/** A statement that a lost connection cut off is tried again by the one who made it. */
	#repeats(client: pg.PoolClient): void {
		const query = client.query.bind(client) as (...given: unknown[]) => unknown;
		const repeated = (...given: unknown[]): unknown => {
			const answer = query(...given);
			if (!(answer instanceof Promise)) return answer;
			return answer.catch((error: unknown) => {
				throw this.#isPatient && isUnavailable(error) ? Object.assign(error as Error, again) : error;
			});
		};
		client.query = repeated as typeof client.query;
	}
}
