// A process that overwrites a file without end, for tests: `{path of the database}`. It says so when much of the new file
// is written; whoever started it kills it then.
import { sqliteHost } from "holdfast/sqlite";
import { filesOf } from "./file-methods.ts";

const [path = ""] = process.argv.slice(2);
const files = filesOf(sqliteHost(path), "thread");

async function* endless(): AsyncGenerator<Uint8Array> {
	for (let pieces = 0; ; pieces++) {
		if (pieces === 20) process.stdout.write("written\n");
		yield new Uint8Array(256 * 1024).fill(pieces);
	}
}

await files.writeFile("large.bin", endless(), "application/x-new");
