// The files of the page. A published package contains them as a module, so that they are part of any bundle; from the sources
// they are built on first use, once per process.
import { promisify } from "node:util";
import { gzip } from "node:zlib";

/** Name of a file of the page. */
export type PageFile = "index.html" | "app.js" | "app.css" | "highlight.js" | "icon.svg";

/** A file in the form that is sent. */
export interface SentFile {
	readonly plain: Uint8Array<ArrayBuffer>;
	readonly gzipped: Uint8Array<ArrayBuffer>;
	/** For `If-None-Match`. */
	readonly tag: string;
}

const compress = promisify(gzip);
let bundled: Promise<ReadonlyMap<string, Uint8Array>> | undefined;
const sent = new Map<PageFile, Promise<SentFile>>();

/** Returns a file of the page. Rejects if the page cannot be built; the next request retries. */
export function pageFile(file: PageFile): Promise<SentFile> {
	let found = sent.get(file);
	if (found === undefined) {
		found = prepare(file);
		sent.set(file, found);
		found.catch(() => sent.delete(file));
	}
	return found;
}

async function prepare(file: PageFile): Promise<SentFile> {
	const plain = new Uint8Array(await contentOf(file));
	const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", plain));
	const tag = `"${Buffer.from(digest.subarray(0, 12)).toString("base64url")}"`;
	return { plain, gzipped: new Uint8Array(await compress(plain)), tag };
}

async function contentOf(file: PageFile): Promise<Uint8Array> {
	bundled ??= import("#page").then(({ pageFiles }) => pageFiles());
	try {
		const content = (await bundled).get(file);
		if (content === undefined) throw new Error(`The bundle of the inspector's page has no ${file}.`);
		return content;
	} catch (error) {
		bundled = undefined;
		throw error;
	}
}
