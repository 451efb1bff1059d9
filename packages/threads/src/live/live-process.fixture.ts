// Follows the project in the folder that it is given, in a process of its own: Node loads modules itself there. Reads one
// step a line from its input, writes one line of JSON for what came of it.
import { rmSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { isHoldfastError } from "@holdfast/upp";
import { watchProject } from "./index.ts";
import { replaceFile } from "./replace-file.fixture.ts";

type Step =
	| { readonly do: "write"; readonly path: string; readonly text: string }
	| { readonly do: "remove"; readonly path: string }
	| { readonly do: "call"; readonly tool: string }
	| { readonly do: "call-old"; readonly tool: string };

const folder = process.argv[2] ?? "";
const say = (line: object): void => void process.stdout.write(`${JSON.stringify(line)}\n`);

const live = await watchProject(folder, {
	onChange: ({ files }) => say({ changed: files.map((file) => file.slice(folder.length + 1)) }),
	onError: (error) => say({ broken: isHoldfastError(error) ? error.code : String(error) }),
});
const old = live.current;

for await (const line of createInterface({ input: process.stdin })) {
	const step = JSON.parse(line) as Step;
	if (step.do === "call" || step.do === "call-old") {
		const project = step.do === "call" ? live.current : old;
		const tool = project.tools.get(step.tool)?.definition;
		say({ said: tool === undefined ? null : (await tool.execute({} as never)).result });
		continue;
	}
	const path = join(folder, step.path);
	if (step.do === "remove") rmSync(path, { recursive: true });
	else replaceFile(folder, path, step.text);
}
live.close();
