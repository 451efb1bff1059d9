/** The workplace of a project of files: the project's threads, which servers serve. */
import type { WorkOptions } from "holdfast/types";
import type { CommandIo } from "../terminal/index.ts";
import { openProject, openThreads, projectDatabase } from "./open-project.ts";
import type { WorkerCommand, Workplace } from "./workplace.ts";

/** @throws UsageError if the project or the database cannot be used. */
export async function workplaceOfProject(
	directory: string,
	command: WorkerCommand,
	io: CommandIo,
	work: WorkOptions,
): Promise<Workplace> {
	const project = await openProject(directory, io);
	const onLog = (entry: object): void =>
		void io.stderr.write(`${JSON.stringify({ type: "thread", ...entry })}\n`);
	// The inspector edits prompts, which must be the same for a thread in every process.
	const options = { ...project, db: projectDatabase(command, directory), onLog, editablePrompts: true };
	const threads = await openThreads(options).catch(async (error: unknown) => {
		await project.servers?.close();
		throw error;
	});
	return {
		of: `the project ${directory}`,
		runs: () => threads.work(work),
		async close() {
			await threads.close();
			await project.servers?.close();
			await threads.host.close();
		},
	};
}
