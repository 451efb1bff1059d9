// Text in files, plain or with gzip. Which of them a file holds shows in its first bytes.
import { promisify } from "node:util";
import { gunzip, gzip } from "node:zlib";

export const pack: (text: string) => Promise<Uint8Array> = promisify<string, Uint8Array>(gzip);
const inflate = promisify<Uint8Array, Uint8Array>(gunzip);

export async function unpack(content: Uint8Array): Promise<string> {
	const isPacked = content[0] === 0x1f && content[1] === 0x8b;
	return new TextDecoder().decode(isPacked ? await inflate(content) : content);
}
