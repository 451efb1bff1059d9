// `npm run images`: writes the diagrams into docs/images. A test compares the files with this output.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { diagrams } from "./diagrams.ts";

const folder = join(import.meta.dirname, "../../docs/images");
mkdirSync(folder, { recursive: true });
for (const [name, svg] of diagrams) writeFileSync(join(folder, `${name}.svg`), svg);
console.log(`${diagrams.size} diagrams in docs/images.`);
