// Builds every package into its dist folder and removes what lies there without a source of its own, so that a
// file deleted from the sources cannot be published from an old build.
import { existsSync, rmSync } from "node:fs";
import { listFiles } from "./list-sources.ts";
import { runCommand } from "./run-command.ts";
import { readWorkspaces } from "./workspaces.ts";

const root = `${import.meta.dirname}/..`;

const { code, output } = await runCommand([`${root}/node_modules/.bin/tsc`, "-b"], { folder: root });
process.stdout.write(output);
for (const { folder } of readWorkspaces(root)) {
	const place = `${root}/packages/${folder}`;
	if (!existsSync(`${place}/dist`)) continue;
	for (const file of listFiles(`${place}/dist`, "")) {
		const source = file.replace(/(?:\.d\.ts|\.js)(?:\.map)?$/, ".ts");
		if (!existsSync(`${place}/src/${source}`)) rmSync(`${place}/dist/${file}`);
	}
}
process.exitCode = code;
