// Files of a thread.

/** Where the bytes of a file are kept: in the thread's store, or in another service of the runtime. */
export type FileStorage = "local" | "external" | (string & {});

/** A file or folder of a thread. */
export interface FileRecord {
	/** Its path from the thread's root, such as `/reports/a.txt`. */
	path: string;
	/** The last part of the path. */
	name: string;
	/** Its MIME type. */
	mimeType: string;
	/** Where its bytes are kept. */
	storage: FileStorage;
	/** Bytes; 0 for a folder. */
	size: number;
	/** Whether it is a folder. */
	isDirectory: boolean;
	/** Data of the project's own. */
	metadata?: Record<string, unknown>;
	/** Width in pixels, of an image. */
	width?: number;
	/** Height in pixels, of an image. */
	height?: number;
}

/** All files of a thread in numbers. */
export interface FileStats {
	/** Bytes of all files. */
	totalSize: number;
	/** How many files there are, folders not counted. */
	fileCount: number;
}

/** Metadata to store with a written file. */
export interface WriteFileOptions {
	/** Data of the project's own. */
	metadata?: Record<string, unknown>;
	/** Width in pixels, of an image. */
	width?: number;
	/** Height in pixels, of an image. */
	height?: number;
}

/** How a file is streamed. */
export interface ReadFileStreamOptions {
	/** Most bytes a chunk has, up to 2 MB. */
	chunkSize?: number;
	/** Stops the stream. */
	signal?: AbortSignal;
}

/** A piece of a file. */
export interface FileChunk {
	/** Its bytes. */
	data: Uint8Array;
	/** Its number, from 0. */
	index: number;
	/** How many chunks the file gives. */
	totalChunks: number;
	/** Whether this is the last one. */
	isLast: boolean;
}

/** The entries of a folder. */
export interface ReaddirResult {
	/** Its direct children. */
	entries: FileRecord[];
}

/** A line that a pattern was found in. */
export interface GrepResult {
	/** The file. */
	path: string;
	/** The line's number, from 1. */
	lineNumber: number;
	/** The line's text. */
	line: string;
}

/** Files that a glob was found to match. */
export interface FindResult {
	/** Their paths. */
	paths: string[];
}
