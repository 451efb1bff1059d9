// The connections of graphile-worker. It reports the end or failure of a job without awaiting the write: with an
// unavailable server, the report would be lost and the process would end. In patient mode, this pool therefore waits for
// the server, and repeats a statement that a lost connection interrupted; a runner's statements are single ones and may
// run twice.
import pg from "pg";
import { isConflict, isUnavailable } from "../postgres-errors.ts";

/** Milliseconds before the next connection attempt: initial and maximum. */
const [firstWait, longestWait] = [50, 1_000];
/** How long a stopping runner waits for an unavailable server, in milliseconds. */
const leaveMs = 5_000;

/** The part of a connection that a runner uses. */
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

	/** From now on, waits for the server without a limit. */
	becomePatient(): void {
		this.#isPatient = true;
	}

	override connect(): Promise<pg.PoolClient>;
	override connect(given: Parameters<pg.Pool["connect"]>[0]): void;
	override connect(given?: Parameters<pg.Pool["connect"]>[0]): unknown {
		if (given !== undefined) return super.connect(given);
		return this.#isPatient ? this.#connected().then((client) => this.#repeating(client)) : super.connect();
	}

	/** Announces that the user is about to stop. Settles if the server is unavailable and cannot be notified. */
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
				// No caller waits for it.
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
