// A real registry on this machine, with the packages of a release: what is published to it stays here, and it fetches the
// packages of others from the registry that npm is configured to use. It is installed when a test needs it.
import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { type CommandOptions, type CommandResult, runCommand } from "../../tools/run-command.ts";

const verdaccio = "verdaccio@6.10.4";

/** A running registry. */
export interface Registry {
	readonly url: string;
	/** Runs a program to its end as a user of this registry would; returns its output, and throws if it fails. */
	must(command: readonly [string, ...string[]], folder: string): Promise<string>;
	close(): Promise<void>;
}

/** What `npm run` sets for the tests, and a user's terminal does not have. */
const ofNpm = Object.fromEntries(
	Object.keys(process.env)
		.filter((name) => /^npm_/i.test(name))
		.map((name) => [name, undefined]),
);

/** A user without a key, outside any CI, with the Node of the repository. */
const user = {
	...ofNpm,
	PATH: [dirname(process.execPath), process.env.PATH].join(delimiter),
	NEXT_TELEMETRY_DISABLED: "1",
	WRANGLER_SEND_METRICS: "false",
	OPENAI_API_KEY: undefined,
	NODE_OPTIONS: undefined,
	NODE_ENV: undefined,
	VITEST: undefined,
	ACTIONS_ID_TOKEN_REQUEST_URL: undefined,
	SIGSTORE_ID_TOKEN: undefined,
};

async function must(
	command: readonly [string, ...string[]],
	options: CommandOptions,
): Promise<CommandResult> {
	const result = await runCommand(command, options);
	if (result.code === 0) return result;
	throw new Error(`\`${command.join(" ")}\` ended with ${result.code}:\n${result.output}`);
}

/** Installs and starts the registry below `folder`. */
export async function startRegistry(folder: string): Promise<Registry> {
	const place = join(folder, "registry");
	mkdirSync(place);
	// One of its dependencies asks for a tag that not every registry has.
	writeFileSync(
		join(place, "package.json"),
		JSON.stringify({ private: true, overrides: { "node-fetch": "2.7.0" } }),
	);
	await must(["npm", "install", "--silent", "--no-audit", "--no-fund", "--prefer-offline", verdaccio], {
		folder: place,
	});
	const setting = async (name: string): Promise<string> =>
		(await must(["npm", "config", "get", name], { folder: place })).stdout.trim();
	const [upstream, authorities] = await Promise.all([setting("registry"), setting("cafile")]);
	const ours = { access: "$all", publish: "$all" };
	const configuration = {
		storage: join(place, "storage"),
		uplinks: { upstream: { url: upstream, maxage: "60m", timeout: "60s" } },
		packages: {
			"@holdfast/*": ours,
			"{holdfast,create-holdfast}": ours,
			"**": { access: "$all", proxy: "upstream" },
		},
		max_body_size: "50mb",
		log: { type: "stdout", format: "json", level: "warn" },
		web: { enable: false },
	};
	// YAML contains JSON.
	writeFileSync(join(place, "config.yaml"), JSON.stringify(configuration));
	const { child, url } = await start(place, authorities);
	const userconfig = join(folder, "npmrc");
	const { host } = new URL(url);
	writeFileSync(userconfig, `registry=${url}/\n//${host}/:_authToken=anyone\n`);
	const environment = {
		...user,
		npm_config_registry: `${url}/`,
		npm_config_userconfig: userconfig,
		npm_config_cache: join(folder, "cache"),
		// Where yarn installs the program that creates a project: it does so globally.
		PREFIX: join(folder, "prefix"),
		YARN_REGISTRY: `${url}/`,
		BUN_CONFIG_REGISTRY: `${url}/`,
	};
	return {
		url,
		must: async (command, at) => (await must(command, { folder: at, environment })).output,
		close: () =>
			new Promise((resolve) => {
				child.once("close", () => resolve());
				child.kill("SIGKILL");
			}),
	};
}

/** Starts the registry, which trusts these `authorities` too, if npm does. */
function start(place: string, authorities: string): Promise<{ child: ChildProcess; url: string }> {
	const port = 20_000 + Math.floor(Math.random() * 20_000);
	const url = `http://127.0.0.1:${port}`;
	const child = spawn(
		process.execPath,
		[join(place, "node_modules/verdaccio/bin/verdaccio"), "--config", "config.yaml", "--listen", url],
		{
			cwd: place,
			env: {
				...process.env,
				...(authorities === "null" ? {} : { NODE_EXTRA_CA_CERTS: authorities }),
				NODE_OPTIONS: undefined,
				VITEST: undefined,
				NODE_ENV: undefined,
			},
		},
	);
	let output = "";
	for (const stream of [child.stdout, child.stderr])
		stream.setEncoding("utf8").on("data", (text: string) => {
			output += text;
		});
	return new Promise((resolve, reject) => {
		const ask = (): void => {
			fetch(`${url}/-/ping`).then(
				() => resolve({ child, url }),
				() => setTimeout(ask, 200),
			);
		};
		child.once("close", (code) => reject(new Error(`The registry ended with ${code}:\n${output}`)));
		ask();
	});
}
