// The floor of durable work on Postgres: the entries that a run has written, written again into a table of the same columns
// and index, one transaction for each that the run committed, with nothing else done.
import pg from "pg";

/** Columns of an entry. */
type Row = Readonly<Record<string, unknown>>;

/** Kinds that open a transaction: a run's start, its answers with the calls they start, its results, its end. */
const opening: ReadonlySet<unknown> = new Set(["run.started", "assistant", "tool.settled", "run.ended"]);

/** The measured floor. */
export interface BareResult {
	/** Microseconds of each step: of two transactions that follow one another. */
	readonly steps: readonly number[];
	readonly transactions: number;
}

/** Writes the entries of a schema again, in prepared statements between BEGIN and COMMIT. */
export async function writeBare(url: string, schema: string): Promise<BareResult> {
	const client = new pg.Client(url);
	client.on("error", () => {});
	await client.connect();
	try {
		const { rows } = await client.query<Row>(`SELECT * FROM ${schema}.entries ORDER BY session, seq`);
		const batches: Row[][] = [];
		for (const row of rows) {
			if (batches.length === 0 || opening.has(row.kind)) batches.push([]);
			batches.at(-1)?.push(row);
		}
		await client.query(
			`CREATE TABLE ${schema}.bare (LIKE ${schema}.entries INCLUDING DEFAULTS, PRIMARY KEY (session, seq))`,
		);
		const [first = {}] = rows;
		const places = Object.keys(first).map((_, at) => `$${at + 1}`);
		const insert = { name: "bare", text: `INSERT INTO ${schema}.bare VALUES (${places.join()})` };
		const times: number[] = [];
		for (const batch of batches) {
			await client.query("BEGIN");
			for (const row of batch) await client.query({ ...insert, values: Object.values(row) });
			await client.query("COMMIT");
			times.push(performance.now());
		}
		const steps: number[] = [];
		for (let at = 2; at < times.length; at += 2)
			steps.push(((times[at] as number) - (times[at - 2] as number)) * 1000);
		return { steps, transactions: batches.length };
	} finally {
		await client.end();
	}
}
