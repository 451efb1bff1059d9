/** The command for working on a project: it follows the files, keeps the types of names, and serves the project. */
import { relative } from "node:path";
import { type ProjectChange, watchProject, writeTypes } from "@holdfast/threads";
import type { CommandIo } from "../terminal/index.ts";
import { asUsage, describeProblems, problemsOf, summary } from "./check-project.ts";
import { lendPackages } from "./lend-packages.ts";
import { ending, exitCodes } from "./usage-error.ts";

/** Follows a project until Ctrl-C or SIGTERM; gives the exit code. */
export async function developProject(
	{ directory, json }: { readonly directory: string; readonly json: boolean },
	io: CommandIo,
): Promise<number> {
	lendPackages();
	const stopped = new AbortController();
	let signals = 0;
	const stopListening = io.onInterrupt(() => {
		signals++;
		if (signals > 1) io.quit(exitCodes.interrupted);
		stopped.abort();
	}, ending());
	const say = (line: object, text: string): void => {
		io.stdout.write(json ? `${JSON.stringify(line)}\n` : `${text}\n`);
	};
	const onChange = ({ project, files, milliseconds }: ProjectChange): void => {
		const changed = files.map((file) => relative(directory, file));
		const ms = Math.round(milliseconds);
		const what = changed.length === 0 ? `Project ${directory}` : `changed ${changed.join(", ")}`;
		say({ type: "project", files: changed, ms }, `${time()}${what}: ${summary(project)} (${ms} ms)`);
		for (const warning of project.warnings) say({ type: "warning", warning }, `  warning: ${warning}`);
		writeTypes(project).catch((error) => say({ type: "error", message: String(error) }, String(error)));
	};
	const onError = (error: unknown): void => {
		const problems = problemsOf(error);
		if (problems === undefined) say({ type: "error", message: String(error) }, `${time()}${String(error)}`);
		else say({ type: "problems", problems }, `${time()}${describeProblems(directory, problems).trimEnd()}`);
	};
	try {
		const live = await watchProject(directory, { onChange, onError, signal: stopped.signal });
		if (!stopped.signal.aborted)
			await new Promise((resolve) => stopped.signal.addEventListener("abort", resolve, { once: true }));
		live.close();
		return exitCodes.completed;
	} catch (error) {
		if (stopped.signal.aborted) return exitCodes.completed;
		throw asUsage(error);
	} finally {
		stopListening();
	}
}

function time(): string {
	return `${new Date().toTimeString().slice(0, 8)} `;
}
