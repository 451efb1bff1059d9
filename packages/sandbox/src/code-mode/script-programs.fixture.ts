// Random scripts, and whether they take the same course when they run again from their record.
import fc from "fast-check";
import { afterAll, expect } from "vitest";
import type { Execution } from "../execution.ts";
import { ownSandbox } from "../sandbox.ts";
import { Script, type ScriptProgress, type StartScript } from "./script.ts";
import type { ScriptCall, ScriptRecord } from "./script-log.ts";

const sandbox = ownSandbox({ workers: 1 });
afterAll(() => sandbox.close());

/** A program, as source text of statements. */
const program: fc.Arbitrary<string> = fc.letrec<{ block: string; statement: string }>((tie) => ({
	block: fc.array(tie("statement"), { minLength: 1, maxLength: 3 }).map((each) => each.join("\n")),
	statement: fc.oneof(
		{ depthSize: "small", withCrossShrink: true },
		fc.nat(9).map((n) => `seen.push(await tools.step({ n: ${n} }));`),
		fc.constant("seen.push(Math.random(), Date.now());"),
		fc.constant("if (Math.random() < 0.5) seen.push(await tools.other({ half: true }));"),
		tie("block").map((block) => `try { ${block} } catch (error) { seen.push(error.message); }`),
		fc
			.tuple(tie("block"), tie("block"))
			.map(([a, b]) => `await Promise.all([async () => { ${a} }, async () => { ${b} }].map((f) => f()));`),
		fc
			.tuple(fc.nat(9), tie("block"))
			.map(
				([n, block]) =>
					`seen.push(await Promise.race([tools.step({ n: ${n} }), (async () => { ${block} })().then(() => "late")]));`,
			),
		tie("block").map((block) => `for (let i = 0; i < 2; i++) { ${block} }`),
		tie("block").map((block) => `await Promise.all([1, 2, 3].map(async (n) => { seen.push(n); ${block} }));`),
		fc
			.tuple(tie("block"), tie("block"))
			.map(([a, b]) => `await Promise.allSettled([(async () => { ${a} })(), (async () => { ${b} })()]);`),
	),
})).block;

export function start(code: string): StartScript {
	return (call) =>
		sandbox.runCode(`export default async () => { const seen = []; ${code} return seen; }`, {
			globals: {
				tools: {
					step: (...given: unknown[]) => call("step", given),
					other: (...given: unknown[]) => call("other", given),
				},
			},
			reproducible: { seed: 7, now: 1_700_000_000_000 },
		});
}

/** The same call always has the same outcome. */
function outcomeOf({ arguments: input }: ScriptCall, number: number): ScriptRecord {
	const isError = number % 5 === 4;
	return {
		kind: "settled",
		id: `c${number}`,
		isError,
		result: isError ? `failed ${number}` : { ...input, number },
	};
}

export function request(calls: readonly ScriptCall[], first: number): ScriptRecord {
	return {
		kind: "requested",
		calls: calls.map(({ toolName }, at) => ({ id: `c${first + at}`, toolName })),
	};
}

export const limit = 40;
const concurrency = 3;

/** Requested calls, each of which ends at a time that follows from its number. */
class OpenCalls {
	readonly #open: { readonly due: number; readonly outcome: ScriptRecord }[] = [];
	#now = 0;
	count = 0;

	add(calls: readonly ScriptCall[]): ScriptRecord {
		const requested = request(calls, this.count);
		for (const call of calls) {
			const number = this.count++;
			this.#open.push({ due: this.#now + ((number * 7_919) % 6), outcome: outcomeOf(call, number) });
		}
		this.#open.sort((left, right) => left.due - right.due);
		return requested;
	}

	/** Returns the outcomes that come next: several if they come at the same time. */
	next(): readonly ScriptRecord[] {
		this.#now = this.#open[0]?.due ?? this.#now;
		const together = this.#open.filter(({ due }) => due === this.#now);
		return this.#open.splice(0, together.length).map(({ outcome }) => outcome);
	}
}

/** Runs a script to its end. It starts again from its record each time that it has advanced `every` times. */
async function finish(
	code: string,
	every: number,
): Promise<{ end: ScriptProgress; record: readonly ScriptRecord[] }> {
	const record: ScriptRecord[] = [];
	const open = new OpenCalls();
	let execution: Execution | undefined;
	const again = (): Script => new Script((call) => (execution = start(code)(call)), limit);
	/** The next run begins in the thread of this one: to start another thread takes 80 ms. */
	const stopped = async (script: Script): Promise<void> => {
		script.stop();
		await execution;
	};
	let script = again();
	let news: readonly ScriptRecord[] = [];
	for (let count = 1; ; count++) {
		const progress = await script.advance(news, concurrency);
		if (progress.kind !== "calls") {
			await stopped(script);
			return { end: progress, record };
		}
		news = progress.calls.length > 0 ? [open.add(progress.calls)] : open.next();
		record.push(...news);
		if (count % every !== 0) continue;
		await stopped(script);
		script = again();
		news = record;
	}
}

function essence({ end, record }: { end: ScriptProgress; record: readonly ScriptRecord[] }): unknown {
	if (end.kind !== "ended") return { end, record };
	const { status, result, error } = end.result;
	return { status, result, error: error?.message, dropped: end.dropped, cut: end.cut, record };
}

/** Compares interrupted executions of random scripts with undisturbed ones. */
export async function interruptedScriptsAgree(numRuns: number): Promise<void> {
	await fc.assert(
		fc.asyncProperty(program, fc.integer({ min: 1, max: 5 }), async (code, every) => {
			const undisturbed = await finish(code, Number.POSITIVE_INFINITY);
			expect(essence(await finish(code, every))).toEqual(essence(undisturbed));
		}),
		{ numRuns },
	);
}
