/** The commands that pack agents of a project into a package, and unpack a package into a project. */
import { relative } from "node:path";
import { type PackOptions, packAgents, unpackAgents } from "@holdfast/threads";
import { isHoldfastError } from "holdfast";
import type { CommandIo } from "../terminal/index.ts";
import { exitCodes, UsageError } from "../work/index.ts";
import { asUsage } from "./check-project.ts";
import { lendPackages } from "./lend-packages.ts";
import { ownSkills } from "./project-context.ts";

/** Packs agents; returns the exit code. */
export async function packProject(
	{ options, json }: { readonly options: PackOptions; readonly json: boolean },
	io: CommandIo,
): Promise<number> {
	lendPackages();
	const skills = await ownSkills(options.directory);
	const result = await packAgents({ ...options, skills }).catch(refused);
	if (json) io.stdout.write(`${JSON.stringify({ type: "pack", ...result })}\n`);
	else {
		for (const item of result.items) io.stdout.write(`  ${item}\n`);
		for (const sentence of result.leftOut) io.stderr.write(`Not packed: ${sentence}\n`);
		const place = relative(io.folder, result.directory);
		io.stdout.write(`Packed ${result.name}: ${result.files.length} files in ${place}.\n`);
	}
	return exitCodes.completed;
}

/** Unpacks a package into the current project; returns the exit code. */
export async function unpackProject(
	{
		directory,
		package: name,
		json,
	}: { readonly directory: string; readonly package: string; readonly json: boolean },
	io: CommandIo,
): Promise<number> {
	const result = await unpackAgents(directory, name).catch(refused);
	if (json) io.stdout.write(`${JSON.stringify({ type: "unpack", ...result })}\n`);
	else {
		for (const file of result.files) io.stdout.write(`  ${file}\n`);
		io.stdout.write(
			`Unpacked ${name}: these files are the project's own now. The package is still in ${relative(io.folder, result.from)}; remove it if nothing uses it.\n`,
		);
	}
	return exitCodes.completed;
}

function refused(error: unknown): never {
	if (isHoldfastError(error) && (error.code === "pack_refused" || error.code === "unpack_refused"))
		throw new UsageError(error.message);
	throw asUsage(error);
}
