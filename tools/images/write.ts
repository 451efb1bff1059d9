// `npm run images`: writes the pictures of the documentation into docs/images. A test compares the diagrams with this
// output. `npm run images -- diagrams` (or `chat`, or `inspector`) writes only these.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { chatFilm, recordChat } from "./chat.ts";
import { diagrams } from "./diagrams.ts";
import { screenshotInspector } from "./inspector.ts";

const folder = join(import.meta.dirname, "../../docs/images");

/** Returns the files of each kind of picture. */
const kinds: Readonly<Record<string, () => Promise<ReadonlyMap<string, string | Buffer>>>> = {
	diagrams: async () => new Map([...diagrams].map(([name, svg]) => [`${name}.svg`, svg])),
	chat: async () => new Map([["chat.svg", chatFilm(await recordChat())]]),
	inspector: screenshotInspector,
};

const chosen = process.argv.slice(2);
const unknown = chosen.filter((name) => !Object.hasOwn(kinds, name));
if (unknown.length > 0)
	throw new Error(`Unknown: ${unknown.join(", ")}. Choose from ${Object.keys(kinds).join(", ")}.`);
mkdirSync(folder, { recursive: true });
for (const [kind, draw] of Object.entries(kinds)) {
	if (chosen.length > 0 && !chosen.includes(kind)) continue;
	const files = await draw();
	for (const [name, content] of files) writeFileSync(join(folder, name), content);
	console.log(`${kind}: ${[...files.keys()].join(", ")}`);
}
