// Checkpoints in files: {dir}/{session}/checkpoint.json is the latest state, and metadata.json next to it identifies it.
// Each file is replaced as a whole. Within a process, all operations on a session run in order; between processes, an
// interleaved save is repeated, so that the two files always belong to the same save.
import { randomUUID } from "node:crypto";
import { readdir, readFile, rename, rm } from "node:fs/promises";
import { join, resolve, sep } from "node:path";
import { setImmediate, setTimeout } from "node:timers/promises";
import { promisify } from "node:util";
import { gunzip, gzip } from "node:zlib";
import { checkOptions, HoldfastError, makeFolder, optionNames } from "@holdfast/upp";
import type { AgentStateJSON } from "holdfast";
import type { CheckpointMetadata, CheckpointStore } from "holdfast/checkpoint";
import { agentOfCheckpoint } from "holdfast/host";
import { exists, isAbsence, isStill, replaceFile, sweep } from "./files.ts";
import { folderOf, isHashed, sessionOf } from "./session-folder.ts";

/** Options of `fileCheckpoints`. */
export interface FileCheckpointOptions {
	/** The folder of the sessions' folders; created when the first state is saved. Default `.checkpoints`. */
	readonly dir?: string;
	/**
	 * Whether states are compressed with gzip: smaller, but readable only with tools such as `zcat`. States in the other
	 * format stay readable. Default `false`.
	 */
	readonly compress?: boolean;
}

/** Checkpoints in files. */
export interface FileCheckpoints extends CheckpointStore {
	loadMetadata(sessionId: string): Promise<CheckpointMetadata | null>;
	/** Resolves when all earlier operations are on disk or have failed, including saves by agents in this process. */
	flush(): Promise<void>;
}

const checkpointFile = "checkpoint.json";
const metadataFile = "metadata.json";
/** Prefix of folders being deleted. No session's folder starts with a dot. */
const deleted = ".deleted-";
/** How often a save is retried if another process changes the same folder. */
const attempts = 50;

const fileCheckpointsNames = optionNames<FileCheckpointOptions>({ dir: "text", compress: "flag" });

/**
 * A store of checkpoints in files, for one machine: any number of stores and processes may use a directory at once.
 * Session ids may be any text; characters with a special meaning in file systems are escaped. If the file system ignores
 * case, ids that differ only in case are the same.
 *
 * `save` rejects with `checkpoint_failed` (retryable) if the state cannot be written; the previous state stays. `load`
 * rejects with `checkpoint_corrupt` if the file was changed by another program.
 *
 * @example
 * import { AgentState } from "holdfast";
 * const store = fileCheckpoints({ dir: "./checkpoints" });
 * const saved = await store.load("my-session");
 * const state = saved === null ? AgentState.initial() : AgentState.fromJSON(saved);
 * await store.save("my-session", state.withMetadata("sessionId", "my-session").toJSON());
 */
export function fileCheckpoints(options: FileCheckpointOptions = {}): FileCheckpoints {
	checkOptions(options, fileCheckpointsNames, { of: "fileCheckpoints()" });
	const { dir = ".checkpoints", compress = false } = options;
	const root = resolve(dir);
	const pathOf = (sessionId: string): string => join(root, folderOf(checkId(sessionId)));

	return {
		async save(sessionId, state) {
			const folder = pathOf(sessionId);
			if (typeof state !== "object" || state === null)
				throw invalidInput("A state to save must be the return value of toJSON()", state);
			// Serialised at once, so that later changes by the caller are not part of this save.
			const text = JSON.stringify(state);
			const metadata = JSON.stringify(describe(sessionId, state));
			await inTurn(folder, async () => {
				await writePair(folder, metadata, compress ? await pack(text) : text);
			});
		},
		async load(sessionId) {
			const folder = pathOf(sessionId);
			return inTurn(folder, () => read<AgentStateJSON>(join(folder, checkpointFile)));
		},
		async loadMetadata(sessionId) {
			const folder = pathOf(sessionId);
			return inTurn(folder, () => read<CheckpointMetadata>(join(folder, metadataFile)));
		},
		async delete(sessionId) {
			const folder = pathOf(sessionId);
			await inTurn(folder, () => remove(root, folder));
		},
		async list() {
			await Promise.all(turnsBelow(root + sep));
			const folders = await readdir(root).catch(emptyWhereAbsent);
			const ids = await Promise.all(folders.map((folder) => savedSession(root, folder)));
			return ids.filter((id) => id !== undefined);
		},
		async flush() {
			for (let under = turnsBelow(root + sep); under.length > 0; under = turnsBelow(root + sep)) {
				await Promise.all(under);
				// A caller that saves one state after another passes the next one now.
				await setImmediate();
			}
		},
	};
}

function describe(sessionId: string, state: AgentStateJSON): CheckpointMetadata {
	const agentId = agentOfCheckpoint(state);
	return {
		sessionId,
		checkpointId: randomUUID(),
		timestamp: new Date().toISOString(),
		step: state.step,
		...(agentId === undefined ? {} : { agentId }),
	};
}

/**
 * Replaces both files. The metadata goes first, so that every checkpoint has some. If the metadata is no longer this
 * save's after the checkpoint is written, another process wrote in between, and the save is repeated: the last writer
 * writes both.
 */
async function writePair(folder: string, metadata: string, checkpoint: string | Uint8Array): Promise<void> {
	for (let attempt = 1; ; attempt++) {
		try {
			makeFolder(folder);
			const mine = await replaceFile(join(folder, metadataFile), metadata);
			await replaceFile(join(folder, checkpointFile), checkpoint);
			const isMine = await isStill(join(folder, metadataFile), mine);
			// Both are missing: the session was deleted after this save.
			if (isMine ?? !(await exists(join(folder, checkpointFile)))) return await sweep(folder).catch(() => {});
		} catch (cause) {
			if ((cause as NodeJS.ErrnoException).code !== "ENOENT") throw failed(folder, cause);
			// The folder was deleted during the save, which counts as having happened before.
			return;
		}
		if (attempt === attempts) throw failed(folder, undefined);
		await setTimeout(Math.random() * Math.min(attempt, 10) * 4);
	}
}

async function read<Kept>(path: string): Promise<Kept | null> {
	let content: Uint8Array;
	try {
		content = await readFile(path);
	} catch (cause) {
		if (isAbsence(cause)) return null;
		throw failed(path, cause);
	}
	try {
		return JSON.parse(await unpack(content)) as Kept;
	} catch (cause) {
		throw new HoldfastError(
			"checkpoint_corrupt",
			`The checkpoint ${path} cannot be read: another program changed it. Restore a backup, or delete the session.`,
			{ cause, data: { path } },
		);
	}
}

/** Moves a folder away in one step, so that a half-deleted one is never visible. */
async function remove(root: string, folder: string): Promise<void> {
	const away = join(root, `${deleted}${randomUUID()}`);
	try {
		await rename(folder, away);
		await rm(away, { recursive: true, force: true, maxRetries: 3 });
	} catch (cause) {
		if (!isAbsence(cause)) throw failed(folder, cause);
	}
	// Removes files left by dead processes. Another process may be removing them too.
	const names = await readdir(root).catch(() => []);
	for (const name of names.filter((name) => name.startsWith(deleted))) {
		await rm(join(root, name), { recursive: true, force: true }).catch(() => {});
	}
}

/** Returns the session of a folder that contains a checkpoint. */
async function savedSession(root: string, folder: string): Promise<string | undefined> {
	if (!(await exists(join(root, folder, checkpointFile)))) return undefined;
	if (!isHashed(folder)) return sessionOf(folder);
	try {
		const metadata = await readFile(join(root, folder, metadataFile), "utf8");
		const { sessionId } = JSON.parse(metadata) as CheckpointMetadata;
		return folderOf(sessionId) === folder ? sessionId : undefined;
	} catch {
		return undefined; // Not written by a store.
	}
}

function checkId(sessionId: unknown): string {
	if (typeof sessionId === "string") return sessionId;
	throw invalidInput("A session id is a string", sessionId);
}

function invalidInput(what: string, given: unknown): HoldfastError {
	return new HoldfastError(
		"invalid_input",
		`${what}, and this is ${given === null ? "null" : typeof given}.`,
	);
}

function emptyWhereAbsent(cause: unknown): string[] {
	if (isAbsence(cause)) return [];
	throw failed("the directory", cause);
}

function failed(path: string, cause: unknown): HoldfastError {
	const why = cause instanceof Error ? cause.message : "other processes keep changing it";
	return new HoldfastError(
		"checkpoint_failed",
		`The checkpoints in ${path} cannot be used: ${why}. Check the disk and the permissions, then try again.`,
		{ cause, retryable: true, data: { path } },
	);
}

const pack = promisify<string, Uint8Array>(gzip);
const inflate = promisify<Uint8Array, Uint8Array>(gunzip);

/** Decodes the text of a file, plain or gzipped: its first bytes show which. */
async function unpack(content: Uint8Array): Promise<string> {
	const isPacked = content[0] === 0x1f && content[1] === 0x8b;
	return new TextDecoder().decode(isPacked ? await inflate(content) : content);
}

/**
 * Operations in progress, by path. Several stores of one process may share a folder, and their operations never overlap.
 */
const turns = new Map<string, Promise<void>>();

/** Runs a task after all earlier ones for the same path have settled. */
function inTurn<Result>(path: string, task: () => Promise<Result>): Promise<Result> {
	const result = (turns.get(path) ?? Promise.resolve()).then(task);
	const over = (): void => {
		if (turns.get(path) === ended) turns.delete(path);
	};
	const ended: Promise<void> = result.then(over, over);
	turns.set(path, ended);
	return result;
}

/** Waits for the running and queued tasks whose paths start with a prefix; never rejects. */
function turnsBelow(prefix: string): Promise<void>[] {
	return [...turns].flatMap(([path, ended]) => (path.startsWith(prefix) ? [ended] : []));
}
