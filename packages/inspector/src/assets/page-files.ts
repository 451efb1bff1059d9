// The files of the page: in a published package they lie beside the code; where the sources are, they are bundled when they are
// first asked for, and once for a process.
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { gzip } from "node:zlib";

/** A file of the page. */
export type PageFile = "index.html" | "app.js" | "app.css" | "icon.svg";

/** A file as it is sent. */
export interface SentFile {
	readonly plain: Uint8Array<ArrayBuffer>;
	readonly gzipped: Uint8Array<ArrayBuffer>;
	/** For `If-None-Match`. */
	readonly tag: string;
}

const compress = promisify(gzip);
const source = new URL("../page/index.html", import.meta.url);
const built = new URL("./page/", import.meta.url);
let bundled: Promise<ReadonlyMap<string, Uint8Array>> | undefined;
const sent = new Map<PageFile, Promise<SentFile>>();

/** A file of the page. Rejects where it cannot be bundled; the next who asks tries again. */
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
	if (!existsSync(source)) return readFile(new URL(file, built));
	bundled ??= import("./bundle-page.ts").then(({ bundlePage }) => bundlePage());
	try {
		const content = (await bundled).get(file);
		if (content === undefined) throw new Error(`The bundle of the inspector's page has no ${file}.`);
		return content;
	} catch (error) {
		bundled = undefined;
		throw error;
	}
}
