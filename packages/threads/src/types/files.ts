// Files of a thread.

/** Where the bytes of a file are stored: in the thread's store, or in another service of the runtime. */
export type FileStorage = "local" | "external" | (string & {});

/** A file or folder of a thread. */
export interface FileRecord {
	/** Its path from the thread's root, such as `/reports/a.txt`. */
	path: string;
	/** The last part of the path. */
	name: string;
	/** Its MIME type. */
	mimeType: string;
	/** Where its bytes are stored. */
	storage: FileStorage;
	/** Size in bytes; 0 for a folder. */
	size: number;
	/** Whether it is a folder. */
	isDirectory: boolean;
	/** Custom data of the project. */
	metadata?: Record<string, unknown>;
	/** Width in pixels, for an image. */
	width?: number;
	/** Height in pixels, for an image. */
	height?: number;
}

/** Totals of a thread's files. */
export interface FileStats {
	/** Total size of all files in bytes. */
	totalSize: number;
	/** Number of files, without folders. */
	fileCount: number;
}

/** Metadata to store with a written file. */
export interface WriteFileOptions {
	/** Custom data of the project. */
	metadata?: Record<string, unknown>;
	/** Width in pixels, for an image. */
	width?: number;
	/** Height in pixels, for an image. */
	height?: number;
}

/** Options for streaming a file. */
export interface ReadFileStreamOptions {
	/** Maximum size of a chunk in bytes, up to 2 MB. Default: 256 KiB. */
	chunkSize?: number;
	/** Stops the stream. */
	signal?: AbortSignal;
}

/** A piece of a file. */
export interface FileChunk {
	/** Its bytes. */
	data: Uint8Array;
	/** Its index, starting at 0. */
	index: number;
	/** The total number of chunks. */
	totalChunks: number;
	/** Whether this is the last one. */
	isLast: boolean;
}

/** The entries of a folder. */
export interface ReaddirResult {
	/** Its direct children. */
	entries: FileRecord[];
}

/** A line that matches a pattern. */
export interface GrepResult {
	/** The path of the file. */
	path: string;
	/** The line number, starting at 1. */
	lineNumber: number;
	/** The text of the line. */
	line: string;
}

/** Files that match a glob. */
export interface FindResult {
	/** Their paths. */
	paths: string[];
}
