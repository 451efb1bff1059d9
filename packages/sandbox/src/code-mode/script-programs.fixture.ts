// Random scripts, and whether they take the same course when they run again from their record.
import fc from "fast-check";
import { afterAll, expect } from "vitest";
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

/** The outcomes of a batch of calls, in an order of their own. The same calls always have the same outcomes. */
export function outcomes(calls: readonly ScriptCall[], first: number): readonly ScriptRecord[] {
	const requested = calls.map(({ toolName }, at) => ({ id: `c${first + at}`, toolName }));
	const settled = calls.map(({ arguments: input }, at): ScriptRecord => {
		const number = first + at;
		const isError = number % 5 === 4;
		return {
			kind: "settled",
			id: `c${number}`,
			isError,
			result: isError ? `failed ${number}` : { ...input, number },
		};
	});
	const mixed = settled
		.map((record, at) => ({ record, key: ((first + at) * 7_919) % 31 }))
		.sort((left, right) => left.key - right.key);
	return [{ kind: "requested", calls: requested }, ...mixed.map(({ record }) => record)];
}

export const limit = 40;

/** Runs a script to its end. It starts anew from its record before each batch if `interrupted`. */
async function finish(
	code: string,
	interrupted: boolean,
): Promise<{ end: ScriptProgress; record: readonly ScriptRecord[] }> {
	const record: ScriptRecord[] = [];
	let script = new Script(start(code), limit);
	let news: readonly ScriptRecord[] = [];
	for (let count = 0; ; ) {
		const progress = await script.advance(news, 3);
		if (progress.kind !== "calls") {
			script.stop();
			return { end: progress, record };
		}
		const batch = progress.calls;
		news = outcomes(batch, count);
		count += batch.length;
		record.push(...news);
		if (!interrupted) continue;
		script.stop();
		script = new Script(start(code), limit);
		news = record;
	}
}

function essence({ end, record }: { end: ScriptProgress; record: readonly ScriptRecord[] }): unknown {
	if (end.kind !== "ended") return { end, record };
	const { status, result, error } = end.result;
	return { status, result, error: error?.message, dropped: end.dropped, record };
}

/** Compares interrupted executions of random scripts with undisturbed ones. */
export async function interruptedScriptsAgree(numRuns: number): Promise<void> {
	await fc.assert(
		fc.asyncProperty(program, async (code) => {
			expect(essence(await finish(code, true))).toEqual(essence(await finish(code, false)));
		}),
		{ numRuns },
	);
}
