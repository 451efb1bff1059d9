/**
 * Runs commands of a test in a separate folder, with a model server; processes that are still running end with the test.
 */
import { afterEach, beforeEach } from "vitest";
import { temporaryFolder } from "../../../../test/shared/temporary-folder.fixture.ts";
import { type ModelServer, type Reply, type Started, start, startModelServer } from "./spawn.fixture.ts";

/** The resources of the current test. */
export interface Commands {
	readonly folder: string;
	/** Starts `holdfast` with arguments in the folder. */
	begin(argv: readonly string[], environment?: Record<string, string>): Started;
	/** Starts a model server with these replies. */
	serveModel(replies: readonly Reply[]): Promise<ModelServer>;
}

/** Call once in a test file, before the tests. */
export function commandsOfATest(): Commands {
	let folder = "";
	let started: Started[] = [];
	let servers: ModelServer[] = [];
	beforeEach(() => {
		folder = temporaryFolder();
		started = [];
		servers = [];
	});
	afterEach(async () => {
		for (const { child } of started) child.kill("SIGKILL");
		await Promise.all(started.map(({ finished }) => finished));
		for (const server of servers) await server.close();
	});
	return {
		get folder() {
			return folder;
		},
		begin(argv, environment = {}) {
			const begun = start(argv, { folder, environment });
			started.push(begun);
			return begun;
		},
		async serveModel(replies) {
			const server = await startModelServer(replies);
			servers.push(server);
			return server;
		},
	};
}

/** The model information for `own-agent.fixture.ts`. */
export function modelOf(server: ModelServer): Record<string, string> {
	return { STUB_MODEL: /@(.*)$/.exec(server.model)?.[1] ?? "" };
}
