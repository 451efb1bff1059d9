// Compares the events of a replay with those of the record, ignoring ids and times.
import { HoldfastError } from "@holdfast/upp";
import type { RunnerEvent } from "../contract/index.ts";
import { canonical } from "./hash-chain.ts";

/** Members that differ between runs. */
const passing: ReadonlySet<string> = new Set([
	...["runId", "sessionId", "time", "hash", "previousHash", "duration", "latency", "id", "durationMs"],
	...["timestamp", "key"],
]);

export class EventComparer {
	readonly #expected: readonly RunnerEvent[];
	#next = 0;
	#difference: HoldfastError | undefined;

	constructor(expected: readonly RunnerEvent[]) {
		this.#expected = expected;
	}

	/** The next event of the record; undefined after the last one, and from the first difference on. */
	get expected(): RunnerEvent | undefined {
		return this.#difference === undefined ? this.#expected[this.#next] : undefined;
	}

	/** Compares the next event with the record; returns false from the first difference on. */
	take(actual: RunnerEvent): boolean {
		if (this.#difference !== undefined) return false;
		const expected = this.#expected[this.#next++];
		if (expected !== undefined && comparable(expected) === comparable(actual)) return true;
		this.#difference = diverged(actual.seq, expected, actual);
		return false;
	}

	/** Ends the replay: recorded events that did not occur are reported as missing. */
	end(): HoldfastError | undefined {
		const expected = this.#expected[this.#next];
		if (this.#difference === undefined && expected !== undefined)
			this.#difference = diverged(expected.seq, expected, undefined);
		return this.#difference;
	}
}

function comparable(event: RunnerEvent): string {
	return canonical(
		JSON.parse(JSON.stringify(event), (name, value) => (passing.has(name) ? undefined : value)),
	);
}

function diverged(
	seq: number,
	expected: RunnerEvent | undefined,
	actual: RunnerEvent | undefined,
): HoldfastError {
	const what =
		expected === undefined
			? "there is an additional event"
			: actual === undefined
				? "it is missing"
				: "it differs";
	return new HoldfastError(
		"REPLAY_DIVERGED",
		`The replay diverged from the record at event ${seq}: ${what}.`,
		{
			data: { seq, expected, actual },
		},
	);
}
