// Atomic file replacement: files are written next to their target, flushed to disk, and renamed.
import { randomUUID } from "node:crypto";
import { access, open, readdir, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";

/** Distinguishes a file from its replacement. */
export interface FileIdentity {
	readonly ino: bigint;
	readonly size: bigint;
	readonly mtimeNs: bigint;
}

/** The mode of new files: conversations are private, so only their user may read them. */
const ownerOnly = 0o600;

/** Milliseconds after which a temporary file counts as abandoned: its process died, or will write it again. */
const abandonedAfterMs = 60_000;

/** Replaces a file; concurrent readers see either the old or the new one. */
export async function replaceFile(path: string, content: string | Uint8Array): Promise<FileIdentity> {
	const temporary = `${path}.${randomUUID()}.tmp`;
	try {
		const file = await open(temporary, "wx", ownerOnly);
		try {
			await file.writeFile(content);
			await file.datasync();
		} finally {
			await file.close();
		}
		const identity = await stat(temporary, { bigint: true });
		await rename(temporary, path);
		return identity;
	} catch (error) {
		await rm(temporary, { force: true }).catch(() => {});
		throw error;
	}
}

/** Whether the file at a path is still the one with this identity; `undefined` without a file. */
export async function isStill(path: string, identity: FileIdentity): Promise<boolean | undefined> {
	try {
		const { ino, size, mtimeNs } = await stat(path, { bigint: true });
		return ino === identity.ino && size === identity.size && mtimeNs === identity.mtimeNs;
	} catch (error) {
		if (isAbsence(error)) return undefined;
		throw error;
	}
}

/** Removes what dead processes left in a folder. */
export async function sweep(folder: string): Promise<void> {
	for (const name of await readdir(folder)) {
		if (!name.endsWith(".tmp")) continue;
		const path = join(folder, name);
		const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Number.POSITIVE_INFINITY }));
		if (Date.now() - mtimeMs > abandonedAfterMs) await rm(path, { force: true });
	}
}

export async function exists(path: string): Promise<boolean> {
	return access(path).then(
		() => true,
		() => false,
	);
}

/** Whether an error means that a file or its folder does not exist. */
export function isAbsence(error: unknown): boolean {
	const code = (error as NodeJS.ErrnoException | null)?.code;
	return code === "ENOENT" || code === "ENOTDIR";
}
