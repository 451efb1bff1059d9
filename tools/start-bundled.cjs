// Loaded first by every Node that a run of tests starts. A program loads several hundred sources, which takes longer than most
// of what is tested: one that is started often is started from a bundle that says and does the same. Its second start in a run
// has that made in the background, so that no start waits for it. HOLDFAST_BUNDLES, set to nothing, leaves all with their sources.
const { appendFileSync, existsSync, readFileSync } = require("node:fs");
const { enableCompileCache, registerHooks } = require("node:module");
const { join, relative, sep } = require("node:path");
const { pathToFileURL } = require("node:url");

const root = join(__dirname, "..");
const [, program = ""] = process.argv;
const folder = process.env.HOLDFAST_BUNDLES;

/** It loads its source by itself. */
const command = "packages/cli/bin/holdfast.js";
/** The programs that are started often, below the root. */
const programs = [
	command,
	"packages/core/src/sqlite/worker-process.fixture.ts",
	"packages/postgres/src/worker-process.fixture.ts",
	"packages/server/src/server-process.fixture.ts",
	"packages/server/src/service/service-process.fixture.ts",
	"packages/stores/src/checkpoint/interrupted-process.fixture.ts",
	"packages/stores/src/session-store/store-process.fixture.ts",
	"test/bundled-program.fixture.ts",
	"test/crash/runner-process.fixture.ts",
	"test/crash/worker-process.fixture.ts",
	"test/support-desk-process.fixture.ts",
];

/** The source of this process's program below the root; undefined for all but those. */
function ownProgram() {
	if (!folder || !process.execArgv.includes("--conditions=holdfast-source")) return undefined;
	const source = relative(root, program).split(sep).join("/");
	if (!programs.includes(source)) return undefined;
	return source === command ? "packages/cli/src/main.ts" : source;
}

/** Which start of the program this is, from 1. */
function countStart(bundle) {
	const file = `${bundle}.starts`;
	appendFileSync(file, ".");
	return readFileSync(file).length;
}

function makeInBackground(own, bundle) {
	const { spawn } = require("node:child_process");
	const maker = join(__dirname, "bundle-program.ts");
	const options = { detached: true, stdio: "ignore", env: { ...process.env, NODE_OPTIONS: "" } };
	spawn(process.execPath, ["--no-warnings", maker, own, bundle], options).unref();
}

/**
 * Sources that are entered are read from the bundle: the program itself, and the doors of packages it has a part of. A package
 * that it names while it runs is sought from where its source lies.
 */
function readFrom(bundle, source, manifest) {
	const urlOf = (place, file) => pathToFileURL(join(place, file)).href;
	const bundled = urlOf(bundle, "/");
	const parentURL = urlOf(root, source);
	const places = new Map(manifest.map(([entered, file]) => [urlOf(root, entered), urlOf(bundle, file)]));
	registerHooks({
		resolve(specifier, context, next) {
			const isPackage = /^[^./]/.test(specifier) && !URL.canParse(specifier);
			const isAskedHere = isPackage && context.parentURL?.startsWith(bundled);
			const found = next(specifier, isAskedHere ? { ...context, parentURL } : context);
			const place = places.get(found.url);
			return place === undefined ? found : { ...found, url: place, format: "module" };
		},
	});
}

const own = ownProgram();
let compiled = join(root, "node_modules/.cache/compiled");
if (own !== undefined) {
	const bundle = join(folder, own.replaceAll("/", "-"));
	const manifest = join(bundle, "manifest.json");
	if (existsSync(manifest)) {
		// What was compiled of a bundle is of no use to other runs, and goes with it.
		compiled = join(folder, "compiled");
		readFrom(bundle, own, JSON.parse(readFileSync(manifest, "utf8")));
	} else if (countStart(bundle) === 2) makeInBackground(own, bundle);
}
// A Node that is too old to have one is one that tests start to see it refused.
enableCompileCache?.(compiled);
