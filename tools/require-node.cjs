// Stops with a clear message before an npm script starts on a Node that is too old or without installed packages.
// Plain JavaScript of 2015 on purpose: the Node it turns away has to be able to read it.
// biome-ignore-start lint/style/useNodejsImportProtocol: the Node it turns away may not know node: yet.
const fs = require("fs");
const path = require("path");
// biome-ignore-end lint/style/useNodejsImportProtocol: the Node it turns away may not know node: yet.

const minimum = [22, 18, 0];
const found = process.versions.node.split(".").map(Number);
const pinned = path.join(__dirname, "..", "node_modules", ".bin", "node");
const script = process.env.npm_lifecycle_event || "";
const again =
	script === "start" || script === "test" ? `npm ${script}` : script ? `npm run ${script}` : "the npm script";

function isOlder(version, than) {
	for (let i = 0; i < than.length; i++) {
		if (version[i] !== than[i]) return version[i] < than[i];
	}
	return false;
}

function stop(lines) {
	process.stderr.write(`${lines.join("\n")}\n`);
	process.exit(1);
}

if (!fs.existsSync(pinned)) {
	stop([
		"Holdfast's development packages are not installed.",
		`Run \`npm ci\` first (the npm of Node 20 or newer will do), then \`${again}\` again.`,
	]);
} else if (isOlder(found, minimum)) {
	stop([
		`Holdfast needs Node ${minimum.join(".")} or newer; this is Node ${process.versions.node} (${process.execPath}).`,
		`The repository brings its own Node 24, and npm scripts find it by themselves: run \`${again}\` through npm,`,
		"or install a newer Node.",
	]);
}
