// A folder with a lamp, which a model is asked to paint through the real command and a model server of the test.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect } from "vitest";
import { temporaryFolder } from "../../../../test/shared/temporary-folder.fixture.ts";
import { type ModelServer, type Reply, run, type Started, start, startModelServer } from "./spawn.fixture.ts";

export const green = "The lamp is green.\nIt is small.\n";

export const edit = (id: string, find: string, replace: string) => ({
	id,
	tool: "edit_file",
	arguments: { path: "lamp.txt", find, replace },
});

/** A repeated edit would be visible. */
export const double = edit("double", "green", "green green");

/** The project of each test of a file. */
export interface LampProject {
	readonly folder: string;
	readonly server: ModelServer;
	file(name: string): string;
	lamp(): string;
	/** Starts the model server. */
	serve(replies: readonly Reply[]): Promise<void>;
	/** The arguments of a run that may write. */
	task(replies: readonly Reply[], ...more: string[]): Promise<string[]>;
	/** Returns what the model last received about its calls. */
	lastMessages(): string;
	/** Approves `double`, and kills the process at a call of the file system. */
	killedAt(moment: string): Promise<void>;
	/** Whether no draft of a file remains. */
	isClean(): boolean;
}

/** Creates a project before each test of the calling file. */
export function lampProject(): LampProject {
	let folder = "";
	let server: ModelServer | undefined;
	const file = (name: string): string => join(folder, "project", name);
	beforeEach(() => {
		folder = temporaryFolder();
		mkdirSync(join(folder, "project"));
		writeFileSync(file("lamp.txt"), green);
	});
	afterEach(async () => {
		await server?.close();
		server = undefined;
	});
	const project: LampProject = {
		get folder() {
			return folder;
		},
		get server() {
			if (server === undefined) throw new Error("The test has no model server.");
			return server;
		},
		file,
		lamp: () => readFileSync(file("lamp.txt"), "utf8"),
		async serve(replies) {
			server = await startModelServer(replies);
		},
		async task(replies, ...more) {
			await project.serve(replies);
			return [
				...["run", "Paint it.", "--dir", "project", "--session", "s", "--allow-write"],
				...["--model", project.server.model, ...more],
			];
		},
		lastMessages: () => JSON.stringify(project.server.requests.at(-1)?.messages.slice(-2)),
		async killedAt(moment) {
			await run(await project.task([{ calls: [double] }, { text: "Done." }]), { folder });
			const started: Started = start(["resume", "s", "--yes"], hold(folder, moment));
			await started.until(/^held /m);
			started.child.kill("SIGKILL");
			await started.finished;
		},
		isClean: () => !readdirSync(join(folder, "project")).some((name) => name.startsWith(".holdfast-")),
	};
	return project;
}

function hold(folder: string, moment: string) {
	return {
		folder,
		environment: {
			HOLD_FILE_CALL: moment,
			NODE_OPTIONS: `${process.env.NODE_OPTIONS ?? ""} --import=${new URL("./hold-file-calls.fixture.ts", import.meta.url)}`,
		},
	};
}

/**
 * Checks that a write that was killed at some point left a complete file, and that the next process makes the change
 * once.
 */
export async function expectMadeOnce(project: LampProject, moment: string): Promise<void> {
	await project.killedAt(moment);
	expect([green, green.replace("green", "green green")]).toContain(project.lamp());
	const { code, stdout } = await run(["resume", "s"], { folder: project.folder });
	expect([code, project.lamp(), project.isClean()]).toEqual([0, green.replace("green", "green green"), true]);
	expect(stdout).not.toContain("needs approval");
	expect(project.lastMessages()).toMatch(/now matches the approved version|1 place replaced/);
}
