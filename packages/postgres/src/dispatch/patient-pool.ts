// The connections of graphile-worker. It says that a job is over, or failed, without waiting for that to be written: where
// the server is away then, nobody would hear of it, and the process would end. So this pool, once it is patient, waits for
// the server to come back, and makes a statement again that a lost connection cut off; those of a runner are single statements, and may
// be made twice.
import pg from "pg";
import { isConflict, isUnavailable } from "../postgres-errors.ts";

/** Milliseconds before the next try to connect: at first, and at most. */
const [firstWait, longestWait] = [50, 1_000];
/** Milliseconds for which one who leaves waits for a server that is away. */
const leaveMs = 5_000;

/** What a runner uses of a connection. */
type Connection = Pick<pg.PoolClient, "query" | "release">;

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
		});
	}

	/** From now on it waits for the server, however long. */
	becomePatient(): void {
		this.#isPatient = true;
	}

	override connect(): Promise<pg.PoolClient>;
	override connect(given: Parameters<pg.Pool["connect"]>[0]): void;
	override connect(given?: Parameters<pg.Pool["connect"]>[0]): unknown {
		if (given !== undefined) return super.connect(given);
		return this.#isPatient ? this.#connected().then((client) => this.#repeating(client)) : super.connect();
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
				if (!isUnavailable(error)) throw error;
			}
			if (this.ending || Date.now() >= this.#waitsUntil) {
				this.#isAway.resolve();
				// Nobody is there any more to whom it could be said.
				return new Promise(() => {});
			}
			await new Promise((resolve) => setTimeout(resolve, wait));
		}
	}

	#repeating(client: pg.PoolClient): Connection {
		let own = client;
		const query = async (...given: unknown[]): Promise<unknown> => {
			for (;;) {
				try {
					return await (own.query as (...given: unknown[]) => Promise<unknown>)(...given);
				} catch (error) {
					if (!isUnavailable(error) && !isConflict(error)) throw error;
					own.release(error as Error);
					own = await this.#connected();
				}
			}
		};
		return { query: query as never, release: (error) => own.release(error) };
	}
}
