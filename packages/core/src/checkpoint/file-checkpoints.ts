// fileCheckpoints() in the main package. The store itself is in the package `@holdfast/stores`, which is loaded on first
// use.
import { checkOptions, HoldfastError, optionNames } from "@holdfast/upp";
import type { AgentStateJSON } from "../state/index.ts";
import {
	agentOfCheckpoint,
	type CheckpointMetadata,
	type CheckpointStore,
	rememberAgent,
} from "./checkpoint-store.ts";

/** Options of `fileCheckpoints`. */
export interface FileCheckpointOptions {
	/** The folder that contains the sessions' folders; created with the first save. Default `.checkpoints`. */
	readonly dir?: string;
	/** Whether to compress states with gzip. Both forms remain readable. Default `false`. */
	readonly compress?: boolean;
}

/** Checkpoints in files. */
export interface FileCheckpoints extends CheckpointStore {
	loadMetadata(sessionId: string): Promise<CheckpointMetadata | null>;
	/** Resolves once everything so far is on disk or has failed, including saves of agents in this process. */
	flush(): Promise<void>;
}

interface StoresPackage {
	fileCheckpoints(options: FileCheckpointOptions): FileCheckpoints;
}

const fileCheckpointsNames = optionNames<FileCheckpointOptions>({ dir: "text", compress: "flag" });

const storesPackage = "@holdfast/stores/checkpoint";

/**
 * Creates a store of checkpoints in files: `{dir}/{sessionId}/checkpoint.json` and `metadata.json`. It requires the
 * package `@holdfast/stores` to be installed.
 *
 * Every function rejects with `stores_missing` if that package cannot be loaded.
 *
 * @example
 * import { AgentState } from "holdfast";
 * import { fileCheckpoints } from "holdfast/checkpoint";
 *
 * const store = fileCheckpoints({ dir: "./checkpoints" });
 * const saved = await store.load("my-session");
 * const state = saved === null ? AgentState.initial() : AgentState.fromJSON(saved);
 * await store.save("my-session", state.toJSON());
 */
export function fileCheckpoints(options: FileCheckpointOptions = {}): FileCheckpoints {
	checkOptions(options, fileCheckpointsNames, { of: "fileCheckpoints()" });
	let loading: Promise<FileCheckpoints> | undefined;
	const store = (): Promise<FileCheckpoints> => {
		loading ??= load(storesPackage).then(
			(found) => found.fileCheckpoints(options),
			(error) => {
				loading = undefined; // the next call retries
				throw error;
			},
		);
		return loading;
	};
	return {
		async save(sessionId, state) {
			// Copied immediately, so that later changes by the caller do not affect this save.
			const taken = takenDown(state);
			return (await store()).save(sessionId, taken);
		},
		load: async (sessionId) => (await store()).load(sessionId),
		loadMetadata: async (sessionId) => (await store()).loadMetadata(sessionId),
		delete: async (sessionId) => (await store()).delete(sessionId),
		list: async () => (await store()).list(),
		flush: async () => (await store()).flush(),
	};
}

function takenDown(state: AgentStateJSON): AgentStateJSON {
	if (typeof state !== "object" || state === null) return state;
	const agentId = agentOfCheckpoint(state);
	const taken = structuredClone(state);
	if (agentId !== undefined) rememberAgent(taken, agentId);
	return taken;
}

/**
 * The name is not a literal, so that bundlers do not look for an optional package. Webpack and Turbopack must leave the
 * import as it is, or it would fail in what they build.
 */
async function load(packageName: string): Promise<StoresPackage> {
	try {
		return (await import(/* webpackIgnore: true */ /* turbopackIgnore: true */ packageName)) as StoresPackage;
	} catch (cause) {
		throw new HoldfastError(
			"stores_missing",
			`Checkpoints in files need the package @holdfast/stores. It could not be loaded: run \`npm install @holdfast/stores\`.`,
			{ cause, data: { packageName } },
		);
	}
}
