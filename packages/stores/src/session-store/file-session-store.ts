// Sessions as files: one per key, replaced as a whole under a lock. A process that dies at any moment leaves either the
// old or the new state, and at most a lock that others ignore and a temporary file that a later process removes.
import { createHash, randomUUID } from "node:crypto";
import { open, readdir, readFile, rename, rm, stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { HoldfastError, HoldfastTypeError, makeFolder } from "@holdfast/upp";
import type { CommitResult, SessionStore, StoredSession } from "holdfast/host";
import { journalCorrupt, named } from "holdfast/host";
import { withLock } from "./file-lock.ts";

/** Contains locks and temporary files, so that the folder itself contains only sessions. */
const workFolder = ".work";
/** Operations in progress for longer than this many milliseconds belong to a dead process. */
const abandonedAfter = 60_000;
const format = 1;

interface FileContent extends StoredSession {
	readonly format: number;
	readonly key: string;
}

/**
 * A session store in a folder: one file per key, for keys of any kind and length. Several processes of one machine may
 * share the folder; the file system must support hard links. A commit is on disk when it resolves.
 *
 * Its calls reject with `journal_corrupt` for a damaged file and `journal_newer` for one of a later release, which are
 * left unchanged, with `session_store_busy`, and with the errors of the file system.
 *
 * @example
 * import { openai } from "@ai-sdk/openai";
 * import { Agent } from "holdfast";
 * import { FileSessionStore } from "@holdfast/stores/file";
 *
 * const sessionStore = new FileSessionStore("./sessions");
 * const clerk = new Agent({ model: openai("gpt-5.2"), host: { sessionStore } });
 * console.log(clerk.id);
 */
export class FileSessionStore implements SessionStore {
	readonly #folder: string;
	readonly #work: string;
	#ready: Promise<void> | undefined;
	/** The last pending change of each key in this process, so that its changes do not compete for the lock. */
	readonly #changes = new Map<string, Promise<unknown>>();

	/** `dir` is created by the first write. */
	constructor(dir: string) {
		if (typeof dir !== "string" || dir === "")
			throw new HoldfastTypeError(
				"invalid_argument",
				"new FileSessionStore(dir) takes the path of a folder.",
			);
		this.#folder = resolve(dir);
		this.#work = join(this.#folder, workFolder);
	}

	async load(key: string): Promise<StoredSession | null> {
		const content = await this.#read(key);
		return content === undefined ? null : { state: content.state, version: content.version };
	}

	async commit(
		key: string,
		{ state }: { readonly state: unknown },
		{ expectedVersion }: { readonly expectedVersion: string | null },
	): Promise<CommitResult> {
		if (state === undefined)
			throw new HoldfastTypeError(
				"invalid_argument",
				"commit() takes a state that JSON can represent, not undefined.",
			);
		const version = randomUUID();
		const text = JSON.stringify({ format, key, version, state });
		return this.#change(key, async (name) => {
			const temporary = join(this.#work, `${name}.${version}.tmp`);
			await writeDurably(temporary, text);
			const stored = await withLock(join(this.#work, `${name}.lock`), async () => {
				const current = await this.#read(key);
				if ((current?.version ?? null) !== expectedVersion) return false;
				await rename(temporary, this.#pathOf(name));
				return true;
			}).finally(() => rm(temporary, { force: true }));
			return stored ? { ok: true, version } : { ok: false, reason: "conflict" };
		});
	}

	async delete(key: string): Promise<void> {
		await this.#change(key, (name) =>
			withLock(join(this.#work, `${name}.lock`), () => rm(this.#pathOf(name), { force: true })),
		);
	}

	#pathOf(name: string): string {
		return join(this.#folder, `${name}.json`);
	}

	async #change<T>(key: string, work: (name: string) => Promise<T>): Promise<T> {
		this.#ready ??= this.#prepare();
		await this.#ready.catch((error) => {
			this.#ready = undefined;
			throw error;
		});
		const name = fileNameOf(key);
		const before = this.#changes.get(name);
		const change = before === undefined ? work(name) : before.then(() => work(name));
		const settled = change.catch(() => {});
		this.#changes.set(name, settled);
		try {
			return await change;
		} finally {
			if (this.#changes.get(name) === settled) this.#changes.delete(name);
		}
	}

	/** Creates the folders, and removes what dead processes left in the work folder. */
	async #prepare(): Promise<void> {
		// Conversations are private: only their user may read the folder and its files.
		makeFolder(this.#work);
		for (const name of await readdir(this.#work)) {
			if (!name.endsWith(".tmp")) continue;
			const path = join(this.#work, name);
			const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Number.POSITIVE_INFINITY }));
			if (Date.now() - mtimeMs > abandonedAfter) await rm(path, { force: true });
		}
	}

	async #read(key: string): Promise<FileContent | undefined> {
		const path = this.#pathOf(fileNameOf(key));
		let text: string;
		try {
			text = await readFile(path, "utf8");
		} catch (error) {
			if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
			throw error;
		}
		return readContent(text, key, path);
	}
}

function readContent(text: string, key: string, path: string): FileContent {
	let content: Partial<FileContent> | null;
	try {
		content = JSON.parse(text) as Partial<FileContent> | null;
	} catch (cause) {
		throw journalCorrupt(`${path} does not contain a session`, cause);
	}
	if (typeof content?.format === "number" && content.format > format) {
		throw new HoldfastError(
			"journal_newer",
			`${path} was written by a newer release, in format ${content.format}. Upgrade to read it.`,
			{ data: { format: content.format } },
		);
	}
	const isOurs =
		content?.format === format &&
		typeof content.version === "string" &&
		content.key === key &&
		"state" in content;
	if (!isOurs) throw journalCorrupt(`${path} does not hold session ${named(key)}`);
	return content as FileContent;
}

async function writeDurably(path: string, text: string): Promise<void> {
	const file = await open(path, "wx", 0o600);
	try {
		await file.writeFile(text);
		await file.datasync();
	} finally {
		await file.close();
	}
}

/** Longer names, with their suffixes, are not supported by every file system. */
const longestName = 150;

/**
 * Returns the name of a key's file, without a suffix. It is never empty, hidden or reserved. Names consist of small
 * letters, digits, `-` and `_`; other characters are written as %XXXX (UTF-16). So two keys never share a file, even on
 * file systems that ignore case or normalise names, and no file is outside the folder.
 */
function fileNameOf(key: string): string {
	const name = key.replaceAll(/[^a-z0-9_-]/g, escapeUnits);
	if (name.length <= longestName) return `k-${name}`;
	return `h-${createHash("sha256").update(key, "utf16le").digest("hex")}`;
}

function escapeUnits(text: string): string {
	return text
		.split("")
		.map((unit) => `%${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
		.join("");
}
