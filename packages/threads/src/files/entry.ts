// The stored description of a file or folder. The bytes decide which files exist: a description that was lost in a crash
// is rebuilt, and a description without bytes is ignored.
import type { FileInfo } from "holdfast/host";
import mime from "mime";
import type { FileRecord } from "../types/index.ts";
import { nameOf } from "./thread-path.ts";

/** The entry at a path. */
export type Entry = FolderEntry | FileEntry;

interface FolderEntry {
	readonly folder: true;
}

/** Describes only bytes with this size and modification time. */
export interface FileEntry {
	readonly mimeType: string;
	readonly size: number;
	readonly at: number;
	readonly width?: number;
	readonly height?: number;
	readonly metadata?: Record<string, unknown>;
}

export const folderEntry: FolderEntry = { folder: true };

export function isFolder(entry: unknown): boolean {
	return (entry as Partial<FolderEntry> | undefined)?.folder === true;
}

/** Returns the record of a folder. */
export function folderRecord(path: string): FileRecord {
	return {
		path,
		name: nameOf(path),
		mimeType: "inode/directory",
		storage: "local",
		size: 0,
		isDirectory: true,
	};
}

/** Returns the record of a file, from its bytes and its stored description. */
export function fileRecord({ name: path, size, at }: FileInfo, entry: unknown): FileRecord {
	const kept = entry as FileEntry | undefined;
	const isOf = kept !== undefined && !isFolder(kept) && kept.size === size && kept.at === at;
	const described = { path, name: nameOf(path), storage: "local", size, isDirectory: false } as const;
	if (!isOf) return { ...described, mimeType: mimeTypeOf(path) };
	const { mimeType, width, height, metadata } = kept;
	return {
		...described,
		mimeType,
		...(width === undefined ? {} : { width }),
		...(height === undefined ? {} : { height }),
		...(metadata === undefined ? {} : { metadata }),
	};
}

/** Returns the media type for the extension of a name. */
export function mimeTypeOf(path: string): string {
	return mime.getType(path) ?? "application/octet-stream";
}
