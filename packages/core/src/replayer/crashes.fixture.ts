// Compares an execution without crashes with those that die at each append.
import { type Program, runProgram } from "./program.fixture.ts";
import { type Crash, type Executed, execute } from "./recorded-execution.fixture.ts";

/** Returns every difference between the undisturbed execution and the disturbed ones. */
export async function crashesAreInvisible(program: Program, seed: number): Promise<readonly string[]> {
	const code = (branch: Parameters<typeof runProgram>[1], seen: unknown[]): Promise<unknown> =>
		runProgram(program, branch, seen);
	const undisturbed = await execute(code, { seed });
	const differences: string[] = [];
	const compare = (name: string, other: Executed): void => {
		const [one, two] = [seenIn(undisturbed), seenIn(other)];
		if (one !== two) differences.push(`${name}: ${two} instead of ${one}`);
		const settled = other.record.filter(({ kind }) => kind === "settled").map(({ id }) => id);
		if (new Set(settled).size !== settled.length) differences.push(`${name}: a call is settled twice`);
		if ([...other.performed.keys()].some((id) => !undisturbed.performed.has(id)))
			differences.push(`${name}: another call is performed`);
	};
	compare("two living workers", await execute(code, { seed, workers: "alternate" }));
	for (let at = 0; at < undisturbed.appends; at++) {
		for (const when of ["before", "after"] as const)
			compare(`crash ${when} append ${at}`, await execute(code, { seed, crashes: [{ at, when }] }));
	}
	const everywhere = Array.from({ length: undisturbed.appends * 2 }, (_, at): Crash => {
		return { at, when: at % 2 === 0 ? "before" : "after" };
	});
	compare("crashes at every append", await execute(code, { seed, crashes: everywhere }));
	return differences;
}

function seenIn({ result, seen, record }: Executed): string {
	return JSON.stringify({ result, seen, record: record.map(({ kind, id }) => [kind, id]) });
}
