// Runs a program of a crash test to its end, killed by itself or not, and gives what it reported in lines of JSON.
import { spawn } from "node:child_process";
import { once } from "node:events";

/** Seconds after which a program counts as hung. */
const atMost = 300;

/** Runs a program with options; rejects when it hangs. */
export async function runToEnd<T>(
	program: string,
	options: { readonly phase: string },
): Promise<{ readonly reports: readonly T[]; readonly signal: string | null }> {
	const argv = ["--conditions=holdfast-source", "--no-warnings", program, JSON.stringify(options)];
	const child = spawn(process.execPath, argv, { stdio: ["ignore", "pipe", "inherit"] });
	let hangs = false;
	const timer = setTimeout(() => {
		hangs = true;
		child.kill("SIGKILL");
	}, atMost * 1_000);
	let output = "";
	child.stdout.setEncoding("utf8").on("data", (text: string) => {
		output += text;
	});
	const [[, signal]] = await Promise.all([once(child, "exit"), once(child.stdout, "close")]);
	clearTimeout(timer);
	if (hangs) throw new Error(`The program in its phase "${options.phase}" was not over in ${atMost} s.`);
	return { reports: lines(output), signal };
}

/** Values that were written as lines of JSON. */
export function lines<T>(text: string): readonly T[] {
	return text
		.split("\n")
		.filter(Boolean)
		.map((line) => JSON.parse(line) as T);
}
