// A project that is reloaded when its files change.
//
// States: starting (no version could be loaded yet) → valid ⇄ broken (the last valid version stays current) → closed.
// Only a scan of the files changes the state, one scan at a time; a change during a scan triggers another one.
import { type FSWatcher, watch } from "node:fs";
import { dirname, join, resolve, sep } from "node:path";
import {
	checkOptions,
	HoldfastError,
	isHoldfastError,
	longestForeignWait,
	optionNames,
	readDuration,
} from "@holdfast/upp";
import { loadProjectWith, type ProjectProblem } from "../load/index.ts";
import type { LiveProject, Project } from "../types/index.ts";
import { changedFiles, type FileStamps, foldersIn, stampsOf } from "./file-stamps.ts";
import { moduleVersions } from "./module-versions.ts";

const watchProjectNames = optionNames<WatchProjectOptions>({
	onChange: "function",
	onError: "function",
	signal: "signal",
	quiet: true,
});

/** A change of a project after a load. */
export interface ProjectChange {
	/** The current project. */
	readonly project: Project;
	/** Absolute paths of the files that changed; empty for the first version. */
	readonly files: readonly string[];
	/** Milliseconds that the scan and the load took. */
	readonly milliseconds: number;
}

/** Options of {@link watchProject}. */
export interface WatchProjectOptions {
	/** Called with every version that was loaded. Must not throw. */
	readonly onChange?: (change: ProjectChange) => void;
	/** Called if a version cannot be loaded; the previous one stays current. Must not throw. */
	readonly onError?: (error: unknown, files: readonly string[]) => void;
	/** Stops watching, and stops waiting for a first version that can be loaded. */
	readonly signal?: AbortSignal;
	/** Milliseconds without changes before a scan; 15 by default. A longer time combines more writes into one change. */
	readonly quiet?: number;
}

/** A project that is reloaded when its files change. */
export interface WatchedProject extends LiveProject {
	/** Scans the files now. Resolves when the changes have been loaded or refused. */
	look(): Promise<void>;
	/** Stops watching. The last version stays current. */
	close(): void;
}

/**
 * Loads a project and reloads it whenever its files change: those in `agents/` and the project files that they import.
 * Packages in `node_modules` are not watched. For development, since replaced versions stay in memory. Resolves once a
 * version could be loaded.
 *
 * @throws HoldfastError `project_missing` if the folder does not exist, `project_unwatched` if the signal fires first
 */
export async function watchProject(
	directory: string,
	options: WatchProjectOptions = {},
): Promise<WatchedProject> {
	checkOptions(options, watchProjectNames, { of: "watchProject()" });
	const root = resolve(directory);
	const modules = moduleVersions(root);
	const watchers = new Map<string, FSWatcher>();
	const first = Promise.withResolvers<void>();
	let current: Project | undefined;
	let stamps: FileStamps = new Map();
	const quiet = readDuration("quiet", options.quiet, 15, { least: 0, most: longestForeignWait });
	let failed: readonly string[] = [];
	let looking: Promise<void> | undefined;
	let isDue = false;
	let timer: NodeJS.Timeout | undefined;
	let isNew = true;
	let isClosed = false;

	const close = (): void => {
		isClosed = true;
		clearTimeout(timer);
		for (const watcher of watchers.values()) watcher.close();
		watchers.clear();
		modules.close();
		options.signal?.removeEventListener("abort", abandon);
	};
	const abandon = (): void => {
		close();
		first.reject(
			new HoldfastError(
				"project_unwatched",
				"The wait for the project was cancelled before it could be loaded.",
			),
		);
	};
	const soon = (): void => {
		clearTimeout(timer);
		if (!isClosed) timer = setTimeout(() => void look(), quiet);
	};
	const follow = (folders: readonly string[]): void => {
		for (const folder of folders) {
			if (isClosed || watchers.has(folder)) continue;
			try {
				const watcher = watch(folder, soon);
				// A removed folder is watched again when it returns.
				watcher.on("error", () => drop(folder));
				watchers.set(folder, watcher);
			} catch {
				soon();
			}
		}
		for (const folder of watchers.keys()) if (!folders.includes(folder)) drop(folder);
	};
	const drop = (folder: string): void => {
		watchers.get(folder)?.close();
		watchers.delete(folder);
	};
	const foldersNow = async (): Promise<readonly string[]> => {
		const agents = join(root, "agents");
		const imported = modules.files().map((file) => dirname(file));
		const outside = imported.filter((folder) => folder !== agents && !folder.startsWith(agents + sep));
		return [...new Set([...(await foldersIn(agents)), ...outside])];
	};

	/** Imported files may be in folders that were not watched yet. A file that has changed since counts as changed. */
	const followImported = async (known: readonly string[], since: number): Promise<void> => {
		const folders = await foldersNow();
		follow(folders);
		const added = await stampsOf(folders.filter((folder) => !known.includes(folder)));
		const settled = [...added].filter(([, { modified }]) => modified < since);
		stamps = new Map([...stamps, ...settled]);
		if (settled.length < added.size) soon();
	};

	const lookOnce = async (): Promise<void> => {
		const started = performance.now();
		const startedAt = Date.now();
		const folders = await foldersNow();
		// Watched before they are read: a write in between triggers another scan.
		follow(folders);
		const now = await stampsOf(folders);
		const files = changedFiles(stamps, now).filter((file) => !file.endsWith(".d.ts"));
		const isFirst = isNew;
		stamps = now;
		isNew = false;
		if (files.length === 0 && !isFirst) return;
		// An earlier failure may have been caused by a missing file.
		modules.bump([...files, ...failed]);
		try {
			const project = await loadProjectWith(
				root,
				(url) => import(/* webpackIgnore: true */ /* turbopackIgnore: true */ modules.versioned(url)),
			);
			failed = [];
			if (isClosed) return;
			current = project;
			first.resolve();
			options.onChange?.({
				project,
				files: isFirst ? [] : files,
				milliseconds: performance.now() - started,
			});
		} catch (error) {
			failed = filesOf(error);
			if (isHoldfastError(error) && error.code === "project_missing") first.reject(error);
			if (!isClosed) options.onError?.(error, isFirst ? [] : files);
		}
		await followImported(folders, startedAt);
	};
	const look = async (): Promise<void> => {
		if (looking !== undefined) {
			isDue = true;
			await looking;
			return;
		}
		looking = (async () => {
			do {
				isDue = false;
				if (!isClosed) await lookOnce();
			} while (isDue);
		})().finally(() => {
			looking = undefined;
		});
		await looking;
	};

	options.signal?.addEventListener("abort", abandon);
	if (options.signal?.aborted) abandon();
	void look().catch(first.reject);
	await first.promise.catch((error) => {
		close();
		throw error;
	});
	return {
		get current() {
			return current as Project;
		},
		look,
		close,
	};
}

function filesOf(error: unknown): readonly string[] {
	const problems = isHoldfastError(error) ? error.data?.problems : undefined;
	return Array.isArray(problems) ? problems.map(({ file }: ProjectProblem) => file) : [];
}
