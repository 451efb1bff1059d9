/** A worker of a project of files: it works on the project's threads, which servers serve. */
import type { WorkOptions } from "holdfast";
import type { CommandIo } from "../terminal/index.ts";
import { openProject, openThreads, projectDatabase } from "./open-project.ts";
import type { WorkerCommand, Workplace } from "./workplace.ts";

/** @throws UsageError when the project or the database cannot be used. */
export async function workplaceOfProject(
	directory: string,
	command: WorkerCommand,
	io: CommandIo,
	options: WorkOptions,
): Promise<Workplace> {
	const project = await openProject(directory, io);
	const onLog = (entry: object): void =>
		void io.stderr.write(`${JSON.stringify({ type: "thread", ...entry })}\n`);
	// A server's page edits prompts, and a thread has the same ones wherever it is worked on.
	const threads = await openThreads({
		...project,
		db: projectDatabase(command, directory),
		onLog,
		editablePrompts: true,
	});
	return {
		of: `the project ${directory}`,
		runs: () => threads.work(options),
		async close() {
			await threads.close();
			await project.servers?.close();
			await threads.host.close();
		},
	};
}
